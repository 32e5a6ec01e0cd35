//! Writes to PostgreSQL: sends the statements of a batch together, in one transaction.
//!
//! A single statement without a guard needs no transaction. After a deadlock or a serialization failure the whole batch is
//! retried. A caller that goes away leaves no open transaction in the pool.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::Object;
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::Statement;

use super::error::{is_connection_lost, is_retryable};
use super::pg::{PgDb, is_statement_stale};
use super::pg_types::own;
use super::{DbError, Expect, Outcome, OwnedRow, Stmt, Val};

/// A deadlock aborts one of its two batches, so many conflicting ones need many attempts; each waits longer than the last.
const ATTEMPTS: u32 = 12;

/// Varies the delay of batches that failed together, so that they do not conflict again.
static JITTER: AtomicU32 = AtomicU32::new(0);
const NOTIFY: &str = "SELECT pg_notify('dropleaf_changed', $1)";

/// Why a batch failed, with what is needed to decide whether to retry it.
enum Failure {
    Driver { error: tokio_postgres::Error, undone: bool },
    Final(DbError),
}

impl Failure {
    /// Inside a transaction that is about to be rolled back, nothing has happened, whatever the error says.
    fn undone(self) -> Self {
        match self {
            Failure::Driver { error, .. } => Failure::Driver { error, undone: true },
            done @ Failure::Final(_) => done,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        // An error response means that the server did not commit; no response, or a shutdown, means that we do not know.
        let undone = error.code().is_some() && !is_connection_lost(&error);
        Failure::Driver { error, undone }
    }
}

impl PgDb {
    pub(crate) async fn batch(&self, stmts: &[Stmt], changed: &[String]) -> Result<Vec<Outcome>, DbError> {
        if stmts.is_empty() && changed.is_empty() {
            return Ok(Vec::new());
        }
        let mut stmts: Vec<&Stmt> = stmts.iter().collect();
        let wanted = stmts.len();
        let notices: Vec<Stmt> = changed.iter().map(|what| Stmt::new(NOTIFY, [Val::from(what)])).collect();
        stmts.extend(&notices);
        let mut attempt = 1;
        loop {
            let mut connection = TransactionClient(Some(self.client().await?));
            let Some(client) = connection.0.as_ref() else { return Err(DbError::internal("no connection")) };
            let failure = match run(client, &stmts).await {
                Ok(mut outcomes) => {
                    connection.return_to_pool();
                    outcomes.truncate(wanted);
                    return Ok(outcomes);
                }
                Err(Failure::Final(error)) => {
                    connection.return_to_pool();
                    return Err(error);
                }
                Err(failure) => failure,
            };
            let Failure::Driver { error, undone } = failure else { continue };
            let (lost, old) = (client.is_closed() || is_connection_lost(&error), is_statement_stale(&error));
            if !lost && !old {
                connection.return_to_pool();
            }
            drop(connection);
            if lost || old {
                self.forget_idle();
            }
            let again = undone && (is_retryable(&error) || lost || old);
            if !again || attempt == ATTEMPTS {
                return Err(error.into());
            }
            let jitter = JITTER.fetch_add(1, Ordering::Relaxed) % 16;
            tokio::time::sleep(Duration::from_millis(u64::from(attempt * (attempt + jitter)) * 2)).await;
            attempt += 1;
        }
    }
}

/// A connection that may be inside a transaction. If dropped half-way, it is closed instead of returned to the pool.
struct TransactionClient(Option<Object>);

impl TransactionClient {
    fn return_to_pool(&mut self) {
        drop(self.0.take());
    }
}

impl Drop for TransactionClient {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

async fn run(client: &Object, stmts: &[&Stmt]) -> Result<Vec<Outcome>, Failure> {
    let before = |error| Failure::Driver { error, undone: true };
    let mut prepared = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        prepared.push(client.prepare_cached(stmt.sql).await.map_err(before)?);
    }
    if let ([stmt], [statement]) = (stmts, prepared.as_slice())
        && stmt.expect == Expect::Any
    {
        return Ok(vec![run_one(client, statement, stmt).await?]);
    }

    let mut begin = Box::pin(client.batch_execute("BEGIN"));
    let mut pending: Vec<_> = prepared
        .iter()
        .zip(stmts)
        .map(|(statement, stmt)| PendingStatement::Running(Box::pin(run_one(client, statement, stmt))))
        .collect();
    let started = poll_fn(|cx| {
        // The first poll of each future sends its message, so they are executed in the order of polling.
        let ready = begin.as_mut().poll(cx);
        for statement in &mut pending {
            statement.advance(cx);
        }
        ready
    });
    started.await.map_err(before)?;
    let outcomes = wait_for_all(pending).await;
    match check_guards(outcomes, stmts) {
        Ok(outcomes) => {
            client.batch_execute("COMMIT").await?;
            Ok(outcomes)
        }
        Err(failure) => {
            client.batch_execute("ROLLBACK").await.map_err(before)?;
            Err(failure)
        }
    }
}

type StatementResult = Result<Outcome, Failure>;

/// A statement that was sent. Type-erased, so that the compiler can see that a batch may move between threads.
enum PendingStatement<'a> {
    Running(Pin<Box<dyn Future<Output = StatementResult> + Send + 'a>>),
    Done(Option<StatementResult>),
}

impl PendingStatement<'_> {
    fn advance(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        if let PendingStatement::Running(future) = self {
            match future.as_mut().poll(cx) {
                Poll::Ready(result) => *self = PendingStatement::Done(Some(result)),
                Poll::Pending => return false,
            }
        }
        true
    }
}

async fn wait_for_all(mut pending: Vec<PendingStatement<'_>>) -> Vec<StatementResult> {
    poll_fn(|cx| {
        let mut all = true;
        for statement in &mut pending {
            all &= statement.advance(cx);
        }
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let results = pending.into_iter().filter_map(|statement| match statement {
        PendingStatement::Done(result) => result,
        PendingStatement::Running(_) => None,
    });
    results.collect()
}

/// The first statement that failed or broke its guard decides the error; failures of later ones only follow from it.
fn check_guards(results: Vec<StatementResult>, stmts: &[&Stmt]) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::with_capacity(results.len());
    for (result, stmt) in results.into_iter().zip(stmts) {
        let outcome = result.map_err(Failure::undone)?;
        match stmt.expect {
            Expect::Rows(n, label) if n != outcome.affected => {
                return Err(Failure::Final(DbError::Guard(label)));
            }
            _ => outcomes.push(outcome),
        }
    }
    Ok(outcomes)
}

async fn run_one(client: &Object, statement: &Statement, stmt: &Stmt) -> StatementResult {
    let rows = client.query_raw(statement, &stmt.args).await?;
    pin_mut!(rows);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await? {
        found.push(OwnedRow(own(&row).map_err(Failure::Final)?));
    }
    let affected = rows.rows_affected().unwrap_or(found.len() as u64);
    Ok(Outcome { affected, rows: found })
}
