//! Scheduled backups: whether one is due, running it on one node, and what operators are told. Taking and deleting backups
//! is in `store/backup`.

mod late_warning;
mod run;
mod status;

pub use run::BackupOutcome;
pub use status::BackupStatus;

use dropleaf_core::backup_schedule::{BackupRetention, BackupSchedule};
use dropleaf_store::backup::Destination;
use std::path::PathBuf;
use std::sync::Mutex;

/// When backups are made, and where they go.
#[derive(Debug, Clone)]
pub struct BackupSettings {
    pub destination: Destination,
    pub schedule: BackupSchedule,
    pub retention: BackupRetention,
    /// Folders for temporary files; emptied before each use.
    pub work_dir: PathBuf,
    pub check_dir: PathBuf,
}

/// The state of backups on this node.
#[derive(Debug, Default)]
pub(crate) struct Backups {
    /// Why the last attempt of this node failed.
    last_error: Mutex<Option<String>>,
}
