//! Restores a backup into either database and any object store: writes objects before the rows that refer to them, and
//! replaces the rows in one step. A single folder is verified completely before anything changes. Of a repository the rows
//! and the presence of every body are verified first, and each body while it is copied, before any row is written.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};

use super::info::BackupInfo;
use super::manifest::{self, Manifest};
use super::repository::Repository;
use super::rows_sqlite::{self, ObjectRow};
use super::spool::Spool;
use super::{BackupError, DATABASE, Depth, OnProgress, Progress, Report, files, lease, target, unpack};
use crate::blobs::{self, Blobs, NewBody};
use crate::db::Db;

const TOGETHER: usize = 8;

/// Restores the backup in `dir`. The target must be empty unless `replace` is set. Works while a server has the database
/// open.
pub async fn restore(
    db: &Db,
    blobs: &Blobs,
    dir: &Path,
    replace: bool,
    now: i64,
    progress: OnProgress<'_>,
) -> Result<Report, BackupError> {
    let manifest = manifest::read(dir)?;
    target::check_schema(manifest.schema)?;
    let objects = verify(dir, &manifest, progress).await?;
    target::check_empty(db, replace).await?;
    db.migrate(now).await?;
    let work = async {
        let total = objects.len() as u64;
        let done = AtomicU64::new(0);
        progress(Progress::Objects { done: 0, total });
        stream::iter(&objects)
            .map(Ok::<_, BackupError>)
            .try_for_each_concurrent(TOGETHER, |object| {
                let done = &done;
                async move {
                    let path = files::object_path(dir, &object.key)?;
                    let file = std::fs::File::open(&path).map_err(BackupError::file(&path))?;
                    let body = NewBody::File { file, stored_bytes: object.stored_bytes };
                    blobs::put(blobs.objects(), &object.key, body).await?;
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress(Progress::Objects { done, total });
                    Ok(())
                }
            })
            .await?;
        let file = dir.join(DATABASE);
        target::check_objects(blobs, &file).await?;
        progress(Progress::Database);
        target::load_rows(db, file, manifest.schema, &manifest.report, now).await
    };
    lease::hold_until_replaced(db, now, work).await?;
    Ok(manifest.report)
}

/// Verifies the backup in `dir` completely; returns when it was taken and what it holds.
pub async fn verify_folder(dir: &Path, progress: OnProgress<'_>) -> Result<(i64, Report), BackupError> {
    let manifest = manifest::read(dir)?;
    verify(dir, &manifest, progress).await?;
    Ok((manifest.taken_at, manifest.report))
}

async fn verify(
    dir: &Path,
    manifest: &Manifest,
    progress: OnProgress<'_>,
) -> Result<Vec<ObjectRow>, BackupError> {
    let (file, expected) = (dir.join(DATABASE), manifest.clone());
    let objects = tokio::task::spawn_blocking(move || {
        let (bytes, hash) = files::measure(&file)?;
        if bytes != expected.database_bytes || hash != expected.database_blake3 {
            return Err(BackupError::Damaged(format!("{DATABASE} does not match the backup")));
        }
        let objects = rows_sqlite::objects(&rows_sqlite::open_readonly(&file)?)?;
        if objects.len() as u64 != expected.report.objects {
            return Err(BackupError::Damaged("the backup does not contain all of its objects".to_owned()));
        }
        Ok(objects)
    })
    .await??;
    let total = objects.len() as u64;
    for (done, object) in (1..).zip(&objects) {
        let path = files::object_path(dir, &object.key)?;
        let (encoding, hash) = (object.encoding, object.hash);
        let key = object.key.clone();
        tokio::task::spawn_blocking(move || {
            let file = match std::fs::File::open(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(BackupError::Damaged(format!("object {key} of the backup is missing")));
                }
                file => file.map_err(BackupError::file(&path))?,
            };
            if blobs::matches(file, encoding, &hash)? {
                return Ok(());
            }
            Err(BackupError::Damaged(format!("object {key} of the backup does not match its hash")))
        })
        .await??;
        progress(Progress::Verifying { done, total });
    }
    Ok(objects)
}

/// Restores a backup of a repository. `work_dir` must be an empty folder with room for the rows.
pub async fn restore_from(
    db: &Db,
    blobs: &Blobs,
    (repository, info): (&Repository, &BackupInfo),
    replace: bool,
    now: i64,
    work_dir: &Path,
    progress: OnProgress<'_>,
) -> Result<(), BackupError> {
    target::check_schema(info.schema)?;
    target::check_empty(db, replace).await?;
    let file = unpack::fetch_database(repository, info, work_dir, progress).await?;
    unpack::check_bodies(repository, info, &file, Depth::Presence, progress).await?;
    db.migrate(now).await?;
    let work = async {
        let (done, total) = (AtomicU64::new(0), info.report.objects);
        progress(Progress::Objects { done: 0, total });
        for share in 0..=u8::MAX {
            let objects = rows_sqlite::objects_of_share(&file, share).await?;
            stream::iter(&objects)
                .map(Ok::<_, BackupError>)
                .try_for_each_concurrent(TOGETHER, |object| {
                    let done = &done;
                    async move {
                        copy_back(blobs, repository, info, object, work_dir).await?;
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        progress(Progress::Objects { done, total });
                        Ok(())
                    }
                })
                .await?;
        }
        target::check_objects(blobs, &file).await?;
        progress(Progress::Database);
        target::load_rows(db, file.clone(), info.schema, &info.report, now).await
    };
    lease::hold_until_replaced(db, now, work).await
}

async fn copy_back(
    blobs: &Blobs,
    repository: &Repository,
    info: &BackupInfo,
    object: &ObjectRow,
    work_dir: &Path,
) -> Result<(), BackupError> {
    // Only to check the key, which comes from a row.
    files::object_path(work_dir, &object.key)?;
    let mut spool = Spool::new(object.stored_bytes, work_dir)?;
    unpack::read_body(repository, info, object, Some(&mut spool)).await?;
    let put = blobs::put(blobs.objects(), &object.key, spool.into_body().await?).await;
    put.map_err(|error| BackupError::of_blob("the blob store", &error))
}
