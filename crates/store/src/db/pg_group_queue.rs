//! The batches of one lane that wait for a transaction, of each account in turn.
//!
//! An account is in one transaction of a lane at a time: two would wait for each other, because both count its pages.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::pg_account_permits::MAX_WAITING;
use super::pg_groups::Ended;
use super::pg_lanes::Lane;
use super::{DbError, Stmt};

/// So many batches must be ready for the first transaction at a time, the second, and so on. While one waits for the disk,
/// another one runs its statements; with fewer batches, it would only take from the first what that waits for.
const READY_FOR: [usize; 4] = [1, 8, 32, 64];
/// Runners beside these, in place of others whose transactions may be stuck.
const MAX_SPARE_RUNNERS: usize = 3;
/// A transaction that takes longer may be stuck, and no longer counts among these.
pub(super) const OVERDUE: Duration = Duration::from_millis(250);
pub(super) const MAX_BATCHES: usize = 32;
/// Batches of all accounts together that may wait; a further one is refused at once.
const MAX_WAITING_IN_LANE: usize = 4096;
/// Of one account, once half of these places are taken.
const MAX_WAITING_WHEN_BUSY: usize = 16;

#[derive(Debug)]
pub(super) struct Queue {
    accounts: HashMap<String, Account>,
    /// The accounts with batches that a transaction may take, the next one first.
    turns: VecDeque<String>,
    waiting: usize,
    /// Those of them that a transaction may take.
    ready: usize,
    runners: usize,
    max_runners: usize,
    /// When each of the transactions that are being run began, by their numbers.
    transactions: Vec<(u64, Instant)>,
    next_transaction: u64,
    /// How many batches a group may have: one after a group was refused, then ever more again.
    max_batches: usize,
}

#[derive(Debug, Default)]
struct Account {
    batches: VecDeque<WaitingBatch>,
    is_in_transaction: bool,
}

#[derive(Debug)]
pub(super) struct WaitingBatch {
    pub(super) number: u64,
    pub(super) account: String,
    pub(super) stmts: Vec<Stmt>,
    pub(super) bytes: usize,
    pub(super) reply: oneshot::Sender<Ended>,
}

impl Queue {
    /// In an account's own lane, more than one runner would find nothing that it may take.
    pub(super) fn new(lane: &Lane) -> Self {
        Self {
            accounts: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            ready: 0,
            runners: 0,
            max_runners: if lane.is_shared() { READY_FOR.len() } else { 1 },
            transactions: Vec::new(),
            next_transaction: 0,
            max_batches: MAX_BATCHES,
        }
    }

    pub(super) fn push(&mut self, batch: WaitingBatch) -> Result<(), DbError> {
        if self.waiting >= MAX_WAITING_IN_LANE {
            return Err(DbError::Busy);
        }
        let is_busy = self.waiting >= MAX_WAITING_IN_LANE / 2;
        let most = if is_busy { MAX_WAITING_WHEN_BUSY } else { MAX_WAITING };
        let account = self.accounts.entry(batch.account.clone()).or_default();
        if account.batches.len() >= most {
            return Err(DbError::Busy);
        }
        if !account.is_in_transaction {
            if account.batches.is_empty() {
                self.turns.push_back(batch.account.clone());
            }
            self.ready += 1;
        }
        self.waiting += 1;
        account.batches.push_back(batch);
        Ok(())
    }

    /// The batch that [`Self::pop`] would take.
    pub(super) fn next(&self) -> Option<&WaitingBatch> {
        self.accounts.get(self.turns.front()?)?.batches.front()
    }

    /// Takes the next batch. The account's other batches come after those of all other accounts.
    pub(super) fn pop(&mut self) -> Option<WaitingBatch> {
        let name = self.turns.pop_front()?;
        let account = self.accounts.get_mut(&name)?;
        let batch = account.batches.pop_front()?;
        self.waiting -= 1;
        self.ready -= 1;
        if account.batches.is_empty() {
            self.accounts.remove(&name);
        } else {
            self.turns.push_back(name);
        }
        Some(batch)
    }

    /// A transaction with batches of these accounts begins; their other batches wait until it has ended. Returns its number.
    pub(super) fn begin(&mut self, accounts: &[String], now: Instant) -> u64 {
        for name in accounts {
            let account = self.accounts.entry(name.clone()).or_default();
            if !account.is_in_transaction {
                account.is_in_transaction = true;
                self.ready -= account.batches.len();
            }
        }
        self.turns.retain(|name| self.accounts.get(name).is_some_and(|account| !account.is_in_transaction));
        self.next_transaction += 1;
        self.transactions.push((self.next_transaction, now));
        self.next_transaction
    }

    pub(super) fn end(&mut self, transaction: u64, accounts: &[String]) {
        self.transactions.retain(|(number, _)| *number != transaction);
        for name in accounts {
            let Some(account) = self.accounts.get_mut(name).filter(|account| account.is_in_transaction)
            else {
                continue;
            };
            account.is_in_transaction = false;
            if account.batches.is_empty() {
                self.accounts.remove(name);
            } else {
                self.ready += account.batches.len();
                self.turns.push_back(name.clone());
            }
        }
    }

