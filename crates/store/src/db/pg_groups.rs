//! Batches of new pages that wait to share a transaction. A batch that arrives while others of its lane are being committed
//! waits for them, and the next transaction takes all that wait, of each account in turn. `pg_lanes` says who shares a lane,
//! and `pg_group_runner` takes them out again.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::pg_account_permits::MAX_WAITING;
use super::pg_group_runner::Runner;
use super::pg_lanes::{Lane, Lanes, Why};
use super::stmt::{Fence, FenceKind};
use super::{DbError, Stmt, Val};

/// Transactions of a lane at once: while one waits for the disk, another one runs its statements.
const RUNNERS: usize = 2;
/// So many batches must wait for the second one: otherwise it would take from the first what it waits for.
const FOR_SECOND: usize = 8;
pub(super) const MAX_BATCHES: usize = 32;

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

#[derive(Debug)]
pub(super) struct Queue {
    /// Each account with its batches; the first one is next.
    accounts: VecDeque<(String, VecDeque<WaitingBatch>)>,
    runners: usize,
    /// How many batches a group may have: one after a group was refused, then ever more again.
    pub(super) most: usize,
}

#[derive(Debug)]
pub(super) struct WaitingBatch {
    number: u64,
    pub(super) account: String,
    pub(super) stmts: Vec<Stmt>,
    pub(super) bytes: usize,
    pub(super) reply: oneshot::Sender<Ended>,
}

/// What became of a batch.
#[derive(Debug)]
pub(super) enum Ended {
    Done(Result<(), DbError>),
    /// Its group was refused and nothing of it has happened: the caller runs it by itself.
    Alone(Vec<Stmt>),
    /// Its group waited too long for a lock and nothing of it has happened: the caller queues it again, now in the account's own
    /// lane.
    Again(Vec<Stmt>),
}

/// A batch in the queue, for its caller.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    lane: Lane,
    pub(super) ended: oneshot::Receiver<Ended>,
}

impl Ticket {
    pub(super) const fn is_in_shared_lane(&self) -> bool {
        self.lane.is_shared()
    }
}

impl Groups {
    /// Queues a batch. The runner, if there is one, must be started.
    pub(super) fn push(&self, account: &str, stmts: Vec<Stmt>) -> Result<(Ticket, Option<Runner>), DbError> {
        let bytes = stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum();
        let mut queues = lock(&self.queues);
        let lane = if is_sociable(&stmts) {
            queues.lanes.lane_of(account, Instant::now())
        } else {
            Lane::Own(account.to_owned())
        };
        let queue = queues.of_lanes.entry(lane.clone()).or_insert_with(Queue::new);
        let (reply, ended) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        queue.push(WaitingBatch { number, account: account.to_owned(), stmts, bytes, reply })?;
        let is_needed = queue.runners == 0 || (queue.runners < RUNNERS && queue.waiting() >= FOR_SECOND);
        let runner = is_needed.then(|| {
            queue.runners += 1;
            Runner::new(Arc::clone(&self.queues), lane.clone())
        });
        Ok((Ticket { number, lane, ended }, runner))
    }

    /// Takes a batch back, if no group has it yet.
    pub(super) fn withdraw(&self, ticket: &Ticket) -> bool {
        let mut queues = lock(&self.queues);
        let Some(queue) = queues.of_lanes.get_mut(&ticket.lane) else { return false };
        let before = queue.waiting();
        queue.retain(|batch| batch.number != ticket.number);
        queue.waiting() < before
    }

    /// A batch of the account was refused by itself after its group.
    pub(super) fn was_refused(&self, account: &str) {
        lock(&self.queues).lanes.keep_apart(account, Why::Refused, Instant::now());
    }

    /// Batches of all accounts that wait.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.queues).of_lanes.values().map(Queue::waiting).sum()
    }
}

impl Queues {
    /// A runner has ended. Nothing is kept of lanes in which nobody writes; if the last runner was interrupted, so are the
    /// batches that wait for it.
    pub(super) fn release(&mut self, lane: &Lane) {
        if let Some(queue) = self.of_lanes.get_mut(lane) {
            queue.runners = queue.runners.saturating_sub(1);
            if queue.runners == 0 {
                self.of_lanes.remove(lane);
            }
        }
    }
}

impl Queue {
    const fn new() -> Self {
        Self { accounts: VecDeque::new(), runners: 0, most: MAX_BATCHES }
    }

    fn push(&mut self, batch: WaitingBatch) -> Result<(), DbError> {
        let Some((_, batches)) = self.accounts.iter_mut().find(|(account, _)| *account == batch.account)
        else {
            self.accounts.push_back((batch.account.clone(), VecDeque::from([batch])));
            return Ok(());
        };
        if batches.len() >= MAX_WAITING {
            batches.retain(|batch| !batch.reply.is_closed());
        }
        if batches.len() >= MAX_WAITING {
            return Err(DbError::Busy);
        }
        batches.push_back(batch);
        Ok(())
    }

    /// The next batch whose caller still waits. The account's other batches come after those of all other accounts.
    pub(super) fn pop(&mut self) -> Option<WaitingBatch> {
        while let Some((account, mut batches)) = self.accounts.pop_front() {
            let next = batches.pop_front();
            if !batches.is_empty() {
                self.accounts.push_back((account, batches));
            }
            if let Some(batch) = next.filter(|batch| !batch.reply.is_closed()) {
                return Some(batch);
            }
        }
        None
    }

    /// Makes a batch that was taken the next one again.
    pub(super) fn put_back(&mut self, batch: WaitingBatch) {
        let place = self.accounts.iter().position(|(account, _)| *account == batch.account);
        let (account, mut batches) = place
            .and_then(|place| self.accounts.remove(place))
            .unwrap_or_else(|| (batch.account.clone(), VecDeque::new()));
        batches.push_front(batch);
        self.accounts.push_front((account, batches));
    }

    /// Takes out all batches of an account.
    pub(super) fn take_all_of(&mut self, account: &str) -> VecDeque<WaitingBatch> {
        let place = self.accounts.iter().position(|(name, _)| name == account);
        place.and_then(|place| self.accounts.remove(place)).map(|(_, batches)| batches).unwrap_or_default()
    }

    fn retain(&mut self, mut is_kept: impl FnMut(&WaitingBatch) -> bool) {
        for (_, batches) in &mut self.accounts {
            batches.retain(&mut is_kept);
        }
        self.accounts.retain(|(_, batches)| !batches.is_empty());
    }

    pub(super) fn waiting(&self) -> usize {
        self.accounts.iter().map(|(_, batches)| batches.len()).sum()
    }
}

/// Whether a batch may share a transaction with those of other accounts. One that must be alone would only cut their groups, and
/// what many callers count in the same rows would make them wait.
fn is_sociable(stmts: &[Stmt]) -> bool {
    let counts_with_others = |fence: &Fence| fence.kind == FenceKind::PermitOnly;
    !stmts.iter().any(|stmt| stmt.is_alone || stmt.fence.as_deref().is_some_and(counts_with_others))
}

pub(super) fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}
