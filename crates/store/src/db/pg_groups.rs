//! Batches of new pages that wait to share a transaction. A batch that arrives while others of its lane are being committed
//! waits for them, and the next transaction takes all that wait. `pg_lanes` says who has a lane of their own, `pg_group_queue`
//! has the batches of a lane, and `pg_group_runner` takes them out again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::pg_group_queue::{Queue, WaitingBatch};
use super::pg_group_runner::{MAX_BYTES, Runner};
use super::pg_lanes::{Lane, Lanes, SeparationReason};
use super::stmt::{Fence, FenceKind};
use super::{DbError, Stmt, write_queue};

#[derive(Debug, Default)]
pub(super) struct Groups {
    queues: Arc<Mutex<Queues>>,
    next: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct Queues {
    pub(super) of_lanes: HashMap<Lane, Queue>,
    pub(super) lanes: Lanes,
}

/// What became of a batch.
#[derive(Debug)]
pub(super) enum Ended {
    Done(Result<(), DbError>),
    /// Its group was refused and nothing of it has happened: the caller runs it by itself.
    Alone(Vec<Stmt>),
    /// Nothing of it has happened, and others must not wait for its account: the caller queues it in the account's own lane.
    Requeue(Vec<Stmt>),
}

/// A batch in the queue, for its caller. Dropping it takes the batch back, if no group has it yet.
#[derive(Debug)]
pub(super) struct Ticket {
    queues: Arc<Mutex<Queues>>,
    number: u64,
    account: String,
    lane: Lane,
    pub(super) ended: oneshot::Receiver<Ended>,
}

impl Groups {
    /// Queues a batch, in the account's own lane if it must be `apart`. The runner, if there is one, must be started.
    pub(super) fn push(
        &self,
        account: &str,
        stmts: Vec<Stmt>,
        apart: bool,
    ) -> Result<(Ticket, Option<Runner>), DbError> {
        let bytes = write_queue::weight(&stmts);
        let account = account.to_owned();
        let now = Instant::now();
        let mut queues = lock(&self.queues);
        let lane = if !apart && bytes <= MAX_BYTES && may_share_transaction(&stmts) {
            queues.lanes.lane_of(&account, now)
        } else {
            Lane::Own(account.clone())
        };
        let queue = queues.of_lanes.entry(lane.clone()).or_insert_with(|| Queue::new(&lane));
        let (reply, ended) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        queue.push(WaitingBatch { number, account: account.clone(), stmts, bytes, reply })?;
        let runner = queue.needs_another_runner(now).then(|| {
            queue.add_runner();
            Runner::new(Arc::clone(&self.queues), lane.clone())
        });
        Ok((Ticket { queues: Arc::clone(&self.queues), number, account, lane, ended }, runner))
    }

    /// A batch of the account was refused by itself after its group, and the next groups would be too: it is kept apart, with
    /// all its batches.
    pub(super) fn was_refused(&self, account: &str) {
        let mut queues = lock(&self.queues);
        queues.lanes.keep_apart(account, SeparationReason::Refused, Instant::now());
        let shared = queues.of_lanes.get_mut(&Lane::Shared);
        let batches = shared.map(|queue| queue.take_out(account, |_| true)).unwrap_or_default();
        drop(queues);
        requeue(batches);
    }

    /// Batches of all accounts that wait.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.queues).of_lanes.values().map(Queue::waiting).sum()
    }
}

impl Ticket {
    pub(super) const fn is_in_shared_lane(&self) -> bool {
        self.lane.is_shared()
    }

    /// Takes the batch back, if no group has it yet.
    pub(super) fn withdraw(&self) -> bool {
        let mut queues = lock(&self.queues);
        let queue = queues.of_lanes.get_mut(&self.lane);
        queue.is_some_and(|queue| !queue.take_out(&self.account, |it| it.number == self.number).is_empty())
    }

    /// One more runner for a batch that has waited for long although a transaction could take it: the others may be stuck. It
    /// must be started.
    pub(super) fn another_runner(&self) -> Option<Runner> {
        let mut queues = lock(&self.queues);
        let queue = queues.of_lanes.get_mut(&self.lane)?;
        queue.could_run(&self.account, self.number, Instant::now()).then(|| {
            queue.add_runner();
            Runner::new(Arc::clone(&self.queues), self.lane.clone())
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl Queues {
    /// A runner has ended. Nothing is kept of lanes in which nobody writes; if the last runner was interrupted, so are the
    /// batches that wait for it.
    pub(super) fn release(&mut self, lane: &Lane) {
        if self.of_lanes.get_mut(lane).is_some_and(Queue::remove_runner) {
            self.of_lanes.remove(lane);
        }
    }
}

pub(super) fn requeue(batches: impl IntoIterator<Item = WaitingBatch>) {
    for batch in batches {
        let _ = batch.reply.send(Ended::Requeue(batch.stmts));
    }
}

/// Whether a batch may be in a transaction with those of other accounts. One that must be alone would only cut their groups, and
/// what many callers count in the same rows would make them wait.
fn may_share_transaction(stmts: &[Stmt]) -> bool {
    let counts_with_others = |fence: &Fence| fence.kind == FenceKind::PermitOnly;
    !stmts.iter().any(|stmt| stmt.is_alone || stmt.fence.as_deref().is_some_and(counts_with_others))
}

pub(super) fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}
