//! Batches of one account that share a transaction: each is committed once or not at all, whatever happens to the others.
//! `pg_lanes` has those of several accounts.

use std::time::Duration;

use dropleaf_store::{Db, DbError, Stmt, accounts};
use tokio::task::JoinSet;

use crate::harness::{Connection, TestDatabase, account, connect, count_accounts, for_each_db, text};
use crate::pg_proxy::{NextCommit, PgProxy};

const PAGES: &str = "SELECT active_pages FROM accounts WHERE id = $1";

/// What a publish does: a new row, and the counter of its account last.
pub(crate) fn publish(owner: &str, id: &str, cap: i64) -> Vec<Stmt> {
    let insert = Stmt::new(
        "INSERT INTO accounts (id, plan, is_operator, balance_minor, active_pages, created_at) VALUES ($1, $2, 0, 0, 0, 0)",
        [id.into(), "solo".into()],
    );
    vec![accounts::require_active_shared(owner), insert, accounts::take_page(owner, Some(cap))]
}

pub(crate) async fn pages(db: &Db, owner: &str) -> i64 {
    db.get(PAGES, &[owner.into()], |row| row.int(0)).await.unwrap().unwrap()
}

fn start(tasks: &mut JoinSet<Result<(), DbError>>, db: &Db, stmts: Vec<Stmt>) {
    let db = db.clone();
    tasks.spawn(async move { db.batch_in_group(stmts).await });
}

/// Locks the row that the account's publishes count in, until `COMMIT`.
pub(crate) async fn block(blocker: &Connection, owner: &str) {
    let sql = format!("BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = '{owner}'");
    blocker.batch_execute(&sql).await.unwrap();
}

pub(crate) async fn wait_until(mut is_so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), waiting).await.unwrap();
}

/// Transactions of the store that wait for a lock.
pub(crate) async fn blocked(observer: &Connection) -> i64 {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    observer.query_one(sql, &[]).await.unwrap().get(0)
}

