//! Keeps a deletion of old bodies and a backup apart in a repository, which several services may share: a backup relies on
//! bodies that it found there.
//!
//! Each side first writes its own lock, then looks for locks of the other kind. The store shows a written object to every
//! later listing, so at least one of them sees the other; the deletion gives way.

use std::time::{Duration, Instant};

use super::repository::Repository;
use super::{BackupError, OnProgress, Progress};

/// A lock that is not renewed is ignored after this time.
const HELD_SECONDS: i64 = 600;
const RENEWED_EVERY: Duration = Duration::from_mins(1);
const WAIT_FOR_DELETION: Duration = Duration::from_secs(1);
const WAITS: u32 = 60;
const LOCK_MOST: u64 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockKind {
    Backup,
    Deletion,
}

impl LockKind {
    const fn prefix(self) -> &'static str {
        match self {
            LockKind::Backup => "backup-",
            LockKind::Deletion => "deletion-",
        }
    }

    const fn other(self) -> Self {
        match self {
            LockKind::Backup => LockKind::Deletion,
            LockKind::Deletion => LockKind::Backup,
        }
    }
}

/// A lock in a repository.
pub(super) struct DestinationLock<'a> {
    repository: &'a Repository,
    path: String,
    now: i64,
    started: Instant,
}

impl<'a> DestinationLock<'a> {
    /// `None` if a deletion has to give way to a backup.
    pub(super) async fn take(
        repository: &'a Repository,
        kind: LockKind,
        id: &str,
        now: i64,
        progress: OnProgress<'_>,
    ) -> Result<Option<Self>, BackupError> {
        let path = format!("locks/{}{id}", kind.prefix());
        let lock = Self { repository, path, now, started: Instant::now() };
        lock.renew().await?;
        let mut waits = 0;
        loop {
            match lock.has_other(kind.other()).await {
                Ok(false) => return Ok(Some(lock)),
                Ok(true) if kind == LockKind::Backup && waits < WAITS => waits += 1,
                Ok(true) => {
                    lock.release().await;
                    if kind == LockKind::Deletion {
                        return Ok(None);
                    }
                    return Err(BackupError::Refused(format!(
                        "old backups are being deleted from {}: try again in a few minutes",
                        repository.name
                    )));
                }
                Err(error) => {
                    lock.release().await;
                    return Err(error);
                }
            }
            progress(Progress::Waiting);
            tokio::time::sleep(WAIT_FOR_DELETION).await;
        }
    }

    fn clock(&self) -> i64 {
        self.now + i64::try_from(self.started.elapsed().as_secs()).unwrap_or(0)
    }

    async fn renew(&self) -> Result<(), BackupError> {
        self.repository.put_text(&self.path, format!("{}\n", self.clock() + HELD_SECONDS)).await
    }

    async fn has_other(&self, kind: LockKind) -> Result<bool, BackupError> {
        for name in self.repository.list_under("locks").await?.into_keys() {
            if !name.starts_with(kind.prefix()) {
                continue;
            }
            let path = format!("locks/{name}");
            match self.until(&path).await? {
                Some(until) if until > self.clock() => return Ok(true),
                // Left by a process that died.
                Some(_) => self.repository.delete(&path).await?,
                None => {}
            }
        }
        Ok(false)
    }

    async fn until(&self, path: &str) -> Result<Option<i64>, BackupError> {
        let Some(text) = self.repository.read_small(path, LOCK_MOST).await? else { return Ok(None) };
        // An unreadable lock counts as expired rather than blocking everything for ever.
        Ok(Some(std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)))
    }

    /// Runs `work` while the lock is renewed, then releases it.
    pub(super) async fn during<T>(
        self,
        work: impl Future<Output = Result<T, BackupError>>,
    ) -> Result<T, BackupError> {
        let renewal = async {
            let mut held_until = self.clock() + HELD_SECONDS;
            loop {
                tokio::time::sleep(RENEWED_EVERY).await;
                let renewed_at = self.clock();
                match self.renew().await {
                    Ok(()) => held_until = renewed_at + HELD_SECONDS,
                    Err(error) if self.clock() + HELD_SECONDS / 4 > held_until => return error,
                    Err(_) => {}
                }
            }
        };
        let done = tokio::select! {
            done = work => done,
            error = renewal => Err(error),
        };
        self.release().await;
        done
    }

    /// Whether the lock is still there: a process that was suspended may have lost it.
    pub(super) async fn check(repository: &Repository, kind: LockKind, id: &str) -> Result<(), BackupError> {
        let path = format!("locks/{}{id}", kind.prefix());
        match repository.read_small(&path, LOCK_MOST).await? {
            Some(_) => Ok(()),
            None => Err(BackupError::Refused(format!(
                "the backup took longer than its lock in {} was valid: try again",
                repository.name
            ))),
        }
    }

    async fn release(&self) {
        // If this fails, the lock expires by itself.
        let _ = self.repository.delete(&self.path).await;
    }
}
