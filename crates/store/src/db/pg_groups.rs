//! Batches of one account that wait to share a transaction. A batch that arrives while others of its account are being
//! committed waits for them, and the next transaction takes all that wait. `pg_group_commit` runs it.
//!
//! Accounts do not share transactions: a lock that one of them waits for delays no other.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::pg_account_permits::MAX_WAITING;
use super::pg_merge::TextOrder;
use super::{DbError, Stmt, Val};

/// Transactions of an account at once: while one waits for the disk, another one runs its statements.
const RUNNERS: usize = 2;
/// So many batches must wait for the second one: otherwise it would take from the first what it waits for.
const FOR_SECOND: usize = 8;
const MAX_BATCHES: usize = 32;
const MAX_BYTES: usize = 1 << 20;

type Queues = Arc<Mutex<HashMap<String, Queue>>>;

#[derive(Debug, Default)]
pub(super) struct Groups {
    queues: Queues,
    next: AtomicU64,
}

#[derive(Debug)]
struct Queue {
    waiting: VecDeque<WaitingBatch>,
    runners: usize,
    /// How many batches a group may have: one after a group was refused, then ever more again.
    most: usize,
}

#[derive(Debug)]
struct WaitingBatch {
    number: u64,
    stmts: Vec<Stmt>,
    bytes: usize,
    reply: oneshot::Sender<Ended>,
}

/// What became of a batch.
#[derive(Debug)]
pub(super) enum Ended {
    Done(Result<(), DbError>),
    /// Its group was refused and nothing of it has happened: the caller runs it by itself.
    Alone(Vec<Stmt>),
}

/// A batch in the queue, for its caller.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    pub(super) ended: oneshot::Receiver<Ended>,
}

/// Runs groups of one account, one after the other, until none waits.
#[derive(Debug)]
pub(super) struct Runner {
    queues: Queues,
    account: String,
    is_counted: bool,
}

/// Batches that share a transaction.
#[derive(Debug)]
pub(super) struct Group {
    batches: Vec<WaitingBatch>,
    order: TextOrder,
    is_mergeable: bool,
}

impl Groups {
    /// Queues a batch. The runner, if there is one, must be started.
    pub(super) fn push(&self, account: &str, stmts: Vec<Stmt>) -> Result<(Ticket, Option<Runner>), DbError> {
        let bytes = stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum();
        let mut queues = lock(&self.queues);
        let queue = queues.entry(account.to_owned()).or_insert_with(Queue::new);
        if queue.waiting.len() >= MAX_WAITING {
            queue.waiting.retain(|batch| !batch.reply.is_closed());
        }
        if queue.waiting.len() >= MAX_WAITING {
            return Err(DbError::Busy);
        }
        let (reply, ended) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        queue.waiting.push_back(WaitingBatch { number, stmts, bytes, reply });
        let is_needed = queue.runners == 0 || (queue.runners < RUNNERS && queue.waiting.len() >= FOR_SECOND);
        let runner = is_needed.then(|| {
            queue.runners += 1;
            Runner { queues: Arc::clone(&self.queues), account: account.to_owned(), is_counted: true }
        });
        Ok((Ticket { number, ended }, runner))
    }

    /// Takes a batch back, if no group has it yet.
    pub(super) fn withdraw(&self, account: &str, ticket: &Ticket) -> bool {
        let mut queues = lock(&self.queues);
        let Some(queue) = queues.get_mut(account) else { return false };
        let before = queue.waiting.len();
        queue.waiting.retain(|batch| batch.number != ticket.number);
        queue.waiting.len() < before
    }

    /// Batches of all accounts that wait.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.queues).values().map(|queue| queue.waiting.len()).sum()
    }
}

impl Queue {
    const fn new() -> Self {
        Self { waiting: VecDeque::new(), runners: 0, most: MAX_BATCHES }
    }
}

impl Runner {
    pub(super) fn account(&self) -> &str {
        &self.account
    }

    /// Whether nothing waits. The runner has ended then, and a later batch gets a new one.
    pub(super) fn has_ended(&mut self) -> bool {
        let mut queues = lock(&self.queues);
        let is_idle = queues.get(&self.account).is_none_or(|queue| queue.waiting.is_empty());
        if is_idle {
            self.is_counted = false;
            release(&mut queues, &self.account);
        }
        is_idle
    }

    /// The batches of the next transaction; `None` if their callers went away meanwhile.
    pub(super) fn take(&self) -> Option<Group> {
        let mut queues = lock(&self.queues);
        let queue = queues.get_mut(&self.account)?;
        let mut group = Group { batches: Vec::new(), order: TextOrder::default(), is_mergeable: true };
        let mut bytes = 0;
        while let Some(next) = queue.waiting.pop_front() {
            if next.reply.is_closed() {
                continue;
            }
            let is_first = group.batches.is_empty();
            let is_full = group.batches.len() >= queue.most || bytes + next.bytes > MAX_BYTES;
            let fits = (is_first || (group.is_mergeable && !is_full)) && group.order.admit(&next.stmts);
            if !fits && !is_first {
                queue.waiting.push_front(next);
                break;
            }
            group.is_mergeable = fits;
            bytes += next.bytes;
            group.batches.push(next);
        }
        (!group.batches.is_empty()).then_some(group)
    }

    /// Records whether a group of several was committed. Some failing batches would make every group run in vain.
    pub(super) fn record(&self, is_committed: bool) {
        if let Some(queue) = lock(&self.queues).get_mut(&self.account) {
            queue.most = if is_committed { (queue.most * 2).min(MAX_BATCHES) } else { 1 };
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self.is_counted {
            release(&mut lock(&self.queues), &self.account);
        }
    }
}

impl Group {
    pub(super) const fn len(&self) -> usize {
        self.batches.len()
    }

