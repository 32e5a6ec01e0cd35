//! Writes to PostgreSQL: runs a batch until it is certain what became of it. `pg_transaction` sends it.
//!
//! A single statement without a guard needs no transaction. After a deadlock or a serialization failure the whole batch is
//! retried. A caller that goes away leaves no open transaction in the pool. If the answer to COMMIT is lost, `pg_receipt` finds
//! out what became of the batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::error::{is_connection_lost, is_read_only, is_retryable};
use super::pg::{PgDb, is_statement_stale};
use super::pg_pipeline::Failure;
use super::pg_pool::{Kept, Lease, Work, within};
use super::pg_receipt::CommitOutcome;
use super::pg_transaction::{Batch, LockWait, Needs, Progress};
use super::{DbError, Outcome, Stmt};

/// A deadlock aborts one of its two batches, so many conflicting ones need many attempts; each waits longer than the last.
const ATTEMPTS: u32 = 12;

/// Varies the delay of batches that failed together, so that they do not conflict again.
static JITTER: AtomicU32 = AtomicU32::new(0);

/// How long one attempt may take; waiting for a lock of another batch may take most of it.
const BATCH: Duration = Duration::from_secs(12);
/// The same for batches that change all rows of something, such as a sweep.
const SLOW_BATCH: Duration = Duration::from_mins(10);

/// How one attempt failed.
pub(super) enum Attempt {
    /// Nothing happened, and it may succeed if repeated.
    Undone(DbError),
    /// Nothing happened: the server has answered that it rolled back, and would do so again.
    Refused(DbError),
    /// Repeating does not help: nothing happened, or it is not known what.
    Final(DbError),
}

impl PgDb {
    /// Boxed, so that it is compiled in this crate and once.
    pub(super) fn batch<'a>(
        &'a self,
        stmts: &'a [Stmt],
        changed: &'a [String],
        needs: Needs,
    ) -> BoxFuture<'a, Result<Vec<Outcome>, DbError>> {
        Box::pin(self.run_batch(Batch { stmts, changed, needs, lock_wait: LockWait::Usual }))
    }

    async fn run_batch(&self, batch: Batch<'_>) -> Result<Vec<Outcome>, DbError> {
        let Batch { stmts, changed, .. } = batch;
        if stmts.is_empty() && changed.is_empty() {
            return Ok(Vec::new());
        }
        let permit = self.account_permits.take(stmts).await?;
        let kept = Arc::new(Kept { _permit: permit, changes: self.replicas.changes(stmts, changed) });
        let outcome = self.repeat(batch, &kept).await;
        // Also after a failure: it may have been committed.
        kept.changes.mark();
        outcome
    }

    async fn repeat(&self, batch: Batch<'_>, kept: &Arc<Kept>) -> Result<Vec<Outcome>, DbError> {
        let mut attempt = 1;
        loop {
            match self.attempt(batch, kept).await {
                Ok(outcomes) => return Ok(outcomes),
                Err(Attempt::Refused(error) | Attempt::Final(error)) => return Err(error),
                Err(Attempt::Undone(error)) if attempt == ATTEMPTS => return Err(error),
                Err(Attempt::Undone(_)) => {}
            }
            let jitter = JITTER.fetch_add(1, Ordering::Relaxed) % 16;
            tokio::time::sleep(Duration::from_millis(u64::from(attempt * (attempt + jitter)) * 2)).await;
            attempt += 1;
        }
    }

    /// Runs the batch once. If the answer to COMMIT was lost, asks what became of it.
    async fn attempt(&self, batch: Batch<'_>, kept: &Arc<Kept>) -> Result<Vec<Outcome>, Attempt> {
        let lease = self.pools.lease(Work::Write).await.map_err(Attempt::Final)?;
        self.attempt_over(lease, batch, kept).await
    }

    pub(super) async fn attempt_over(
        &self,
        mut lease: Lease,
        batch: Batch<'_>,
        kept: &Arc<Kept>,
    ) -> Result<Vec<Outcome>, Attempt> {
        lease.keep(kept);
        let client = lease.client().map_err(Attempt::Final)?;
        let receipt = self.receipts.take();
        let mut progress = Progress::Undone;
        let run = batch.run(client, receipt.as_ref(), &mut progress);
        let limit = if batch.stmts.iter().any(|stmt| stmt.is_slow) { SLOW_BATCH } else { BATCH };
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
                // Another server is the primary now; the next call finds it, and trying it twelve times would only cost connections.
                let is_repeatable = !is_read_only(&error);
                (DbError::from(error), is_repeatable)
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
                    Attempt::Refused(error.into())
                });
            }
            Ok(Err(Failure::Final(error))) => {
                self.receipts.give_back(receipt);
                lease.finish();
                return Err(Attempt::Refused(error));
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
                // The row is free again: the answer has waited for the lost transaction.
                Ok(CommitOutcome::Committed) => {
                    self.receipts.give_back(Some(receipt));
                    Ok(outcomes)
                }
                Ok(CommitOutcome::RolledBack) => {
                    self.receipts.give_back(Some(receipt));
                    Err(if is_repeatable { Attempt::Undone(error) } else { Attempt::Final(error) })
                }
                Err(_) => Err(Attempt::Final(error)),
            },
            _ => Err(Attempt::Final(error)),
        }
    }
}
