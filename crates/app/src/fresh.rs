//! Rows kept in memory for less than a second: long enough to spare the database most reads of what is asked for often,
//! short enough that nobody minds. What this node changes is thrown out before the change is acknowledged.

use quick_cache::sync::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Changes made on another node or by another process are in force after this at the latest.
const LIFE: Duration = Duration::from_millis(900);

#[derive(Debug)]
pub(crate) struct Fresh<K, V> {
    rows: Cache<K, (Duration, Arc<V>)>,
    /// Rises with every eviction, so that a row read before a change is not kept after it.
    epoch: AtomicU64,
}

/// The moment before a row was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    at: Duration,
    epoch: u64,
}

impl<K: Hash + Eq + Clone, V> Fresh<K, V> {
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows: Cache::new(rows), epoch: AtomicU64::new(0) }
    }

    /// What is kept under this key, unless it is too old. `now` is monotonic time.
    pub(crate) fn find(&self, key: &K, now: Duration) -> Option<Arc<V>> {
        let (at, value) = self.rows.get(key)?;
        (now.saturating_sub(at) < LIFE).then_some(value)
    }

    /// To be called before the database is asked.
    pub(crate) fn before(&self, now: Duration) -> Before {
        Before { at: now, epoch: self.epoch.load(Ordering::SeqCst) }
    }

    pub(crate) fn keep(&self, key: &K, value: Arc<V>, before: Before) {
        self.rows.insert(key.clone(), (before.at, value));
        // A change that slipped in between reading and keeping would otherwise be hidden for a second.
        if self.epoch.load(Ordering::SeqCst) != before.epoch {
            self.rows.remove(key);
        }
    }

    pub(crate) fn evict(&self, key: &K) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.rows.remove(key);
    }

    pub(crate) fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_row_is_forgotten_after_its_life_or_on_command() {
        let fresh = Fresh::new(10);
        fresh.keep(&1, Arc::new("a"), fresh.before(AT(100)));
        assert_eq!(fresh.find(&1, AT(999)).as_deref(), Some(&"a"));
        assert_eq!(fresh.find(&1, AT(1000)), None);
        fresh.keep(&1, Arc::new("b"), fresh.before(AT(100)));
        fresh.evict(&1);
        assert_eq!(fresh.find(&1, AT(100)), None);
    }

    #[test]
    fn a_row_read_before_a_change_is_not_kept_after_it() {
        let fresh = Fresh::new(10);
        let before = fresh.before(AT(0));
        fresh.evict(&2);
        fresh.keep(&1, Arc::new("stale"), before);
        assert_eq!(fresh.find(&1, AT(0)), None);
        let before = fresh.before(AT(0));
        fresh.clear();
        fresh.keep(&1, Arc::new("stale"), before);
        assert_eq!(fresh.find(&1, AT(0)), None);
    }
}
