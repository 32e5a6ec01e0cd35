//! The one thread that writes to SQLite, and how it groups what callers hand it into single commits.
//!
//! A caller is answered only after the commit that holds its batch has returned. Callers may go away at any time;
//! the writer neither notices nor minds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
use tokio::sync::oneshot;

use super::{DbError, Expect, Outcome, OwnedRow, Stmt, Val};

/// Enough to spread one sync over every waiting caller, few enough to keep the first of them from waiting long.
const JOBS_PER_COMMIT: usize = 256;
const BYTES_PER_COMMIT: usize = 16 << 20;
/// When so many shared the last commit, the next one waits a moment for company: a sync and the pages at the end of
/// every tree are then written once for more callers. A caller on its own never waits.
const BUSY: usize = 4;
const MOMENT: Duration = Duration::from_micros(1500);

type Answer = Result<Vec<Outcome>, DbError>;
type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

enum Job {
    Batch(Batch),
    /// Work that needs the write connection to itself, outside any transaction.
    Alone(Alone),
    Close(oneshot::Sender<()>),
}

struct Batch {
    stmts: Vec<Stmt>,
    reply: oneshot::Sender<Answer>,
}

impl Batch {
    fn weight(&self) -> usize {
        self.stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum()
    }
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

fn commit(connection: &mut Connection, group: Vec<Batch>) {
    match try_commit(connection, &group) {
        Ok(answers) => {
            for (batch, answer) in group.into_iter().zip(answers) {
                let _ = batch.reply.send(answer);
            }
        }
        Err(error) => {
            for batch in group {
                let _ = batch.reply.send(Err(error.clone()));
            }
        }
    }
}

/// One transaction for the group. An error means that nothing of it happened.
///
/// Nearly every batch succeeds, so the group is tried without savepoints first: each of them copies every page it
/// touches. Only when a batch fails is the group undone and done again with a savepoint around each.
fn try_commit(connection: &Connection, group: &[Batch]) -> Result<Vec<Answer>, DbError> {
    control(connection, "BEGIN IMMEDIATE")?;
    let mut answers = Vec::with_capacity(group.len());
    for batch in group {
        match run_batch(connection, &batch.stmts) {
            Ok(outcomes) => answers.push(Ok(outcomes)),
            // A full disk and some I/O errors have undone the transaction already.
            Err(error) if connection.is_autocommit() => return Err(error),
            Err(error) => {
                control(connection, "ROLLBACK")?;
                if let [_] = group {
                    return Ok(vec![Err(error)]);
                }
                return commit_apart(connection, group);
            }
        }
    }
    control(connection, "COMMIT")?;
    Ok(answers)
}

/// One transaction, one savepoint per batch: those that fail are undone alone.
fn commit_apart(connection: &Connection, group: &[Batch]) -> Result<Vec<Answer>, DbError> {
    control(connection, "BEGIN IMMEDIATE")?;
    let mut answers = Vec::with_capacity(group.len());
    for batch in group {
        control(connection, "SAVEPOINT act")?;
        let answer = run_batch(connection, &batch.stmts);
        if let Err(error) = &answer {
            if connection.is_autocommit() {
                return Err(error.clone());
            }
            control(connection, "ROLLBACK TO act")?;
        }
        control(connection, "RELEASE act")?;
        answers.push(answer);
    }
    control(connection, "COMMIT")?;
    Ok(answers)
}

fn control(connection: &Connection, sql: &str) -> Result<(), DbError> {
    connection.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}

fn run_batch(connection: &Connection, stmts: &[Stmt]) -> Answer {
    stmts.iter().map(|stmt| run_one(connection, stmt)).collect()
}

fn run_one(connection: &Connection, stmt: &Stmt) -> Result<Outcome, DbError> {
    let mut statement = connection.prepare_cached(stmt.sql)?;
    bind(&mut statement, &stmt.args)?;
    let columns = statement.column_count();
    let outcome = if columns == 0 {
        Outcome { affected: statement.raw_execute()? as u64, rows: Vec::new() }
    } else {
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(OwnedRow(own_row(row, columns)?));
        }
        Outcome { affected: found.len() as u64, rows: found }
    };
    match stmt.expect {
        Expect::Rows(n, label) if n != outcome.affected => Err(DbError::Guard(label)),
        _ => Ok(outcome),
    }
}

/// By position: SQLite numbers `$1…` in order of first appearance, as every statement here is written.
pub(super) fn bind(statement: &mut Statement<'_>, args: &[Val]) -> Result<(), DbError> {
    if statement.parameter_count() != args.len() {
        let wanted = statement.parameter_count();
        return Err(DbError::internal(format!("{} arguments for {wanted} placeholders", args.len())));
    }
    for (i, arg) in args.iter().enumerate() {
        debug_assert_eq!(statement.parameter_name(i + 1), Some(format!("${}", i + 1).as_str()));
        statement.raw_bind_parameter(i + 1, arg)?;
    }
    Ok(())
}

impl ToSql for Val {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Val::Null => ValueRef::Null,
            Val::Int(value) => ValueRef::Integer(*value),
            Val::Text(value) => ValueRef::Text(value.as_bytes()),
            Val::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

pub(crate) fn own_row(row: &rusqlite::Row<'_>, columns: usize) -> Result<Vec<Val>, DbError> {
    (0..columns).map(|i| own(row.get_ref(i)?)).collect()
}

fn own(value: ValueRef<'_>) -> Result<Val, DbError> {
    match value {
        ValueRef::Null => Ok(Val::Null),
        ValueRef::Integer(value) => Ok(Val::Int(value)),
        ValueRef::Text(value) => match std::str::from_utf8(value) {
            Ok(text) => Ok(Val::Text(text.to_owned())),
            Err(_) => Err(DbError::internal("stored text is not UTF-8")),
        },
        ValueRef::Blob(value) => Ok(Val::Bytes(Bytes::copy_from_slice(value))),
        ValueRef::Real(_) => Err(DbError::internal("the schema has no fractions")),
    }
}
