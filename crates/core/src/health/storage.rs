//! Judges the data folder, free space and backups.

use super::{Check, Finding, size, span};

#[derive(Debug, Clone)]
pub struct DataDirFacts {
    pub path: String,
    /// `false`: it is created at the first start.
    pub exists: bool,
    /// Why a file could not be written there, or the missing folder could not be created.
    pub error: Option<String>,
}

pub fn data_dir(facts: &DataDirFacts) -> Finding {
    const CHECK: Check = Check::DataDir;
    let path = &facts.path;
    match &facts.error {
        Some(error) => Finding::problem(
            CHECK,
            format!("The server cannot write to the data folder {path}: {error}."),
            format!(
                "Create it for the user of the server (`install -d -m 700 -o dropleaf {path}`), or set `data_dir` to another folder."
            ),
        ),
        None if facts.exists => Finding::ok(CHECK, format!("Files can be written to {path}.")),
        None => Finding::ok(CHECK, format!("{path} does not exist yet; the first start creates it.")),
    }
}

#[derive(Debug, Clone, Copy)]
pub struct DiskFacts {
    pub total_bytes: u64,
    pub free_bytes: u64,
    /// `None` on file systems that do not count files.
    pub free_files: Option<u64>,
    /// The largest upload.
    pub upload_bytes: u64,
    /// Uploads that are processed at the same time.
    pub parallel_uploads: u64,
}

/// Below this, something fails soon on any server.
const LEAST_BYTES: u64 = 100 << 20;
const LOW_BYTES: u64 = 1 << 30;
const LEAST_FILES: u64 = 1000;

pub fn disk_space(facts: &DiskFacts) -> Finding {
    const CHECK: Check = Check::DiskSpace;
    const FIX: &str = "Free some space, enlarge the disk, or move `data_dir` to a larger one.";
    let (free, total) = (size(facts.free_bytes), size(facts.total_bytes));
    let needed = facts.upload_bytes.saturating_mul(facts.parallel_uploads.max(1)).max(LEAST_BYTES);
    if facts.free_bytes < LEAST_BYTES {
        return Finding::problem(
            CHECK,
            format!("Only {free} of {total} are free on the disk of `data_dir`."),
            FIX,
        );
    }
    if facts.free_files.is_some_and(|files| files < LEAST_FILES) {
        return Finding::problem(
            CHECK,
            "The file system of `data_dir` has almost no room for more files (inodes).",
            FIX,
        );
    }
    if facts.free_bytes < needed {
        return Finding::warning(
            CHECK,
            format!(
                "{free} of {total} are free on the disk of `data_dir`; uploads in progress can need {}.",
                size(needed)
            ),
            FIX,
        );
    }
    if facts.free_bytes < LOW_BYTES || facts.free_bytes < facts.total_bytes / 20 {
        return Finding::warning(
            CHECK,
            format!("{free} of {total} are free on the disk of `data_dir`."),
            FIX,
        );
    }
    Finding::ok(CHECK, format!("{free} of {total} are free on the disk of `data_dir`."))
}

/// What is known about scheduled backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupFacts {
    /// The record of backups could not be read; the reason contains no secret.
    Unknown(String),
    NotScheduled {
        /// Whether there is a destination, without a schedule.
        has_destination: bool,
    },
    Scheduled(ScheduledBackups),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledBackups {
    /// Without credentials.
    pub destination: String,
    /// The time between two backups.
    pub interval: i64,
    /// When the last verified one was taken.
    pub last: Option<i64>,
    /// Since when they go to this destination; `None` if the server has not started with it yet.
    pub since: Option<i64>,
    /// Failed attempts since the last one.
    pub failures: i64,
}

pub fn backup(facts: &BackupFacts, now: i64) -> Finding {
    const CHECK: Check = Check::Backup;
    match facts {
        BackupFacts::Unknown(why) => Finding::not_checked(CHECK, why.as_str()),
        BackupFacts::NotScheduled { has_destination: false } => Finding::warning(
            CHECK,
            "No backups are scheduled, so a broken disk or a mistake loses every page.",
            "Set `backup.to` to a bucket or folder on another machine, as docs/backup.md describes.",
        ),
        BackupFacts::NotScheduled { has_destination: true } => Finding::warning(
            CHECK,
            "`backup.to` is set, but no backups are scheduled.",
            "Set `backup.every`, for example to \"24h\" (docs/backup.md), or run `dropleaf backup` every day yourself.",
        ),
        BackupFacts::Scheduled(backups) => scheduled(backups, now),
    }
}

fn scheduled(backups: &ScheduledBackups, now: i64) -> Finding {
    const CHECK: Check = Check::Backup;
    const FIX: &str = "Run `dropleaf backup` with the settings of the server: it takes one at once, or says why it cannot. See also \
                       docs/backup.md.";
    let to = &backups.destination;
    let Some(reference) = backups.last.or(backups.since) else {
        return Finding::not_checked(
            CHECK,
            format!("There is no backup in {to} yet; a running server takes the first within minutes."),
        );
    };
    let age = now - reference;
    let state = match backups.last {
        Some(_) => format!("The last backup to {to} was taken {} ago.", span(age)),
        None => format!("There is no backup in {to} yet, {} after it was set.", span(age)),
    };
    let failed = match backups.failures {
        0 => String::new(),
        1 => " One attempt failed since then.".to_owned(),
        failures => format!(" {failures} attempts failed since then."),
    };
    if age > backups.interval.saturating_mul(2) {
        return Finding::problem(
            CHECK,
            format!("{state} One is due every {}.{failed}", span(backups.interval)),
            FIX,
        );
    }
    match (backups.failures, backups.last) {
        (0, Some(_)) => Finding::ok(CHECK, state),
        (0, None) => Finding::not_checked(CHECK, state),
        _ => Finding::warning(CHECK, format!("{state}{failed}"), FIX),
    }
}
