//! Rows kept in memory: for less than a second, or for as long as it is confirmed again and again that nobody else has
//! written. What this node changes is thrown out before the change is acknowledged.

use quick_cache::sync::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// Changes made on another node or by another process are in force after this at the latest.
const LIFE: Duration = Duration::from_millis(900);
/// A confirmation older than this is asked for anew, in good time before the rows lose their life.
const ASK_AFTER: Duration = Duration::from_millis(300);
/// However often it is confirmed, a row is read again after this.
const LONGEST: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Fresh<K, V> {
    rows: Cache<K, (Duration, Arc<V>)>,
    /// Rises with every eviction, so that a row read before a change is not kept after it.
    epoch: AtomicU64,
    /// Milliseconds of monotonic time: whatever others wrote before this moment is not hidden by any row here.
    confirmed: AtomicU64,
    /// A change may have been made without anybody left to throw out its rows.
    doubted: AtomicBool,
    asked: Notify,
}

/// The moment before a row was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    at: Duration,
    epoch: u64,
}

impl<K: Hash + Eq + Clone, V> Fresh<K, V> {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            rows: Cache::new(rows),
            epoch: AtomicU64::new(0),
            confirmed: AtomicU64::new(0),
            doubted: AtomicBool::new(false),
            asked: Notify::new(),
        }
    }

    /// What is kept under this key, unless it is too old. `now` is monotonic time.
    pub(crate) fn find(&self, key: &K, now: Duration) -> Option<Arc<V>> {
        let (at, value) = self.rows.get(key)?;
        let known_at = at.max(self.confirmed());
        (now.saturating_sub(known_at) < LIFE && now.saturating_sub(at) < LONGEST).then_some(value)
    }

    fn confirmed(&self) -> Duration {
        Duration::from_millis(self.confirmed.load(Ordering::SeqCst))
    }

    fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.confirmed()) >= ASK_AFTER
    }

    /// Wakes whoever confirms the rows, when it is time. An idle process is left alone.
    pub(crate) fn ask(&self, now: Duration) {
        if self.is_due(now) {
            self.asked.notify_one();
        }
    }

    /// Waits until somebody uses rows that were not confirmed lately.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Says that somebody went away in the middle of a change. To be taken back by [`Fresh::take_doubt`].
    pub(crate) fn doubt(&self) {
        self.doubted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn take_doubt(&self) -> bool {
        self.doubted.swap(false, Ordering::SeqCst)
    }

    /// Nothing that others wrote before this moment is missing from the rows kept here.
    pub(crate) fn confirm(&self, at: Duration) {
        let millis = u64::try_from(at.as_millis()).unwrap_or_default();
        self.confirmed.fetch_max(millis, Ordering::SeqCst);
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
    fn a_row_lives_on_while_it_is_confirmed_but_not_for_ever() {
        let fresh = Fresh::new(10);
        fresh.keep(&1, Arc::new("a"), fresh.before(AT(100)));
        for step in 1..70 {
            fresh.confirm(AT(step * 850));
            assert_eq!(fresh.find(&1, AT(step * 850 + 899)).as_deref(), Some(&"a"));
            assert_eq!(fresh.find(&1, AT(step * 850 + 900)), None);
        }
        fresh.confirm(AT(60_100));
        assert_eq!(fresh.find(&1, AT(60_100)), None);
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
