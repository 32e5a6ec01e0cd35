//! Takes the batches of a lane that share the next transaction, and tells their callers what became of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use super::pg_group_queue::WaitingBatch;
use super::pg_groups::{Ended, Queues, lock, requeue};
use super::pg_lanes::{Lane, SeparationReason};
use super::pg_merge::TextOrder;
use super::{DbError, Stmt};

/// Of a group. A larger batch would only keep others out.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Runs groups of one lane, one after the other, as long as enough batches wait.
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
    accounts: GroupAccounts,
}

/// The accounts of a group. Their other batches wait until it is dropped.
#[derive(Debug)]
struct GroupAccounts {
    queues: Arc<Mutex<Queues>>,
    lane: Lane,
    names: Vec<String>,
    /// Of their transaction.
    number: u64,
}

impl Runner {
    /// The runner must have been counted.
    pub(super) const fn new(queues: Arc<Mutex<Queues>>, lane: Lane) -> Self {
        Self { queues, lane, is_counted: true }
    }

    pub(super) const fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Whether it has ended, because the other runners suffice for what waits. If it was the only one, a later batch gets a new
    /// one.
    pub(super) fn has_ended(&mut self) -> bool {
        let now = Instant::now();
        let mut queues = lock(&self.queues);
        let queue = queues.of_lanes.get(&self.lane);
        let is_needed = queue.is_some_and(|queue| queue.needs_all_runners(now));
        if !is_needed {
            self.is_counted = false;
            queues.release(&self.lane);
        }
        !is_needed
    }

    /// The batches of the next transaction; `None` if their callers went away meanwhile.
    pub(super) fn take(&self) -> Option<Group> {
        let mut queues = lock(&self.queues);
        let queue = queues.of_lanes.get_mut(&self.lane)?;
        let mut batches: Vec<WaitingBatch> = Vec::new();
        let mut order = TextOrder::default();
        let (mut bytes, mut is_mergeable) = (0, true);
        while let Some(next) = queue.next() {
            let is_full = batches.len() >= queue.max_batches() || bytes + next.bytes > MAX_BYTES;
            let fits = (batches.is_empty() || (is_mergeable && !is_full)) && order.admit(&next.stmts);
            if !fits && !batches.is_empty() {
                break;
            }
            is_mergeable = fits;
            bytes += next.bytes;
            batches.extend(queue.pop());
        }
        if batches.is_empty() {
            return None;
        }
        let names: BTreeSet<String> = batches.iter().map(|batch| batch.account.clone()).collect();
        let names: Vec<String> = names.into_iter().collect();
        let number = queue.begin(&names, Instant::now());
        drop(queues);
        let accounts =
            GroupAccounts { queues: Arc::clone(&self.queues), lane: self.lane.clone(), names, number };
        Some(Group { batches, order, is_mergeable, accounts })
    }

    /// Records whether a group of several was committed.
    pub(super) fn record(&self, is_committed: bool) {
        if let Some(queue) = lock(&self.queues).of_lanes.get_mut(&self.lane) {
            queue.record(is_committed);
        }
    }

    /// A group was committed in the time that the shared lane would give it.
    pub(super) fn was_quick(&self) {
        if let Lane::Own(account) = &self.lane {
            lock(&self.queues).lanes.was_quick(account);
        }
    }

    /// A group of the shared lane waited too long for a lock: its accounts are kept apart, with all their batches.
    pub(super) fn separate(&self, group: Group) {
        let Group { mut batches, accounts, .. } = group;
        let mut queues = lock(&self.queues);
        for name in &accounts.names {
            queues.lanes.keep_apart(name, SeparationReason::Waited, Instant::now());
            if let Some(queue) = queues.of_lanes.get_mut(&self.lane) {
                batches.extend(queue.take_out(name, |_| true));
            }
        }
        drop(queues);
        requeue(batches);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self.is_counted {
            lock(&self.queues).release(&self.lane);
        }
    }
}

