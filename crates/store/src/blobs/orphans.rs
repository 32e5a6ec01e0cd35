//! Deletes objects that no row refers to: leftovers of a crash between body and row, or of two concurrent uploads of the same
//! bytes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use dropleaf_core::Clock;
use futures_util::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::{BlobError, Blobs, Collected, SweepLimits};
use crate::db::{Db, DbError, Row};
use crate::leases;

const LEASE_SECONDS: i64 = 120;
/// How often the lease is renewed.
const RENEWED_EVERY: Duration = Duration::from_secs(20);

/// Deletes objects that no row refers to, and half-written files.
pub async fn sweep_orphans(
    db: &Db,
    blobs: &Blobs,
    limits: SweepLimits,
    clock: &dyn Clock,
) -> Result<Collected, BlobError> {
    let SweepLimits { now, older_than, limit } = limits;
    let mut collected = Collected::default();
    let candidates = find_orphans(db, blobs, older_than, limit).await?;
    if !candidates.is_empty() {
        // A restore brings back objects under their old keys, so it must not run between the check and the deletion.
        let holder = leases::holder(now);
        match db.exec(leases::take(leases::BACKUP, &holder, now + LEASE_SECONDS, now)).await {
            Err(DbError::Guard(_)) => return Ok(Collected { held: true, ..collected }),
            taken => taken.map(|_| ())?,
        }
        let start = (clock.now(), clock.monotonic());
        let mut lease = SweepLease { db, holder, clock, start, now, renewed: Duration::ZERO };
        let removed = remove_orphans(&mut lease, blobs, candidates, older_than).await;
        db.exec(leases::release(leases::BACKUP, &lease.holder)).await?;
        (collected.orphans, collected.held) = removed?;
    }
    if let Some(folder) = blobs.folder.clone() {
        collected.orphans += remove_torn_files(folder, older_than).await?;
    }
    Ok(collected)
}

/// The lease that keeps backups and restores away while objects are deleted.
struct SweepLease<'a> {
    db: &'a Db,
    holder: String,
    clock: &'a dyn Clock,
    /// Both clocks at the start.
    start: (i64, Duration),
    /// The time at the start.
    now: i64,
    /// When it was renewed last, after the start.
    renewed: Duration,
}

