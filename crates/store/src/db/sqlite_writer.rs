//! The one thread that writes to SQLite. It groups the batches of many callers into single commits.
//!
//! A caller gets its reply only after the commit that holds its batch has returned. A caller that goes away does not affect
//! the writer. The queue is bounded (`write_queue`); a batch beyond that is refused at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::sqlite_checkpoint::Checkpointer;
use super::sqlite_commit::{Batch, BatchResult, commit};
use super::sqlite_group_size::GroupSize;
use super::write_queue::{QueueSlot, WriteQueue};
use super::{DbError, Stmt};

/// Small enough that the first batch of a group does not wait long.
const BYTES_PER_COMMIT: usize = 16 << 20;
/// How long a commit waits for batches that are expected to arrive.
const GATHER_TIME: Duration = Duration::from_micros(1500);

type ExclusiveWork = Box<dyn FnOnce(&mut Connection) + Send>;

enum Job {
    Batch(Batch, QueueSlot),
    /// Work that needs the write connection to itself, outside any transaction. Not counted in the queue: it comes from this
    /// program's own tasks, one at a time, never from requests.
    Exclusive(ExclusiveWork),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Sender<Job>,
    queue: WriteQueue,
}

impl Writer {
    /// `log` is a second connection, for checkpoints of the write-ahead log.
    pub(crate) fn start(mut connection: Connection, log: Connection) -> Result<Self, DbError> {
        let checkpointer = Checkpointer::start(&mut connection, log)?;
        let (jobs, inbox) = channel();
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || run(connection, checkpointer, &inbox))
            .map_err(|error| DbError::unavailable(format!("cannot start the writer: {error}")))?;
        Ok(Writer { jobs, queue: WriteQueue::default() })
    }

    pub(crate) async fn batch(&self, stmts: Vec<Stmt>) -> BatchResult {
        if stmts.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, result) = oneshot::channel();
        let batch = Batch { stmts, reply };
        let slot = self.queue.reserve(batch.weight()).ok_or(DbError::Busy)?;
        self.send(Job::Batch(batch, slot))?;
        result.await.map_err(|_| closed_error())?
    }

    /// Runs `work` on the write connection between two groups.
    pub(crate) async fn run_exclusive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let (reply, result) = oneshot::channel();
        self.send(Job::Exclusive(Box::new(move |connection| {
            let _ = reply.send(work(connection));
        })))?;
        result.await.map_err(|_| closed_error())?
    }

    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.send(Job::Close(reply)).is_ok() {
            let _ = closed.await;
        }
    }

    fn send(&self, job: Job) -> Result<(), DbError> {
        self.jobs.send(job).map_err(|_| closed_error())
    }
}

fn closed_error() -> DbError {
    DbError::unavailable("the database is closed")
}

fn run(mut connection: Connection, checkpointer: Checkpointer, inbox: &Receiver<Job>) {
    let mut closing = None;
    let mut held = None;
    let mut group_size = GroupSize::default();
    while closing.is_none() {
        let Some(job) = held.take().or_else(|| inbox.recv().ok()) else { break };
        match job {
            Job::Close(reply) => closing = Some(reply),
            Job::Exclusive(work) => {
                run_catching_panics(&mut connection, |connection| work(connection));
            }
            Job::Batch(first, slot) => {
                let mut group = Group::new(first, slot);
                held = group.gather(inbox, group_size.max_batches());
                if held.is_none() && group_size.expects_more(group.batches.len()) {
                    std::thread::sleep(GATHER_TIME);
                    held = group.gather(inbox, group_size.max_batches());
                }
                let jobs = group.batches.len();
                let took =
                    run_catching_panics(&mut connection, |connection| commit(connection, group.batches));
                drop(group.slots);
                if let Some(took) = took.flatten() {
                    group_size.record(jobs, took);
                }
            }
        }
    }
    if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
        tracing::warn!(%error, "write-ahead log not checkpointed at shutdown; the next start will do it");
    }
    drop(connection);
    checkpointer.join();
    if let Some(reply) = closing {
        let _ = reply.send(());
    }
}

/// The batches of one commit.
struct Group {
    batches: Vec<Batch>,
    /// Their places in the queue, released once the group is committed.
    slots: Vec<QueueSlot>,
    weight: usize,
}

impl Group {
    fn new(first: Batch, slot: QueueSlot) -> Self {
        Self { weight: first.weight(), batches: vec![first], slots: vec![slot] }
    }

    /// Takes batches that are already waiting, up to the limits of one commit. Any other job ends the group and is returned.
    fn gather(&mut self, inbox: &Receiver<Job>, most: usize) -> Option<Job> {
        while self.batches.len() < most && self.weight < BYTES_PER_COMMIT {
            match inbox.try_recv() {
                Ok(Job::Batch(batch, slot)) => {
                    self.weight += batch.weight();
                    self.batches.push(batch);
                    self.slots.push(slot);
                }
                Ok(other) => return Some(other),
                Err(_) => break,
            }
        }
        None
    }
}

/// Catches panics. A panic drops the replies of its group, so its callers fail; the thread goes on for the others.
fn run_catching_panics<T>(connection: &mut Connection, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| work(connection))).ok();
    if outcome.is_none() {
        tracing::error!("write panicked; its batch group was rolled back");
    }
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    outcome
}
