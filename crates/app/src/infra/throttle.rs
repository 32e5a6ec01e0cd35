//! A fixed-window rate limit held in memory, in monotonic time: for limits that protect this machine rather than enforce
//! a quota. Also the error for any exhausted rate limit.

use dropleaf_core::rate::{Rate, RateLimitStatus};
use dropleaf_core::{Code, Error};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Callers that are counted one by one in a window, which bounds the table.
const MAX_CALLERS: usize = 100_000;
/// Counts that later callers share: nobody gets a second allowance, however many callers there are.
const GROUPS: usize = 1024;

#[derive(Debug)]
pub(crate) struct Throttle {
    rate: Rate,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    at: i64,
    used: HashMap<String, i64>,
    /// What the callers have used that are not in the table.
    used_by_groups: Vec<i64>,
}

impl Window {
    fn new(at: i64) -> Self {
        Self { at, used: HashMap::new(), used_by_groups: vec![0; GROUPS] }
    }

    /// The count of a caller; `None` if it was not counted in this window.
    fn used(&mut self, who: &str) -> Option<&mut i64> {
        if self.used.len() >= MAX_CALLERS && !self.used.contains_key(who) {
            let hash = usize::try_from(self.used.hasher().hash_one(who) >> 32).unwrap_or_default();
            return self.used_by_groups.get_mut(hash % GROUPS);
        }
        self.used.get_mut(who)
    }
}

impl Throttle {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, window: Mutex::new(Window::new(0)) }
    }

    /// Counts one operation. `Err` if the window is full; both return the caller's standing.
    pub(crate) fn take(&self, who: &str, monotonic: Duration) -> Result<RateLimitStatus, RateLimitStatus> {
        let now = i64::try_from(monotonic.as_secs()).unwrap_or(i64::MAX);
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.rate.window_at(now);
        if window.at != at {
            *window = Window::new(at);
        }
        if window.used.len() < MAX_CALLERS && !window.used.contains_key(who) {
            window.used.insert(who.to_owned(), 0);
        }
        let Some(used) = window.used(who) else { return Err(self.rate.status(self.rate.limit, now)) };
        if *used >= self.rate.limit {
            return Err(self.rate.status(*used, now));
        }
        *used += 1;
        Ok(self.rate.status(*used, now))
    }

    /// Charges more for an operation that turned out to be large. The next one is refused if the limit is exceeded.
    pub(crate) fn charge(&self, who: &str, more: i64) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = window.used(who) {
            *used = used.saturating_add(more);
        }
    }

    /// Reverts one operation, if it was counted in this window.
    pub(crate) fn refund(&self, who: &str) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = window.used(who) {
            *used = used.saturating_sub(1).max(0);
        }
    }
}

/// The error for an exhausted rate limit.
pub(crate) fn rate_limited(standing: &RateLimitStatus) -> Error {
    let RateLimitStatus { rate, resets_in, .. } = standing;
    Error::new(
        Code::RateLimited,
        format!(
            "The limit is {} per {}. Try again in {resets_in} s.",
            rate.limit,
            window_name(rate.window_seconds)
        ),
    )
    .retry_after(*resets_in)
    .with_rate_limit(*standing)
}

fn window_name(seconds: i64) -> String {
    match seconds {
        60 => "minute".into(),
        3600 => "hour".into(),
        86_400 => "day".into(),
        other => format!("{other} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_refuses_until_the_next_one() {
        let throttle = Throttle::new(Rate { name: "minute", limit: 2, window_seconds: 60 });
        let at = Duration::from_secs;
        assert_eq!(throttle.take("a", at(0)).unwrap().remaining, 1);
        assert_eq!(throttle.take("a", at(1)).unwrap().remaining, 0);
        assert_eq!(throttle.take("a", at(2)).unwrap_err().resets_in, 58);
        assert!(throttle.take("b", at(2)).is_ok());
        assert!(throttle.take("a", at(60)).is_ok());
        throttle.charge("a", 5);
        assert_eq!(throttle.take("a", at(61)).unwrap_err().remaining, 0);
    }

    #[test]
    fn many_callers_give_nobody_a_new_allowance() {
        let throttle = Throttle::new(Rate { name: "minute", limit: 2, window_seconds: 60 });
        let at = Duration::from_secs;
        assert!(throttle.take("a", at(0)).is_ok() && throttle.take("a", at(0)).is_ok());
        for n in 1..MAX_CALLERS {
            throttle.take(&n.to_string(), at(1)).unwrap();
        }
        assert!(throttle.take("late", at(2)).is_ok(), "who comes later is still served");
        assert!(throttle.take("late", at(2)).is_ok());
        assert!(throttle.take("late", at(2)).is_err());
        throttle.refund("late");
        assert!(throttle.take("late", at(2)).is_ok());
        assert!(throttle.take("a", at(2)).is_err());
        let table = throttle.window.lock().unwrap().used.len();
        assert_eq!(table, MAX_CALLERS);
        assert!(throttle.take("a", at(60)).is_ok(), "the next window");
    }
}
