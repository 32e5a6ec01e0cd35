//! PostgreSQL under faults: answers that are lost, connections that go silent, writes that wait for a lock.

use std::time::{Duration, Instant};

use dropleaf_store::{Db, DbError, Stmt, accounts};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::harness::{NOW, TestDatabase, account};
use crate::pg_proxy::{NextCommit, PgProxy};
use crate::pg_server::PgServer;

const EARN: &str = "UPDATE accounts SET balance_minor = balance_minor + 1 WHERE id = $1";

fn earn() -> Stmt {
    Stmt::new(EARN, ["a".into()]).one("no_account")
}

async fn balance(db: &Db) -> i64 {
    let sql = "SELECT balance_minor FROM accounts WHERE id = 'a'";
    db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
}

/// A connection beside the pools, which ends with the set.
async fn connect(url: &str) -> (Client, JoinSet<()>) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { connection.await.unwrap() });
    (client, tasks)
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_is_done_once_whatever_is_lost_of_its_commit() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let mut expected = 0;
    for next in [NextCommit::LosesAnswer, NextCommit::IsLost, NextCommit::LosesAnswer, NextCommit::Passes] {
        proxy.set_next_commit(next);
        db.batch(vec![earn()]).await.unwrap();
        expected += 1;
        assert!(proxy.is_used_up(), "{next:?} was tried");
        assert_eq!(balance(&db).await, expected, "{next:?}");
    }
    // A guard that fails only afterwards is not taken for the outcome of the lost commit.
    proxy.set_next_commit(NextCommit::LosesAnswer);
    let once = Stmt::new("UPDATE accounts SET plan = 'pro' WHERE id = 'a' AND plan = 'solo'", []).one("done");
    db.batch(vec![once.clone()]).await.unwrap();
    assert!(matches!(db.batch(vec![once]).await, Err(DbError::Guard("done"))));
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_sent_with_its_statements_is_done_once_whatever_is_lost() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let changed = || vec!["page".to_owned()];
    let mut expected = 0;
    for next in [
        NextCommit::LosesAnswer,
        NextCommit::IsLost,
        NextCommit::IsForgotten,
        NextCommit::LosesAnswer,
        NextCommit::Passes,
    ] {
        proxy.set_next_commit(next);
        db.batch_without_outcomes(vec![earn()], changed()).await.unwrap();
        expected += 1;
        assert!(proxy.is_used_up(), "{next:?} was tried");
        assert_eq!(balance(&db).await, expected, "{next:?}");
    }
    // The first guard that fails decides, and nothing of the batch is done, whichever statement it belongs to.
    let none = |label| Stmt::new("DELETE FROM accounts WHERE id = 'b'", []).one(label);
    let returning =
        |label| Stmt::new("UPDATE accounts SET plan = 'pro' WHERE id = 'a' RETURNING id", []).rows(2, label);
    let found = |label| Stmt::new("SELECT id FROM accounts WHERE id = 'a' FOR UPDATE", []).rows(0, label);
    for (batch, label) in [
        (vec![none("first"), earn(), none("second")], "first"),
        (vec![earn(), none("last")], "last"),
        (vec![earn(), returning("two")], "two"),
        (vec![found("found"), earn()], "found"),
    ] {
        let refused = db.batch_without_outcomes(batch, changed()).await;
        assert!(matches!(refused, Err(DbError::Guard(failed)) if failed == label), "{refused:?}");
        assert_eq!(balance(&db).await, expected, "{label}");
    }
    // Guards that hold, of every kind of statement.
    let with = "WITH all_of AS (SELECT 'a' AS id) UPDATE accounts SET plan = 'pro' WHERE id IN (SELECT id FROM all_of)";
    let select = Stmt::new("SELECT id FROM accounts WHERE id = 'a' FOR UPDATE", []).one("found");
    let update = Stmt::new("UPDATE accounts SET plan = 'solo' WHERE id = 'a' RETURNING id", []).one("one");
    let batch = vec![select, Stmt::new(with, []).one("with"), update, earn()];
    db.batch_without_outcomes(batch, changed()).await.unwrap();
    assert_eq!(balance(&db).await, expected + 1);
    // A statement that cannot be sent, because its argument is of another type: the others are not committed without it.
    let unsent = Stmt::new("UPDATE accounts SET plan = 'pro' WHERE id = $1", [1_i64.into()]);
    assert!(matches!(
        db.batch_without_outcomes(vec![earn(), unsent], changed()).await,
        Err(DbError::Internal(_))
    ));
    let refused = Stmt::new("UPDATE accounts SET balance_minor = NULL WHERE id = 'a'", []);
    assert!(matches!(
        db.batch_without_outcomes(vec![earn(), refused], changed()).await,
        Err(DbError::Internal(_))
    ));
    assert_eq!(balance(&db).await, expected + 1);
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_that_the_server_runs_after_it_was_given_up_is_not_committed() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let (blocker, _task) = connect(&database.url).await;
    blocker.batch_execute("BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = 'a'").await.unwrap();
    proxy.set_next_commit(NextCommit::IsForgotten);
    let mut earning = JoinSet::new();
    earning.spawn({
        let db = db.clone();
        async move { db.batch_without_outcomes(vec![earn()], vec!["page".to_owned()]).await }
    });
    // The server still has everything to run, COMMIT included, when the batch is repeated.
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND wait_event_type = 'Lock' AND query LIKE '%balance_minor + 1%'";
    while db.get(waits, &[], |row| row.int(0)).await.unwrap() != Some(2) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    blocker.batch_execute("COMMIT").await.unwrap();
    earning.join_next().await.unwrap().unwrap().unwrap();
    // The lost transaction waited first, so it has ended.
    assert_eq!(balance(&db).await, 1);
    db.batch_without_outcomes(vec![earn()], Vec::new()).await.unwrap();
    assert_eq!(balance(&db).await, 2);
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_are_given_up_and_replaced() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    // Several connections in each pool.
    let reads = futures_util::future::join_all((0..6).map(|_| balance(&db)));
    let writes = futures_util::future::join_all((0..4).map(|_| db.batch(vec![earn()])));
    tokio::join!(reads, writes);
    proxy.strand_connections();
    let begun = Instant::now();
    let find =
        async || db.get("SELECT balance_minor FROM accounts WHERE id = 'a'", &[], |row| row.int(0)).await;
    let (first, second) = tokio::join!(find(), find());
    assert!(
        first.is_err() && second.is_err(),
        "an answer that does not arrive is an error, not a wait for ever"
    );
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    // All other connections were given up with the first one.
    let again = Instant::now();
    assert_eq!(balance(&db).await, 4);
    db.batch(vec![earn()]).await.unwrap();
    db.ping().await.unwrap();
    assert!(again.elapsed() < Duration::from_secs(5), "{:?}", again.elapsed());
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_found_while_writes_wait_for_a_lock() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    let (blocker, _task) = connect(&database.url).await;
    blocker.batch_execute("BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = 'a'").await.unwrap();
    let mut waiting = JoinSet::new();
    for _ in 0..600 {
        let db = db.clone();
        waiting.spawn(async move { db.batch(vec![earn()]).await.map(|_| ()) });
    }
    // The queue is bounded: some are refused at once, before the lock is free.
    let refused = waiting.join_next().await.unwrap().unwrap();
    assert!(matches!(refused, Err(DbError::Busy)), "{refused:?}");
    let begun = Instant::now();
    assert_eq!(balance(&db).await, 0);
    db.ping().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let uses = db.pool_use();
    let writes = uses.iter().find(|pool| pool.work == "write").unwrap();
    assert!(writes.waiting > 100 && writes.open <= writes.limit, "{writes:?}");
    blocker.batch_execute("COMMIT").await.unwrap();
    let mut done = 0;
    while let Some(answer) = waiting.join_next().await {
        match answer.unwrap() {
            Ok(()) => done += 1,
            Err(DbError::Busy | DbError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(balance(&db).await, done);
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn account_waits_for_its_own_writes_only() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(vec![account("a"), account("b")]).await.unwrap();
    let (blocker, _task) = connect(&database.url).await;
    blocker.batch_execute("BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = 'a'").await.unwrap();
    let mut waiting = JoinSet::new();
    for _ in 0..16 {
        let db = db.clone();
        waiting.spawn(async move { db.batch(vec![accounts::require_active("a"), earn()]).await });
    }
    // Nothing waits for a connection; those that are being opened count as waiting.
    let writes = |db: &Db| db.pool_use().into_iter().find(|pool| pool.work == "write").unwrap();
    while db.waiting_account_writes() < 12 || writes(&db).waiting > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = Stmt::new(EARN, ["b".into()]).one("no_account");
    let begun = Instant::now();
    db.batch(vec![accounts::require_active("b"), other]).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    blocker.batch_execute("COMMIT").await.unwrap();
    while let Some(answer) = waiting.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!(balance(&db).await, 16);
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn suspension_waits_for_batches_of_the_account_and_stops_later_ones() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(vec![account("a")]).await.unwrap();
    // A batch on another node that has passed the check and is not committed yet.
    let (other, _task) = connect(&database.url).await;
    other
        .batch_execute("BEGIN; SELECT pg_advisory_xact_lock_shared(hashtextextended('a', 0))")
        .await
        .unwrap();
    // Batches do not wait for each other, although they work for one account.
    db.batch(vec![accounts::require_active_shared("a"), account("c")]).await.unwrap();
    let mut suspending = JoinSet::new();
    suspending.spawn({
        let db = db.clone();
        async move { db.batch(vec![accounts::suspend("a", "spam", NOW)]).await.map(|_| ()) }
    });
    let waits = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while db.get(waits, &[], |row| row.int(0)).await.unwrap() != Some(1) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // One that comes later does not pass the suspension.
    let mut late = JoinSet::new();
    late.spawn({
        let db = db.clone();
        async move { db.batch(vec![accounts::require_active_shared("a"), account("d")]).await.map(|_| ()) }
    });
    while db.get(waits, &[], |row| row.int(0)).await.unwrap() != Some(2) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    other.batch_execute("COMMIT").await.unwrap();
    suspending.join_next().await.unwrap().unwrap().unwrap();
    assert!(matches!(late.join_next().await.unwrap().unwrap(), Err(DbError::Guard(accounts::SUSPENDED))));
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn caller_that_goes_away_costs_no_connection() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    balance(&db).await;
    let (admin, _task) = connect(&database.url).await;
    let processes = async || {
        let sql = "SELECT CAST(MAX(pid) AS BIGINT), COUNT(*) FROM pg_stat_activity WHERE datname = current_database()";
        let row = admin.query_one(sql, &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1))
    };
    let before = processes().await;
    for _ in 0..50 {
        // Polled once, so that the query is sent, and then dropped, nearly always before the answer.
        let read = db.get("SELECT balance_minor FROM accounts WHERE id = 'a'", &[], |row| row.int(0));
        drop(futures_util::FutureExt::now_or_never(read));
        let write = db.batch(vec![earn()]);
        drop(futures_util::FutureExt::now_or_never(write));
        balance(&db).await;
        db.ping().await.unwrap();
    }
    let (newest, count) = processes().await;
    assert!(count <= before.1 + 8, "{count} connections after {}", before.1);
    assert!(newest < before.0 + 60, "connections were replaced again and again");
    // Whatever became of the writes, no transaction is left open.
    db.batch(vec![earn()]).await.unwrap();
    db.close().await;
    database.remove().await;
}

/// A server whose commits wait for a replica that there is not.
#[tokio::test(flavor = "multi_thread")]
async fn answers_do_not_rest_on_commits_that_no_replica_has() {
    let server = PgServer::start();
    let db = Db::open(&server.url()).await.unwrap();
    db.migrate(NOW).await.unwrap();
    db.batch(vec![account("a"), account("b")]).await.unwrap();
    let (admin, _task) = connect(&server.url()).await;
    let set_replica = async |name: &str| {
        // The session that sets it does not wait itself.
        admin.batch_execute("SET synchronous_commit = local").await.unwrap();
        admin.batch_execute(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'")).await.unwrap();
        admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let is_set = "SELECT current_setting('synchronous_standby_names')";
        while admin.query_one(is_set, &[]).await.unwrap().get::<_, &str>(0) != name {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    set_replica("none").await;
    // A commit that has given up its wait, as those do of a server that shuts down: others see it, and no replica has it.
    let (writer, _writing) = connect(&server.url()).await;
    let cancel = writer.cancel_token();
    let (written, ()) = tokio::join!(
        writer.batch_execute("UPDATE accounts SET plan = 'pro', balance_minor = 7 WHERE id = 'a'"),
        async {
            let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            while admin.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancel.cancel_query(NoTls).await.unwrap();
        },
    );
    written.unwrap();
    assert_eq!(balance(&db).await, 7, "a plain read sees it");
    let is_solo = "UPDATE accounts SET plan = 'team' WHERE id = 'a' AND plan = 'solo'";
    let both = |label| vec![Stmt::new(is_solo, []).one(label), earn()];
    let mut answers = JoinSet::new();
    for step in 0..4 {
        let db = db.clone();
        answers.spawn(async move {
            match step {
                0 => matches!(db.batch(both("guard")).await, Err(DbError::Guard("guard"))),
                1 => {
                    let sent = db.batch_without_outcomes(both("sent"), Vec::new()).await;
                    matches!(sent, Err(DbError::Guard("sent")))
                }
                2 => db.exec(Stmt::new(is_solo, [])).await.unwrap().affected == 0,
                _ => {
                    let sql = "SELECT balance_minor FROM accounts WHERE id = $1";
                    db.get_durable(sql, &["a".into()], |row| row.int(0)).await.unwrap() == Some(7)
                }
            }
        });
    }
    // All of them have seen it, and wait for the replica like the write itself.
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    while admin.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) < 4 {
        assert!(answers.try_join_next().is_none(), "an answer rests on a commit that no replica has");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(answers.try_join_next().is_none());
    set_replica("").await;
    while let Some(is_right) = answers.join_next().await {
        assert!(is_right.unwrap());
    }
    let sql = "SELECT balance_minor FROM accounts WHERE id = $1";
    assert_eq!(db.get_durable(sql, &["nobody".into()], |row| row.int(0)).await.unwrap(), None);
    db.close().await;
}
