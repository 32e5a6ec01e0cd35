//! Writes to PostgreSQL: sends the statements of a batch together, in one transaction.
//!
//! A single statement without a guard needs no transaction. After a deadlock or a serialization failure the whole batch is
//! retried. A caller that goes away leaves no open transaction in the pool. If the answer to COMMIT is lost, `pg_receipt` finds
//! out what became of the batch.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use deadpool_postgres::Object;
use futures_util::future::BoxFuture;

use super::error::{is_connection_lost, is_retryable};
use super::pg::{PgDb, is_statement_stale};
use super::pg_pipeline::{Failure, StatementResult, run_all, run_one};
use super::pg_pool::{Work, within};
use super::pg_receipt::{CommitOutcome, Receipt};
use super::stmt::{Fence, FenceKind};
use super::{DbError, Expect, Outcome, Stmt, Val};

/// A deadlock aborts one of its two batches, so many conflicting ones need many attempts; each waits longer than the last.
const ATTEMPTS: u32 = 12;

/// Varies the delay of batches that failed together, so that they do not conflict again.
static JITTER: AtomicU32 = AtomicU32::new(0);
const NOTIFY: &str = "SELECT pg_notify('dropleaf_changed', $1)";

/// How long one attempt may take; waiting for a lock of another batch may take most of it.
const BATCH: Duration = Duration::from_secs(12);
/// The same for batches that change all rows of something, such as a sweep.
const SLOW_BATCH: Duration = Duration::from_mins(10);
/// The server gives up before we do, and ends transactions of a process that stopped answering: both would hold their locks.
const BEGIN: &str =
    "BEGIN; SET LOCAL lock_timeout = '8s'; SET LOCAL idle_in_transaction_session_timeout = '15s'";

/// The fence of an account. Unlike the lock of a row, it lets those through first that came first, so batches that share it
/// cannot keep one away that must be alone.
const FENCE_SHARED: &str = "SELECT CAST(pg_advisory_xact_lock_shared(hashtextextended($1, 0)) AS TEXT)";
const FENCE_ALONE: &str = "SELECT CAST(pg_advisory_xact_lock(hashtextextended($1, 0)) AS TEXT)";

/// How far an attempt came, which decides what a lost connection means.
enum Progress {
    /// Nothing is committed.
    Undone,
    /// A statement without a transaction was sent.
    Alone,
    /// COMMIT was sent after these outcomes.
    Committing(Vec<Outcome>),
}

/// How one attempt failed.
enum Attempt {
    /// Nothing happened, and it may succeed if repeated.
    Undone(DbError),
    /// Repeating does not help: nothing happened, or it is not known what.
    Final(DbError),
}

impl PgDb {
    /// Boxed, so that it is compiled in this crate and once.
    pub(crate) fn batch<'a>(
        &'a self,
        stmts: &'a [Stmt],
        changed: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, DbError>> {
        Box::pin(self.repeat(stmts, changed))
    }

    async fn repeat(&self, stmts: &[Stmt], changed: &[String]) -> Result<Vec<Outcome>, DbError> {
        if stmts.is_empty() && changed.is_empty() {
            return Ok(Vec::new());
        }
        let _account_permit = self.account_permits.take(stmts).await?;
        let mut attempt = 1;
        loop {
            match self.attempt(stmts, changed).await {
                Ok(outcomes) => return Ok(outcomes),
                Err(Attempt::Final(error)) => return Err(error),
                Err(Attempt::Undone(error)) if attempt == ATTEMPTS => return Err(error),
                Err(Attempt::Undone(_)) => {}
            }
            let jitter = JITTER.fetch_add(1, Ordering::Relaxed) % 16;
            tokio::time::sleep(Duration::from_millis(u64::from(attempt * (attempt + jitter)) * 2)).await;
            attempt += 1;
        }
    }

