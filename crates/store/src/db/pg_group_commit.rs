//! Commits batches of one account in groups on PostgreSQL: many publishes share a transaction, its round trip and its sync.
//! `pg_groups` has the queues, `pg_merge` puts the statements together.
//!
//! A group is one transaction with one receipt, so an unclear COMMIT is resolved for all of its batches at once. If the server
//! refuses it, nothing of it has happened, and each caller runs its batch alone.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::pg::PgDb;
use super::pg_account_permits::{AccountPermit, account_of};
use super::pg_batch::Attempt;
use super::pg_groups::{Ended, Group, Runner};
use super::pg_pool::{Kept, Lease, WAIT, Work, within};
use super::pg_transaction::{Batch, Needs};
use super::{DbError, Stmt};

impl PgDb {
    /// Commits a batch, perhaps with others of its account. A caller that goes away does not stop it.
    pub(super) fn batch_in_group(self: &Arc<Self>, stmts: Vec<Stmt>) -> BoxFuture<'_, Result<(), DbError>> {
        Box::pin(self.run_in_group(stmts))
    }

    async fn run_in_group(self: &Arc<Self>, stmts: Vec<Stmt>) -> Result<(), DbError> {
        // Without a receipt nobody could tell what became of the others.
        let Some(account) = account_of(&stmts).filter(|_| self.receipts.has_table()).map(str::to_owned)
        else {
            return self.batch(&stmts, &[], Needs::Commit).await.map(|_| ());
        };
        let (mut ticket, runner) = self.groups.push(&account, stmts)?;
        if let Some(runner) = runner {
            self.start(runner);
        }
        let ended = match within(WAIT, &mut ticket.ended).await {
            Ok(ended) => ended,
            Err(_) if self.groups.withdraw(&account, &ticket) => {
                return Err(DbError::unavailable("too many writes of this account are waiting"));
            }
            // A group has it, and ends within its own limits.
            Err(_) => ticket.ended.await,
        };
        match ended {
            Ok(Ended::Done(outcome)) => outcome,
            Ok(Ended::Alone(stmts)) => self.batch(&stmts, &[], Needs::Commit).await.map(|_| ()),
            Err(_) => Err(DbError::unavailable("the write was interrupted")),
        }
    }

    fn start(self: &Arc<Self>, runner: Runner) {
        #[expect(clippy::let_underscore_future, reason = "it ends by itself when no batch waits")]
        let _ = tokio::runtime::Handle::current().spawn(Arc::clone(self).run_groups(runner));
    }

    async fn run_groups(self: Arc<Self>, mut runner: Runner) {
        while !runner.has_ended() {
            let start = Instant::now();
            // A connection first: meanwhile more batches join the group.
            match self.get_ready(runner.account()).await {
                Ok((permit, lease)) => match runner.take() {
                    Some(group) => self.commit_group(&runner, group, permit, lease).await,
                    None => lease.finish(),
                },
                // Batches that have waited for as long are withdrawn by their callers.
                Err(DbError::Unavailable(_)) if start.elapsed() >= WAIT => {}
                Err(error) => {
                    if let Some(group) = runner.take() {
                        group.end(&Err(error));
                    }
                }
            }
        }
    }

    async fn get_ready(&self, account: &str) -> Result<(AccountPermit, Lease), DbError> {
        let permit = self.account_permits.take_for(account).await?;
        Ok((permit, self.pools.lease(Work::Write).await?))
    }

    async fn commit_group(&self, runner: &Runner, group: Group, permit: AccountPermit, lease: Lease) {
        let stmts = group.stmts();
        let changes = self.replicas.changes(&stmts, &[]);
        let kept = Arc::new(Kept { _permit: Some(permit), changes });
        let batch = Batch { stmts: &stmts, changed: &[], needs: Needs::Commit };
        let attempt = self.attempt_over(lease, batch, &kept).await;
        // Also after a failure: it may have been committed.
        kept.changes.mark();
        drop(kept);
        match attempt {
            Ok(_) => {
                runner.record(true);
                group.end(&Ok(()));
            }
            // Nothing of it has happened.
            Err(Attempt::Undone(_)) if group.len() == 1 => group.disband(),
            Err(Attempt::Refused(error)) if group.len() == 1 || matches!(error, DbError::Full) => {
                group.end(&Err(error));
            }
            // Nor here. One batch may have spoilt it for the others.
            Err(Attempt::Undone(_) | Attempt::Refused(_)) => {
                runner.record(false);
                group.disband();
            }
            Err(Attempt::Final(error)) => group.end(&Err(error)),
        }
    }
}
