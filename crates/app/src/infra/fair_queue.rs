//! A bounded queue that is fair between groups of callers: permits go round-robin over the waiting groups, not to the
//! group with the most requests. Holds no policy; `hash_budget` decides who belongs to which group.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Limits on running and waiting callers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueLimits {
    /// Permits held at the same time.
    pub permits: usize,
    /// Waiting callers, all groups together.
    pub waiting: usize,
    /// Waiting callers of one group.
    pub group_waiting: usize,
    /// Waiting callers of one wide group.
    pub wide_waiting: usize,
}

/// A caller's own group, and the wide group that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub own: String,
    pub wide: String,
    /// Whether the limits per group apply; the limit on all groups always does.
    pub is_bounded: bool,
}

/// Why a caller gets no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueFull {
    /// The group's limit of waiting callers is reached.
    GroupFull,
    /// The total limit is reached, and no other group holds more places than this one would.
    Full,
}

#[derive(Debug)]
pub(crate) struct FairQueue {
    limits: QueueLimits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The waiting callers of each group, oldest first. No group is empty.
    waiting: HashMap<String, VecDeque<Waiter>>,
    /// The waiting groups, in the order of their next permits.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Waiter {
    wide: String,
    wake: oneshot::Sender<FairPermit>,
}

/// A permit to run. Dropping it passes it to the next group, so it must move with the work: a caller that disconnects
/// must not free a permit while its work is still running.
#[derive(Debug)]
pub(crate) struct FairPermit(Option<Arc<FairQueue>>);

impl Drop for FairPermit {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.release();
        }
    }
}

impl FairQueue {
    pub(crate) fn new(limits: QueueLimits) -> Arc<Self> {
        let state = State { free: limits.permits, waiting: HashMap::new(), order: VecDeque::new() };
        Arc::new(Self { limits, state: Mutex::new(state) })
    }