    /// Takes out those batches of an account that are meant.
    pub(super) fn take_out(
        &mut self,
        name: &str,
        is_meant: impl Fn(&WaitingBatch) -> bool,
    ) -> VecDeque<WaitingBatch> {
        let Some(account) = self.accounts.get_mut(name) else { return VecDeque::new() };
        if !account.batches.iter().any(&is_meant) {
            return VecDeque::new();
        }
        let (taken, kept): (VecDeque<_>, VecDeque<_>) = account.batches.drain(..).partition(is_meant);
        account.batches = kept;
        self.waiting -= taken.len();
        if account.is_in_transaction {
            return taken;
        }
        self.ready -= taken.len();
        if account.batches.is_empty() {
            self.accounts.remove(name);
            self.turns.retain(|turn| turn != name);
        }
        taken
    }

    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) const fn max_batches(&self) -> usize {
        self.max_batches
    }

    /// Whether a batch could be taken, if there were one more transaction.
    pub(super) fn could_run(&self, account: &str, number: u64, now: Instant) -> bool {
        let is_ready = |account: &&Account| !account.is_in_transaction;
        self.may_have_another_runner(now)
            && self
                .accounts
                .get(account)
                .filter(is_ready)
                .is_some_and(|it| it.batches.iter().any(|batch| batch.number == number))
    }

    /// Whether so many batches are ready that one more runner is needed.
    pub(super) fn needs_another_runner(&self, now: Instant) -> bool {
        self.may_have_another_runner(now) && self.ready >= ready_for(self.runners - self.overdue(now))
    }

    /// Whether so many are ready that all runners are needed, when one of them has nothing to do.
    pub(super) fn needs_all_runners(&self, now: Instant) -> bool {
        let others = self.runners.saturating_sub(1);
        self.ready >= ready_for(others - self.overdue(now).min(others))
    }

    fn may_have_another_runner(&self, now: Instant) -> bool {
        let spare = if self.max_runners > 1 { self.overdue(now).min(MAX_SPARE_RUNNERS) } else { 0 };
        self.runners < self.max_runners + spare
    }

    /// Runners whose transaction may be stuck.
    fn overdue(&self, now: Instant) -> usize {
        let is_overdue = |(_, begun): &&(u64, Instant)| now.duration_since(*begun) >= OVERDUE;
        self.transactions.iter().filter(is_overdue).count().min(self.runners)
    }

    pub(super) const fn add_runner(&mut self) {
        self.runners += 1;
    }

    /// Whether the last runner has ended.
    pub(super) const fn remove_runner(&mut self) -> bool {
        self.runners = self.runners.saturating_sub(1);
        self.runners == 0
    }

    /// Some failing batches would make every group run in vain.
    pub(super) fn record(&mut self, is_committed: bool) {
        self.max_batches = if is_committed { (self.max_batches * 2).min(MAX_BATCHES) } else { 1 };
    }
}

