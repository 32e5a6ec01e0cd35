//! Moving SQLite's log into the database. It takes syncs of its own, so a thread beside the writer does it while commits
//! go on. Under a load that never pauses the log would grow for ever: the writer then finishes the move itself, which is
//! little by that time, and begins the log anew.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::DbError;

/// The log is moved each time it has grown by so many pages.
const STEP_PAGES: i32 = 8000;
/// The writer itself finishes the move when the log has so many: 128 MiB.
const MOST_PAGES: i32 = 4 * STEP_PAGES;

/// The thread that moves the log of one database. It ends with the writer's connection.
#[derive(Debug)]
pub(super) struct Mover(JoinHandle<()>);

impl Mover {
    /// Takes over from SQLite's own rule, which lets the writer do all of it.
    pub(super) fn start(writer: &mut Connection, mover: Connection) -> Result<Self, DbError> {
        let (wake, woken) = sync_channel(1);
        let turn = Arc::new(Mutex::new(()));
        let movers_turn = Arc::clone(&turn);
        let thread = std::thread::Builder::new()
            .name("sqlite-log".to_owned())
            .spawn(move || run(&mover, &woken, &movers_turn))
            .map_err(|error| DbError::unavailable(format!("cannot start a thread for the log: {error}")))?;
        writer.wal_hook(Some(after_commit(wake, turn)))?;
        Ok(Self(thread))
    }

    /// Waits until it has let go of the file. The writer's connection must be gone.
    pub(super) fn join(self) {
        let _ = self.0.join();
    }
}

/// Called after each commit with the pages in the log.
fn after_commit(
    wake: SyncSender<()>,
    turn: Arc<Mutex<()>>,
) -> impl FnMut(&mut Wal, i32) -> rusqlite::Result<()> + Send + 'static {
    let mut moved_at = 0;
    move |log, pages| {
        if pages < moved_at {
            // It began anew.
            moved_at = 0;
        }
        if pages >= MOST_PAGES {
            // One at a time can move it. A reader in the way is no failure of the commit; the next one tries again.
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = log.checkpoint();
        } else if pages >= moved_at + STEP_PAGES {
            moved_at = pages;
            let _ = wake.try_send(());
        }
        Ok(())
    }
}

fn run(connection: &Connection, woken: &Receiver<()>, turn: &Mutex<()>) {
    while woken.recv().is_ok() {
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(0));
        if let Err(error) = moved {
            tracing::warn!(%error, "the log was not moved into the database; the next commits try again");
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
        let mover = Mover::start(&mut writer, open(&path)).unwrap();
        let commits = 60;
        for _ in 0..commits {
            // Some 2,500 pages.
            writer.execute("INSERT INTO t VALUES (zeroblob(10000000))", []).unwrap();
        }
        let log = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        let most = (u64::from(MOST_PAGES.unsigned_abs()) + 4000) * 4200;
        assert!(log <= most, "{log}");
        drop(writer);
        mover.join();
        let kept: i64 = open(&path).query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, commits);
    }
}
