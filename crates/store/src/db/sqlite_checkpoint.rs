//! Checkpoints SQLite's write-ahead log. A checkpoint needs its own syncs, so a separate thread runs it while commits go on.
//! Under uninterrupted load the log would grow forever: the writer then finishes the checkpoint itself, when little is left
//! to do, and the log starts over.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::DbError;

/// A checkpoint runs each time the log has grown by this many pages.
const STEP_PAGES: i32 = 8000;
/// At this many pages (128 MiB) the writer finishes the checkpoint itself.
const MOST_PAGES: i32 = 4 * STEP_PAGES;

/// The thread that checkpoints the log of one database. It ends when the writer's connection is closed.
#[derive(Debug)]
pub(super) struct Checkpointer(JoinHandle<()>);

impl Checkpointer {
    /// Replaces SQLite's automatic checkpoints, which run entirely in the writer.
    pub(super) fn start(writer: &mut Connection, checkpointer: Connection) -> Result<Self, DbError> {
        let (wake, woken) = sync_channel(1);
        let lock = Arc::new(Mutex::new(()));
        let thread_lock = Arc::clone(&lock);
        let thread = std::thread::Builder::new()
            .name("sqlite-log".to_owned())
            .spawn(move || run(&checkpointer, &woken, &thread_lock))
            .map_err(|error| DbError::unavailable(format!("cannot start a thread for the log: {error}")))?;
        writer.wal_hook(Some(after_commit(wake, lock)))?;
        Ok(Self(thread))
    }

    /// Waits until the thread has closed the file. The writer's connection must have been closed.
    pub(super) fn join(self) {
        let _ = self.0.join();
    }
}

/// Called after each commit with the number of pages in the log.
fn after_commit(
    wake: SyncSender<()>,
    lock: Arc<Mutex<()>>,
) -> impl FnMut(&mut Wal, i32) -> rusqlite::Result<()> + Send + 'static {
    let mut checkpointed_at = 0;
    move |log, pages| {
        if pages < checkpointed_at {
            // The log started over.
            checkpointed_at = 0;
        }
        if pages >= MOST_PAGES {
            // Only one checkpoint can run at a time. A reader that prevents it does not fail the commit; the next commit
            // tries again.
            let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = log.checkpoint();
        } else if pages >= checkpointed_at + STEP_PAGES {
            checkpointed_at = pages;
            let _ = wake.try_send(());
        }
        Ok(())
    }
}

fn run(connection: &Connection, woken: &Receiver<()>, lock: &Mutex<()>) {
    while woken.recv().is_ok() {
        let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let result = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(0));
        if let Err(error) = result {
            tracing::warn!(%error, "write-ahead log not checkpointed; later commits will retry");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn open(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF").unwrap();
        connection
    }

    #[test]
    fn log_stays_small_under_writes_that_never_pause_and_all_of_them_are_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        let mut writer = open(&path);
        writer.execute_batch("CREATE TABLE t (a BLOB)").unwrap();
        let checkpointer = Checkpointer::start(&mut writer, open(&path)).unwrap();
        let commits = 60;
        for _ in 0..commits {
            // About 2,500 pages.
            writer.execute("INSERT INTO t VALUES (zeroblob(10000000))", []).unwrap();
        }
        let log = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        let most = (u64::from(MOST_PAGES.unsigned_abs()) + 4000) * 4200;
        assert!(log <= most, "{log}");
        drop(writer);
        checkpointer.join();
        let kept: i64 = open(&path).query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, commits);
    }
}
