//! Backs up a running service and restores backups; also migrates between SQLite and PostgreSQL.
//!
//! A single backup is a folder: `dropleaf.db` (an SQLite file, whichever database was the source), `blobs/` (every object that
//! its rows refer to) and `manifest.json`, written last. A [`Repository`] in a bucket or a folder holds many backups, which
//! share their bodies. When to take and delete backups is left to the caller.

mod destination_lock;
mod error;
mod files;
mod info;
mod lease;
mod manifest;
mod pack;
mod prune;
mod repository;
mod restore;
mod rows_pg;
mod rows_sqlite;
mod sealing;
mod spool;
mod take;
mod target;
mod unpack;

pub use error::BackupError;
pub use files::empty_folder;
pub use info::BackupInfo;
pub use pack::{NewBackup, backup_to};
pub use prune::{Pruned, prune};
pub use repository::{BackupList, Destination, Repository, UnreadableBackup};
pub use restore::{restore, restore_from, verify_folder};
pub use sealing::BackupKey;
pub use take::backup;
pub use unpack::{Depth, verify_in};

use std::collections::BTreeMap;

use crate::db::migrate::MIGRATIONS;

const DATABASE: &str = "dropleaf.db";
const OBJECTS: &str = "blobs";
const MANIFEST: &str = "manifest.json";
/// Tables that may have rows in a database that counts as empty.
const KEPT_TABLES: [&str; 2] = ["schema_migrations", "leases"];

/// The progress of a backup or a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Old backups are being deleted there.
    Waiting,
    Verifying {
        done: u64,
        total: u64,
    },
    Database,
    Objects {
        done: u64,
        total: u64,
    },
}

/// What a finished backup or restore holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Rows per table.
    pub rows: BTreeMap<String, u64>,
    pub objects: u64,
    pub object_bytes: u64,
}

/// Called with the progress of the work.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Every table of a schema version in the order the migrations create them, so parents come before children.
fn tables(schema: i64) -> Vec<&'static str> {
    let known = MIGRATIONS.iter().take(usize::try_from(schema).unwrap_or(0));
    let made = known.flat_map(|step| step.sql.lines()).filter_map(|line| line.strip_prefix("CREATE TABLE "));
    let names = made.filter_map(|rest| rest.split(['(', ' ']).next());
    std::iter::once("schema_migrations").chain(names).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_come_from_the_migrations_parents_first() {
        let tables = super::tables(crate::db::migrate::latest());
        let place = |name: &str| tables.iter().position(|table| *table == name).unwrap();
        assert!(place("accounts") < place("sites"));
        assert!(place("blobs") < place("bundle_files"));
        assert!(place("sites") < place("site_versions"));
        assert_eq!(tables[0], "schema_migrations");
    }
}
