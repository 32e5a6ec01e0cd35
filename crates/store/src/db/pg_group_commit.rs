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
use super::pg_group_queue::OVERDUE;
use super::pg_group_runner::{Group, Runner};
use super::pg_groups::{Ended, Ticket};
use super::pg_lanes::Lane;
use super::pg_pool::{Kept, Lease, WAIT, Work};
use super::pg_transaction::{Batch, LockWait, Needs, SHORT_LOCK_WAIT};
use super::{DbError, Stmt};

impl PgDb {
    /// Commits a batch, perhaps with others. A caller that goes away does not stop it.
    pub(super) fn batch_in_group(self: &Arc<Self>, stmts: Vec<Stmt>) -> BoxFuture<'_, Result<(), DbError>> {
        Box::pin(self.run_in_group(stmts))
    }

    async fn run_in_group(self: &Arc<Self>, mut stmts: Vec<Stmt>) -> Result<(), DbError> {
        // Without a receipt nobody could tell what became of the others.
        let Some(account) = account_of(&stmts).filter(|_| self.receipts.has_table()).map(str::to_owned)
        else {
            return self.batch(&stmts, &[], Needs::Commit).await.map(|_| ());
        };
        let mut apart = false;
        loop {
            // Once more after it was queued again: it was others that it has waited for, and that happens once.
            let by = Instant::now() + WAIT;
            let (mut ticket, runner) = self.groups.push(&account, stmts, apart)?;
            self.start(runner);
            match self.end_of(&mut ticket, by).await? {
                Ended::Done(outcome) => return outcome,
                Ended::Alone(alone) => return self.run_alone(&account, &ticket, &alone).await,
                Ended::Requeue(again) => (stmts, apart) = (again, true),
            }
        }
    }

    /// Waits until the batch has ended; an error if no group has taken it by then.
    async fn end_of(self: &Arc<Self>, ticket: &mut Ticket, by: Instant) -> Result<Ended, DbError> {
        let ended = loop {
            if let Ok(ended) = timeout_at(by.min(Instant::now() + OVERDUE), &mut ticket.ended).await {
                break ended;
            }
            if Instant::now() < by {
                self.start(ticket.another_runner());
            } else if ticket.withdraw() {
                return Err(DbError::unavailable("too many writes are waiting"));
            } else {
                // A group has it, and ends within its own limits.
                break (&mut ticket.ended).await;
            }
        };
        ended.map_err(|_| DbError::unavailable("the write was interrupted"))
    }

    async fn run_alone(&self, account: &str, ticket: &Ticket, stmts: &[Stmt]) -> Result<(), DbError> {
        let outcome = self.batch(stmts, &[], Needs::Commit).await;
        // Not if the database is to blame.
        if matches!(outcome, Err(DbError::Guard(_) | DbError::Internal(_))) && ticket.is_in_shared_lane() {
            self.groups.was_refused(account);
        }
        outcome.map(|_| ())
    }

    fn start(self: &Arc<Self>, runner: Option<Runner>) {
        if let Some(runner) = runner {
            #[expect(
                clippy::let_underscore_future,
                reason = "it ends by itself when it is not needed any more"
            )]
            let _ = tokio::runtime::Handle::current().spawn(Arc::clone(self).run_groups(runner));
        }
    }

    async fn run_groups(self: Arc<Self>, mut runner: Runner) {
        loop {
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
            if runner.has_ended() {
                return;
            }
        }
    }

    /// The shared lane needs no permit: it has few transactions at once, whoever writes in it.
    async fn get_ready(&self, lane: &Lane) -> Result<(Option<AccountPermit>, Lease), DbError> {
        let permit = match lane {
            Lane::Own(account) => Some(self.account_permits.take_for(account).await?),
            Lane::Shared => None,
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
            // Nothing of it has happened.
            Err(Attempt::Refused(error)) if is_shared && error.is_lock_timeout() => runner.separate(group),
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
