//! Takes a backup: a snapshot of the rows, then every object they refer to, each verified while it is copied.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use dropleaf_core::SystemClock;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::io::AsyncWriteExt;

use super::manifest::{self, Manifest};
use super::rows_sqlite::{self, ObjectRow};
use super::{BackupError, DATABASE, OnProgress, Progress, Report, files, lease, rows_pg};
use crate::blobs::{BlobError, Blobs};
use crate::db::sqlite::blocking;
use crate::db::{Db, Engine, migrate};

/// Objects copied at the same time.
const TOGETHER: usize = 8;

/// Writes a backup of a running or stopped service into `dir`, which must be missing or empty. Safe from another process.
pub async fn backup(
    db: &Db,
    blobs: &Blobs,
    dir: &Path,
    now: i64,
    progress: OnProgress<'_>,
) -> Result<Report, BackupError> {
    check_source(db).await?;
    let partial = files::begin(dir)?;
    let clock = SystemClock::default();
    match lease::hold(db, now, &clock, fill(db, blobs, &partial, now, progress)).await {
        Ok(report) => {
            files::finish(&partial, dir)?;
            Ok(report)
        }
        Err(error) => {
            let _ = std::fs::remove_dir_all(&partial);
            Err(error)
        }
    }
}

/// Refuses a database without a schema, and one that a newer program has upgraded since this one started: its backup would
/// lack what the newer migrations added.
pub(super) async fn check_source(db: &Db) -> Result<(), BackupError> {
    let schema = match &db.0 {
        Engine::Sqlite(sqlite) => {
            sqlite.writer().run_exclusive(|connection| rows_sqlite::schema(connection)).await?
        }
        Engine::Pg(pg) => pg.schema().await?,
    };
    if schema == 0 {
        return Err(BackupError::Refused("the database is empty: there is nothing to back up".to_owned()));
    }
    migrate::check_known(schema)?;
    Ok(())
}

/// Copies the rows as of one moment into a new SQLite file.
pub(super) async fn snapshot(db: &Db, file: &Path) -> Result<(), BackupError> {
    match &db.0 {
        Engine::Sqlite(sqlite) => {
            let (from, to) = (sqlite.path().to_owned(), file.to_owned());
            blocking(move || {
                let mut copy = rows_sqlite::create(&to)?;
                rows_sqlite::copy_pages(&rows_sqlite::open_readonly(&from)?, &mut copy)?;
                rows_sqlite::settle(&copy)
            })
            .await?;
        }
        Engine::Pg(pg) => rows_pg::save(pg, file.to_owned()).await?,
    }
    Ok(())
}

async fn fill(
    db: &Db,
    blobs: &Blobs,
    folder: &Path,
    now: i64,
    progress: OnProgress<'_>,
) -> Result<Report, BackupError> {
    progress(Progress::Database);
    let file = folder.join(DATABASE);
    snapshot(db, &file).await?;
    let (objects, summary) = tokio::task::spawn_blocking(move || summarise(&file, now)).await??;
    copy_objects(blobs, folder, &objects, progress).await?;
    manifest::write(folder, &summary)?;
    Ok(summary.report)
}

fn summarise(file: &Path, now: i64) -> Result<(Vec<ObjectRow>, Manifest), BackupError> {
    files::sync(file).map_err(BackupError::file(file))?;
    let connection = rows_sqlite::open_readonly(file)?;
    let objects = rows_sqlite::objects(&connection)?;
    let (database_bytes, database_blake3) = files::measure(file)?;
    let report = Report {
        rows: rows_sqlite::count_rows(&connection)?,
        objects: objects.len() as u64,
        object_bytes: objects.iter().map(|object| object.stored_bytes).sum(),
    };
    let schema = rows_sqlite::schema(&connection)?;
    Ok((objects, Manifest { taken_at: now, schema, database_bytes, database_blake3, report }))
}

async fn copy_objects(
    blobs: &Blobs,
    folder: &Path,
    objects: &[ObjectRow],
    progress: OnProgress<'_>,
) -> Result<(), BackupError> {
    let total = objects.len() as u64;
    let done = AtomicU64::new(0);
    progress(Progress::Objects { done: 0, total });
    stream::iter(objects)
        .map(Ok)
        .try_for_each_concurrent(TOGETHER, |object| {
            let done = &done;
            async move {
                copy_object(blobs, object, files::object_path(folder, &object.key)?).await?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                progress(Progress::Objects { done, total });
                Ok(())
            }
        })
        .await
}

async fn copy_object(blobs: &Blobs, object: &ObjectRow, path: PathBuf) -> Result<(), BackupError> {
    let found =
        blobs.open_object(object.hash, object.encoding, object.size_bytes, object.stored_bytes, &object.key);
    let failed = |error: BlobError| match error {
        BlobError::Missing | BlobError::Corrupt => {
            BackupError::Damaged(format!("object {} of the source: {error}", object.key))
        }
        other => other.into(),
    };
    let mut bytes = found.stream().await.map_err(failed)?;
    if let Some(share) = path.parent() {
        files::create_folder(share).map_err(BackupError::file(share))?;
    }
    let mut file = tokio::fs::File::from_std(files::create_file(&path).map_err(BackupError::file(&path))?);
    while let Some(chunk) = bytes.try_next().await.map_err(failed)? {
        file.write_all(&chunk).await.map_err(BackupError::file(&path))?;
    }
    file.flush().await.map_err(BackupError::file(&path))?;
    file.sync_all().await.map_err(BackupError::file(&path))
}
