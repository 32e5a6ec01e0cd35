//! PostgreSQL databases for tests that need the current schema: copies of one that is migrated once in a run of the tests, because
//! copying takes a fraction of the time of the migrations.

use dropleaf_store::{Db, DbError};

/// Creates the database and migrates it, or copies one that was migrated at the same time.
pub(crate) async fn create_migrated(server: &str, name: &str, now: i64) {
    let template = match run_id() {
        Some(run) => template(server, &run, now).await,
        // Outside nextest nothing tells whether a database that is there has this schema.
        None => "template0".to_owned(),
    };
    run(server, format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
    if template == "template0" {
        migrate(server, name, now).await;
    }
}

/// Several tests may find that there is none yet: the first that has migrated one keeps it.
async fn template(server: &str, run_id: &str, now: i64) -> String {
    let template = format!("migrated_{run_id}_{now}");
    if exists(server, &template).await {
        return template;
    }
    let own = format!("migrated_{}_{now}", std::process::id());
    run(server, format!("CREATE DATABASE {own} TEMPLATE template0")).await.unwrap();
    migrate(server, &own, now).await;
    if run(server, format!("ALTER DATABASE {own} RENAME TO {template}")).await.is_err() {
        assert!(exists(server, &template).await, "the migrated database could not be renamed");
        run(server, format!("DROP DATABASE {own}")).await.unwrap();
    }
    template
}

async fn migrate(server: &str, name: &str, now: i64) {
    let db = Db::open(&url_of(server, name)).await.unwrap();
    db.migrate(now).await.unwrap();
    db.close().await;
}

/// The address of another database of the same server.
pub(crate) fn url_of(server: &str, name: &str) -> String {
    let (head, options) = server.split_once('?').unwrap_or((server, ""));
    let (host, _) = head.rsplit_once('/').unwrap();
    format!("{host}/{name}?{options}")
}

async fn exists(server: &str, name: &str) -> bool {
    let db = Db::open(server).await.unwrap();
    let sql = format!("SELECT COUNT(*) FROM pg_database WHERE datname = '{name}'");
    let found = db.get(Box::leak(sql.into_boxed_str()), &[], |row| row.int(0)).await.unwrap();
    db.close().await;
    found == Some(1)
}

/// Outside any transaction, as needed to create and drop databases.
async fn run(server: &str, sql: String) -> Result<(), DbError> {
    let db = Db::open(server).await?;
    let done = db.get(Box::leak(sql.into_boxed_str()), &[], |_| Ok(())).await;
    db.close().await;
    done.map(|_| ())
}

#[expect(clippy::disallowed_methods, reason = "nextest tells the tests of one run its ID in the environment")]
fn run_id() -> Option<String> {
    std::env::var("NEXTEST_RUN_ID").ok().map(|id| id.replace('-', "_"))
}
