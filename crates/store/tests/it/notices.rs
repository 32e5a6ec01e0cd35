//! Changes of one node reach the others.

use std::time::Duration;

use dropleaf_store::{Db, DbError, LISTENING, Stmt};
use tokio::sync::watch;

use crate::harness::{TestDatabase, account};

/// Everything here takes less, unless it hangs.
const HANGS: Duration = Duration::from_mins(2);

type Heard = watch::Receiver<Vec<String>>;

fn hear(db: &Db) -> (Heard, tokio::task::JoinSet<()>) {
    let (log, heard) = watch::channel(Vec::new());
    let mut listener = tokio::task::JoinSet::new();
    let note = move |what: &str| log.send_modify(|all| all.push(what.to_owned()));
    listener.spawn(db.listen(note).unwrap());
    (heard, listener)
}

async fn wait_for(heard: &Heard, what: &str, times: usize) {
    let mut waiting = heard.clone();
    let is_heard = |all: &Vec<String>| all.iter().filter(|one| *one == what).count() >= times;
    let done = tokio::time::timeout(HANGS, waiting.wait_for(is_heard)).await.is_ok_and(|found| found.is_ok());
    assert!(done, "{what} was not heard {times} times: {heard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn change_is_heard_on_another_node_after_its_commit() {
    let database = TestDatabase::postgres().await;
    let (here, there) = (database.open().await, database.open().await);
    let (heard, listener) = hear(&there);
    wait_for(&heard, LISTENING, 1).await;
    let undone = here
        .batch_notify(
            vec![Stmt::new("DELETE FROM accounts WHERE id = $1", ["nobody".into()]).one("there")],
            vec!["undone".to_owned()],
        )
        .await;
    assert!(matches!(undone, Err(DbError::Guard("there"))));
    let outcomes =
        here.batch_notify(vec![account("a")], vec!["site-1".to_owned(), "site-2".to_owned()]).await.unwrap();
    assert_eq!(outcomes.len(), 1);
    wait_for(&heard, "site-1", 1).await;
    wait_for(&heard, "site-2", 1).await;
    assert!(!heard.borrow().contains(&"undone".to_owned()));
    drop(listener);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listener_comes_back_after_its_connection_was_cut() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    let (heard, listener) = hear(&db);
    wait_for(&heard, LISTENING, 1).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    db.list(cut, vec![], |row| row.flag(0)).await.unwrap();
    wait_for(&heard, LISTENING, 2).await;
    db.batch_notify(vec![], vec!["after".to_owned()]).await.unwrap();
    wait_for(&heard, "after", 1).await;
    drop(listener);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_connections_are_replaced_without_a_failed_request() {
    let database = TestDatabase::postgres().await;
    let (db, other) = (database.open().await, database.open().await);
    futures_util::future::join_all((0..8).map(|n| db.exec(account(&n.to_string())))).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    other.list(cut, vec![], |row| row.flag(0)).await.unwrap();
    for _ in 0..8 {
        db.ping().await.unwrap();
        db.batch(vec![account("a").rows(1, "new"), Stmt::new("DELETE FROM accounts WHERE id = 'a'", vec![])])
            .await
            .unwrap();
    }
    database.remove().await;
}

#[tokio::test]
async fn sqlite_has_no_other_nodes() {
    let database = TestDatabase::sqlite();
    let db = database.open().await;
    assert!(db.listen(|_| {}).is_none());
    db.batch_notify(vec![account("a")], vec!["ignored".to_owned()]).await.unwrap();
}
