//! Databases and buckets for one test: a SQLite file in its folder, or a separate PostgreSQL database.

use super::{NOW, pg_template};
use dropleaf_store::Db;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// In the data folder, as by default.
    Sqlite,
    Postgres(String),
}

impl Database {
    /// A PostgreSQL database with the current schema.
    pub(crate) async fn postgres() -> Self {
        dropleaf::tls::install_provider();
        let (server, name) = (setting("DROPLEAF_TEST_POSTGRES"), unique("server_test"));
        pg_template::create_migrated(&server, &name, NOW).await;
        Self::Postgres(pg_template::url_of(&server, &name))
    }

    /// A PostgreSQL database that does not exist yet.
    pub(crate) fn absent() -> Self {
        Self::Postgres(pg_template::url_of(&setting("DROPLEAF_TEST_POSTGRES"), &unique("server_test")))
    }

    pub(crate) async fn create(&self) {
        self.admin("CREATE DATABASE", "TEMPLATE template0").await;
    }

    pub(crate) async fn remove(&self) {
        self.admin("DROP DATABASE", "WITH (FORCE)").await;
    }

    async fn admin(&self, verb: &str, options: &str) {
        let Self::Postgres(url) = self else { return };
        let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
        admin(&setting("DROPLEAF_TEST_POSTGRES"), format!("{verb} {name} {options}")).await;
    }
}

/// A prefix of the test bucket that no other test uses.
pub(crate) fn s3_url() -> String {
    let url = setting("DROPLEAF_TEST_S3");
    let (bucket, options) = url.split_once('?').unwrap();
    format!("{bucket}/{}?{options}", unique("server-test"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the services of a test run are handed over in the environment"
)]
fn setting(name: &str) -> String {
    let Ok(value) = std::env::var(name) else {
        panic!("{name} is not set: run the tests with `scripts/with-services cargo nextest run`");
    };
    value
}

fn unique(prefix: &str) -> String {
    format!("{prefix}_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Outside any transaction, as needed to create and drop databases.
async fn admin(server: &str, sql: String) {
    dropleaf::tls::install_provider();
    let db = Db::open(server).await.unwrap();
    db.get(Box::leak(sql.into_boxed_str()), &[], |_| Ok(())).await.unwrap();
    db.close().await;
}
