//! Restores a backup into either database and any object store. Verifies everything before it changes anything, writes
//! objects before the rows that refer to them, and replaces the rows in one step.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};
use rusqlite::Connection;

use super::manifest::{self, Manifest};
use super::rows_sqlite::{self, ObjectRow};
use super::{BackupError, DATABASE, OnProgress, Progress, Report, files, lease, rows_pg, tables};
use crate::blobs::{self, Blobs, NewBody};
use crate::db::sqlite::blocking;
use crate::db::{Db, DbError, Engine, migrate};

const TOGETHER: usize = 8;
/// Rows that are not restored. Sessions and tokens may have been revoked since the backup was taken, which it cannot know:
/// people sign in again, and programs ask for access again.
const FORGOTTEN: [&str; 10] = [
    "DELETE FROM sign_ins",
    "DELETE FROM sessions",
    "DELETE FROM mcp_sessions",
    "DELETE FROM passkey_ceremonies",
    "DELETE FROM device_logins",
    "DELETE FROM oauth_requests",
    "DELETE FROM oauth_codes",
    "DELETE FROM oauth_tokens",
    // API keys that OAuth clients created for themselves go with their grants.
    "DELETE FROM api_keys WHERE grant_id IS NOT NULL",
    "DELETE FROM oauth_grants",
];

/// SQL that corrects restored rows before any server reads them.
fn corrections(now: i64) -> String {
    // The payment may have been settled since the backup; only the chain or the facilitator knows. `attempts` is raised so
    // that a facilitator's refusal is not taken as proof that no money moved.
    let payments = format!(
        "UPDATE payments SET state = 'unknown', reason = 'restored from a backup', attempts = attempts + 1, \
         held_until = {now}, updated_at = {now} WHERE state IN ('verified', 'settling')"
    );
    let forgotten = FORGOTTEN.into_iter().map(str::to_owned);
    forgotten.chain([payments]).collect::<Vec<_>>().join(";\n")
}

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
    if manifest.schema > migrate::latest() {
        return Err(BackupError::Refused(format!(
            "the backup has schema version {}, but this version of dropleaf supports only up to {}: use a newer version",
            manifest.schema,
            migrate::latest()
        )));
    }
    let objects = verify(dir, &manifest, progress).await?;
    if !replace && !is_empty(db).await? {
        return Err(BackupError::Refused(
            "the target already contains data; use --replace to overwrite it".to_owned(),
        ));
    }
    db.migrate(now).await?;
    lease::hold(db, now, bring_back(db, blobs, dir, &manifest, &objects, now, progress)).await?;
    Ok(manifest.report)
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
            let file = std::fs::File::open(&path).map_err(BackupError::file(&path))?;
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

async fn is_empty(db: &Db) -> Result<bool, DbError> {
    match &db.0 {
        Engine::Sqlite(sqlite) => sqlite.writer().run_exclusive(|connection| is_empty_file(connection)).await,
        Engine::Pg(pg) => rows_pg::is_empty(pg).await,
    }
}

fn is_empty_file(connection: &Connection) -> Result<bool, DbError> {
    for table in tables(rows_sqlite::schema(connection)?) {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        if !super::KEPT_TABLES.contains(&table)
            && connection.query_row(&sql, [], |row| row.get::<_, bool>(0))?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn bring_back(
    db: &Db,
    blobs: &Blobs,
    dir: &Path,
    manifest: &Manifest,
    objects: &[ObjectRow],
    now: i64,
    progress: OnProgress<'_>,
) -> Result<(), BackupError> {
    let total = objects.len() as u64;
    let done = AtomicU64::new(0);
    progress(Progress::Objects { done: 0, total });
    stream::iter(objects)
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

    progress(Progress::Database);
    let file = dir.join(DATABASE);
    match &db.0 {
        Engine::Sqlite(sqlite) => {
            let from = blocking(move || rows_sqlite::open_readonly(&file)).await?;
            let put = move |connection: &mut Connection| {
                rows_sqlite::copy_pages(&from, connection)?;
                // A backup of an older version has fewer tables; this adds the newer ones.
                migrate::sqlite(connection, migrate::latest(), now)?;
                connection.execute_batch(&format!("BEGIN IMMEDIATE; {}; COMMIT", corrections(now)))?;
                Ok(())
            };
            sqlite.writer().run_exclusive(put).await?;
        }
        Engine::Pg(pg) => rows_pg::load(pg, file, manifest.schema, now, &corrections(now)).await?,
    }
    Ok(())
}
