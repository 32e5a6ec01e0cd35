//! PostgreSQL at several addresses, or at one where another server takes the place of the primary.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dropleaf_store::{Db, DbError, LISTENING};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::harness::{NOW, TestDatabase, account, count_accounts, install_crypto};
use crate::pg_proxy::{Link, PgProxy};
use crate::pg_server::PgServer;

/// Everything here takes less, unless it hangs.
const HANGS: Duration = Duration::from_mins(1);

async fn find_count(db: &Db) -> Result<Option<i64>, DbError> {
    db.get("SELECT COUNT(*) FROM accounts", &[], |row| row.int(0)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_accepts_connections_and_says_nothing_is_passed_over() {
    let database = TestDatabase::postgres().await;
    database.open().await.close().await;
    let (silent, other) = (PgProxy::start(&database.url).await, PgProxy::start(&database.url).await);
    let both = format!("{},{}", silent.address(), other.address());
    let url = silent.url.replace(silent.address(), &both);
    silent.set_link(Link::Silent);
    let begun = Instant::now();
    let db = Db::open(&url).await.unwrap();
    db.exec(account("a")).await.unwrap();
    assert_eq!(count_accounts(&db).await, 1);
    // Two connections were opened.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    db.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replica_in_place_of_the_primary_is_not_read() {
    install_crypto();
    let primary = PgServer::start();
    let proxy = PgProxy::start(&primary.url()).await;
    let db = Db::open(&proxy.url).await.unwrap();
    db.migrate(NOW).await.unwrap();
    db.exec(account("a")).await.unwrap();
    // It is a copy of this moment, and follows.
    let replica = primary.start_replica();
    let listening = Arc::new(Notify::new());
    let mut listener = JoinSet::new();
    let heard = Arc::clone(&listening);
    listener.spawn(
        db.listen(move |what| {
            if what == LISTENING {
                heard.notify_one();
            }
        })
        .unwrap(),
    );
    tokio::time::timeout(HANGS, listening.notified()).await.unwrap();
    assert_eq!(count_accounts(&db).await, 1);
    db.ping().await.unwrap();

    proxy.set_server(&replica.url());
    // Noticed as soon as changes cannot be listened for.
    let refused = async {
        loop {
            match find_count(&db).await {
                Err(DbError::Unavailable(reason)) if reason.to_string().contains("replica") => return,
                Ok(_) | Err(DbError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::time::timeout(HANGS, refused).await.unwrap();
    // It stays so, although the replica would answer.
    for _ in 0..20 {
        assert!(matches!(find_count(&db).await, Err(DbError::Unavailable(_))));
    }
    assert!(matches!(db.ping().await, Err(DbError::Unavailable(_))));
    assert!(db.exec(account("b")).await.is_err());

    proxy.set_server(&primary.url());
    let recovered = async {
        while find_count(&db).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANGS, recovered).await.unwrap();
    db.ping().await.unwrap();
    db.exec(account("c")).await.unwrap();
    assert_eq!(count_accounts(&db).await, 2);
    db.close().await;
}
