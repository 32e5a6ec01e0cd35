//! Migrates a database to the schema of this version. Both databases run the same SQL, each migration exactly once, followed
//! by a separate text for what only one of them understands.

use rusqlite::{Connection, TransactionBehavior};

use super::DbError;

/// One step of the schema.
#[derive(Debug)]
pub(crate) struct Migration {
    name: &'static str,
    /// Runs on both databases; creates every table.
    pub(crate) sql: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! both {
    ($name:literal) => {
        Migration {
            name: $name,
            sql: include_str!(concat!("../../migrations/", $name, ".sql")),
            sqlite: "",
            postgres: "",
        }
    };
}

macro_rules! each {
    ($name:literal) => {
        Migration {
            sqlite: include_str!(concat!("../../migrations/", $name, ".sqlite.sql")),
            postgres: include_str!(concat!("../../migrations/", $name, ".postgres.sql")),
            ..both!($name)
        }
    };
}

/// Every migration, oldest first; the position is the version.
pub(crate) const MIGRATIONS: &[Migration] = &[
    both!("0001_publishing"),
    both!("0002_viewers"),
    both!("0003_people"),
    both!("0004_mcp"),
    each!("0005_payments"),
    each!("0006_safety"),
    both!("0007_card_sandbox"),
    both!("0008_pay_sessions"),
    both!("0009_domains"),
    both!("0010_version_makers"),
    both!("0011_titles"),
    both!("0012_mcp_answers"),
    both!("0013_feedback_threads"),
    both!("0014_live_pages"),
    both!("0015_webhooks"),
    both!("0016_notifications"),
    both!("0017_attention"),
    both!("0018_key_delivery"),
];

pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)";
pub(crate) const CURRENT: &str = "SELECT COALESCE(MAX(version), 0) FROM schema_migrations";
pub(super) const RECORD: &str =
    "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)";

/// The version this program needs.
pub(crate) fn latest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Refuses a database that a newer program has upgraded.
pub(crate) fn check_known(found: i64) -> Result<(), DbError> {
    let known = latest();
    if found > known { Err(DbError::NewerSchema { found, known }) } else { Ok(()) }
}

/// A migration that has to run.
pub(super) struct Pending {
    pub(super) version: i64,
    migration: &'static Migration,
}

impl Pending {
    pub(super) const fn name(&self) -> &'static str {
        self.migration.name
    }

    const fn for_sqlite(&self) -> [&'static str; 2] {
        [self.migration.sql, self.migration.sqlite]
    }

    pub(super) const fn for_postgres(&self) -> [&'static str; 2] {
        [self.migration.sql, self.migration.postgres]
    }
}

/// The migrations after version `found`, up to `wanted`.
pub(super) fn pending(found: i64, wanted: i64) -> Result<Vec<Pending>, DbError> {
    check_known(found)?;
    let numbered = (1..).zip(MIGRATIONS).map(|(version, migration)| Pending { version, migration });
    Ok(numbered.filter(|step| step.version > found && step.version <= wanted).collect())
}

pub(crate) fn sqlite(connection: &mut Connection, wanted: i64, now: i64) -> Result<(), DbError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLE)?;
    let found = transaction.query_row(CURRENT, [], |row| row.get(0))?;
    for step in pending(found, wanted)? {
        for sql in step.for_sqlite() {
            transaction.execute_batch(sql)?;
        }
        transaction.execute(RECORD, (step.version, step.name(), now))?;
    }
    transaction.commit()?;
    Ok(())
}
