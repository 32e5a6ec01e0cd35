//! Sends several statements over one connection without waiting for each answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use deadpool_postgres::Object;
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::Statement;

use super::error::{is_connection_lost, is_read_only};
use super::pg_guard::failed_guard;
use super::pg_types::own;
use super::{DbError, Expect, Outcome, OwnedRow, Stmt};

/// Why a statement failed.
pub(super) enum Failure {
    Driver(tokio_postgres::Error),
    /// The transaction did not begin.
    Begin(tokio_postgres::Error),
    Final(DbError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::Driver(error)
    }
}

pub(super) type StatementResult = Result<Outcome, Failure>;

impl Failure {
    /// Whether the server has answered that it did not run the statement as it should.
    pub(super) fn is_answer(&self) -> bool {
        match self {
            // A pooler reports in the same way that it has lost the server.
            Failure::Driver(error) => {
                error.as_db_error().is_some() && (!is_connection_lost(error) || is_read_only(error))
            }
            Failure::Begin(_) => false,
            Failure::Final(_) => true,
        }
    }
}

/// How the transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The caller ends it.
    Open,
    /// COMMIT is sent too; its result is the last one. Not if a statement could not be sent: the others would be committed
    /// without it.
    Commit,
}

/// Runs `begin` and then the statements, in one round trip. The error is that of `begin`.
pub(super) async fn run_all(
    client: &Object,
    begin: &str,
    stmts: &[(&Statement, &Stmt)],
    ending: Ending,
) -> Result<Vec<StatementResult>, tokio_postgres::Error> {
    let mut begin = Box::pin(client.batch_execute(begin));
    let mut pending: Vec<_> = stmts
        .iter()
        .map(|(statement, stmt)| {
            PendingStatement::Running(match ending {
                Ending::Open => Box::pin(run_one(client, statement, stmt)),
                Ending::Commit => Box::pin(run_unread(client, statement, stmt)),
            })
        })
        .collect();
    let mut commits = ending == Ending::Commit;
    let started = poll_fn(|cx| {
        // The first poll of each future sends its message, so they are executed in the order of polling.
        let ready = begin.as_mut().poll(cx);
        for statement in &mut pending {
            statement.advance(cx);
        }
        if std::mem::replace(&mut commits, false) && !pending.iter().any(PendingStatement::has_failed) {
            let mut commit = PendingStatement::Running(Box::pin(commit(client)));
            commit.advance(cx);
            pending.push(commit);
        }
        ready
    });
    started.await?;
    Ok(wait_for_all(pending).await)
}

pub(super) async fn run_one(client: &Object, statement: &Statement, stmt: &Stmt) -> StatementResult {
    let rows = client.query_raw(statement, &stmt.args).await?;
    pin_mut!(rows);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await? {
        found.push(OwnedRow(own(&row).map_err(Failure::Final)?));
    }
    let affected = rows.rows_affected().unwrap_or(found.len() as u64);
    Ok(Outcome { affected, rows: found })
}

/// Leaves its rows unread, so that nothing can fail here that has not failed on the server.
async fn run_unread(client: &Object, statement: &Statement, stmt: &Stmt) -> StatementResult {
    let affected = client.execute_raw(statement, &stmt.args).await?;
    Ok(Outcome { affected, rows: Vec::new() })
}

async fn commit(client: &Object) -> StatementResult {
    client.batch_execute("COMMIT").await?;
    Ok(Outcome::default())
}

/// A statement that was sent. Type-erased, so that the compiler can see that a batch may move between threads.
enum PendingStatement<'a> {
    Running(Pin<Box<dyn Future<Output = StatementResult> + Send + 'a>>),
    Done(Option<StatementResult>),
}

impl PendingStatement<'_> {
    const fn has_failed(&self) -> bool {
        matches!(self, PendingStatement::Done(Some(Err(_))))
    }

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

/// The outcomes of the batch's own statements. The first statement that failed or broke its guard decides the error; failures
/// of later ones only follow from it.
pub(super) fn check_guards(
    results: Vec<StatementResult>,
    stmts: &[(&Stmt, bool)],
) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::with_capacity(results.len());
    for (result, (stmt, is_own)) in results.into_iter().zip(stmts) {
        let outcome = result?;
        match stmt.expect {
            Expect::Rows(n, label) if n != outcome.affected => {
                return Err(Failure::Final(DbError::Guard(label)));
            }
            _ if *is_own => outcomes.push(outcome),
            _ => {}
        }
    }
    Ok(outcomes)
}

/// The same for guarded statements: the server has checked the guards.
pub(super) fn check_results(results: Vec<StatementResult>, stmts: &[(&Stmt, bool)]) -> Result<(), Failure> {
    for (result, (stmt, _)) in results.into_iter().zip(stmts) {
        result.map_err(|failure| match failure {
            Failure::Driver(error) => match failed_guard(stmt, &error) {
                Some(guard) => Failure::Final(guard),
                None => Failure::Driver(error),
            },
            other => other,
        })?;
    }
    Ok(())
}