    /// Runs the batch once. If the answer to COMMIT was lost, asks what became of it.
    async fn attempt(&self, stmts: &[Stmt], changed: &[String]) -> Result<Vec<Outcome>, Attempt> {
        let lease = self.pools.lease(Work::Write).await.map_err(Attempt::Final)?;
        let client = lease.client().map_err(Attempt::Final)?;
        let receipt = self.receipts.take();
        let mut progress = Progress::Undone;
        let run = run(client, stmts, changed, receipt.as_ref(), &mut progress);
        let limit = if stmts.iter().any(|stmt| stmt.is_slow) { SLOW_BATCH } else { BATCH };
        let (error, is_repeatable) = match within(limit, run).await {
            Ok(Ok(outcomes)) => {
                lease.finish();
                self.receipts.give_back(receipt);
                return Ok(outcomes);
            }
            Ok(Err(Failure::Driver(error) | Failure::Begin(error)))
                if client.is_closed() || is_connection_lost(&error) =>
            {
                lease.close();
                self.pools.forget_idle();
                (DbError::from(error), true)
            }
            Ok(Err(Failure::Begin(error))) => {
                // The statements were sent with it, and it is not known in which transaction they have run.
                lease.close();
                return Err(Attempt::Final(error.into()));
            }
            // In the next two the server has answered, and rolled back.
            Ok(Err(Failure::Driver(error))) => {
                self.receipts.give_back(receipt);
                let is_stale = is_statement_stale(&error);
                if is_stale {
                    lease.close();
                    self.pools.forget_idle();
                } else {
                    lease.finish();
                }
                let is_repeatable = is_stale || is_retryable(&error);
                return Err(if is_repeatable {
                    Attempt::Undone(error.into())
                } else {
                    Attempt::Final(error.into())
                });
            }
            Ok(Err(Failure::Final(error))) => {
                self.receipts.give_back(receipt);
                lease.finish();
                return Err(Attempt::Final(error));
            }
            Err(late) => {
                drop(lease);
                (late, false)
            }
        };
        // The row of the receipt stays locked until the server has noticed, so no other batch uses it.
        match (progress, receipt) {
            (Progress::Undone, _) if is_repeatable => Err(Attempt::Undone(error)),
            (Progress::Committing(outcomes), Some(receipt)) => match self.commit_outcome(&receipt).await {
                Ok(CommitOutcome::Committed) => Ok(outcomes),
                Ok(CommitOutcome::RolledBack) => Err(Attempt::Undone(error)),
                Err(_) => Err(Attempt::Final(error)),
            },
            _ => Err(Attempt::Final(error)),
        }
    }
}

async fn run(
    client: &Object,
    stmts: &[Stmt],
    changed: &[String],
    receipt: Option<&Receipt>,
    progress: &mut Progress,
) -> Result<Vec<Outcome>, Failure> {
    if let ([stmt], []) = (stmts, changed)
        && stmt.expect == Expect::Any
    {
        let statement = client.prepare_cached(stmt.sql).await?;
        *progress = Progress::Alone;
        return run_one(client, &statement, stmt).await.map(|outcome| vec![outcome]);
    }
    let fences: Vec<Option<Stmt>> = stmts.iter().map(|stmt| stmt.fence.as_deref().and_then(fence)).collect();
    let mut last: Vec<Stmt> = changed.iter().map(|what| Stmt::new(NOTIFY, [Val::from(what)])).collect();
    last.extend(receipt.map(Receipt::stmt));
    let mut all = Vec::with_capacity(stmts.len() + fences.len() + last.len());
    for (stmt, fence) in stmts.iter().zip(&fences) {
        all.extend(fence.as_ref().map(|fence| (fence, false)));
        all.push((stmt, true));
    }
    all.extend(last.iter().map(|stmt| (stmt, false)));

    let mut prepared = Vec::with_capacity(all.len());
    for (stmt, _) in &all {
        prepared.push(client.prepare_cached(stmt.sql).await?);
    }
    let sent: Vec<_> = prepared.iter().zip(&all).map(|(statement, (stmt, _))| (statement, *stmt)).collect();
    let results = run_all(client, BEGIN, &sent).await.map_err(Failure::Begin)?;
    match check_guards(results, &all) {
        Ok(outcomes) => {
            *progress = Progress::Committing(outcomes);
            client.batch_execute("COMMIT").await?;
            match std::mem::replace(progress, Progress::Undone) {
                Progress::Committing(outcomes) => Ok(outcomes),
                Progress::Undone | Progress::Alone => Ok(Vec::new()),
            }
        }
        Err(failure) => {
            client.batch_execute("ROLLBACK").await?;
            Err(failure)
        }
    }
}

fn fence(fence: &Fence) -> Option<Stmt> {
    let sql = match fence.kind {
        FenceKind::Shared => FENCE_SHARED,
        FenceKind::Alone => FENCE_ALONE,
        FenceKind::PermitOnly => return None,
    };
    Some(Stmt::new(sql, [Val::from(&fence.account)]))
}

/// The outcomes of the batch's own statements. The first statement that failed or broke its guard decides the error; failures
/// of later ones only follow from it.
fn check_guards(results: Vec<StatementResult>, stmts: &[(&Stmt, bool)]) -> Result<Vec<Outcome>, Failure> {
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
