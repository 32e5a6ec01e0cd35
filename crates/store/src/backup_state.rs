//! SQL for the state of scheduled backups, kept as rows of `figures` whose names begin with `backup_`.

use crate::db::{DbError, Stmt};
use crate::service_stats::set;
use crate::store::Store;

const DESTINATION: &str = "backup_destination";
const SUCCEEDED: &str = "backup_succeeded";
const FAILED: &str = "backup_failed";
const WARNED: &str = "backup_warned";
/// Backups go there already.
pub const UNCHANGED: &str = "backup_destination_unchanged";

/// What is recorded about scheduled backups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupState {
    /// Tells destinations apart.
    pub destination: Option<i64>,
    /// Since when backups go there.
    pub since: Option<i64>,
    /// When the last verified backup was taken, and its size.
    pub succeeded_at: Option<i64>,
    pub stored_bytes: i64,
    /// Failures since then, and the last.
    pub failures: i64,
    pub failed_at: Option<i64>,
    /// When operators were last told about the failures.
    pub warned_at: Option<i64>,
}

impl Store {
    pub async fn find_backup_state(&self) -> Result<BackupState, DbError> {
        let sql = "SELECT name, value, at FROM figures WHERE name LIKE 'backup~_%' ESCAPE '~'";
        let rows =
            self.db.list(sql, Vec::new(), |row| Ok((row.string(0)?, row.int(1)?, row.int(2)?))).await?;
        let mut state = BackupState::default();
        for (name, value, at) in rows {
            match name.as_str() {
                DESTINATION => (state.destination, state.since) = (Some(value), Some(at)),
                SUCCEEDED => (state.stored_bytes, state.succeeded_at) = (value, Some(at)),
                FAILED => (state.failures, state.failed_at) = (value, Some(at)),
                WARNED => state.warned_at = Some(at),
                _ => {}
            }
        }
        Ok(state)
    }
}

/// Tells destinations apart by their name.
pub fn destination_id(name: &str) -> i64 {
    let hash = blake3::hash(name.as_bytes());
    let first: [u8; 8] = std::array::from_fn(|at| hash.as_bytes()[at]);
    i64::from_be_bytes(first)
}

/// Starts over with another destination.
pub fn set_destination(destination: i64, now: i64) -> Vec<Stmt> {
    let mut stmts = vec![set(DESTINATION, destination, now)];
    stmts.extend([SUCCEEDED, FAILED, WARNED].map(delete));
    stmts
}

/// The same, unless it is the destination already: another node may have changed it in the meantime and recorded a failure.
pub fn change_destination(destination: i64, now: i64) -> Vec<Stmt> {
    let mut stmts = set_destination(destination, now);
    stmts[0] = Stmt::new(
        "INSERT INTO figures (name, value, at) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at \
         WHERE figures.value <> excluded.value",
        vec![DESTINATION.into(), destination.into(), now.into()],
    )
    .one(UNCHANGED);
    stmts
}

pub fn record_success(stored_bytes: i64, taken_at: i64) -> Vec<Stmt> {
    vec![set(SUCCEEDED, stored_bytes, taken_at), delete(FAILED), delete(WARNED)]
}

pub fn record_failure(failures: i64, now: i64) -> Vec<Stmt> {
    vec![set(FAILED, failures, now)]
}

pub fn mark_warned(now: i64) -> Vec<Stmt> {
    vec![set(WARNED, 0, now)]
}

fn delete(name: &str) -> Stmt {
    Stmt::new("DELETE FROM figures WHERE name = $1", vec![name.into()])
}