impl Drop for GroupAccounts {
    fn drop(&mut self) {
        if let Some(queue) = lock(&self.queues).of_lanes.get_mut(&self.lane) {
            queue.end(self.number, &self.names);
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
    use super::super::pg_groups::{Groups, Ticket};
    use super::super::{Stmt, Val};
    use super::*;

    fn stmts(id: i64) -> Vec<Stmt> {
        vec![Stmt::new("INSERT INTO a (b) VALUES ($1)", [id.into()])]
    }

    fn push(groups: &Groups, account: &str, id: i64) -> (Ticket, Option<Runner>) {
        groups.push(account, stmts(id), false).unwrap()
    }

    /// The numbers that the batches of the group would insert.
    fn numbers(group: &Group) -> Vec<Val> {
        group.batches.iter().flat_map(|batch| batch.stmts[0].args.clone()).collect()
    }

    fn ints(numbers: impl IntoIterator<Item = i64>) -> Vec<Val> {
        numbers.into_iter().map(Val::Int).collect()
    }

    #[tokio::test]
    async fn a_group_takes_all_that_wait_and_another_one_runs_beside_it_for_others() {
        let groups = Groups::default();
        let (mut first, runner) = push(&groups, "a", 0);
        let mut runner = runner.unwrap();
        let group = runner.take().unwrap();
        let (tickets, runners): (Vec<_>, Vec<_>) = (1..40).map(|id| push(&groups, "a", id)).unzip();
        assert!(runners.iter().all(Option::is_none), "they would wait for the first one");
        let (others, runners): (Vec<_>, Vec<_>) = (40..50).map(|id| push(&groups, "b", id)).unzip();
        assert_eq!(runners.iter().position(Option::is_some), Some(7), "once eight are ready");
        let mut second = runners.into_iter().flatten().next().unwrap();
        let other = second.take().unwrap();
        assert_eq!(numbers(&other), ints(40..50));
        group.end(&Ok(()));
        assert!(matches!((&mut first.ended).await, Ok(Ended::Done(Ok(())))));
        assert!(!runner.has_ended());
        let group = runner.take().unwrap();
        assert_eq!(numbers(&group), ints(1..33));
        other.disband();
        let mut others = others.into_iter();
        let mut disbanded = others.next().unwrap();
        assert!(matches!((&mut disbanded.ended).await, Ok(Ended::Alone(alone)) if alone.len() == 1));
        assert!(second.has_ended(), "the first one suffices");
        drop(group);
        assert!(!runner.has_ended());
        assert_eq!(numbers(&runner.take().unwrap()), ints(33..40));
        let mut dropped = tickets.into_iter().next_back().unwrap();
        assert!((&mut dropped.ended).await.is_err(), "its group was dropped");
        assert!(runner.has_ended());
        assert!(lock(&runner.queues).of_lanes.is_empty(), "nothing is kept of a lane where nobody writes");
    }

    #[tokio::test]
    async fn each_account_has_its_turn() {
        let groups = Groups::default();
        let (_first, runner) = push(&groups, "a", 0);
        let runner = runner.unwrap();
        let _many: Vec<_> = (1..100).map(|id| push(&groups, "a", id)).collect();
        let _few: Vec<_> = (200..203).map(|id| push(&groups, "b", id)).collect();
        let group = runner.take().unwrap();
        let expected = [0, 200, 1, 201, 2, 202].into_iter().chain(3..29);
        assert_eq!(numbers(&group), ints(expected));
    }

    #[tokio::test]
    async fn a_batch_that_waits_for_a_stuck_transaction_of_others_gets_a_runner() {
        let groups = Groups::default();
        let (_first, runner) = push(&groups, "a", 0);
        let runner = runner.unwrap();
        let stuck = runner.take().unwrap();
        let ((own, _), (other, none)) = (push(&groups, "a", 1), push(&groups, "b", 2));
        assert!(none.is_none(), "there is a runner");
        assert!(own.another_runner().is_none(), "it would wait for the lock of the first one");
        let mut second = other.another_runner().unwrap();
        let group = second.take().unwrap();
        assert_eq!(numbers(&group), ints([2]));
        assert!(other.another_runner().is_none(), "a group has it");
        group.end(&Ok(()));
        assert!(second.has_ended());
        drop(stuck);
        assert_eq!(numbers(&runner.take().unwrap()), ints([1]));
    }

    #[tokio::test]
    async fn accounts_that_waited_are_kept_apart_until_they_were_quick() {
        let groups = Groups::default();
        let (_first, runner) = push(&groups, "a", 0);
        let runner = runner.unwrap();
        let taken = runner.take().unwrap();
        let ((mut waiting, _), (_other, _)) = (push(&groups, "a", 1), push(&groups, "b", 2));
        runner.separate(taken);
        assert!(matches!((&mut waiting.ended).await, Ok(Ended::Requeue(stmts)) if stmts.len() == 1));
        assert_eq!(numbers(&runner.take().unwrap()), ints([2]), "the other account stays");
        let (_ticket, own) = push(&groups, "a", 3);
        let own = own.unwrap();
        assert_eq!(*own.lane(), Lane::Own("a".to_owned()));
        own.was_quick();
        assert_eq!(numbers(&own.take().unwrap()), ints([3]));
        assert!(push(&groups, "a", 4).0.is_in_shared_lane());
    }

    #[tokio::test]
    async fn an_account_that_was_refused_leaves_with_all_its_batches() {
        let groups = Groups::default();
        let (_first, _runner) = push(&groups, "a", 0);
        let ((mut waiting, _), (_other, _)) = (push(&groups, "b", 1), push(&groups, "a", 2));
        groups.was_refused("b");
        assert!(matches!((&mut waiting.ended).await, Ok(Ended::Requeue(_))));
        assert_eq!(groups.waiting(), 2);
        let (ticket, runner) = push(&groups, "b", 3);
        assert!(!ticket.is_in_shared_lane() && runner.is_some());
        assert!(push(&groups, "a", 4).0.is_in_shared_lane());
        let (ticket, _) = groups.push("a", stmts(5), true).unwrap();
        assert!(!ticket.is_in_shared_lane(), "its caller was told so");
    }

    #[tokio::test]
    async fn groups_are_small_after_one_was_refused() {
        let groups = Groups::default();
        let (_ticket, runner) = push(&groups, "a", 0);
        let runner = runner.unwrap();
        let _tickets: Vec<_> = (1..10).map(|id| push(&groups, "a", id)).collect();
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
        let (_ticket, runner) = push(&groups, "a", 0);
        let runner = runner.unwrap();
        assert!(!groups.push("b", alone(), false).unwrap().0.is_in_shared_lane());
        let _tickets =
            [alone(), alone(), stmts(1), stmts(2)].map(|each| groups.push("a", each, false).unwrap());
        let sizes: Vec<_> = std::iter::from_fn(|| runner.take()).map(|group| group.len()).collect();
        assert_eq!(sizes, [1, 1, 1, 2]);
    }

    #[tokio::test]
    async fn callers_that_went_away_are_forgotten() {
        let groups = Groups::default();
        let (ticket, runner) = push(&groups, "a", 0);
        let mut tickets: Vec<_> = (1..256).map(|id| push(&groups, "a", id).0).collect();
        assert!(matches!(groups.push("a", stmts(256), false), Err(DbError::Busy)));
        assert_eq!(groups.waiting(), MAX_WAITING);
        tickets.truncate(200);
        assert_eq!(groups.waiting(), 201);
        assert!(ticket.withdraw(), "no group has it");
        drop(tickets.drain(..10));
        let group = runner.as_ref().unwrap().take().unwrap();
        assert_eq!(numbers(&group), ints(11..43));
        assert!(!tickets[0].withdraw(), "a group has it");
        drop(tickets);
        assert!(runner.unwrap().take().is_none());
        assert_eq!(groups.waiting(), 0);
    }
}
