//! A token bucket per name, held in memory and in monotonic time. Throttles password and code guesses on one node; on a shared
//! database `viewing/shared_guesses.rs` counts those of all nodes.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Names that have a bucket of their own, which bounds the table.
const MAX_BUCKETS: usize = 100_000;
/// Buckets that later names share: nobody gets a full bucket because many others came.
const GROUPS: usize = 1024;

/// Allows `burst` operations at once for each name, and one more after every `refill`.
#[derive(Debug)]
pub(crate) struct TokenBuckets {
    burst: u32,
    refill: Duration,
    table: Mutex<Table>,
}

/// When each bucket will be full again.
#[derive(Debug)]
struct Table {
    by_name: HashMap<String, Duration>,
    by_group: Vec<Duration>,
    /// When full buckets were last removed, which reads the whole table.
    pruned_at: Duration,
}

impl Table {
    /// The bucket of a name that may have taken a token.
    fn get(&mut self, name: &str) -> Option<&mut Duration> {
        if self.by_name.len() >= MAX_BUCKETS && !self.by_name.contains_key(name) {
            let hash = usize::try_from(self.by_name.hasher().hash_one(name) >> 32).unwrap_or_default();
            return self.by_group.get_mut(hash % GROUPS);
        }
        self.by_name.get_mut(name)
    }

    /// Makes room for another name, at most once per `refill`.
    fn prune(&mut self, now: Duration, refill: Duration) {
        if self.by_name.len() >= MAX_BUCKETS && now >= self.pruned_at + refill {
            self.by_name.retain(|_, at| *at > now);
            self.pruned_at = now;
        }
    }
}

impl TokenBuckets {
    pub(crate) fn new(burst: u32, refill: Duration) -> Self {
        let table = Table {
            by_name: HashMap::new(),
            by_group: vec![Duration::ZERO; GROUPS],
            pruned_at: Duration::ZERO,
        };
        Self { burst, refill, table: Mutex::new(table) }
    }

    /// Takes one token, or returns how long to wait for it.
    pub(crate) fn take(&self, name: &str, now: Duration) -> Result<(), Duration> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.prune(now, self.refill);
        if table.by_name.len() < MAX_BUCKETS && !table.by_name.contains_key(name) {
            table.by_name.insert(name.to_owned(), Duration::ZERO);
        }
        let Some(full_at) = table.get(name) else { return Err(self.refill) };
        let at = (*full_at).max(now);
        let room = self.refill * self.burst.saturating_sub(1);
        match at.saturating_sub(now).checked_sub(room) {
            None | Some(Duration::ZERO) => {
                *full_at = at + self.refill;
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }

    /// Gives out no token for so long, because the nodes together have given out too many.
    pub(crate) fn hold(&self, name: &str, now: Duration, wait: Duration) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let until = now + wait + self.refill * self.burst.saturating_sub(1);
        if let Some(at) = table.get(name) {
            *at = until.max(*at);
        }
    }

    /// Returns a token that turned out not to be a guess.
    pub(crate) fn refund(&self, name: &str) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = table.get(name) {
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

    #[test]
    fn many_names_give_nobody_a_full_bucket() {
        let buckets = TokenBuckets::new(1, Duration::from_secs(10));
        let at = Duration::from_secs;
        buckets.take("a", at(100)).unwrap();
        for n in 1..MAX_BUCKETS {
            buckets.take(&n.to_string(), at(100)).unwrap();
        }
        buckets.take("late", at(101)).unwrap();
        assert!(buckets.take("late", at(101)).is_err());
        assert!(buckets.take("a", at(101)).is_err());
        buckets.refund("late");
        buckets.take("late", at(101)).unwrap();
        assert_eq!(buckets.table.lock().unwrap().by_name.len(), MAX_BUCKETS);
        // Once the buckets are full again, there is room for others.
        buckets.take("next", at(111)).unwrap();
        assert_eq!(buckets.table.lock().unwrap().by_name.len(), 1);
    }
}