/// The same of those that wait for longer than the shared lane does: the account has a lane of its own.
pub(crate) async fn blocked_long(observer: &Connection) -> i64 {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' \
               AND clock_timestamp() - query_start > INTERVAL '1 second'";
    observer.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_batch_is_done_once_and_refused_by_itself() {
    for_each_db(async |db| {
        db.batch(vec![account("a"), account("b")]).await.unwrap();
        let publishes = (0..90).map(|n| {
            let owner = if n % 2 == 0 { "a" } else { "b" };
            let mut stmts = publish(owner, &format!("new{n}"), 1000);
            if n % 9 == 0 {
                stmts.insert(1, Stmt::new("DELETE FROM accounts WHERE id = 'nobody'", []).one("nobody"));
            } else if n % 9 == 1 {
                // It exists already.
                stmts = publish(owner, "a", 1000);
            }
            db.batch_in_group(stmts)
        });
        let answers = futures_util::future::join_all(publishes).await;
        for (n, answer) in answers.iter().enumerate() {
            let is_right = match n % 9 {
                0 => matches!(answer, Err(DbError::Guard("nobody"))),
                1 => matches!(answer, Err(DbError::Internal(_))),
                _ => answer.is_ok(),
            };
            assert!(is_right, "{n}: {answer:?}");
        }
        assert_eq!(count_accounts(db).await, 2 + 70);
        assert_eq!(pages(db, "a").await + pages(db, "b").await, 70);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_is_used_up_exactly() {
    for_each_db(async |db| {
        db.exec(account("a")).await.unwrap();
        let publishes = (0..60).map(|n| db.batch_in_group(publish("a", &format!("new{n}"), 37)));
        let answers = futures_util::future::join_all(publishes).await;
        for answer in answers.iter().filter(|answer| answer.is_err()) {
            assert!(matches!(answer, Err(DbError::Guard(accounts::PAGE_LIMIT))), "{answer:?}");
        }
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 37);
        assert_eq!((pages(db, "a").await, count_accounts(db).await), (37, 38));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_that_wait_share_a_transaction_and_other_accounts_do_not_wait() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(vec![account("a"), account("b")]).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    block(&blocker, "a").await;
    let mut tasks = JoinSet::new();
    start(&mut tasks, &db, publish("a", "new0", 1000));
    wait_until(async || blocked_long(&observer).await == 1).await;
    for n in 1..40 {
        start(&mut tasks, &db, publish("a", &format!("new{n}"), 1000));
    }
    wait_until(async || db.waiting_account_writes() == 39).await;
    db.batch_in_group(publish("b", "other", 1000)).await.unwrap();
    let other = db.batch(vec![accounts::require_active("b"), account("c")]);
    tokio::time::timeout(Duration::from_secs(3), other).await.unwrap().unwrap();
    blocker.batch_execute("COMMIT").await.unwrap();
    while let Some(answer) = tasks.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!(pages(&db, "a").await, 40);
    let sql = "SELECT DISTINCT CAST(xmin AS TEXT) FROM accounts WHERE id LIKE 'new%'";
    let transactions = db.list(sql, Vec::new(), text).await.unwrap().len();
    assert_eq!(transactions, 3, "the first one, then as many as a group may have, then the rest");
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_group_is_done_once_whatever_is_lost_of_its_commit() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    let mut expected = 0;
    for (round, next) in
        [NextCommit::LosesAnswer, NextCommit::IsLost, NextCommit::Passes, NextCommit::LosesAnswer]
            .into_iter()
            .enumerate()
    {
        // The first batch waits, so the others become a group.
        block(&blocker, "a").await;
        let mut tasks = JoinSet::new();
        start(&mut tasks, &db, publish("a", &format!("first{round}"), 1000));
        wait_until(async || blocked_long(&observer).await == 1).await;
        proxy.set_next_commit(next);
        for n in 0..7 {
            start(&mut tasks, &db, publish("a", &format!("new{round}-{n}"), 1000));
        }
        wait_until(async || db.waiting_account_writes() == 7).await;
        blocker.batch_execute("COMMIT").await.unwrap();
        while let Some(answer) = tasks.join_next().await {
            answer.unwrap().unwrap();
        }
        expected += 8;
        assert!(proxy.is_used_up(), "{next:?} was tried");
        assert_eq!(pages(&db, "a").await, expected, "{next:?}");
        assert_eq!(count_accounts(&db).await, 1 + expected, "{next:?}");
    }
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn suspension_stops_a_whole_group_and_nothing_of_it_is_done() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    block(&blocker, "a").await;
    let mut tasks = JoinSet::new();
    start(&mut tasks, &db, publish("a", "first", 1000));
    wait_until(async || blocked_long(&observer).await == 1).await;
    for n in 0..7 {
        start(&mut tasks, &db, publish("a", &format!("new{n}"), 1000));
    }
    wait_until(async || db.waiting_account_writes() == 7).await;
    let mut suspending = JoinSet::new();
    suspending.spawn({
        let db = db.clone();
        async move { db.exec(accounts::suspend("a", "spam", 1)).await.map(|_| ()) }
    });
    wait_until(async || blocked(&observer).await == 2).await;
    blocker.batch_execute("COMMIT").await.unwrap();
    suspending.join_next().await.unwrap().unwrap().unwrap();
    let mut done = 0;
    while let Some(answer) = tasks.join_next().await {
        match answer.unwrap() {
            Ok(()) => done += 1,
            Err(DbError::Guard(accounts::SUSPENDED)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(done, 1, "the one that came before the suspension");
    assert_eq!((pages(&db, "a").await, count_accounts(&db).await), (1, 2));
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn caller_that_goes_away_does_not_stop_its_group() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    block(&blocker, "a").await;
    // Its transaction runs already: it is done although nobody waits for it.
    let mut gone = JoinSet::new();
    start(&mut gone, &db, publish("a", "running", 1000));
    wait_until(async || blocked_long(&observer).await == 1).await;
    start(&mut gone, &db, publish("a", "waiting", 1000));
    wait_until(async || db.waiting_account_writes() == 1).await;
    gone.shutdown().await;
    wait_until(async || db.waiting_account_writes() == 0).await;
    let mut tasks = JoinSet::new();
    start(&mut tasks, &db, publish("a", "new", 1000));
    wait_until(async || db.waiting_account_writes() == 1).await;
    blocker.batch_execute("COMMIT").await.unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    let ids = db.list("SELECT id FROM accounts ORDER BY id", Vec::new(), text).await.unwrap();
    assert_eq!(ids, ["a", "new", "running"]);
    assert_eq!(pages(&db, "a").await, 2);
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}
