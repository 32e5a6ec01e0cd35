//! SQLite: connections, their settings, and reads.
//!
//! Point reads run on the calling thread, which has its own connection (a few microseconds, no handover); longer reads run on
//! the blocking pool. Writes are in `sqlite_writer`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::Semaphore;

use super::rows::Rows;
use super::sqlite_types::bind;
pub(crate) use super::sqlite_types::own_row;
use super::sqlite_writer::Writer;
use super::{DbError, Row, Stmt, Val};

/// Concurrent longer reads; each has its own connection and page cache.
const LIST_READERS: usize = 4;
const STATEMENTS_CACHED: usize = 512;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_millis(5);
const READER_TIMEOUT: Duration = Duration::from_millis(50);

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// This thread's read connections, by the id of the database they belong to.
    static READERS: RefCell<HashMap<u64, (Weak<Shared>, Connection)>> = RefCell::new(HashMap::new());
}

#[derive(Debug, Clone)]
pub(crate) struct SqliteDb {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    id: u64,
    path: PathBuf,
    writer: Writer,
    idle: Mutex<Vec<Connection>>,
    list_permits: Arc<Semaphore>,
}

impl SqliteDb {
    /// Opens the file; creates it and its folder if they are missing.
    pub(crate) async fn open(path: &str) -> Result<Self, DbError> {
        let path = PathBuf::from(path);
        let at = path.clone();
        let (writer, log) = blocking(move || {
            create_private(&at)?;
            Ok((writer_connection(&at)?, log_connection(&at)?))
        })
        .await?;
        let shared = Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            path,
            writer: Writer::start(writer, log)?,
            idle: Mutex::new(Vec::new()),
            list_permits: Arc::new(Semaphore::new(LIST_READERS)),
        };
        Ok(SqliteDb { shared: Arc::new(shared) })
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.shared.writer
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Reads on the calling thread.
    pub(super) fn read_here(
        &self,
        sql: &'static str,
        args: &[Val],
        rows: &mut dyn Rows,
    ) -> Result<(), DbError> {
        READERS.with_borrow_mut(|readers| {
            if !readers.contains_key(&self.shared.id) {
                readers.retain(|_, (owner, _)| owner.strong_count() > 0);
                let connection = reader_connection(&self.shared.path, "PRAGMA cache_size=-8192")?;
                readers.insert(self.shared.id, (Arc::downgrade(&self.shared), connection));
            }
            let Some((_, connection)) = readers.get(&self.shared.id) else {
                return Err(DbError::internal("no read connection"));
            };
            query(connection, sql, args, rows)
        })
    }

    /// Reads on the blocking pool.
    pub(super) fn read_blocking(
        &self,
        sql: &'static str,
        args: Vec<Val>,
        mut rows: Box<dyn Rows>,
    ) -> BoxFuture<'_, Result<Box<dyn Rows>, DbError>> {
        let read = async move {
            let permit = Arc::clone(&self.shared.list_permits).acquire_owned().await;
            let shared = Arc::clone(&self.shared);
            blocking(move || {
                // Held until the read ends, which may be after the caller has gone.
                let _permit = permit;
                let connection = match shared.take_idle() {
                    Some(connection) => connection,
                    None => reader_connection(&shared.path, "PRAGMA cache_size=-2048")?,
                };
                let read = query(&connection, sql, &args, &mut *rows);
                shared.keep_idle(connection);
                read.map(|()| rows)
            })
            .await
        };
        Box::pin(read)
    }

    pub(crate) async fn batch(&self, stmts: Vec<Stmt>) -> Result<Vec<super::Outcome>, DbError> {
        self.shared.writer.batch(stmts).await
    }

    /// Checkpoints the write-ahead log and truncates it. `false` if a reader prevented it: writers must not wait long for a
    /// slow reader such as a backup.
    pub(crate) async fn truncate_log(&self) -> Result<bool, DbError> {
        let work = |connection: &mut Connection| {
            connection.busy_timeout(READER_TIMEOUT)?;
            let tried =
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            connection.busy_timeout(BUSY_TIMEOUT)?;
            Ok(tried? == 0)
        };
        self.shared.writer.run_exclusive(work).await
    }

    /// Changes when a connection other than the writer's has committed; in this process only the writer commits.
    pub(crate) async fn data_version(&self) -> Result<i64, DbError> {
        let work = |connection: &mut Connection| {
            let mut statement = connection.prepare_cached("PRAGMA data_version")?;
            Ok(statement.query_row([], |row| row.get(0))?)
        };
        self.shared.writer.run_exclusive(work).await
    }

    /// Waits until the writer has finished its work, checkpoints the log and closes the file.
    pub(crate) async fn close(&self) {
        self.shared.writer.close().await;
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        READERS.with_borrow_mut(|readers| readers.remove(&self.shared.id));
    }
}

