//! Runs a backup that is due: takes it, verifies it, and then deletes old ones. One node at a time.

use super::BackupSettings;
use super::status::next_at;
use crate::app::App;
use dropleaf_core::Result;
use dropleaf_store::backup::{
    BackupError, BackupInfo, Depth, NewBackup, Pruned, Repository, backup_to, empty_folder, prune, verify_in,
};
use dropleaf_store::backup_state::{self as rows, BackupState};
use std::sync::PoisonError;
use tokio_util::sync::CancellationToken;

const LEASE: &str = "scheduled_backup";

/// What became of a scheduled backup.
#[derive(Debug)]
pub enum BackupOutcome {
    /// Nothing is scheduled or due, or another node does it.
    NotDue,
    /// Taken and verified.
    Done {
        info: Box<BackupInfo>,
        pruned: Option<Pruned>,
    },
    Failed(BackupError),
    /// The server stops; the next start continues.
    Stopped,
}

impl App {
    /// Takes the scheduled backup if it is due, and warns operators if the last is too old. Ends soon after `stop` does.
    pub async fn run_due_backup(&self, stop: impl Future<Output = ()>) -> Result<BackupOutcome> {
        let Some(settings) = &self.settings.backups else { return Ok(BackupOutcome::NotDue) };
        let state = self.backup_state(settings).await?;
        if !self.is_backup_due(settings, &state) && !self.is_warning_due(settings, &state) {
            return Ok(BackupOutcome::NotDue);
        }
        let lost = CancellationToken::new();
        let work = async {
            // Another node may have done it since.
            let state = self.backup_state(settings).await?;
            let outcome = if self.is_backup_due(settings, &state) {
                let stop = async {
                    tokio::select! { () = stop => {}, () = lost.cancelled() => {} }
                };
                self.run_backup(settings, &state, stop).await?
            } else {
                BackupOutcome::NotDue
            };
            if let Err(error) = self.warn_of_late_backups(settings).await {
                tracing::warn!(%error, "operators not warned of failing backups, will retry");
            }
            Ok(outcome)
        };
        // Boxed because the state of a backup is large.
        let done = Box::pin(self.with_work_lease(LEASE, work, || lost.cancel())).await?;
        done.unwrap_or(Ok(BackupOutcome::NotDue))
    }

    fn is_backup_due(&self, settings: &BackupSettings, state: &BackupState) -> bool {
        let now = self.now();
        next_at(settings, state, now) <= now
    }

    async fn run_backup(
        &self,
        settings: &BackupSettings,
        state: &BackupState,
        stop: impl Future<Output = ()>,
    ) -> Result<BackupOutcome> {
        tracing::info!(to = settings.destination.name(), "backup started");
        match self.take_and_verify(settings, stop).await {
            Ok((repository, info)) => {
                let bytes = i64::try_from(info.stored_bytes()).unwrap_or(i64::MAX);
                self.store.commit(rows::record_success(bytes, info.taken_at)).await?;
                self.remember_error(None);
                let pruned = match self.prune_backups(settings, &repository, &info).await {
                    Ok(pruned) => {
                        if pruned.unreadable > 0 {
                            tracing::warn!(
                                unreadable = pruned.unreadable,
                                "bodies of old backups not deleted, because some backups cannot be read"
                            );
                        }
                        Some(pruned)
                    }
                    Err(error) => {
                        tracing::warn!(%error, "old backups not deleted, will retry after the next backup");
                        None
                    }
                };
                Ok(BackupOutcome::Done { info: Box::new(info), pruned })
            }
            Err(BackupError::Stopped) => Ok(BackupOutcome::Stopped),
            Err(error) => {
                self.remember_error(Some(error.to_string()));
                self.store.commit(rows::record_failure(state.failures + 1, self.now())).await?;
                Ok(BackupOutcome::Failed(error))
            }
        }
    }

    async fn take_and_verify(
        &self,
        settings: &BackupSettings,
        stop: impl Future<Output = ()>,
    ) -> Result<(Repository, BackupInfo), BackupError> {
        let repository = Repository::open(&settings.destination)?;
        let service = self.hosts.base.url();
        let new = NewBackup {
            clock: self.clock.as_ref(),
            work_dir: &settings.work_dir,
            service: &service,
            minter: &self.minter,
        };
        let (db, blobs) = (&self.store.db, &self.store.blobs);
        let info = backup_to(db, blobs, &repository, new, stop, &|_| {}).await?;
        let folder = &settings.check_dir;
        empty_folder(folder)?;
        let verified = verify_in(&repository, &info, Depth::Presence, folder, &|_| {}).await;
        let _ = std::fs::remove_dir_all(folder);
        verified?;
        Ok((repository, info))
    }

    async fn prune_backups(
        &self,
        settings: &BackupSettings,
        repository: &Repository,
        verified: &BackupInfo,
    ) -> Result<Pruned, BackupError> {
        let folder = &settings.check_dir;
        empty_folder(folder)?;
        let pruned = prune(repository, settings.retention, verified, self.clock.as_ref(), folder).await;
        let _ = std::fs::remove_dir_all(folder);
        pruned
    }

    fn remember_error(&self, error: Option<String>) {
        *self.backups.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}
