//! Migrations on PostgreSQL beside running nodes: they give way to traffic, and continue where an interrupted one stopped.

use std::fs;
use std::time::Duration;

use dropleaf_store::health::latest_schema;
use tokio_postgres::Client;

use crate::harness::{NOW, TestDatabase, connect};
use crate::released_schemas::{migrations, version};

/// The next migration alters `site_versions`.
const OLD: i64 = 9;
const PATIENCE: Duration = Duration::from_mins(1);
const READ: &str = "SELECT COUNT(*) FROM site_versions";
/// Statements of other connections that wait for a lock.
const WAITING: &str = "SELECT COUNT(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE site_versions%'";

/// Creates the schema as an older program left it.
async fn make_old_schema(client: &Client) {
    let mut files: Vec<_> = fs::read_dir(migrations()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    client
        .batch_execute(
            "CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)",
        )
        .await
        .unwrap();
    for number in 1..=OLD {
        let of_version = |end: &str| {
            files.iter().find(|path| {
                let name = path.file_name().unwrap().to_str().unwrap();
                name.ends_with(end)
                    && version(name) == number
                    && name.matches('.').count() == end.matches('.').count()
            })
        };
        for path in [of_version(".sql"), of_version(".postgres.sql")].into_iter().flatten() {
            client.batch_execute(&fs::read_to_string(path).unwrap()).await.unwrap();
        }
        let record = "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, 'x', 0)";
        client.execute(record, &[&number]).await.unwrap();
    }
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_waits_for_a_lock_lets_others_through() {
    let database = TestDatabase::postgres().await;
    let (holder, reader, observer) =
        (connect(&database.url).await, connect(&database.url).await, connect(&database.url).await);
    make_old_schema(&observer).await;
    // A long transaction, such as that of a dump, which has read the table.
    holder.batch_execute("BEGIN").await.unwrap();
    number(&holder, READ).await;
    let db = database.open_bare().await;
    let migrating = db.migrate(NOW);
    let traffic = async {
        for _ in 0..2 {
            while number(&observer, WAITING).await == 0 {
                tokio::task::yield_now().await;
            }
            // Queued behind the migration, which must give up first: the holder does not.
            number(&reader, READ).await;
        }
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let (migrated, ()) = tokio::time::timeout(PATIENCE, futures_util::future::join(migrating, traffic))
        .await
        .unwrap_or_else(|_| panic!("the migration blocks the table"));
    migrated.unwrap();
    assert_eq!(number(&observer, "SELECT MAX(version) FROM schema_migrations").await, latest_schema());
    db.close().await;
    drop((holder, reader, observer));
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upgrade_keeps_what_it_did() {
    let database = TestDatabase::postgres().await;
    let client = connect(&database.url).await;
    make_old_schema(&client).await;
    // The migration after the next one fails.
    client.batch_execute("ALTER TABLE sites ADD COLUMN title_set TEXT").await.unwrap();
    let db = database.open_bare().await;
    db.migrate(NOW).await.unwrap_err();
    assert_eq!(number(&client, "SELECT MAX(version) FROM schema_migrations").await, OLD + 1);
    client.batch_execute("ALTER TABLE sites DROP COLUMN title_set").await.unwrap();
    db.migrate(NOW).await.unwrap();
    assert_eq!(number(&client, "SELECT MAX(version) FROM schema_migrations").await, latest_schema());
    db.close().await;
    drop(client);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_up_to_date_is_opened_without_locks() {
    let database = TestDatabase::postgres().await;
    database.open().await.close().await;
    let holder = connect(&database.url).await;
    holder.batch_execute("BEGIN; LOCK TABLE sites; SELECT pg_advisory_xact_lock(7241950283)").await.unwrap();
    let db = database.open_bare().await;
    tokio::time::timeout(PATIENCE, db.migrate(NOW)).await.unwrap().unwrap();
    db.close().await;
    drop(holder);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_tries_again_until_another_has_migrated() {
    // Connections between two attempts to take the lock. A statement that waits inside the server would be `active`, and a
    // transaction that stays open could be ended by the server.
    const TRYING: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND state = 'idle' AND query = 'ROLLBACK'";
    let database = TestDatabase::postgres().await;
    let (holder, observer) = (connect(&database.url).await, connect(&database.url).await);
    holder.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(7241950283)").await.unwrap();
    let db = database.open_bare().await;
    let other = async {
        while number(&observer, TRYING).await == 0 {
            tokio::task::yield_now().await;
        }
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let both = futures_util::future::join(db.migrate(NOW), other);
    let (migrated, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    migrated.unwrap();
    assert_eq!(number(&observer, "SELECT MAX(version) FROM schema_migrations").await, latest_schema());
    db.close().await;
    drop((holder, observer));
    database.remove().await;
}
