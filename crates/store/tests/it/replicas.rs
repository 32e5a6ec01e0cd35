//! Replicas are read while they are current, never before a change that this process knows of, and are left out when they lag.

use std::time::Duration;

use dropleaf_store::{Db, PgOptions, Stmt};
use tokio::task::JoinSet;

use crate::harness::{NOW, account, connect, count_accounts, install_crypto};
use crate::pg_server::PgServer;

/// Everything here takes less, unless it hangs.
const HANGS: Duration = Duration::from_mins(2);
const LONG: Option<Duration> = Some(Duration::from_hours(1));

struct Replicated {
    db: Db,
    /// Connected to the replica itself.
    there: Db,
    primary: PgServer,
    _replica: PgServer,
    _watch: JoinSet<()>,
}

impl Replicated {
    async fn start(max_lag: Duration) -> Self {
        install_crypto();
        let primary = PgServer::start();
        let replica = primary.start_replica();
        let options = PgOptions { read_urls: vec![replica.url()], max_lag, listen_url: None };
        let db = Db::open_with(&primary.url(), &options).await.unwrap();
        db.migrate(NOW).await.unwrap();
        let mut watch = JoinSet::new();
        watch.spawn(db.watch_replicas().unwrap());
        let there = Db::open(&replica.url()).await.unwrap();
        Self { db, there, primary, _replica: replica, _watch: watch }
    }

    /// The replica, as soon as it is current for this name.
    async fn replica(&self, name: &str) -> Db {
        let found = async {
            loop {
                match self.db.find_replica(name, None) {
                    Some((replica, _)) => return replica,
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        tokio::time::timeout(HANGS, found).await.unwrap()
    }

    /// Waits until the replica is not used.
    async fn is_left_out(&self, name: &str) {
        let left_out = async {
            while self.db.find_replica(name, None).is_some() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(HANGS, left_out).await.unwrap();
    }

    /// Stops the replica from applying changes, or lets it go on.
    async fn pause(&self, pause: bool) {
        let ask = if pause { "SELECT pg_wal_replay_pause()" } else { "SELECT pg_wal_replay_resume()" };
        self.there.get(ask, &[], |_| Ok(())).await.unwrap();
        let paused = "SELECT CAST(COUNT(*) AS BIGINT) FROM pg_get_wal_replay_pause_state() AS state WHERE state = 'paused'";
        let done = async {
            while self.there.get(paused, &[], |row| row.int(0)).await.unwrap() != Some(i64::from(pause)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(HANGS, done).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn own_changes_are_never_read_from_a_replica_without_them() {
    let replicated = Replicated::start(Duration::from_secs(1)).await;
    for round in 0..8 {
        replicated
            .db
            .batch_notify(vec![account(&format!("a{round}"))], vec!["t:a".to_owned()])
            .await
            .unwrap();
        let replica = replicated.replica("t:a").await;
        assert_eq!(count_accounts(&replica).await, round + 1);
    }
    replicated.pause(true).await;
    replicated.db.batch_notify(vec![account("paused")], vec!["t:a".to_owned()]).await.unwrap();
    assert!(replicated.db.find_replica("t:a", LONG).is_none());
    // A few names may share their group with the changed one.
    let others = (0..10).filter(|n| replicated.db.find_replica(&format!("t:{n}"), LONG).is_some()).count();
    assert!(others > 5);
    replicated.pause(false).await;
    let replica = replicated.replica("t:a").await;
    assert_eq!(count_accounts(&replica).await, 9);
    assert!(replica.exec(account("read only")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_lags_is_left_out_until_it_is_current_again() {
    let replicated = Replicated::start(Duration::from_millis(300)).await;
    replicated.replica("t:a").await;
    replicated.pause(true).await;
    replicated.is_left_out("t:a").await;
    replicated.pause(false).await;
    replicated.replica("t:a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_primary_a_replica_is_read_only_by_those_who_accept_its_age() {
    let replicated = Replicated::start(Duration::from_millis(300)).await;
    replicated.db.batch_notify(vec![account("a")], vec!["t:a".to_owned()]).await.unwrap();
    replicated.replica("t:a").await;
    replicated.primary.kill();
    replicated.is_left_out("t:a").await;
    let (replica, age) = replicated.db.find_replica("t:a", LONG).unwrap();
    assert!(age > Duration::from_millis(300));
    assert_eq!(count_accounts(&replica).await, 1);
    assert!(replicated.db.get("SELECT 1", &[], |_| Ok(())).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_a_caller_that_went_away_is_not_missed() {
    let replicated = Replicated::start(Duration::from_secs(1)).await;
    let db = &replicated.db;
    db.exec(account("a")).await.unwrap();
    replicated.replica("t:a").await;
    replicated.pause(true).await;
    let blocker = connect(&replicated.primary.url()).await;
    blocker.batch_execute("BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = 'a'").await.unwrap();
    let mut writing = JoinSet::new();
    writing.spawn({
        let db = db.clone();
        let stmt = Stmt::new("UPDATE accounts SET balance_minor = 1 WHERE id = 'a'", []);
        async move { db.batch_notify(vec![stmt], vec!["t:a".to_owned()]).await }
    });
    let waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted";
    while db.get(waits, &[], |row| row.int(0)).await.unwrap() != Some(1) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(db.find_replica("t:a", LONG).is_some());
    writing.shutdown().await;
    blocker.batch_execute("COMMIT").await.unwrap();
    // When the server has answered, the batch counts as done, whatever has become of it.
    let marked = async {
        while db.find_replica("t:a", LONG).is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANGS, marked).await.unwrap();
    replicated.pause(false).await;
    replicated.replica("t:a").await;
}