    pub(super) fn stmts(&self) -> Vec<Stmt> {
        let batches: Vec<&[Stmt]> = self.batches.iter().map(|batch| batch.stmts.as_slice()).collect();
        if self.is_mergeable { self.order.merge(&batches) } else { batches.concat() }
    }

    /// The same outcome for every batch.
    pub(super) fn end(self, outcome: &Result<(), DbError>) {
        for batch in self.batches {
            let _ = batch.reply.send(Ended::Done(outcome.clone()));
        }
    }

    /// Lets every caller run its batch by itself.
    pub(super) fn disband(self) {
        for batch in self.batches {
            let _ = batch.reply.send(Ended::Alone(batch.stmts));
        }
    }
}

/// A runner has ended. Nothing is kept of accounts that do not write; if the last runner was interrupted, so are the batches that
/// wait for it.
fn release(queues: &mut HashMap<String, Queue>, account: &str) {
    if let Some(queue) = queues.get_mut(account) {
        queue.runners = queue.runners.saturating_sub(1);
        if queue.runners == 0 {
            queues.remove(account);
        }
    }
}

fn lock(queues: &Queues) -> MutexGuard<'_, HashMap<String, Queue>> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stmts(id: i64) -> Vec<Stmt> {
        vec![Stmt::new("INSERT INTO a (b) VALUES ($1)", [id.into()])]
    }

    /// The numbers that the batches of the group would insert.
    fn numbers(group: &Group) -> Vec<Val> {
        group.batches.iter().flat_map(|batch| batch.stmts[0].args.clone()).collect()
    }

    fn range(numbers: std::ops::Range<i64>) -> Vec<Val> {
        numbers.map(Val::Int).collect()
    }

    #[tokio::test]
    async fn a_group_takes_all_that_wait_and_an_account_has_two_runners() {
        let groups = Groups::default();
        let (first, runner) = groups.push("a", stmts(0)).unwrap();
        let mut runner = runner.unwrap();
        let group = runner.take().unwrap();
        let pushed: Vec<_> = (1..40).map(|id| groups.push("a", stmts(id)).unwrap()).collect();
        let (tickets, runners): (Vec<_>, Vec<_>) = pushed.into_iter().unzip();
        assert_eq!(runners.iter().position(Option::is_some), Some(FOR_SECOND - 1));
        assert_eq!(runners.iter().flatten().count(), 1);
        assert!(groups.push("b", stmts(9)).unwrap().1.is_some(), "another account has its own");
        group.end(&Ok(()));
        assert!(matches!(first.ended.await, Ok(Ended::Done(Ok(())))));
        assert!(!runner.has_ended());
        let group = runner.take().unwrap();
        assert_eq!(numbers(&group), range(1..33));
        group.disband();
        let second = runners.into_iter().flatten().next().unwrap();
        assert_eq!(numbers(&second.take().unwrap()), range(33..40));
        let mut tickets = tickets.into_iter();
        assert!(matches!(tickets.next().unwrap().ended.await, Ok(Ended::Alone(alone)) if alone.len() == 1));
        assert!(tickets.next_back().unwrap().ended.await.is_err(), "its group was dropped");
        assert!(runner.has_ended());
        drop((runner, second));
        assert!(!lock(&groups.queues).contains_key("a"), "nothing is kept of accounts that do not write");
    }

    #[tokio::test]
    async fn groups_are_small_after_one_was_refused() {
        let groups = Groups::default();
        let (_ticket, runner) = groups.push("a", stmts(0)).unwrap();
        let runner = runner.unwrap();
        let _tickets: Vec<_> = (1..10).map(|id| groups.push("a", stmts(id)).unwrap().0).collect();
        runner.record(false);
        assert_eq!(runner.take().unwrap().len(), 1);
        runner.record(true);
        assert_eq!(runner.take().unwrap().len(), 2);
        runner.record(true);
        assert_eq!(runner.take().unwrap().len(), 4);
    }

    #[tokio::test]
    async fn a_batch_that_must_be_alone_is() {
        let groups = Groups::default();
        let alone = || vec![Stmt::new("INSERT INTO a (b) VALUES ($1)", [5_i64.into()]).alone()];
        let (_ticket, runner) = groups.push("a", stmts(0)).unwrap();
        let runner = runner.unwrap();
        let _tickets = [alone(), alone(), stmts(1), stmts(2)].map(|each| groups.push("a", each).unwrap().0);
        let sizes: Vec<_> = std::iter::from_fn(|| runner.take()).map(|group| group.len()).collect();
        assert_eq!(sizes, [1, 1, 1, 2]);
    }

    #[tokio::test]
    async fn queue_is_bounded_and_forgets_callers_that_went_away() {
        let groups = Groups::default();
        let (ticket, runner) = groups.push("a", stmts(0)).unwrap();
        let mut tickets: Vec<_> = (1..256).map(|id| groups.push("a", stmts(id)).unwrap().0).collect();
        assert!(matches!(groups.push("a", stmts(256)), Err(DbError::Busy)));
        assert_eq!(groups.waiting(), MAX_WAITING);
        tickets.truncate(200);
        tickets.push(groups.push("a", stmts(256)).unwrap().0);
        assert!(groups.withdraw("a", &ticket), "no group has it");
        drop(tickets.drain(..10));
        let group = runner.as_ref().unwrap().take().unwrap();
        assert_eq!(numbers(&group), range(11..43));
        assert!(!groups.withdraw("a", &tickets[0]), "a group has it");
    }
}
