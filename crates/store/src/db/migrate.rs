//! Brings a database to the schema this program knows. The same texts run on both databases, each exactly once.

use rusqlite::{Connection, TransactionBehavior};

use super::DbError;

/// Every migration, oldest first; the position is the version.
pub(crate) const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_publishing", include_str!("../../migrations/0001_publishing.sql")),
    ("0002_viewers", include_str!("../../migrations/0002_viewers.sql")),
    ("0003_people", include_str!("../../migrations/0003_people.sql")),
    ("0004_mcp", include_str!("../../migrations/0004_mcp.sql")),
    ("0005_payments", include_str!("../../migrations/0005_payments.sql")),
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

/// The migrations between the version found and the version wanted, with their numbers.
pub(super) fn pending(found: i64, wanted: i64) -> Result<Vec<(i64, &'static str, &'static str)>, DbError> {
    if found > latest() {
        return Err(DbError::internal(format!(
            "the database has schema {found}, this program knows only up to {}: use a newer program",
            latest()
        )));
    }
    let numbered = (1..).zip(MIGRATIONS).map(|(version, (name, sql))| (version, *name, *sql));
    Ok(numbered.filter(|(version, ..)| *version > found && *version <= wanted).collect())
}

pub(crate) fn sqlite(connection: &mut Connection, wanted: i64, now: i64) -> Result<(), DbError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLE)?;
    let found = transaction.query_row(CURRENT, [], |row| row.get(0))?;
    for (version, name, sql) in pending(found, wanted)? {
        transaction.execute_batch(sql)?;
        transaction.execute(RECORD, (version, name, now))?;
    }
    transaction.commit()?;
    Ok(())
}