    /// Waits for a permit. A waiting caller may lose its place to a group that holds fewer.
    pub(crate) async fn acquire(self: &Arc<Self>, group: Group) -> Result<FairPermit, QueueFull> {
        let waits = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Ok(FairPermit(Some(Arc::clone(self))));
            }
            state.remove_disconnected();
            state.make_room(&self.limits, &group)?;
            state.push(group)
        };
        waits.await.map_err(|_| QueueFull::Full)
    }

    /// Passes a returned permit to the next caller, or keeps it free.
    fn release(self: &Arc<Self>) {
        loop {
            // Release the lock before sending: a permit that is never received comes back here when it is dropped.
            let Some(next) = self.lock().next() else { return };
            match next.wake.send(FairPermit(Some(Arc::clone(self)))) {
                Ok(()) => return,
                Err(mut unwanted) => unwanted.0 = None,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes callers that disconnected while waiting.
    fn remove_disconnected(&mut self) {
        self.waiting.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.wake.is_closed());
            !waiters.is_empty()
        });
        let waiting = &self.waiting;
        self.order.retain(|group| waiting.contains_key(group));
    }

    /// Whether one more caller of this group may wait. If the queue is full, the group with the most places gives up its
    /// newest.
    fn make_room(&mut self, limits: &QueueLimits, group: &Group) -> Result<(), QueueFull> {
        let own = self.waiting.get(&group.own).map_or(0, VecDeque::len);
        let all = || self.waiting.values().flatten();
        let wide = all().filter(|waiter| waiter.wide == group.wide).count();
        if group.is_bounded && (own >= limits.group_waiting || wide >= limits.wide_waiting) {
            return Err(QueueFull::GroupFull);
        }
        if all().count() < limits.waiting {
            return Ok(());
        }
        let longest = self.waiting.values_mut().max_by_key(|waiters| waiters.len());
        match longest.filter(|waiters| waiters.len() > own + 1) {
            Some(waiters) => {
                waiters.pop_back();
                Ok(())
            }
            None => Err(QueueFull::Full),
        }
    }

    fn push(&mut self, group: Group) -> oneshot::Receiver<FairPermit> {
        let (wake, waits) = oneshot::channel();
        let Group { own, wide, .. } = group;
        if !self.waiting.contains_key(&own) {
            self.order.push_back(own.clone());
        }
        self.waiting.entry(own).or_default().push_back(Waiter { wide, wake });
        waits
    }

    /// The oldest caller of the next group; if no one waits, the permit is freed and the result is None.
    fn next(&mut self) -> Option<Waiter> {
        while let Some(group) = self.order.pop_front() {
            let Some(waiters) = self.waiting.get_mut(&group) else { continue };
            let next = waiters.pop_front();
            if waiters.is_empty() {
                self.waiting.remove(&group);
            } else {
                self.order.push_back(group);
            }
            if next.is_some() {
                return next;
            }
        }
        self.free += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::pin::Pin;

    const LIMITS: QueueLimits = QueueLimits { permits: 1, waiting: 6, group_waiting: 4, wide_waiting: 5 };

    type Entering<'a> = Pin<Box<dyn Future<Output = Result<FairPermit, QueueFull>> + 'a>>;

    fn group(name: &str) -> Group {
        Group { own: name.into(), wide: format!("wide {name}"), is_bounded: true }
    }

    /// Starts waiting, as a request does: polled once.
    fn entering<'a>(queue: &'a Arc<FairQueue>, group: Group) -> Entering<'a> {
        let mut entering: Entering<'a> = Box::pin(queue.acquire(group));
        assert!(entering.as_mut().now_or_never().is_none(), "there was a turn, or no place");
        entering
    }

    fn refused(queue: &Arc<FairQueue>, group: Group) -> QueueFull {
        queue.acquire(group).now_or_never().expect("an answer at once").expect_err("no place")
    }

    #[tokio::test]
    async fn turns_go_round_the_groups_and_not_to_the_one_with_most_requests() {
        let queue = FairQueue::new(LIMITS);
        let held = queue.acquire(group("flood")).await.unwrap();
        let mut flood: Vec<_> = (0..4).map(|_| entering(&queue, group("flood"))).collect();
        let mut quiet = entering(&queue, group("quiet"));
        drop(held);
        // One more of the flood came first; then it is the other group's turn, ahead of three that came earlier.
        let first = flood.remove(0).now_or_never().expect("the oldest").unwrap();
        assert!(quiet.as_mut().now_or_never().is_none());
        drop(first);
        assert!(flood[0].as_mut().now_or_never().is_none(), "the flood does not go on");
        let second = quiet.now_or_never().expect("the quiet group's turn").unwrap();
        drop(second);
        for entering in flood {
            drop(entering.now_or_never().expect("the rest, one by one").unwrap());
        }
        assert_eq!(queue.lock().free, 1);
    }

    #[tokio::test]
    async fn a_group_and_its_wide_group_hold_only_so_many_places() {
        let queue = FairQueue::new(LIMITS);
        let _held = queue.acquire(group("a")).await.unwrap();
        let of = |n: usize| Group {
            own: format!("2001:db8:0:{n}::/64"),
            wide: "2001:db8::/48".into(),
            is_bounded: true,
        };
        let _own: Vec<_> = (0..4).map(|_| entering(&queue, of(1))).collect();
        assert_eq!(refused(&queue, of(1)), QueueFull::GroupFull);
        let _other = entering(&queue, of(2));
        assert_eq!(refused(&queue, of(3)), QueueFull::GroupFull, "five of the /48 wait");
        let _elsewhere = entering(&queue, group("b"));
    }

    #[tokio::test]
    async fn a_full_queue_makes_room_for_a_group_with_fewer_places() {
        let queue = FairQueue::new(LIMITS);
        let _held = queue.acquire(group("a")).await.unwrap();
        let mut flood: Vec<_> = (0..4).map(|_| entering(&queue, group("flood"))).collect();
        let _others = ["b", "c"].map(|name| entering(&queue, group(name)));
        let _quiet = entering(&queue, group("quiet"));
        let newest = flood.pop().expect("four of them").now_or_never().expect("it lost its place");
        assert_eq!(newest.unwrap_err(), QueueFull::Full);
        let _more = ["d", "e"].map(|name| entering(&queue, group(name)));
        assert_eq!(refused(&queue, group("f")), QueueFull::Full, "six groups with one place each");
    }

    #[tokio::test]
    async fn callers_who_hang_up_leave_neither_a_place_nor_a_turn_behind() {
        let queue = FairQueue::new(LIMITS);
        let held = queue.acquire(group("a")).await.unwrap();
        for _ in 0..20 {
            drop(entering(&queue, group("a")));
        }
        let waits = entering(&queue, group("a"));
        drop(held);
        // It is dropped after the permit was sent to it, before it is polled.
        drop(waits);
        assert_eq!(queue.lock().free, 1);
        let _next = queue.acquire(group("b")).now_or_never().expect("a free turn").unwrap();
    }
}
