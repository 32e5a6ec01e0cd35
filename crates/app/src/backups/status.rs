//! The state of scheduled backups: the last one, the next one, and whether they are late.

use super::BackupSettings;
use crate::app::App;
use dropleaf_core::Result;
use dropleaf_store::DbError;
use dropleaf_store::backup_state::{self as rows, BackupState};

/// What operators see of scheduled backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupStatus {
    /// The destination, without credentials.
    pub destination: String,
    /// When the last verified backup was taken.
    pub last: Option<i64>,
    /// The size of what it needs, compressed.
    pub stored_bytes: i64,
    /// When the next is due, or the next attempt.
    pub next: i64,
    /// Failed attempts since the last backup.
    pub failures: i64,
    /// The last backup is older than twice the interval.
    pub is_late: bool,
}

impl App {
    /// `None` if no backups are scheduled.
    pub async fn backup_status(&self) -> Result<Option<BackupStatus>> {
        let Some(settings) = &self.settings.backups else { return Ok(None) };
        let (state, now) = (self.backup_state(settings).await?, self.now());
        Ok(Some(BackupStatus {
            destination: settings.destination.name().to_owned(),
            last: state.succeeded_at,
            stored_bytes: state.stored_bytes,
            next: next_at(settings, &state, now).max(now),
            failures: state.failures,
            is_late: is_late(settings, &state, now),
        }))
    }

    /// The recorded state, which starts over when the destination changes.
    pub(super) async fn backup_state(&self, settings: &BackupSettings) -> Result<BackupState> {
        let state = self.store.find_backup_state().await?;
        let id = rows::destination_id(settings.destination.name());
        if state.destination == Some(id) {
            return Ok(state);
        }
        let now = self.now();
        match self.store.commit(rows::change_destination(id, now)).await {
            Ok(_) => {}
            Err(DbError::Guard(rows::UNCHANGED)) => return Ok(self.store.find_backup_state().await?),
            Err(error) => return Err(error.into()),
        }
        Ok(BackupState { destination: Some(id), since: Some(now), ..BackupState::default() })
    }
}

pub(super) fn next_at(settings: &BackupSettings, state: &BackupState, now: i64) -> i64 {
    let due = settings.schedule.next_after(state.succeeded_at, now);
    state.failed_at.map_or(due, |failed_at| due.max(settings.schedule.retry_after(failed_at)))
}

pub(super) fn is_late(settings: &BackupSettings, state: &BackupState, now: i64) -> bool {
    let since = state.succeeded_at.or(state.since).unwrap_or(now);
    now - since > 2 * settings.schedule.interval()
}
