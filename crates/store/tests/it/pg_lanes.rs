//! Batches of several accounts that share transactions, and accounts that others do not wait for.

use std::time::Duration;

use dropleaf_store::{Db, DbError, Stmt, accounts};
use futures_util::FutureExt;
use tokio::task::JoinSet;

use crate::harness::{Connection, TestDatabase, account, connect, count_accounts};
use crate::pg_groups::{block, blocked_long, pages, publish, wait_until};
use crate::pg_proxy::{NextCommit, PgProxy};

/// Commits of new rows wait while the table `gate` has a row, unless their names begin with `free`. They hold no lock that other
/// accounts wait for.
const GATE: &str = "CREATE TABLE gate (closed BIGINT);
    CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN WHILE EXISTS (SELECT 1 FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW \
    WHEN (NEW.id NOT LIKE 'free%') EXECUTE FUNCTION pass_gate()";

fn owners() -> Vec<String> {
    (0..16).map(|number| format!("owner{number}")).collect()
}

async fn number(observer: &Connection, sql: &str) -> i64 {
    observer.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_share_transactions() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(owners().iter().map(|owner| account(owner)).collect::<Vec<Stmt>>()).await.unwrap();
    let observer = connect(&database.url).await;
    observer.batch_execute(GATE).await.unwrap();
    observer.batch_execute("INSERT INTO gate VALUES (1)").await.unwrap();
    let mut publishes = Vec::new();
    for round in 0..4 {
        for owner in owners() {
            let mut publish =
                Box::pin(db.batch_in_group(publish(&owner, &format!("new-{owner}-{round}"), 1000)));
            assert!((&mut publish).now_or_never().is_none(), "it waits");
            publishes.push(publish);
        }
    }
    observer.batch_execute("DELETE FROM gate").await.unwrap();
    for answer in futures_util::future::join_all(publishes).await {
        answer.unwrap();
    }
    for owner in owners() {
        assert_eq!(pages(&db, &owner).await, 4, "{owner}");
    }
    assert_eq!(count_accounts(&db).await, 16 + 64);
    let of_several = "SELECT COUNT(*) FROM (SELECT 1 FROM accounts WHERE id LIKE 'new-%' GROUP BY CAST(xmin AS TEXT) \
                      HAVING COUNT(DISTINCT split_part(id, '-', 2)) > 1) AS transactions";
    assert!(number(&observer, of_several).await > 0);
    db.close().await;
    drop(observer);
    database.remove().await;
}

/// Transactions that wait at the gate.
async fn at_gate(observer: &Connection) -> i64 {
    number(
        observer,
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
    )
    .await
}

/// Starts a publish that waits at the gate, so that those of the others become a group.
async fn close_gate(db: &Db, observer: &Connection, name: &str) -> JoinSet<Result<(), DbError>> {
    observer.batch_execute("INSERT INTO gate VALUES (1)").await.unwrap();
    let mut tasks = JoinSet::new();
    let (db, stmts) = (db.clone(), publish("owner0", name, 1000));
    tasks.spawn(async move { db.batch_in_group(stmts).await });
    wait_until(async || at_gate(observer).await == 1).await;
    tasks
}

#[tokio::test(flavor = "multi_thread")]
async fn group_of_several_accounts_is_done_once_whatever_is_lost_of_its_commit() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(owners().iter().map(|owner| account(owner)).collect::<Vec<Stmt>>()).await.unwrap();
    let observer = connect(&database.url).await;
    observer.batch_execute(GATE).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let lost = [NextCommit::LosesAnswer, NextCommit::IsLost];
    for (round, next) in lost.into_iter().enumerate() {
        let mut tasks = close_gate(&db, &observer, &format!("new-first{round}")).await;
        proxy.set_next_commit(next);
        for owner in owners().into_iter().skip(1) {
            let (db, stmts) = (db.clone(), publish(&owner, &format!("new-{owner}-{round}"), 1000));
            tasks.spawn(async move { db.batch_in_group(stmts).await });
        }
        wait_until(async || proxy.is_used_up()).await;
        observer.batch_execute("DELETE FROM gate").await.unwrap();
        while let Some(answer) = tasks.join_next().await {
            answer.unwrap().unwrap();
        }
        if next == NextCommit::LosesAnswer {
            let transactions =
                "SELECT COUNT(DISTINCT CAST(xmin AS TEXT)) FROM accounts WHERE id LIKE 'new-owner%'";
            assert!(number(&observer, transactions).await < 15, "some were of several accounts");
        }
        for owner in owners() {
            assert_eq!(pages(&db, &owner).await, 1 + i64::try_from(round).unwrap(), "{owner}, {next:?}");
        }
    }
    assert_eq!(count_accounts(&db).await, 16 * 3);
    db.close().await;
    drop(observer);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_suspended_account_stops_none_of_the_others_in_its_group() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(owners().iter().map(|owner| account(owner)).collect::<Vec<Stmt>>()).await.unwrap();
    let observer = connect(&database.url).await;
    observer.batch_execute(GATE).await.unwrap();
    let mut tasks = close_gate(&db, &observer, "new-first").await;
    db.exec(accounts::suspend("owner1", "spam", 1)).await.unwrap();
    let others = owners().into_iter().skip(1);
    let others = others.map(|owner| db.batch_in_group(publish(&owner, &format!("new-{owner}"), 1000)));
    let open = async {
        wait_until(async || at_gate(&observer).await > 1).await;
        observer.batch_execute("DELETE FROM gate").await.unwrap();
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(others), open);
    tasks.join_next().await.unwrap().unwrap().unwrap();
    let (suspended, others) = answers.split_first().unwrap();
    assert!(matches!(suspended, Err(DbError::Guard(accounts::SUSPENDED))), "{suspended:?}");
    assert!(others.iter().all(Result::is_ok), "{others:?}");
    assert_eq!((pages(&db, "owner1").await, count_accounts(&db).await), (0, 16 + 15));
    db.close().await;
    drop(observer);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_stuck_transaction_of_another_account() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(owners().iter().map(|owner| account(owner)).collect::<Vec<Stmt>>()).await.unwrap();
    let observer = connect(&database.url).await;
    observer.batch_execute(GATE).await.unwrap();
    let mut tasks = close_gate(&db, &observer, "new-stuck").await;
    // One of these may wait until the first transaction counts as stuck, and no more than one.
    let all = async {
        for number in 0..30 {
            db.batch_in_group(publish("owner1", &format!("free{number}"), 1000)).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.unwrap();
    assert_eq!((pages(&db, "owner0").await, pages(&db, "owner1").await), (0, 30));
    observer.batch_execute("DELETE FROM gate").await.unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    db.close().await;
    drop(observer);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_long_for_the_lock_of_another_account() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(owners().iter().map(|owner| account(owner)).collect::<Vec<Stmt>>()).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    block(&blocker, "owner0").await;
    let mut of_blocked = JoinSet::new();
    for number in 0..20 {
        let (db, publish) = (db.clone(), publish("owner0", &format!("blocked{number}"), 1000));
        of_blocked.spawn(async move { db.batch_in_group(publish).await });
    }
    let others = owners()
        .into_iter()
        .skip(1)
        .flat_map(|owner| (0..4).map(move |round| publish(&owner, &format!("new-{owner}-{round}"), 1000)));
    let others = futures_util::future::join_all(others.map(|publish| db.batch_in_group(publish)));
    // A transaction that waits for a lock as long as usual would take eight.
    for answer in tokio::time::timeout(Duration::from_secs(6), others).await.unwrap() {
        answer.unwrap();
    }
    wait_until(async || blocked_long(&observer).await > 0).await;
    blocker.batch_execute("COMMIT").await.unwrap();
    while let Some(answer) = of_blocked.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!(pages(&db, "owner0").await, 20);
    assert_eq!(count_accounts(&db).await, 16 + 20 + 60);
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}
