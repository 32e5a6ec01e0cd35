//! Databases for one test: a SQLite file in its folder, or a separate PostgreSQL database.

use super::{NOW, pg_template};
use dropleaf_store::Db;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// In the folder of the test.
    Sqlite,
    Postgres(String),
}

impl Database {
    /// A PostgreSQL database with the current schema.
    pub(crate) async fn postgres() -> Self {
        let server = server();
        let name = format!("app_test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        pg_template::create_migrated(&server, &name, NOW).await;
        Self::Postgres(pg_template::url_of(&server, &name))
    }

    pub(crate) async fn remove(&self) {
        let Self::Postgres(url) = self else { return };
        let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
        admin(&server(), format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the services of a test run are handed over in the environment"
)]
fn server() -> String {
    let Ok(url) = std::env::var("DROPLEAF_TEST_POSTGRES") else {
        panic!(
            "DROPLEAF_TEST_POSTGRES is not set: run the tests with `scripts/with-services cargo nextest run`"
        );
    };
    url
}

/// Outside any transaction, as needed to create and drop databases.
async fn admin(server: &str, sql: String) {
    let db = Db::open(server).await.unwrap();
    db.get(Box::leak(sql.into_boxed_str()), &[], |_| Ok(())).await.unwrap();
    db.close().await;
}
