//! A token bucket per name, held in memory and in monotonic time. Throttles password and code guesses on one node; on a shared
//! database `viewing/shared_guesses.rs` counts those of all nodes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Above this many entries the full buckets are dropped; if that is not enough, all of them.
const MAX_BUCKETS: usize = 100_000;

/// Allows `burst` operations at once for each name, and one more after every `refill`.
#[derive(Debug)]
pub(crate) struct TokenBuckets {
    burst: u32,
    refill: Duration,
    /// When each bucket will be full again.
    full_at: Mutex<HashMap<String, Duration>>,
}

impl TokenBuckets {
    pub(crate) fn new(burst: u32, refill: Duration) -> Self {
        Self { burst, refill, full_at: Mutex::default() }
    }

    /// Takes one token, or returns how long to wait for it.
    pub(crate) fn take(&self, name: &str, now: Duration) -> Result<(), Duration> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() > MAX_BUCKETS {
            full_at.retain(|_, at| *at > now);
            if full_at.len() > MAX_BUCKETS {
                full_at.clear();
            }
        }
        let at = full_at.get(name).copied().unwrap_or_default().max(now);
        let room = self.refill * self.burst.saturating_sub(1);
        match at.saturating_sub(now).checked_sub(room) {
            None | Some(Duration::ZERO) => {
                full_at.insert(name.to_owned(), at + self.refill);
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }

    /// Gives out no token for so long, because the nodes together have given out too many.
    pub(crate) fn hold(&self, name: &str, now: Duration, wait: Duration) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let until = now + wait + self.refill * self.burst.saturating_sub(1);
        if let Some(at) = full_at.get_mut(name) {
            *at = until.max(*at);
        }
    }

    /// Returns a token that turned out not to be a guess.
    pub(crate) fn refund(&self, name: &str) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = full_at.get_mut(name) {
            *at = at.saturating_sub(self.refill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_at_once_then_one_every_ten_seconds() {
        let buckets = TokenBuckets::new(5, Duration::from_secs(10));
        let at = Duration::from_secs;
        for _ in 0..5 {
            buckets.take("a", at(100)).unwrap();
        }
        assert_eq!(buckets.take("a", at(100)), Err(at(10)));
        assert_eq!(buckets.take("a", at(107)), Err(at(3)));
        buckets.take("b", at(107)).unwrap();
        buckets.take("a", at(110)).unwrap();
        assert_eq!(buckets.take("a", at(110)), Err(at(10)));
        // After a pause the bucket holds five again, and no more.
        for _ in 0..5 {
            buckets.take("a", at(1000)).unwrap();
        }
        assert!(buckets.take("a", at(1000)).is_err());
    }

    #[test]
    fn a_held_bucket_gives_out_nothing_until_the_wait_is_over() {
        let buckets = TokenBuckets::new(5, Duration::from_secs(10));
        let at = Duration::from_secs;
        buckets.take("a", at(100)).unwrap();
        buckets.hold("a", at(100), at(7));
        assert_eq!(buckets.take("a", at(100)), Err(at(7)));
        buckets.take("a", at(107)).unwrap();
        assert_eq!(buckets.take("a", at(107)), Err(at(10)));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let buckets = TokenBuckets::new(1, Duration::from_secs(10));
        let now = Duration::from_secs(1);
        for _ in 0..3 {
            buckets.take("a", now).unwrap();
            buckets.refund("a");
        }
        buckets.take("a", now).unwrap();
        assert!(buckets.take("a", now).is_err());
    }
}
