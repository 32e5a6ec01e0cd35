//! Sends several statements over one connection without waiting for each answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use deadpool_postgres::Object;
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::Statement;

use super::pg_types::own;
use super::{DbError, Outcome, OwnedRow, Stmt};

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

/// Runs `begin` and then the statements, in one round trip. The error is that of `begin`.
pub(super) async fn run_all(
    client: &Object,
    begin: &str,
    stmts: &[(&Statement, &Stmt)],
) -> Result<Vec<StatementResult>, tokio_postgres::Error> {
    let mut begin = Box::pin(client.batch_execute(begin));
    let mut pending: Vec<_> = stmts
        .iter()
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
