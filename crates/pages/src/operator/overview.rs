//! The operator's overview: statistics, the latest audit entries, and a form to take down any page.

use super::audit::about;
use super::{at, stylesheet};
use crate::dashboard::{Section, Shell};
use crate::{Elapsed, Html, Moment, Size};
use askama::Template;
use dropleaf_core::audit::AuditEntry;

/// A number with its label.
#[derive(Debug)]
pub struct Figure {
    pub value: String,
    pub label: &'static str,
}

/// What was typed into the takedown form.
#[derive(Debug, Clone, Copy, Default)]
pub struct TakedownForm<'a> {
    pub page: &'a str,
    pub reason: &'a str,
    pub problem: Option<&'a str>,
    /// The URL of the page that has just been taken down.
    pub gone: Option<&'a str>,
}

/// The state of scheduled backups.
#[derive(Debug, Clone, Copy)]
pub struct BackupLine {
    pub last: Option<Moment>,
    pub size: Size,
    pub next: Moment,
    /// Failed attempts since the last backup.
    pub failures: i64,
    pub is_late: bool,
}

#[derive(Debug, Template)]
#[template(path = "operator.html")]
pub struct OverviewPage<'a> {
    pub shell: Shell<'a>,
    pub figures: Vec<Figure>,
    pub counted: Option<Moment>,
    /// None: no backups are scheduled.
    pub backup: Option<BackupLine>,
    pub version: &'a str,
    pub uptime: Elapsed,
    pub entries: &'a [AuditEntry],
    pub form: TakedownForm<'a>,
    /// The names of missing settings without which lost payments cannot be looked up.
    pub missing_chains: Vec<&'static str>,
    /// Whether the forms are accepted now; otherwise they ask to sign in again.
    pub is_recent: bool,
}

impl OverviewPage<'_> {
    fn is_backup_late(&self) -> bool {
        self.backup.is_some_and(|backup| backup.is_late || backup.failures > 0)
    }
}

pub fn overview(page: &OverviewPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
