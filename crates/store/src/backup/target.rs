//! The database and the object store that a backup is restored into: whether they are empty, replacing the rows in one step,
//! and the check that everything arrived.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use rusqlite::Connection;

use super::{BackupError, Report, rows_pg, rows_sqlite, tables};
use crate::blobs::Blobs;
use crate::db::sqlite::blocking;
use crate::db::{Db, DbError, Engine, migrate};

/// Rows that are not restored. Sessions and tokens may have been revoked since the backup was taken, which it cannot know:
/// people sign in again, and programs ask for access again.
const FORGOTTEN: [&str; 12] = [
    "DELETE FROM sign_ins",
    "DELETE FROM sessions",
    "DELETE FROM mcp_answers",
    "DELETE FROM mcp_sessions",
    "DELETE FROM passkey_ceremonies",
    "DELETE FROM device_logins",
    "DELETE FROM oauth_requests",
    "DELETE FROM oauth_codes",
    "DELETE FROM oauth_tokens",
    // API keys that OAuth clients created for themselves go with their grants.
    "DELETE FROM api_keys WHERE grant_id IS NOT NULL",
    "DELETE FROM oauth_grants",
    // The original server may have sent them.
    "DELETE FROM email_notices",
];

/// A restored copy sends nothing by itself: the original server may still run, or have sent the same events. Owners enable
/// their endpoints again. Those of programs end with their grants and with the program that listened.
const WEBHOOKS: [&str; 4] = [
    "DELETE FROM webhook_deliveries WHERE endpoint_id IN \
     (SELECT id FROM webhook_endpoints WHERE grant_id IS NOT NULL OR kind = 'listen')",
    "DELETE FROM webhook_endpoints WHERE grant_id IS NOT NULL OR kind = 'listen'",
    "UPDATE webhook_deliveries SET state = 'dead', claimed = 0, next_attempt_at = 9223372036854775807, \
     error = 'restored from a backup' WHERE state = 'waiting'",
    "UPDATE webhook_endpoints SET waiting = 0, failing_since = NULL, \
     state = CASE WHEN state = 'enabled' THEN 'restored' ELSE state END",
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
    let webhooks = WEBHOOKS.into_iter().map(str::to_owned);
    forgotten.chain([payments]).chain(webhooks).collect::<Vec<_>>().join(";\n")
}

/// Refuses a schema that this version does not know.
pub(super) fn check_schema(schema: i64) -> Result<(), BackupError> {
    if schema <= migrate::latest() {
        return Ok(());
    }
    Err(BackupError::Refused(format!(
        "the backup has schema version {schema}, but this version of dropleaf supports only up to {}: use a newer version",
        migrate::latest()
    )))
}

/// Refuses a database with rows, unless they are to be replaced.
pub(super) async fn check_empty(db: &Db, replace: bool) -> Result<(), BackupError> {
    if replace || is_empty(db).await? {
        return Ok(());
    }
    Err(BackupError::Refused("the target already contains data; use --replace to overwrite it".to_owned()))
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

/// Replaces all rows with those in `file`, in one step.
pub(super) async fn load_rows(
    db: &Db,
    file: PathBuf,
    schema: i64,
    report: &Report,
    now: i64,
) -> Result<(), BackupError> {
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
        Engine::Pg(pg) => rows_pg::load(pg, file, schema, report, now, &corrections(now)).await?,
    }
    Ok(())
}

/// Checks that the object store has every object that the rows in `file` refer to.
pub(super) async fn check_objects(blobs: &Blobs, file: &Path) -> Result<(), BackupError> {
    for share in 0..=u8::MAX {
        let objects = rows_sqlite::objects_of_share(file, share).await?;
        if objects.is_empty() {
            continue;
        }
        let prefix = object_store::path::Path::from(format!("{share:02x}"));
        let mut found = std::collections::HashMap::new();
        let mut listed = blobs.objects().list(Some(&prefix));
        let failed = |error| BackupError::of_store("the blob store", &error);
        while let Some(object) = listed.try_next().await.map_err(failed)? {
            found.insert(object.location.as_ref().to_owned(), object.size);
        }
        if let Some(missing) = objects.iter().find(|it| found.get(&it.key) != Some(&it.stored_bytes)) {
            return Err(BackupError::Damaged(format!(
                "object {} did not arrive in the blob store; restore again with --replace",
                missing.key
            )));
        }
    }
    Ok(())
}
