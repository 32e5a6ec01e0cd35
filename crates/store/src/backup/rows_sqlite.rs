//! Copies SQLite files page by page, and reads and writes their tables for copies from and to PostgreSQL.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{BackupError, files, tables};
use crate::blobs::Encoding;
use crate::db::sqlite::own_row;
use crate::db::{DbError, Val, migrate};

/// How often a copy is retried while the database is busy.
const TRIES: u32 = 600;
const BETWEEN: Duration = Duration::from_millis(100);

/// A row of `blobs` whose body is an object.
#[derive(Debug, Clone)]
pub(super) struct ObjectRow {
    pub(super) hash: [u8; 32],
    pub(super) encoding: Encoding,
    pub(super) size_bytes: u64,
    pub(super) stored_bytes: u64,
    pub(super) key: String,
}

/// Copies the whole database in one step, so the copy is consistent whatever other processes write meanwhile.
pub(super) fn copy_pages(from: &Connection, to: &mut Connection) -> Result<(), DbError> {
    let copy = Backup::new(from, to)?;
    for _ in 0..TRIES {
        match copy.step(-1)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::sleep(BETWEEN),
        }
    }
    Err(DbError::unavailable("the database stayed busy"))
}

/// Creates the database file of a backup. It is synced once at the end.
pub(super) fn create(path: &Path) -> Result<Connection, DbError> {
    // SQLite gives the journal the mode of the database file, so the file is created first.
    files::create_file(path).map_err(|error| DbError::unavailable(format!("{}: {error}", path.display())))?;
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE;")?;
    Ok(connection)
}

pub(super) fn open_readonly(path: &Path) -> Result<Connection, DbError> {
    Ok(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?)
}

/// Makes the copy self-contained: no write-ahead log next to it, and no leases of processes that no longer exist.
pub(super) fn settle(connection: &Connection) -> Result<(), DbError> {
    connection.execute_batch("PRAGMA journal_mode=DELETE; DELETE FROM leases;")?;
    Ok(())
}

pub(super) fn schema(connection: &Connection) -> Result<i64, DbError> {
    if !exists(connection, "schema_migrations")? {
        return Ok(0);
    }
    Ok(connection.query_row(migrate::CURRENT, [], |row| row.get(0))?)
}

fn exists(connection: &Connection, table: &str) -> Result<bool, DbError> {
    let sql = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1";
    Ok(connection.query_row(sql, [table], |row| row.get::<_, i64>(0))? > 0)
}

pub(super) fn count_rows(connection: &Connection) -> Result<BTreeMap<String, u64>, DbError> {
    let mut counts = BTreeMap::new();
    for table in tables(schema(connection)?) {
        let rows: i64 =
            connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0))?;
        counts.insert(table.to_owned(), rows.unsigned_abs());
    }
    Ok(counts)
}

const OBJECTS: &str =
    "SELECT hash, encoding, size_bytes, stored_bytes, object_key FROM blobs WHERE object_key IS NOT NULL";

pub(super) fn objects(connection: &Connection) -> Result<Vec<ObjectRow>, BackupError> {
    read_objects(connection, OBJECTS, &[])
}

/// The objects whose hash begins with this byte, from the file of a backup.
pub(super) async fn objects_of_share(file: &Path, share: u8) -> Result<Vec<ObjectRow>, BackupError> {
    let file = file.to_owned();
    tokio::task::spawn_blocking(move || {
        let end = share.checked_add(1).map_or(vec![u8::MAX; 33], |next| vec![next]);
        let sql = format!("{OBJECTS} AND hash >= ?1 AND hash < ?2 ORDER BY hash");
        read_objects(&open_readonly(&file)?, &sql, &[vec![share], end])
    })
    .await?
}

/// How many objects there are, and their bytes.
pub(super) fn count_objects(connection: &Connection) -> Result<(u64, u64), BackupError> {
    let sql = "SELECT COUNT(*), COALESCE(SUM(stored_bytes), 0) FROM blobs WHERE object_key IS NOT NULL";
    Ok(connection.query_row(sql, [], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()))
    })?)
}

fn read_objects(connection: &Connection, sql: &str, args: &[Vec<u8>]) -> Result<Vec<ObjectRow>, BackupError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params_from_iter(args))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let encoding = Encoding::parse(&row.get::<_, String>(1)?)
            .ok_or_else(|| BackupError::Damaged("a body has an unknown encoding".to_owned()))?;
        found.push(ObjectRow {
            hash: row.get(0)?,
            encoding,
            size_bytes: row.get::<_, i64>(2)?.unsigned_abs(),
            stored_bytes: row.get::<_, i64>(3)?.unsigned_abs(),
            key: row.get(4)?,
        });
    }
    Ok(found)
}

pub(super) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, DbError> {
    let mut statement = connection.prepare(&format!("PRAGMA table_info({table})"))?;
    let names = statement.query_map([], |row| row.get(1))?;
    Ok(names.collect::<Result<_, _>>()?)
}

pub(super) fn insert(
    connection: &Connection,
    table: &str,
    columns: &[String],
    rows: &[Vec<Val>],
) -> Result<(), DbError> {
    let marks: Vec<String> = (1..=columns.len()).map(|n| format!("?{n}")).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), marks.join(", "));
    let mut statement = connection.prepare_cached(&sql)?;
    for row in rows {
        statement.execute(params_from_iter(row))?;
    }
    Ok(())
}

/// Calls `each` with every row of a table.
pub(super) fn read(
    connection: &Connection,
    table: &str,
    columns: &[String],
    mut each: impl FnMut(Vec<Val>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut statement = connection.prepare(&format!("SELECT {} FROM {table}", columns.join(", ")))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(own_row(row, columns.len())?)?;
    }
    Ok(())
}
