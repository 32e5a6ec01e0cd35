//! The schema: created from nothing, once, and never downgraded.

use dropleaf_store::health::latest_schema;
use dropleaf_store::{DbError, Stmt};

use crate::harness::{NOW, account, count_accounts, for_each_database};

#[tokio::test(flavor = "multi_thread")]
async fn schema_is_made_once_and_running_again_changes_nothing() {
    for_each_database(async |database| {
        let db = database.open_bare().await;
        assert!(db.exec(account("early")).await.is_err());
        db.migrate(NOW).await.unwrap();
        db.exec(account("a")).await.unwrap();
        db.migrate(NOW + 1).await.unwrap();
        let again = database.open().await;
        assert_eq!(count_accounts(&again).await, 1);
        let when =
            db.list("SELECT applied_at FROM schema_migrations", vec![], |row| row.int(0)).await.unwrap();
        assert!(when.iter().all(|at| *at == NOW));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_may_migrate_at_once() {
    for_each_database(async |database| {
        let dbs = futures_util::future::join_all((0..4).map(|_| database.open_bare())).await;
        for done in futures_util::future::join_all(dbs.iter().map(|db| db.migrate(NOW))).await {
            done.unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_schema_is_refused() {
    for_each_database(async |database| {
        let db = database.open().await;
        let newer = "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'future', 0)";
        db.exec(Stmt::new(newer, vec![])).await.unwrap();
        let refused = db.migrate(NOW).await.unwrap_err();
        assert!(matches!(refused, DbError::NewerSchema { found: 9999, known } if known == latest_schema()));
        let text = refused.to_string();
        for part in ["schema version 9999", &format!("up to {}", latest_schema()), "newer program", "backup"]
        {
            assert!(text.contains(part), "{text}");
        }
    })
    .await;
}
