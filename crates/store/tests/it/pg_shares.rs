//! The share of an account in the connections of a node, when its callers go away.

use std::time::Duration;

use dropleaf_store::{Db, DbError, FenceKind, Stmt};
use tokio::task::JoinSet;

use crate::harness::{Connection, TestDatabase, account, connect, text};
use crate::pg_proxy::PgProxy;

/// Everything here takes less, unless it hangs.
const HANGS: Duration = Duration::from_mins(1);
/// Batches of one account that run at once.
const SHARE: i64 = 4;

/// Uses up the account's share with batches that wait for a lock in the server, and whose callers then go away.
async fn abandon_writes(db: &Db, observer: &Connection) {
    let mut writes = JoinSet::new();
    for _ in 0..SHARE {
        let db = db.clone();
        let stmt = Stmt::new("UPDATE accounts SET balance_minor = balance_minor + 1 WHERE id = 'a'", []);
        writes.spawn(async move { db.batch(vec![stmt.fence("a", FenceKind::PermitOnly)]).await });
    }
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while observer.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) < SHARE {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    writes.shutdown().await;
}

/// A write of the same account that needs no lock. Returns when it waits for the share.
async fn next_write(db: &Db, id: &'static str) -> JoinSet<Result<(), DbError>> {
    let mut next = JoinSet::new();
    next.spawn({
        let db = db.clone();
        async move { db.batch(vec![account(id).fence("a", FenceKind::PermitOnly)]).await.map(|_| ()) }
    });
    let waits = async {
        while db.waiting_account_writes() != 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANGS, waits).await.unwrap();
    next
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_writes_keep_the_share_until_their_connections_are_clean_or_closed() {
    let database = TestDatabase::postgres().await;
    database.open().await.exec(account("a")).await.unwrap();
    let proxy = PgProxy::start(&database.url).await;
    let db = Db::open(&proxy.url).await.unwrap();
    let (blocker, observer) = (connect(&database.url).await, connect(&database.url).await);
    let block = "BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = 'a'";

    blocker.batch_execute(block).await.unwrap();
    abandon_writes(&db, &observer).await;
    let mut next = next_write(&db, "b").await;
    // The server answers, and the connections are clean.
    blocker.batch_execute("COMMIT").await.unwrap();
    next.join_next().await.unwrap().unwrap().unwrap();

    // Now the answers do not arrive.
    blocker.batch_execute(block).await.unwrap();
    abandon_writes(&db, &observer).await;
    proxy.strand_connections();
    blocker.batch_execute("COMMIT").await.unwrap();
    let mut next = next_write(&db, "c").await;
    // When another connection is found dead, they are closed at once.
    let cut = "SELECT CAST(pg_terminate_backend(pg_backend_pid()) AS TEXT)";
    db.list(cut, Vec::new(), text).await.unwrap_err();
    next.join_next().await.unwrap().unwrap().unwrap();
    db.close().await;
    drop((blocker, observer));
    database.remove().await;
}
