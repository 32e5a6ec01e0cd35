//! How long a connection may say nothing: the time for the headers of a request on HTTP/1.1, counted from the end of the
//! last one, and the idle time on HTTP/2. A request costs a few stores here and no timer of its own.

use http::Version;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The life signs of one connection.
#[derive(Debug)]
pub struct Pulse {
    start: Instant,
    under_way: AtomicU32,
    /// Milliseconds from the start to the end of the last request; 0 before the first one ended.
    last: AtomicU64,
    http2: AtomicBool,
    /// Rises with everything that is sent.
    sent: AtomicU64,
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

/// How a connection fell silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// No whole request ever came.
    FromTheStart,
    /// None has come for a while.
    Since,
}

impl Pulse {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            under_way: AtomicU32::new(0),
            last: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            sent: AtomicU64::new(0),
        })
    }

    pub fn begin(self: &Arc<Self>, version: Version) -> Busy {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        if version == Version::HTTP_2 {
            self.http2.store(true, Ordering::Relaxed);
        }
        Busy(Arc::clone(self))
    }

    /// Something went out.
    pub fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no whole request has come yet.
    pub fn is_untouched(&self) -> bool {
        self.under_way.load(Ordering::Acquire) == 0 && self.last.load(Ordering::Relaxed) == 0
    }

    /// Ends when nothing could be sent for this long, though no request is being worked on: whoever asked does not
    /// read the answer.
    pub async fn stalled(&self, patience: Duration) {
        loop {
            let before = self.sent.load(Ordering::Relaxed);
            tokio::time::sleep(patience).await;
            let idle = self.under_way.load(Ordering::Acquire) == 0;
            if idle && self.sent.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }

    /// Ends when no request came in time: the first one and every next of HTTP/1.1 within `headers`, the next of
    /// HTTP/2 within `idle`.
    pub async fn stopped(&self, headers: Duration, idle: Duration) -> Silence {
        sleep_until(self.start + headers).await;
        loop {
            let patience = if self.http2.load(Ordering::Relaxed) { idle } else { headers };
            if self.under_way.load(Ordering::Acquire) > 0 {
                sleep_until(Instant::now() + patience).await;
                continue;
            }
            let (end, silence) = match self.last.load(Ordering::Relaxed) {
                0 => (self.start + headers, Silence::FromTheStart),
                last => (self.start + Duration::from_millis(last) + patience, Silence::Since),
            };
            if end <= Instant::now() {
                return silence;
            }
            sleep_until(end).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(30);

    async fn stops_after(pulse: &Pulse) -> (u64, Silence) {
        let silence = pulse.stopped(HEADERS, IDLE).await;
        (pulse.start.elapsed().as_secs(), silence)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_never_asks_has_the_first_time() {
        assert_eq!(stops_after(&Pulse::new()).await, (10, Silence::FromTheStart));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_asked_has_its_time_from_the_end_of_its_last_request() {
        for (version, end) in [(Version::HTTP_11, 15), (Version::HTTP_2, 35)] {
            let pulse = Pulse::new();
            tokio::time::advance(Duration::from_secs(5)).await;
            drop(pulse.begin(version));
            assert_eq!(stops_after(&pulse).await, (end, Silence::Since));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_nothing_more_is_stalled_and_a_slow_one_is_not() {
        let pulse = Pulse::new();
        let slow = async {
            for _ in 0..9 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                pulse.sent();
            }
            std::future::pending::<()>().await;
        };
        // At 180 both wake: what was sent counts first.
        tokio::select! { biased; () = slow => {}, () = pulse.stalled(IDLE) => {} }
        assert_eq!(pulse.start.elapsed().as_secs(), 210, "the last piece went out after 180");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_being_answered_is_left_alone() {
        let pulse = Pulse::new();
        let busy = pulse.begin(Version::HTTP_11);
        let waited = tokio::time::timeout(Duration::from_mins(5), pulse.stopped(HEADERS, IDLE)).await;
        assert!(waited.is_err());
        drop(busy);
        assert_eq!(stops_after(&pulse).await, (310, Silence::Since));
    }
}
