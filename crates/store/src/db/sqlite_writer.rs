//! The one thread that writes to SQLite: it groups what callers hand it into single commits.
//!
//! A caller is answered only after the commit that holds its batch has returned. Callers may go away at any time;
//! the writer neither notices nor minds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::sqlite_commit::{Answer, Batch, commit};
use super::{DbError, Stmt};

/// Enough to spread one sync over every waiting caller, few enough to keep the first of them from waiting long.
const JOBS_PER_COMMIT: usize = 256;
const BYTES_PER_COMMIT: usize = 16 << 20;
/// When so many shared the last commit, the next one waits a moment for company: a sync and the pages at the end of
/// every tree are then written once for more callers. A caller on its own never waits.
const BUSY: usize = 4;
const MOMENT: Duration = Duration::from_micros(1500);

type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

enum Job {
    Batch(Batch),
    /// Work that needs the write connection to itself, outside any transaction.
    Alone(Alone),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Sender<Job>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> Result<Self, DbError> {
        let (jobs, inbox) = channel();
        std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || run(connection, &inbox))
            .map_err(|error| DbError::unavailable(format!("cannot start the writer: {error}")))?;
        Ok(Writer { jobs })
    }

    pub(crate) async fn batch(&self, stmts: Vec<Stmt>) -> Answer {
        if stmts.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, answer) = oneshot::channel();
        self.send(Job::Batch(Batch { stmts, reply }))?;
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

fn run(mut connection: Connection, inbox: &Receiver<Job>) {
    let mut closing = None;
    let mut held = None;
    let mut shared_by = 1;
    while closing.is_none() {
        let Some(job) = held.take().or_else(|| inbox.recv().ok()) else { break };
        match job {
            Job::Close(reply) => closing = Some(reply),
            Job::Alone(work) => survive(&mut connection, |connection| work(connection)),
            Job::Batch(first) => {
                if shared_by >= BUSY {
                    std::thread::sleep(MOMENT);
                }
                let (group, next) = gather(first, inbox);
                held = next;
                shared_by = group.len();
                survive(&mut connection, |connection| commit(connection, group));
            }
        }
    }
    if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
        tracing::warn!(%error, "the log was not moved into the database; the next start does it");
    }
    drop(connection);
    if let Some(reply) = closing {
        let _ = reply.send(());
    }
}

/// Takes what is already waiting, up to one commit's worth. A job that is no batch ends the group.
fn gather(first: Batch, inbox: &Receiver<Job>) -> (Vec<Batch>, Option<Job>) {
    let mut weight = first.weight();
    let mut group = vec![first];
    while group.len() < JOBS_PER_COMMIT && weight < BYTES_PER_COMMIT {
        match inbox.try_recv() {
            Ok(Job::Batch(batch)) => {
                weight += batch.weight();
                group.push(batch);
            }
            Ok(other) => return (group, Some(other)),
            Err(_) => break,
        }
    }
    (group, None)
}

/// A panic drops the replies of its group, which tells their callers; the thread goes on for the others.
fn survive(connection: &mut Connection, work: impl FnOnce(&mut Connection)) {
    if catch_unwind(AssertUnwindSafe(|| work(connection))).is_err() {
        tracing::error!("a write panicked; its group was undone");
    }
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
}
