//! The one thread that writes to SQLite. It groups the batches of many callers into single commits.
//!
//! A caller gets its reply only after the commit that holds its batch has returned. A caller that goes away does not affect
//! the writer. The queue is bounded (`sqlite_queue`); a batch beyond that is refused at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::sqlite_commit::{Answer, Batch, commit};
use super::sqlite_log::Mover;
use super::sqlite_pace::Pace;
use super::sqlite_queue::{Queue, Queued};
use super::{DbError, Stmt};

/// Small enough that the first batch of a group does not wait long.
const BYTES_PER_COMMIT: usize = 16 << 20;
/// How long a commit waits for batches that are expected to arrive.
const MOMENT: Duration = Duration::from_micros(1500);

type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

enum Job {
    Batch(Batch, Queued),
    /// Work that needs the write connection to itself, outside any transaction. Not counted in the queue: it comes from this
    /// program's own tasks, one at a time, never from requests.
    Alone(Alone),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Sender<Job>,
    queue: Queue,
}

impl Writer {
    /// `log` is a second connection, for checkpoints of the write-ahead log.
    pub(crate) fn start(mut connection: Connection, log: Connection) -> Result<Self, DbError> {
        let mover = Mover::start(&mut connection, log)?;
        let (jobs, inbox) = channel();
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || run(connection, mover, &inbox))
            .map_err(|error| DbError::unavailable(format!("cannot start the writer: {error}")))?;
        Ok(Writer { jobs, queue: Queue::default() })
    }

    pub(crate) async fn batch(&self, stmts: Vec<Stmt>) -> Answer {
        if stmts.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, answer) = oneshot::channel();
        let batch = Batch { stmts, reply };
        let queued = self.queue.enter(batch.weight()).ok_or(DbError::Busy)?;
        self.send(Job::Batch(batch, queued))?;
        answer.await.map_err(|_| gone())?
    }

    /// Runs `work` on the write connection between two groups.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Alone(Box::new(move |connection| {
            let _ = reply.send(work(connection));
        })))?;
        answer.await.map_err(|_| gone())?
    }

    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.send(Job::Close(reply)).is_ok() {
            let _ = closed.await;
        }
    }

    fn send(&self, job: Job) -> Result<(), DbError> {
        self.jobs.send(job).map_err(|_| gone())
    }
}

fn gone() -> DbError {
    DbError::unavailable("the database is closed")
}

fn run(mut connection: Connection, mover: Mover, inbox: &Receiver<Job>) {
    let mut closing = None;
    let mut held = None;
    let mut pace = Pace::default();
    while closing.is_none() {
        let Some(job) = held.take().or_else(|| inbox.recv().ok()) else { break };
        match job {
            Job::Close(reply) => closing = Some(reply),
            Job::Alone(work) => {
                survive(&mut connection, |connection| work(connection));
            }
            Job::Batch(first, queued) => {
                let mut group = Group::new(first, queued);
                held = group.gather(inbox, pace.most());
                if held.is_none() && pace.expects_more(group.batches.len()) {
                    std::thread::sleep(MOMENT);
                    held = group.gather(inbox, pace.most());
                }
                let jobs = group.batches.len();
                let took = survive(&mut connection, |connection| commit(connection, group.batches));
                drop(group.queued);
                if let Some(took) = took.flatten() {
                    pace.note(jobs, took);
                }
            }
        }
    }
    if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
        tracing::warn!(%error, "write-ahead log not checkpointed at shutdown; the next start will do it");
    }
    drop(connection);
    mover.join();
    if let Some(reply) = closing {
        let _ = reply.send(());
    }
}

/// The batches of one commit.
struct Group {
    batches: Vec<Batch>,
    /// Their places in the queue, released once the group is committed.
    queued: Vec<Queued>,
    weight: usize,
}

impl Group {
    fn new(first: Batch, queued: Queued) -> Self {
        Self { weight: first.weight(), batches: vec![first], queued: vec![queued] }
    }

    /// Takes batches that are already waiting, up to the limits of one commit. Any other job ends the group and is returned.
    fn gather(&mut self, inbox: &Receiver<Job>, most: usize) -> Option<Job> {
        while self.batches.len() < most && self.weight < BYTES_PER_COMMIT {
            match inbox.try_recv() {
                Ok(Job::Batch(batch, queued)) => {
                    self.weight += batch.weight();
                    self.batches.push(batch);
                    self.queued.push(queued);
                }
                Ok(other) => return Some(other),
                Err(_) => break,
            }
        }
        None
    }
}

/// Catches panics. A panic drops the replies of its group, so its callers fail; the thread goes on for the others.
fn survive<T>(connection: &mut Connection, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| work(connection))).ok();
    if outcome.is_none() {
        tracing::error!("write panicked; its batch group was rolled back");
    }
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    outcome
}