/// How many batches must be ready for one more transaction beside so many others.
fn ready_for(others: usize) -> usize {
    READY_FOR[others.min(READY_FOR.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(account: &str, number: u64) -> WaitingBatch {
        let (reply, _) = oneshot::channel();
        WaitingBatch { number, account: account.to_owned(), stmts: Vec::new(), bytes: 0, reply }
    }

    fn queue(batches: &[(&str, u64)]) -> Queue {
        let mut queue = Queue::new(&Lane::Shared);
        for (account, number) in batches {
            queue.push(batch(account, *number)).unwrap();
        }
        queue
    }

    fn all(queue: &mut Queue) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop()).map(|batch| batch.number).collect()
    }

    #[test]
    fn each_account_has_its_turn() {
        let mut queue = queue(&[("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)]);
        assert_eq!(queue.next().unwrap().number, 1);
        assert_eq!(all(&mut queue), [1, 4, 5, 2, 6, 3]);
        assert!(queue.accounts.is_empty() && queue.waiting == 0 && queue.ready == 0);
    }

    #[test]
    fn an_account_in_a_transaction_waits_until_it_has_ended() {
        let mut queue = queue(&[("a", 1), ("a", 2), ("b", 3)]);
        assert_eq!(queue.pop().unwrap().number, 1);
        let in_transaction = ["a".to_owned(), "c".to_owned()];
        let transaction = queue.begin(&in_transaction, Instant::now());
        queue.push(batch("a", 4)).unwrap();
        queue.push(batch("c", 5)).unwrap();
        assert_eq!((queue.waiting, queue.ready), (4, 1));
        assert!(queue.could_run("b", 3, Instant::now()) && !queue.could_run("a", 2, Instant::now()));
        assert_eq!(all(&mut queue), [3]);
        queue.end(transaction, &in_transaction);
        queue.end(transaction, &in_transaction);
        assert!(queue.could_run("a", 2, Instant::now()) && !queue.could_run("a", 1, Instant::now()));
        assert_eq!((queue.waiting, queue.ready), (3, 3));
        assert_eq!(all(&mut queue), [2, 5, 4]);
        let transaction = queue.begin(&in_transaction, Instant::now());
        queue.end(transaction, &in_transaction);
        assert!(queue.accounts.is_empty() && queue.transactions.is_empty());
    }

    #[test]
    fn batches_are_taken_out_wherever_their_account_is() {
        let mut queue = queue(&[("a", 1), ("a", 2), ("b", 3)]);
        let numbers =
            |taken: VecDeque<WaitingBatch>| taken.iter().map(|batch| batch.number).collect::<Vec<_>>();
        assert_eq!(numbers(queue.take_out("a", |batch| batch.number == 2)), [2]);
        assert!(queue.take_out("a", |batch| batch.number == 2).is_empty());
        let transaction = queue.begin(&["b".to_owned()], Instant::now());
        assert_eq!(numbers(queue.take_out("b", |_| true)), [3]);
        queue.end(transaction, &["b".to_owned()]);
        assert_eq!(numbers(queue.take_out("a", |_| true)), [1]);
        assert!(queue.take_out("c", |_| true).is_empty());
        assert!(queue.accounts.is_empty() && queue.turns.is_empty());
        assert_eq!((queue.waiting, queue.ready), (0, 0));
    }

    #[test]
    fn more_runners_are_needed_for_more_batches_and_only_as_long() {
        let (mut queue, now) = (Queue::new(&Lane::Shared), Instant::now());
        let mut started = Vec::new();
        for number in 0..100 {
            queue.push(batch(&format!("account{number}"), number)).unwrap();
            if queue.needs_another_runner(now) {
                queue.add_runner();
                started.push(queue.ready);
            }
        }
        assert_eq!(started, [1, 8, 32, 64]);
        assert!(!queue.could_run("account99", 99, now), "there are enough");
        let mut ended = Vec::new();
        while queue.pop().is_some() {
            if !queue.needs_all_runners(now) {
                ended.push(queue.ready);
                queue.remove_runner();
            }
        }
        assert_eq!(ended, [63, 31, 7, 0]);
    }

    #[test]
    fn a_runner_that_may_be_stuck_does_not_count() {
        let (mut queue, now) = (queue(&[("a", 1)]), Instant::now());
        queue.add_runner();
        queue.pop();
        let transaction = queue.begin(&["a".to_owned()], now);
        queue.push(batch("b", 2)).unwrap();
        assert!(!queue.needs_another_runner(now));
        let late = now + OVERDUE;
        assert!(queue.needs_another_runner(late));
        queue.add_runner();
        assert!(queue.needs_all_runners(late) && !queue.needs_all_runners(now));
        assert!(!queue.needs_another_runner(late), "it has one");
        queue.end(transaction, &["a".to_owned()]);
        assert!(!queue.needs_all_runners(late));
    }

    #[test]
    fn while_all_runners_may_be_stuck_there_are_a_few_more() {
        let (mut queue, now) = (Queue::new(&Lane::Shared), Instant::now());
        for number in 0..4 {
            let account = [format!("stuck{number}")];
            queue.add_runner();
            queue.begin(&account, now);
        }
        queue.push(batch("a", 1)).unwrap();
        assert!(!queue.could_run("a", 1, now));
        let late = now + OVERDUE;
        for _ in 0..MAX_SPARE_RUNNERS {
            assert!(queue.could_run("a", 1, late));
            queue.add_runner();
        }
        assert!(!queue.could_run("a", 1, late), "so many, and no more");
        assert!(!queue.needs_all_runners(now), "they end when the others are not stuck any more");
    }

    #[test]
    fn an_account_of_its_own_lane_has_one_runner() {
        let mut queue = Queue::new(&Lane::Own("a".to_owned()));
        for number in 0..100 {
            queue.push(batch("a", number)).unwrap();
            assert_eq!(queue.needs_another_runner(Instant::now()), number == 0);
            if number == 0 {
                queue.add_runner();
            }
        }
        assert!(!queue.could_run("a", 99, Instant::now()));
    }

    #[test]
    fn it_is_bounded_and_some_accounts_leave_room_for_others() {
        let mut queue = Queue::new(&Lane::Shared);
        let mut push_many = |account: &str, count: u64| {
            (0..count).filter(|number| queue.push(batch(account, *number)).is_ok()).count()
        };
        for account in 0..8 {
            assert_eq!(push_many(&format!("busy{account}"), 300), MAX_WAITING);
        }
        for account in 0..128 {
            assert_eq!(push_many(&format!("other{account}"), 20), MAX_WAITING_WHEN_BUSY);
        }
        assert_eq!(push_many("further", 20), 0);
        assert_eq!(queue.waiting(), MAX_WAITING_IN_LANE);
    }
}
