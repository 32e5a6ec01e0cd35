//! Limits the batches that wait to be written, by number and by bytes. A batch that finds no place is refused before anything
//! of it happens.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Stmt, Val};

/// Batches that are waiting or being committed. A fast disk commits this many in well under a second.
pub(super) const BATCHES_MOST: usize = 4096;
/// Bytes bound by these batches together. One more batch may be larger than that: an archive of many small files can be.
pub(super) const BYTES_MOST: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct WriteQueue(Arc<Mutex<QueueUsage>>);

#[derive(Debug, Default)]
struct QueueUsage {
    batches: usize,
    /// Bytes of all batches but the large one.
    bytes: usize,
    /// Whether the queue holds a batch above [`BYTES_MOST`].
    has_large: bool,
}

/// A place in the queue, released on drop.
#[derive(Debug)]
pub(super) struct QueueSlot {
    queue: Arc<Mutex<QueueUsage>>,
    bytes: usize,
}

impl WriteQueue {
    /// Reserves a place for a batch of this size; `None` if the queue is full.
    pub(super) fn reserve(&self, bytes: usize) -> Option<QueueSlot> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_large = bytes > BYTES_MOST;
        let fits = if is_large { !waiting.has_large } else { waiting.bytes + bytes <= BYTES_MOST };
        if !fits || waiting.batches >= BATCHES_MOST {
            return None;
        }
        waiting.batches += 1;
        if is_large {
            waiting.has_large = true;
        } else {
            waiting.bytes += bytes;
        }
        Some(QueueSlot { queue: Arc::clone(&self.0), bytes })
    }
}

/// Bytes that statements bind.
pub(super) fn weight(stmts: &[Stmt]) -> usize {
    stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum()
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.batches -= 1;
        if self.bytes > BYTES_MOST {
            waiting.has_large = false;
        } else {
            waiting.bytes -= self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::sqlite::SqliteDb;
    use crate::db::{DbError, Stmt};
    use futures_util::FutureExt;
    use std::sync::mpsc::channel;

    #[test]
    fn places_are_counted_in_batches_and_in_bytes_and_given_back() {
        let queue = WriteQueue::default();
        let small = queue.reserve(BYTES_MOST).unwrap();
        let large = queue.reserve(BYTES_MOST * 3).expect("one batch may be of any size");
        assert!(queue.reserve(BYTES_MOST + 1).is_none(), "but only one");
        assert!(queue.reserve(1).is_none());
        drop(small);
        assert!(queue.reserve(1).is_some(), "the large one leaves the others their bytes");
        drop(large);
        drop(queue.reserve(BYTES_MOST + 1).unwrap());
        let half = queue.reserve(BYTES_MOST / 2).unwrap();
        assert!(queue.reserve(BYTES_MOST / 2 + 1).is_none());
        let rest = queue.reserve(BYTES_MOST / 2).unwrap();
        drop((half, rest));
        let all: Vec<_> = (0..BATCHES_MOST).map(|_| queue.reserve(1).unwrap()).collect();
        assert!(queue.reserve(1).is_none());
        drop(all);
        assert!(queue.reserve(1).is_some());
    }

    #[tokio::test]
    async fn full_queue_refuses_at_once_and_everything_that_was_queued_is_durable() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        let db = SqliteDb::open(path.to_str().unwrap()).await.unwrap();
        db.batch(vec![Stmt::new("CREATE TABLE t (a BIGINT)", vec![])]).await.unwrap();
        // Blocks the writer until this test releases it.
        let ((held, is_held), (release, released)) = (channel(), channel::<()>());
        let mut holder = Box::pin(db.writer().run_exclusive(move |_| {
            let _ = held.send(());
            let _ = released.recv();
            Ok(())
        }));
        assert!((&mut holder).now_or_never().is_none());
        tokio::task::spawn_blocking(move || is_held.recv()).await.unwrap().unwrap();
        let insert = |number: i64| Stmt::new("INSERT INTO t VALUES ($1)", vec![number.into()]);
        let mut accepted = Vec::new();
        for number in 0..i64::try_from(BATCHES_MOST).unwrap() {
            let mut write = Box::pin(db.batch(vec![insert(number)]));
            assert!((&mut write).now_or_never().is_none(), "{number}");
            accepted.push(write);
        }
        let refused = db.batch(vec![insert(-1)]).now_or_never();
        assert!(matches!(refused, Some(Err(DbError::Busy))), "{refused:?}");
        // A caller that goes away leaves its write in the queue.
        drop(accepted.pop());
        drop(release);
        holder.await.unwrap();
        for write in accepted {
            write.await.unwrap();
        }
        db.batch(vec![insert(1_000_000)]).await.expect("there is room again");
        db.close().await;
        let count = "SELECT COUNT(*) FROM t WHERE a BETWEEN 0 AND 999999";
        let connection = rusqlite::Connection::open(&path).unwrap();
        let found: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(found, i64::try_from(BATCHES_MOST).unwrap());
        let refused: i64 =
            connection.query_row("SELECT COUNT(*) FROM t WHERE a = -1", [], |row| row.get(0)).unwrap();
        assert_eq!(refused, 0);
    }
}
