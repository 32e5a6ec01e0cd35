//! Deletes objects that no row refers to: leftovers of a crash between body and row, or of two concurrent uploads of the same
//! bytes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

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
pub async fn sweep_orphans(db: &Db, blobs: &Blobs, limits: SweepLimits) -> Result<Collected, BlobError> {
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
        let mut lease = SweepLease { db, holder, start: Instant::now(), now, renewed: Duration::ZERO };
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
    start: Instant,
    /// The time at the start.
    now: i64,
    /// When it was renewed last, after the start.
    renewed: Duration,
}

impl SweepLease<'_> {
    /// Renews the lease if it is time. False if it was lost: the process was stopped for longer than it lasts.
    async fn keep(&mut self) -> Result<bool, DbError> {
        let elapsed = self.start.elapsed();
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
