//! How long a connection may say nothing. hyper times the headers of HTTP/1.1 only once it knows that they are HTTP/1.1,
//! and lets an HTTP/2 connection without requests live on; this ends both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The life signs of one connection.
#[derive(Debug)]
pub struct Pulse {
    start: Instant,
    under_way: AtomicU32,
    /// Milliseconds from the start to the end of the last request; 0 before the first one ended.
    last: AtomicU64,
}

/// A request under way; it ends when this is dropped, however that comes.
#[derive(Debug)]
pub struct Busy(Arc<Pulse>);

impl Drop for Busy {
    fn drop(&mut self) {
        let last = u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.store(last.max(1), Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Release);
    }
}

impl Pulse {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), under_way: AtomicU32::new(0), last: AtomicU64::new(0) })
    }

    pub fn begin(self: &Arc<Self>) -> Busy {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Ends when no first request came in the time `first`, or none for the time `idle` after that.
    pub async fn stopped(&self, first: Duration, idle: Duration) {
        sleep_until(self.start + first).await;
        loop {
            if self.under_way.load(Ordering::Acquire) > 0 {
                sleep_until(Instant::now() + idle).await;
                continue;
            }
            let end = match self.last.load(Ordering::Relaxed) {
                0 => self.start + first,
                last => self.start + Duration::from_millis(last) + idle,
            };
            if end <= Instant::now() {
                return;
            }
            sleep_until(end).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(30);

    async fn stops_after(pulse: &Pulse) -> u64 {
        pulse.stopped(FIRST, IDLE).await;
        pulse.start.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_never_asks_has_the_first_time() {
        assert_eq!(stops_after(&Pulse::new()).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_asked_has_the_idle_time_after_its_last_request() {
        let pulse = Pulse::new();
        tokio::time::advance(Duration::from_secs(5)).await;
        drop(pulse.begin());
        assert_eq!(stops_after(&pulse).await, 35);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_being_answered_is_left_alone() {
        let pulse = Pulse::new();
        let busy = pulse.begin();
        let waited = tokio::time::timeout(Duration::from_mins(5), pulse.stopped(FIRST, IDLE)).await;
        assert!(waited.is_err());
        drop(busy);
        assert_eq!(stops_after(&pulse).await, 330);
    }
}
