//! Commits batches in groups on PostgreSQL: many publishes share a transaction, its round trip and its sync. `pg_groups` has
//! the queues, `pg_group_runner` takes them out, `pg_merge` puts the statements together.
//!
//! A group is one transaction with one receipt, so an unclear COMMIT is resolved for all of its batches at once. If the server
//! refuses it, nothing of it has happened, and each caller runs its batch alone. A group of several accounts waits only shortly
//! for a lock: then its accounts are kept apart, and only the one whose lock it is goes on waiting.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use super::pg::PgDb;
use super::pg_account_permits::{AccountPermit, account_of};
use super::pg_batch::Attempt;
use super::pg_group_runner::{Group, Runner};
use super::pg_groups::{Ended, Ticket};
use super::pg_lanes::Lane;
use super::pg_pool::{Kept, Lease, WAIT, Work};
use super::pg_transaction::{Batch, LockWait, Needs, SHORT_LOCK_WAIT};
use super::{DbError, Stmt};

impl PgDb {
    /// Commits a batch, perhaps with others of its account. A caller that goes away does not stop it.
    pub(super) fn batch_in_group(self: &Arc<Self>, stmts: Vec<Stmt>) -> BoxFuture<'_, Result<(), DbError>> {
        Box::pin(self.run_in_group(stmts))
    }

    async fn run_in_group(self: &Arc<Self>, mut stmts: Vec<Stmt>) -> Result<(), DbError> {
        // Without a receipt nobody could tell what became of the others.
        let Some(account) = account_of(&stmts).filter(|_| self.receipts.has_table()).map(str::to_owned)
        else {
            return self.batch(&stmts, &[], Needs::Commit).await.map(|_| ());
        };
        let by = Instant::now() + WAIT;
        loop {
            let (mut ticket, runner) = self.groups.push(&account, stmts)?;
            if let Some(runner) = runner {
                self.start(runner);
            }
            let ended = match timeout_at(by, &mut ticket.ended).await {
                Ok(ended) => ended,
                Err(_) if self.groups.withdraw(&ticket) => {
                    return Err(DbError::unavailable("too many writes of this account are waiting"));
                }
                // A group has it, and ends within its own limits.
                Err(_) => (&mut ticket.ended).await,
            };
            match ended {
                Ok(Ended::Done(outcome)) => return outcome,
                Ok(Ended::Alone(alone)) => return self.run_alone(&account, &ticket, &alone).await,
                Ok(Ended::Again(again)) => stmts = again,
                Err(_) => return Err(DbError::unavailable("the write was interrupted")),
            }
        }
    }

    async fn run_alone(&self, account: &str, ticket: &Ticket, stmts: &[Stmt]) -> Result<(), DbError> {
        let outcome = self.batch(stmts, &[], Needs::Commit).await;
        if outcome.is_err() && ticket.is_in_shared_lane() {
            self.groups.was_refused(account);
        }
        outcome.map(|_| ())
    }

    fn start(self: &Arc<Self>, runner: Runner) {
        #[expect(clippy::let_underscore_future, reason = "it ends by itself when no batch waits")]
        let _ = tokio::runtime::Handle::current().spawn(Arc::clone(self).run_groups(runner));
    }

    async fn run_groups(self: Arc<Self>, mut runner: Runner) {
        while !runner.has_ended() {
            let start = Instant::now();
            // A connection first: meanwhile more batches join the group.
            match self.get_ready(runner.lane()).await {
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

    /// A shared lane needs no permit: it has few transactions at once, whoever writes in it.
    async fn get_ready(&self, lane: &Lane) -> Result<(Option<AccountPermit>, Lease), DbError> {
        let permit = match lane {
            Lane::Own(account) => Some(self.account_permits.take_for(account).await?),
            Lane::Shared(_) => None,
        };
        Ok((permit, self.pools.lease(Work::Write).await?))
    }

    async fn commit_group(&self, runner: &Runner, group: Group, permit: Option<AccountPermit>, lease: Lease) {
        let stmts = group.stmts();
        let changes = self.replicas.changes(&stmts, &[]);
        let kept = Arc::new(Kept { _permit: permit, changes });
        let is_shared = runner.lane().is_shared();
        let lock_wait = if is_shared { LockWait::Short } else { LockWait::Usual };
        let batch = Batch { stmts: &stmts, changed: &[], needs: Needs::Commit, lock_wait };
        let start = Instant::now();
        let attempt = self.attempt_over(lease, batch, &kept).await;
        // Also after a failure: it may have been committed.
        kept.changes.mark();
        drop(kept);
        match attempt {
            Ok(_) => {
                runner.record(true);
                if start.elapsed() < SHORT_LOCK_WAIT {
                    runner.was_quick();
                }
                group.end(&Ok(()));
            }
            // Nothing of it has happened. In a shared lane, this is what waiting for a lock comes to.
            Err(Attempt::Refused(DbError::Unavailable(_))) if is_shared => runner.separate(group),
            // Nor here.
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