impl SweepLease<'_> {
    /// The time since the start. The monotonic clock may stand still while the machine is suspended.
    fn elapsed(&self) -> Duration {
        let (wall, monotonic) = self.start;
        let by_wall = u64::try_from(self.clock.now().saturating_sub(wall)).unwrap_or_default();
        self.clock.monotonic().saturating_sub(monotonic).max(Duration::from_secs(by_wall))
    }

    /// Renews the lease if it is time. False if it was lost: the process was stopped for longer than it lasts.
    async fn keep(&mut self) -> Result<bool, DbError> {
        let elapsed = self.elapsed();
        if elapsed < self.renewed + RENEWED_EVERY {
            return Ok(true);
        }
        let now = self.now + i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX);
        match self.db.exec(leases::renew(leases::BACKUP, &self.holder, now + LEASE_SECONDS, now)).await {
            Ok(_) => {
                self.renewed = elapsed;
                Ok(true)
            }
            Err(DbError::Guard(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

async fn find_orphans(db: &Db, blobs: &Blobs, older_than: i64, limit: i64) -> Result<Vec<Path>, BlobError> {
    const NAMED: &str =
        "SELECT object_key FROM blobs WHERE hash >= $1 AND hash <= $2 AND object_key IS NOT NULL";
    let limit = usize::try_from(limit).unwrap_or(0);
    let mut orphans = Vec::new();
    // One of 256 key prefixes at a time, so that neither list is ever in memory as a whole.
    for first in 0..=u8::MAX {
        let mut low = [0; 32];
        let mut high = [u8::MAX; 32];
        (low[0], high[0]) = (first, first);
        let mut old = blobs.store.list(Some(&Path::from(format!("{first:02x}"))));
        let mut found = Vec::new();
        while let Some(object) = old.try_next().await? {
            if object.last_modified.timestamp() < older_than && hash_of(&object.location).is_some() {
                found.push(object.location);
            }
        }
        if found.is_empty() {
            continue;
        }
        let named: HashSet<String> =
            db.list(NAMED, vec![low.into(), high.into()], key).await?.into_iter().collect();
        orphans.extend(found.into_iter().filter(|path| !named.contains(path.as_ref())));
        if orphans.len() >= limit {
            orphans.truncate(limit);
            break;
        }
    }
    Ok(orphans)
}

fn key(row: &Row<'_>) -> Result<String, DbError> {
    row.string(0)
}

/// The hash in an object's key. Other objects in the store are not ours and are left alone.
fn hash_of(path: &Path) -> Option<[u8; 32]> {
    let (hex, _nonce) = path.filename()?.split_once('.')?;
    Some(*blake3::Hash::from_hex(hex).ok()?.as_bytes())
}

/// Returns how many were removed, and whether the rest has to wait because the lease was lost.
async fn remove_orphans(
    lease: &mut SweepLease<'_>,
    blobs: &Blobs,
    candidates: Vec<Path>,
    older_than: i64,
) -> Result<(u64, bool), BlobError> {
    const NAMED: &str = "SELECT object_key FROM blobs WHERE hash = $1 AND object_key IS NOT NULL";
    let mut removed = 0;
    for path in candidates {
        let Some(hash) = hash_of(&path) else { continue };
        let still_old = match blobs.store.head(&path).await {
            Ok(object) => object.last_modified.timestamp() < older_than,
            Err(object_store::Error::NotFound { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        let named = lease.db.get(NAMED, &[hash.into()], key).await?;
        if still_old && named.as_deref() != Some(path.as_ref()) {
            // Last, so that a restore that began while this process was stopped is noticed.
            if !lease.keep().await? {
                return Ok((removed, true));
            }
            blobs.delete(path.as_ref()).await?;
            removed += 1;
        }
    }
    Ok((removed, false))
}

/// Deletes half-written files of a process that died. The object store does not list them (`…#1`), so this reads the folder.
async fn remove_torn_files(folder: PathBuf, older_than: i64) -> Result<u64, BlobError> {
    let cutoff = UNIX_EPOCH + Duration::from_secs(u64::try_from(older_than).unwrap_or(0));
    let walk = move || -> std::io::Result<u64> {
        let mut removed = 0;
        for share in std::fs::read_dir(folder)? {
            let share = share?;
            if !share.file_type()?.is_dir() {
                continue;
            }
            for file in std::fs::read_dir(share.path())? {
                let file = file?;
                // A file that was just finished has been renamed: not an error.
                let Ok(modified) = file.metadata().and_then(|metadata| metadata.modified()) else { continue };
                if file.file_name().to_string_lossy().contains('#') && modified < cutoff {
                    std::fs::remove_file(file.path())?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    };
    let done = tokio::task::spawn_blocking(walk).await.map_err(|lost| BlobError::Internal(Arc::new(lost)))?;
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    const NOW: i64 = 1_794_873_600;

    /// The clock of a machine that is suspended: its monotonic time stands still.
    #[derive(Debug)]
    struct SuspendedClock(AtomicI64);

    impl Clock for SuspendedClock {
        fn now(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[tokio::test]
    async fn a_lease_that_another_process_took_while_the_machine_was_suspended_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&format!("sqlite:{}", folder.path().join("a.db").display())).await.unwrap();
        db.migrate(NOW).await.unwrap();
        let clock = SuspendedClock(AtomicI64::new(NOW));
        let holder = leases::holder(NOW);
        db.exec(leases::take(leases::BACKUP, &holder, NOW + LEASE_SECONDS, NOW)).await.unwrap();
        let start = (clock.now(), clock.monotonic());
        let mut lease =
            SweepLease { db: &db, holder, clock: &clock, start, now: NOW, renewed: Duration::ZERO };
        assert!(lease.keep().await.unwrap());
        let later = NOW + LEASE_SECONDS;
        clock.0.store(later, Ordering::SeqCst);
        db.exec(leases::take(leases::BACKUP, "restore", later + 60, later)).await.unwrap();
        assert!(!lease.keep().await.unwrap());
        db.close().await;
    }
}
