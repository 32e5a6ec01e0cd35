//! The clock, which is injected so that tests can use one they control.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Two readings: wall-clock time for what people see, monotonic time for throttles and caches.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// Epoch seconds.
    fn now(&self) -> i64;
    /// Time since a fixed moment; never goes backwards, even when the wall clock is changed.
    fn monotonic(&self) -> Duration;
}

#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where wall time comes in")]
    fn now(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A clock for tests that moves only when told to.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(now: i64) -> Self {
        Self(AtomicI64::new(now))
    }

    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(u64::try_from(self.now()).unwrap_or_default())
    }
}