impl Shared {
    fn take_idle(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep_idle(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

/// Runs blocking work off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DbError> + Send + 'static,
) -> Result<T, DbError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(lost) => Err(DbError::Internal(Arc::new(lost))),
    }
}

fn query(
    connection: &Connection,
    sql: &'static str,
    args: &[Val],
    found: &mut dyn Rows,
) -> Result<(), DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, args)?;
    let mut rows = statement.raw_query();
    while !found.is_full() {
        let Some(row) = rows.next()? else { break };
        found.push(&Row::sqlite(row))?;
    }
    Ok(())
}

/// SQLite gives the log and its index the mode of the main file, so the main file is created first.
fn create_private(path: &Path) -> Result<(), DbError> {
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::StorageFull {
            return DbError::Full;
        }
        DbError::unavailable(format!("cannot open {}: {error}", path.display()))
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
        // A new folder is lost in a power cut unless its parent is synced. SQLite syncs the files.
        if let Some(above) = folder.canonicalize().map_err(failed)?.parent() {
            File::open(above).and_then(|above| above.sync_all()).map_err(failed)?;
        }
    }
    // An existing file is not opened: closing it would release the locks that this process holds on it (POSIX).
    match OpenOptions::new().append(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(failed(error)),
        _ => Ok(()),
    }
}

fn connection(path: &Path) -> Result<Connection, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // Plans each statement once. Otherwise SQLite replans a cached statement for every bound value, which costs more than
    // most statements here.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection
        .execute_batch("PRAGMA foreign_keys=ON; PRAGMA mmap_size=1073741824; PRAGMA temp_store=MEMORY;")?;
    Ok(connection)
}

/// Caches are per connection and count towards the memory of an idle process, so they are small.
fn reader_connection(path: &Path, cache: &str) -> Result<Connection, DbError> {
    let connection = connection(path)?;
    connection.execute_batch(cache)?;
    connection.execute_batch("PRAGMA query_only=ON")?;
    Ok(connection)
}

fn writer_connection(path: &Path) -> Result<Connection, DbError> {
    let connection = connection(path)?;
    use_log(&connection)?;
    // The cache is no larger than a commit needs. While SQLite splits a page it numbers one far beyond the end of the file,
    // and the next commit then walks the whole cache to cut it back: with nearly every commit, up to a file of 1 GiB.
    connection.execute_batch("PRAGMA synchronous=FULL; PRAGMA cache_size=-8192; PRAGMA secure_delete=ON;")?;
    Ok(connection)
}

/// Switches a new database to WAL mode. When several processes do so at once, SQLite returns "busy" immediately to one that
/// waits while holding a lock, so this retries. If another connection merely holds a lock, SQLite itself waits for the busy
/// timeout, and there is no second attempt.
fn use_log(connection: &Connection) -> Result<(), DbError> {
    let started = Instant::now();
    loop {
        match connection.execute_batch("PRAGMA journal_mode=WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(BUSY_PAUSE);
            }
            done => return Ok(done?),
        }
    }
}

/// Only checkpoints the log, so it needs no page cache.
fn log_connection(path: &Path) -> Result<Connection, DbError> {
    let connection = connection(path)?;
    connection.execute_batch("PRAGMA synchronous=FULL; PRAGMA cache_size=0;")?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::SqliteDb;
    use crate::db::rows::Mapped;
    use crate::db::{DbError, Stmt};
    use rusqlite::Connection;
    use std::time::Duration;

    #[tokio::test]
    async fn panic_in_the_writer_leaves_nobody_waiting() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = SqliteDb::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        let make = Stmt::new("CREATE TABLE t (a BIGINT)", vec![]);
        db.batch(vec![make]).await.unwrap();
        let panicking = db.writer().run_exclusive::<()>(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")?;
            panic!("on purpose")
        });
        assert!(matches!(panicking.await, Err(DbError::Unavailable(_))));
        db.batch(vec![Stmt::new("INSERT INTO t VALUES (2)", vec![])]).await.unwrap();
        let mut rows = Mapped::new(|row| row.int(0), 1);
        db.read_here("SELECT SUM(a) FROM t", &[], &mut rows).unwrap();
        assert_eq!(rows.found, [2]);
    }

    #[tokio::test]
    async fn file_that_another_connection_reads_all_the_time_is_an_error_and_no_hang() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("CREATE TABLE t (a BIGINT); BEGIN; SELECT * FROM t").unwrap();
        let opened = SqliteDb::open(path.to_str().unwrap());
        let opened = tokio::time::timeout(Duration::from_mins(1), opened).await.expect("it hangs");
        assert!(opened.is_err());
        drop(reader);
        SqliteDb::open(path.to_str().unwrap()).await.unwrap();
    }
}
