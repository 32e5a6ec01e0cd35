//! The attempts that are under way on this node, and how often the database is asked what is due: rarely enough that a long
//! queue is not read once for each of its deliveries.

use dropleaf_core::webhook::Delivery;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// How often the database is asked what is due.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The same after an attempt ended, because another delivery of the page may follow.
const POLL_AFTER_ATTEMPT: Duration = Duration::from_millis(200);
/// Deliveries of one account at the same time, on one node.
pub(super) const PER_ACCOUNT: usize = 4;
/// Due deliveries of one account that are read at a time.
pub(super) const READ_PER_ACCOUNT: i64 = 16;

#[derive(Default)]
pub(super) struct InFlight<'a> {
    /// Each ends with the account that it was for.
    attempts: FuturesUnordered<BoxFuture<'a, String>>,
    by_account: HashMap<String, usize>,
    /// Deliveries that were due when the database was asked, and are not taken yet.
    pub(super) due: VecDeque<Delivery>,
    read_at: Option<Instant>,
    /// Whether an attempt ended since then.
    has_ended: bool,
}

impl<'a> InFlight<'a> {
    pub(super) fn len(&self) -> usize {
        self.attempts.len()
    }

    pub(super) fn count_of(&self, account_id: &str) -> usize {
        self.by_account.get(account_id).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, account_id: &str, attempt: impl Future<Output = ()> + Send + 'a) {
        let account_id = account_id.to_owned();
        *self.by_account.entry(account_id.clone()).or_default() += 1;
        self.attempts.push(Box::pin(async move {
            attempt.await;
            account_id
        }));
    }

    /// Waits for one to end. Never completes if there is none.
    pub(super) async fn next(&mut self) {
        match self.attempts.next().await {
            Some(account_id) => {
                self.has_ended = true;
                if let Some(count) = self.by_account.get_mut(&account_id) {
                    *count -= 1;
                    if *count == 0 {
                        self.by_account.remove(&account_id);
                    }
                }
            }
            None => std::future::pending().await,
        }
    }

    /// When the database may be asked again; none if it was never asked.
    pub(super) fn next_read(&self) -> Option<Instant> {
        let pause = if self.has_ended { POLL_AFTER_ATTEMPT } else { POLL_EVERY };
        self.read_at.map(|at| at + pause)
    }

    /// Whether the database may be asked now. If so, the next time counts from now.
    pub(super) fn begin_read(&mut self, now: Instant) -> bool {
        let may_read = self.next_read().is_none_or(|at| at <= now);
        if may_read {
            (self.read_at, self.has_ended) = (Some(now), false);
        }
        may_read
    }

    /// After an error of the database: waits before it is asked again.
    pub(super) fn wait_after_failure(&mut self, now: Instant) {
        self.due.clear();
        (self.read_at, self.has_ended) = (Some(now), false);
    }

    /// Asks again as soon as everything that was read is taken.
    pub(super) fn read_without_delay(&mut self) {
        if self.due.is_empty() {
            self.read_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_that_end_cause_five_reads_a_second_at_most() {
        let mut in_flight = InFlight::default();
        let start = Instant::now();
        let mut reads = 0_u128;
        for _ in 0..1000 {
            reads += u128::from(in_flight.begin_read(Instant::now()));
            in_flight.add("acct_1", tokio::time::sleep(Duration::from_millis(1)));
            in_flight.next().await;
        }
        let millis = start.elapsed().as_millis();
        assert!((2..=millis / 200 + 1).contains(&reads), "{reads} in {millis} ms");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_under_way_is_read_every_second_and_an_error_is_waited_for() {
        let mut in_flight = InFlight::default();
        let now = Instant::now();
        assert!(in_flight.next_read().is_none() && in_flight.begin_read(now));
        assert_eq!(in_flight.next_read(), Some(now + POLL_EVERY));
        assert!(!in_flight.begin_read(now + POLL_EVERY / 2) && in_flight.begin_read(now + POLL_EVERY));
        in_flight.add("acct_1", async {});
        assert_eq!((in_flight.len(), in_flight.count_of("acct_1")), (1, 1));
        in_flight.next().await;
        assert_eq!((in_flight.len(), in_flight.count_of("acct_1")), (0, 0));
        assert_eq!(in_flight.next_read(), Some(now + POLL_EVERY + POLL_AFTER_ATTEMPT));
        in_flight.wait_after_failure(now + POLL_EVERY);
        assert_eq!(in_flight.next_read(), Some(now + POLL_EVERY * 2));
        in_flight.read_without_delay();
        assert!(in_flight.begin_read(now));
    }
}
