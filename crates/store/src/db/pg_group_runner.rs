//! Takes the batches of a lane that share the next transaction, and tells their callers what became of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use super::pg_groups::{Ended, MAX_BATCHES, Queues, WaitingBatch, lock};
use super::pg_lanes::{Lane, Why};
use super::pg_merge::TextOrder;
use super::{DbError, Stmt};

const MAX_BYTES: usize = 1 << 20;

/// Runs groups of one lane, one after the other, until none waits.
#[derive(Debug)]
pub(super) struct Runner {
    queues: Arc<Mutex<Queues>>,
    lane: Lane,
    is_counted: bool,
}

/// Batches that share a transaction.
#[derive(Debug)]
pub(super) struct Group {
    batches: Vec<WaitingBatch>,
    order: TextOrder,
    is_mergeable: bool,
}

impl Runner {
    /// The runner must have been counted.
    pub(super) const fn new(queues: Arc<Mutex<Queues>>, lane: Lane) -> Self {
        Self { queues, lane, is_counted: true }
    }

    pub(super) const fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Whether nothing waits. The runner has ended then, and a later batch gets a new one.
    pub(super) fn has_ended(&mut self) -> bool {
        let mut queues = lock(&self.queues);
        let is_idle = queues.of_lanes.get(&self.lane).is_none_or(|queue| queue.waiting() == 0);
        if is_idle {
            self.is_counted = false;
            queues.release(&self.lane);
        }
        is_idle
    }

