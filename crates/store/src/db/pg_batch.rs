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

use super::error::{lost, retryable};
use super::pg::{PgDb, stale};
use super::pg_types::own;
use super::{DbError, Expect, Outcome, OwnedRow, Stmt, Val};

/// A deadlock aborts one of its two batches, so many conflicting ones need many attempts; each waits longer than the last.
const ATTEMPTS: u32 = 12;

/// Varies the delay of batches that failed together, so that they do not conflict again.
static SPREAD: AtomicU32 = AtomicU32::new(0);
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
        let undone = error.code().is_some() && !lost(&error);
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
            let mut lease = Lease(Some(self.client().await?));
            let Some(client) = lease.0.as_ref() else { return Err(DbError::internal("no connection")) };
            let failure = match run(client, &stmts).await {
                Ok(mut outcomes) => {
                    lease.give_back();
                    outcomes.truncate(wanted);
                    return Ok(outcomes);
                }
                Err(Failure::Final(error)) => {
                    lease.give_back();
                    return Err(error);
                }
                Err(failure) => failure,
            };
            let Failure::Driver { error, undone } = failure else { continue };
            let (lost, old) = (client.is_closed() || lost(&error), stale(&error));
            if !lost && !old {
                lease.give_back();
            }
            drop(lease);
            if lost || old {
                self.forget_idle();
            }
            let again = undone && (retryable(&error) || lost || old);
            if !again || attempt == ATTEMPTS {
                return Err(error.into());
            }
            let spread = SPREAD.fetch_add(1, Ordering::Relaxed) % 16;
            tokio::time::sleep(Duration::from_millis(u64::from(attempt * (attempt + spread)) * 2)).await;
            attempt += 1;
        }
    }
}

/// A connection that may be inside a transaction. If dropped half-way, it is closed instead of returned to the pool.
struct Lease(Option<Object>);

impl Lease {
    fn give_back(&mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lease {
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
    let mut flights: Vec<_> = prepared
        .iter()
        .zip(stmts)
        .map(|(statement, stmt)| Flight::Flying(Box::pin(run_one(client, statement, stmt))))
        .collect();
    let started = poll_fn(|cx| {
        // The first poll of each future sends its message, so they are executed in the order of polling.
        let ready = begin.as_mut().poll(cx);
        for flight in &mut flights {
            flight.advance(cx);
        }
        ready
    });
    started.await.map_err(before)?;
    let outcomes = land(flights).await;
    match judge(outcomes, stmts) {
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

type Landed = Result<Outcome, Failure>;

/// A statement in flight. Type-erased, so that the compiler can see that a batch may move between threads.
enum Flight<'a> {
    Flying(Pin<Box<dyn Future<Output = Landed> + Send + 'a>>),
    Landed(Option<Landed>),
}

impl Flight<'_> {
    fn advance(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        if let Flight::Flying(future) = self {
            match future.as_mut().poll(cx) {
                Poll::Ready(landed) => *self = Flight::Landed(Some(landed)),
                Poll::Pending => return false,
            }
        }
        true
    }
}

async fn land(mut flights: Vec<Flight<'_>>) -> Vec<Landed> {
    poll_fn(|cx| {
        let mut all = true;
        for flight in &mut flights {
            all &= flight.advance(cx);
        }
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let landed = flights.into_iter().filter_map(|flight| match flight {
        Flight::Landed(landed) => landed,
        Flight::Flying(_) => None,
    });
    landed.collect()
}

/// The first statement that failed or broke its guard decides the error; failures of later ones only follow from it.
fn judge(landed: Vec<Landed>, stmts: &[&Stmt]) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::with_capacity(landed.len());
    for (landed, stmt) in landed.into_iter().zip(stmts) {
        let outcome = landed.map_err(Failure::undone)?;
        match stmt.expect {
            Expect::Rows(n, label) if n != outcome.affected => {
                return Err(Failure::Final(DbError::Guard(label)));
            }
            _ => outcomes.push(outcome),
        }
    }
    Ok(outcomes)
}

async fn run_one(client: &Object, statement: &Statement, stmt: &Stmt) -> Landed {
    let rows = client.query_raw(statement, &stmt.args).await?;
    pin_mut!(rows);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await? {
        found.push(OwnedRow(own(&row).map_err(Failure::Final)?));
    }
    let affected = rows.rows_affected().unwrap_or(found.len() as u64);
    Ok(Outcome { affected, rows: found })
}
