//! Deletes unreferenced bundles and bodies, and objects without a row.
//!
//! Every deletion checks again, in the statement that deletes, that the thing is still unused and was not touched since
//! `SweepLimits::older_than`. Nothing is deleted while a backup or a restore holds its lease. Run one sweep at a time.

use dropleaf_core::Clock;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{BlobError, Blobs, sweep_orphans};
use crate::db::{Db, DbError, Stmt};
use crate::leases;

/// Concurrent deletions; they share commits.
const CONCURRENT_DELETIONS: usize = 16;
const IN_USE: &str = "in_use";

const UNUSED_BUNDLES: &str = "SELECT id FROM bundles WHERE refs = 0 AND touched_at < $1 LIMIT $2";
/// Changes nothing, but makes a batch that wants to reference the bundle again wait for the outcome.
const LOCK_BUNDLE: &str =
    "UPDATE bundles SET touched_at = touched_at WHERE id = $1 AND refs = 0 AND touched_at < $2";
const RELEASE_BODIES: &str = "UPDATE blobs SET refs = refs - 1 WHERE hash IN \
     (SELECT blob_hash FROM bundle_files WHERE bundle_id = $1)";
const UNUSED_BLOBS: &str = "SELECT hash FROM blobs WHERE refs = 0 AND touched_at < $1 LIMIT $2";
const DELETE_BLOB: &str =
    "DELETE FROM blobs WHERE hash = $1 AND refs = 0 AND touched_at < $2 RETURNING object_key";
/// Locks the row that a backup must take before it reads anything, and fails while a backup holds the lease.
const NO_BACKUP: &str = "INSERT INTO leases (name, holder, until) VALUES ($1, '', 0) \
     ON CONFLICT (name) DO UPDATE SET until = leases.until WHERE leases.until <= $2";

/// What a sweep may delete: at most `limit` things of each kind, last touched before `older_than`.
#[derive(Debug, Clone, Copy)]
pub struct SweepLimits {
    pub now: i64,
    pub older_than: i64,
    pub limit: i64,
}

/// What a sweep deleted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    pub bundles: u64,
    pub blobs: u64,
    /// Objects that no row referred to.
    pub orphans: u64,
    /// A backup or a restore is running; the rest waits for the next sweep.
    pub held: bool,
}

/// Deletes unused rows, then objects without a row.
pub async fn collect_garbage(
    db: &Db,
    blobs: &Blobs,
    limits: SweepLimits,
    clock: &dyn Clock,
) -> Result<Collected, BlobError> {
    let mut collected = collect_rows(db, blobs, limits).await?;
    if !collected.held {
        let swept = sweep_orphans(db, blobs, limits, clock).await?;
        collected.orphans = swept.orphans;
        collected.held = swept.held;
    }
    Ok(collected)
}

/// Deletes bundles that no version uses, then bodies that no bundle uses, each with its object.
pub async fn collect_rows(db: &Db, blobs: &Blobs, limits: SweepLimits) -> Result<Collected, BlobError> {
    let SweepLimits { now, older_than, limit } = limits;
    let mut collected = Collected::default();
    let window = || vec![older_than.into(), limit.into()];
    let bundles = db.list(UNUSED_BUNDLES, window(), |row| row.string(0)).await?;
    let removals = bundles.into_iter().map(|id| remove_bundle(db, id, now, older_than));
    match tally(removals).await {
        Err(DbError::Guard(leases::BACKUP)) => collected.held = true,
        count => collected.bundles = count?,
    }
    if collected.held {
        return Ok(collected);
    }
    let bodies = db.list(UNUSED_BLOBS, window(), |row| row.hash(0)).await?;
    let removals = bodies.into_iter().map(|hash| remove_blob(db, blobs, hash, now, older_than));
    match tally(removals).await {
        Err(Removal::Db(DbError::Guard(leases::BACKUP))) => collected.held = true,
        Err(Removal::Db(error)) => return Err(error.into()),
        Err(Removal::Object(error)) => return Err(error),
        Ok(count) => collected.blobs = count,
    }
    Ok(collected)
}

/// Deletes these bundles now, with every body that only they used; what is still used stays. For content that must be erased
/// at once. `false` if a backup or a restore prevents it: the sweep deletes it later.
pub async fn erase(db: &Db, blobs: &Blobs, bundles: &[String], now: i64) -> Result<bool, BlobError> {
    for id in bundles {
        let files = "SELECT blob_hash FROM bundle_files WHERE bundle_id = $1";
        let bodies = db.list(files, vec![id.as_str().into()], |row| row.hash(0)).await?;
        match remove_bundle(db, id.clone(), now, i64::MAX).await {
            Err(DbError::Guard(leases::BACKUP)) => return Ok(false),
            removed => removed?,
        };
        for body in bodies {
            match remove_blob(db, blobs, body, now, i64::MAX).await {
                Err(Removal::Db(DbError::Guard(leases::BACKUP))) => return Ok(false),
                Err(Removal::Db(error)) => return Err(error.into()),
                Err(Removal::Object(error)) => return Err(error),
                Ok(_) => {}
            }
        }
    }
    Ok(true)
}

async fn tally<E>(removals: impl Iterator<Item = impl Future<Output = Result<bool, E>>>) -> Result<u64, E> {
    stream::iter(removals)
        .buffer_unordered(CONCURRENT_DELETIONS)
        .try_fold(0, async |count, removed| Ok(count + u64::from(removed)))
        .await
}

fn no_backup(now: i64) -> Stmt {
    Stmt::new(NO_BACKUP, vec![leases::BACKUP.into(), now.into()]).one(leases::BACKUP)
}

async fn remove_bundle(db: &Db, id: String, now: i64, older_than: i64) -> Result<bool, DbError> {
    let id = id.as_str();
    let batch = vec![
        no_backup(now),
        Stmt::new(LOCK_BUNDLE, vec![id.into(), older_than.into()]).one(IN_USE),
        Stmt::new(RELEASE_BODIES, [id.into()]),
        Stmt::new("DELETE FROM bundle_files WHERE bundle_id = $1", [id.into()]),
        Stmt::new("DELETE FROM bundles WHERE id = $1", [id.into()]),
    ];
    match db.batch(batch).await {
        Ok(_) => Ok(true),
        Err(DbError::Guard(IN_USE)) => Ok(false),
        Err(error) => Err(error),
    }
}

enum Removal {
    Db(DbError),
    Object(BlobError),
}

async fn remove_blob(
    db: &Db,
    blobs: &Blobs,
    hash: [u8; 32],
    now: i64,
    older_than: i64,
) -> Result<bool, Removal> {
    let delete = Stmt::new(DELETE_BLOB, vec![hash.into(), older_than.into()]);
    let outcomes = db.batch(vec![no_backup(now), delete]).await.map_err(Removal::Db)?;
    let Some(row) = outcomes.last().and_then(|outcome| outcome.rows.first()) else { return Ok(false) };
    let key = row.as_row().opt_text(0).map_err(Removal::Db)?.map(str::to_owned);
    // The object key belongs to this row alone: a new upload of the same bytes has another.
    if let Some(key) = key {
        blobs.delete(&key).await.map_err(Removal::Object)?;
    }
    Ok(true)
}