    /// The batches of the next transaction; `None` if their callers went away meanwhile.
    pub(super) fn take(&self) -> Option<Group> {
        let mut queues = lock(&self.queues);
        let queue = queues.of_lanes.get_mut(&self.lane)?;
        let mut group = Group { batches: Vec::new(), order: TextOrder::default(), is_mergeable: true };
        let mut bytes = 0;
        while let Some(next) = queue.pop() {
            let is_first = group.batches.is_empty();
            let is_full = group.batches.len() >= queue.most || bytes + next.bytes > MAX_BYTES;
            let fits = (is_first || (group.is_mergeable && !is_full)) && group.order.admit(&next.stmts);
            if !fits && !is_first {
                queue.put_back(next);
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
        if let Some(queue) = lock(&self.queues).of_lanes.get_mut(&self.lane) {
            queue.most = if is_committed { (queue.most * 2).min(MAX_BATCHES) } else { 1 };
        }
    }

    /// A group was committed in the time that a shared lane would give it.
    pub(super) fn was_quick(&self) {
        if let Lane::Own(account) = &self.lane {
            lock(&self.queues).lanes.was_quick(account);
        }
    }

    /// A group of a shared lane waited too long for a lock: its accounts are kept apart, with all their batches.
    pub(super) fn separate(&self, group: Group) {
        let mut queues = lock(&self.queues);
        let accounts: BTreeSet<String> = group.batches.iter().map(|batch| batch.account.clone()).collect();
        let mut batches = group.batches;
        for account in &accounts {
            queues.lanes.keep_apart(account, Why::Waited, Instant::now());
            if let Some(queue) = queues.of_lanes.get_mut(&self.lane) {
                batches.extend(queue.take_all_of(account));
            }
        }
        drop(queues);
        for batch in batches {
            let _ = batch.reply.send(Ended::Again(batch.stmts));
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self.is_counted {
            lock(&self.queues).release(&self.lane);
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

#[cfg(test)]
mod tests {
    use super::super::pg_account_permits::MAX_WAITING;
    use super::super::pg_groups::Groups;
    use super::super::{Stmt, Val};
    use super::*;

    fn stmts(id: i64) -> Vec<Stmt> {
        vec![Stmt::new("INSERT INTO a (b) VALUES ($1)", [id.into()])]
    }

    /// The numbers that the batches of the group would insert.
    fn numbers(group: &Group) -> Vec<Val> {
        group.batches.iter().flat_map(|batch| batch.stmts[0].args.clone()).collect()
    }

    fn ints(numbers: impl IntoIterator<Item = i64>) -> Vec<Val> {
        numbers.into_iter().map(Val::Int).collect()
    }

    /// An account that shares its lane with `a`, and one that does not.
    fn others(groups: &Groups) -> (String, String) {
        let lane_of =
            |account: &str| groups.push(account, stmts(0)).unwrap().1.map(|runner| runner.lane().clone());
        let lane = lane_of("a").unwrap();
        let mut others = (0..).map(|number| format!("b{number}"));
        let same = others.by_ref().find(|other| lane_of(other) == Some(lane.clone())).unwrap();
        let different = others.find(|other| lane_of(other) != Some(lane.clone())).unwrap();
        (same, different)
    }

    #[tokio::test]
    async fn a_group_takes_all_that_wait_and_a_lane_has_two_runners() {
        let groups = Groups::default();
        let (same, different) = others(&groups);
        let (first, runner) = groups.push("a", stmts(0)).unwrap();
        let mut runner = runner.unwrap();
        let group = runner.take().unwrap();
        let account = |id: i64| if id % 2 == 0 { "a" } else { &same };
        let pushed: Vec<_> = (1..40).map(|id| groups.push(account(id), stmts(id)).unwrap()).collect();
        let (tickets, runners): (Vec<_>, Vec<_>) = pushed.into_iter().unzip();
        assert_eq!(runners.iter().position(Option::is_some), Some(7), "once eight wait");
        assert_eq!(runners.iter().flatten().count(), 1);
        assert!(groups.push(&different, stmts(9)).unwrap().1.is_some(), "another lane has its own");
        group.end(&Ok(()));
        assert!(matches!(first.ended.await, Ok(Ended::Done(Ok(())))));
        assert!(!runner.has_ended());
        let group = runner.take().unwrap();
        assert_eq!(numbers(&group), ints(1..33));
        group.disband();
        let second = runners.into_iter().flatten().next().unwrap();
        assert_eq!(numbers(&second.take().unwrap()), ints(33..40));
        let mut tickets = tickets.into_iter();
        assert!(matches!(tickets.next().unwrap().ended.await, Ok(Ended::Alone(alone)) if alone.len() == 1));
        assert!(tickets.next_back().unwrap().ended.await.is_err(), "its group was dropped");
        assert!(runner.has_ended());
        let (queues, lane) = (Arc::clone(&second.queues), second.lane.clone());
        drop((runner, second));
        assert!(!lock(&queues).of_lanes.contains_key(&lane), "nothing is kept of a lane where nobody writes");
    }

    #[tokio::test]
    async fn each_account_has_its_turn() {
        let groups = Groups::default();
        let (same, _) = others(&groups);
        let (_first, runner) = groups.push("a", stmts(0)).unwrap();
        let runner = runner.unwrap();
        let _many: Vec<_> = (1..100).map(|id| groups.push("a", stmts(id)).unwrap().0).collect();
        let _few: Vec<_> = (200..203).map(|id| groups.push(&same, stmts(id)).unwrap().0).collect();
        let group = runner.take().unwrap();
        let expected = [0, 200, 1, 201, 2, 202].into_iter().chain(3..29);
        assert_eq!(numbers(&group), ints(expected));
    }

    #[tokio::test]
    async fn accounts_that_waited_are_kept_apart_until_they_were_quick() {
        let groups = Groups::default();
        let (same, _) = others(&groups);
        let (_first, runner) = groups.push("a", stmts(0)).unwrap();
        let runner = runner.unwrap();
        let taken = runner.take().unwrap();
        let (waiting, _) = groups.push("a", stmts(1)).unwrap();
        let (other, _) = groups.push(&same, stmts(2)).unwrap();
        runner.separate(taken);
        assert!(matches!(waiting.ended.await, Ok(Ended::Again(stmts)) if stmts.len() == 1));
        assert_eq!(numbers(&runner.take().unwrap()), ints([2]), "the other account stays");
        let (_ticket, own) = groups.push("a", stmts(3)).unwrap();
        let own = own.unwrap();
        assert_eq!(*own.lane(), Lane::Own("a".to_owned()));
        own.was_quick();
        assert_eq!(numbers(&own.take().unwrap()), ints([3]));
        assert!(groups.push("a", stmts(4)).unwrap().0.is_in_shared_lane());
        groups.was_refused(&same);
        assert!(!groups.push(&same, stmts(5)).unwrap().0.is_in_shared_lane());
        drop(other);
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
        groups.was_refused("a");
        let alone = || vec![Stmt::new("INSERT INTO a (b) VALUES ($1)", [5_i64.into()]).alone()];
        let (_ticket, runner) = groups.push("a", stmts(0)).unwrap();
        let runner = runner.unwrap();
        assert!(!groups.push("b", alone()).unwrap().0.is_in_shared_lane());
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
        assert!(groups.withdraw(&ticket), "no group has it");
        drop(tickets.drain(..10));
        let group = runner.as_ref().unwrap().take().unwrap();
        assert_eq!(numbers(&group), ints(11..43));
        assert!(!groups.withdraw(&tickets[0]), "a group has it");
    }
}
