//! Permits to write: no account uses more than a share of the connections, however many requests it sends.
//!
//! Batches name the account they work for by a fence (`Stmt::fence`). Those of one account wait for each other here, before
//! they wait for a connection, so other accounts' batches overtake them. New pages that share a transaction with other accounts
//! need no permit: `pg_group_queue` lets an account be in one such transaction at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pg_pool::WAIT;
use super::{DbError, Stmt};

/// Batches of one account that run at once, of the ten connections for writes.
const AT_ONCE: usize = 4;
/// Batches of one account that may wait; a further one is refused at once.
pub(super) const MAX_WAITING: usize = 256;

type Queues = Arc<Mutex<HashMap<String, Queue>>>;

/// The accounts that write now.
#[derive(Debug, Default)]
pub(super) struct AccountPermits(Queues);

#[derive(Debug)]
struct Queue {
    places: Arc<Semaphore>,
    /// Batches that run or wait; the entry is removed with the last one.
    batches: usize,
}

/// A place in the queue of an account, and then the permission to run.
#[derive(Debug)]
pub(super) struct AccountPermit {
    queues: Queues,
    account: String,
    permit: Option<OwnedSemaphorePermit>,
}

/// The account, or the share of the connections, that a batch works for.
pub(super) fn account_of(stmts: &[Stmt]) -> Option<&str> {
    stmts.iter().find_map(|stmt| stmt.fence.as_ref()).map(|fence| fence.account.as_str())
}

impl AccountPermits {
    /// Waits until this batch may run; `None` if it works for no account.
    pub(super) async fn take(&self, stmts: &[Stmt]) -> Result<Option<AccountPermit>, DbError> {
        match account_of(stmts) {
            Some(account) => self.take_for(account).await.map(Some),
            None => Ok(None),
        }
    }

    /// The same for a batch of this account.
    pub(super) async fn take_for(&self, account: &str) -> Result<AccountPermit, DbError> {
        let (mut account_permit, places) = self.enter(account)?;
        let permit = tokio::time::timeout(WAIT, places.acquire_owned()).await;
        let permit = permit
            .map_err(|_| DbError::unavailable("too many writes of this account or kind are waiting"))?;
        account_permit.permit = permit.ok();
        Ok(account_permit)
    }

    fn enter(&self, account: &str) -> Result<(AccountPermit, Arc<Semaphore>), DbError> {
        let mut queues = lock(&self.0);
        let queue = queues
            .entry(account.to_owned())
            .or_insert_with(|| Queue { places: Arc::new(Semaphore::new(AT_ONCE)), batches: 0 });
        if queue.batches >= AT_ONCE + MAX_WAITING {
            return Err(DbError::Busy);
        }
        queue.batches += 1;
        let places = Arc::clone(&queue.places);
        drop(queues);
        let account_permit =
            AccountPermit { queues: Arc::clone(&self.0), account: account.to_owned(), permit: None };
        Ok((account_permit, places))
    }

    /// Batches of all accounts that wait for others of the same account.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.0).values().map(|queue| queue.batches.saturating_sub(AT_ONCE)).sum()
    }
}

impl Drop for AccountPermit {
    fn drop(&mut self) {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get_mut(&self.account) {
            queue.batches -= 1;
            if queue.batches == 0 {
                queues.remove(&self.account);
            }
        }
    }
}

fn lock(queues: &Queues) -> MutexGuard<'_, HashMap<String, Queue>> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::FenceKind;

    fn batch(account: &str) -> Vec<Stmt> {
        vec![Stmt::new("SELECT 1", []).fence(account, FenceKind::Shared)]
    }

    #[tokio::test(start_paused = true)]
    async fn one_account_has_a_share_and_others_pass_it() {
        let permits = AccountPermits::default();
        let mut taken = Vec::new();
        for _ in 0..AT_ONCE {
            taken.push(permits.take(&batch("a")).await.unwrap());
        }
        let late = permits.take(&batch("a")).await;
        assert!(matches!(late, Err(DbError::Unavailable(_))), "waited in vain");
        assert!(permits.take(&batch("b")).await.unwrap().is_some());
        assert!(permits.take(&[Stmt::new("SELECT 1", [])]).await.unwrap().is_none());
        let stmts = batch("a");
        let waiting = permits.take(&stmts);
        taken.pop();
        assert!(waiting.await.unwrap().is_some());
        taken.clear();
        assert!(lock(&permits.0).is_empty(), "nothing is kept of accounts that do not write");
    }

    #[tokio::test(start_paused = true)]
    async fn queue_of_an_account_is_bounded() {
        let permits = AccountPermits::default();
        let places: Vec<_> = (0..AT_ONCE + MAX_WAITING).map(|_| permits.enter("a").unwrap()).collect();
        assert!(matches!(permits.take(&batch("a")).await, Err(DbError::Busy)));
        assert_eq!(permits.waiting(), MAX_WAITING);
        drop(places);
        assert!(permits.take(&batch("a")).await.unwrap().is_some());
    }
}
