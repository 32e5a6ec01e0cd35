//! Keeps a deletion of old bodies and a backup apart in a repository, which several services may share: a backup relies on
//! bodies that it found there.
//!
//! Each side first writes its own lock, then looks for locks of the other kind. The store shows a written object to every
//! later listing, so at least one of them sees the other; the deletion gives way.

use std::time::Duration;

use dropleaf_core::Clock;

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
    /// Wall-clock time, which goes on while the machine is suspended.
    clock: &'a dyn Clock,
}

impl<'a> DestinationLock<'a> {
    /// `None` if a deletion has to give way to a backup.
    pub(super) async fn take(
        repository: &'a Repository,
        kind: LockKind,
        id: &str,
        clock: &'a dyn Clock,
        progress: OnProgress<'_>,
    ) -> Result<Option<Self>, BackupError> {
        let path = format!("locks/{}{id}", kind.prefix());
        let lock = Self { repository, path, clock };
        lock.write().await?;
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

    /// Writes the lock; returns until when it is valid.
    async fn write(&self) -> Result<i64, BackupError> {
        let until = self.clock.now() + HELD_SECONDS;
        self.repository.put_text(&self.path, format!("{until}\n")).await?;
        Ok(until)
    }

    /// Whether the lock was lost: it expired, or the other side has deleted it.
    async fn is_lost(&self) -> Result<bool, BackupError> {
        Ok(until(self.repository, &self.path).await?.is_none_or(|until| until <= self.clock.now()))
    }

    /// Extends the lock; `None` if it was lost. A lost one is not written again: the other side may rely on its absence.
    async fn renew(&self) -> Result<Option<i64>, BackupError> {
        if self.is_lost().await? {
            return Ok(None);
        }
        self.write().await.map(Some)
    }

    async fn has_other(&self, kind: LockKind) -> Result<bool, BackupError> {
        for name in self.repository.list_under("locks").await?.into_keys() {
            if !name.starts_with(kind.prefix()) {
                continue;
            }
            let path = format!("locks/{name}");
            match until(self.repository, &path).await? {
                Some(until) if until > self.clock.now() => return Ok(true),
                // Left by a process that died.
                Some(_) => self.repository.delete(&path).await?,
                None => {}
            }
        }
        Ok(false)
    }

    /// Runs `work` while the lock is renewed, then releases it.
    pub(super) async fn during<T>(
        self,
        work: impl Future<Output = Result<T, BackupError>>,
    ) -> Result<T, BackupError> {
        let renewal = async {
            let mut held_until = self.clock.now() + HELD_SECONDS;
            loop {
                tokio::time::sleep(RENEWED_EVERY).await;
                match self.renew().await {
                    Ok(Some(until)) => held_until = until,
                    Ok(None) => return lost(self.repository),
                    Err(error) if self.clock.now() + HELD_SECONDS / 4 > held_until => return error,
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

    /// Fails if the lock was lost: a process that was suspended may have lost it.
    pub(super) async fn check(
        repository: &Repository,
        kind: LockKind,
        id: &str,
        clock: &dyn Clock,
    ) -> Result<(), BackupError> {
        let path = format!("locks/{}{id}", kind.prefix());
        let lock = DestinationLock { repository, path, clock };
        if lock.is_lost().await? { Err(lost(repository)) } else { Ok(()) }
    }

    async fn release(&self) {
        // If this fails, the lock expires by itself.
        let _ = self.repository.delete(&self.path).await;
    }
}

/// Until when a lock is valid; `None` if there is none.
async fn until(repository: &Repository, path: &str) -> Result<Option<i64>, BackupError> {
    let Some(text) = repository.read_small(path, LOCK_MOST).await? else { return Ok(None) };
    // An unreadable lock counts as expired rather than blocking everything for ever.
    Ok(Some(std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)))
}

fn lost(repository: &Repository) -> BackupError {
    BackupError::Refused(format!(
        "the lock in {} was lost, because it was not renewed in time: try again",
        repository.name
    ))
}

#[cfg(test)]
mod tests {
    use dropleaf_core::ManualClock;

    use super::super::Destination;
    use super::*;

    const NOW: i64 = 1_794_873_600;

    #[tokio::test]
    async fn lost_lock_is_not_written_again() {
        let place = tempfile::tempdir().unwrap();
        let url = format!("file:{}", place.path().display());
        let repository = Repository::open(&Destination { url, credentials: None, key: None }).unwrap();
        let clock = ManualClock::at(NOW);
        let file = place.path().join("locks/backup-one");
        let take = async || {
            let lock = DestinationLock::take(&repository, LockKind::Backup, "one", &clock, &|_| {}).await;
            lock.unwrap().unwrap()
        };
        let check = async || DestinationLock::check(&repository, LockKind::Backup, "one", &clock).await;
        let lock = take().await;
        clock.advance(HELD_SECONDS - 1);
        assert_eq!(lock.renew().await.unwrap(), Some(NOW + 2 * HELD_SECONDS - 1));
        check().await.unwrap();
        // As after a suspension.
        clock.advance(HELD_SECONDS);
        assert_eq!(lock.renew().await.unwrap(), None);
        assert!(matches!(check().await, Err(BackupError::Refused(_))));

        let lock = take().await;
        check().await.unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(lock.renew().await.unwrap(), None);
        assert!(!file.exists());
        assert!(matches!(check().await, Err(BackupError::Refused(_))));
    }
}
