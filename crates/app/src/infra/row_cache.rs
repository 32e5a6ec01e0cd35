//! A cache of rows. Entries live 900 ms, or up to a minute while it is confirmed that no other process has written. This
//! node evicts what it changes before it acknowledges the change.

use quick_cache::sync::Cache;
use quick_cache::{UnitWeighter, Weighter};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// The longest time until a change made by another node or process takes effect.
const ROW_TTL: Duration = Duration::from_millis(900);
/// After this a new confirmation is requested, well before the rows expire.
const CONFIRM_AFTER: Duration = Duration::from_millis(300);
/// However often it is confirmed, a row is reloaded after this.
const MAX_ROW_AGE: Duration = Duration::from_mins(1);

/// When a row was read, and the row.
type ReadRow<V> = (Duration, Arc<V>);

/// Limited by a number of rows, or by what `W` says that they weigh.
#[derive(Debug)]
pub(crate) struct RowCache<K, V, W = UnitWeighter> {
    rows: Cache<K, ReadRow<V>, W>,
    /// Incremented with every eviction, so that a row read before a change is not cached after it.
    epoch: AtomicU64,
    /// Milliseconds of monotonic time: writes by other processes before this moment are reflected in all rows here.
    confirmed: AtomicU64,
    /// Set if a change may have been committed while the task that would evict its rows was cancelled.
    uncertain: AtomicBool,
    confirmation_requested: Notify,
}

/// The time and epoch before a row was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadMark {
    at: Duration,
    epoch: u64,
}

impl<K: Hash + Eq + Clone, V> RowCache<K, V> {
    pub(crate) fn new(rows: usize) -> Self {
        Self::over(Cache::new(rows))
    }
}

impl<K: Hash + Eq + Clone, V, W: Weighter<K, ReadRow<V>> + Clone> RowCache<K, V, W> {
    /// Rows in a cache with limits of its own.
    pub(crate) fn over(rows: Cache<K, ReadRow<V>, W>) -> Self {
        Self {
            rows,
            epoch: AtomicU64::new(0),
            confirmed: AtomicU64::new(0),
            uncertain: AtomicBool::new(false),
            confirmation_requested: Notify::new(),
        }
    }

    /// The cached row, unless it has expired. `now` is monotonic time.
    pub(crate) fn find(&self, key: &K, now: Duration) -> Option<Arc<V>> {
        let (at, value) = self.rows.get(key)?;
        let known_at = at.max(self.confirmed());
        (now.saturating_sub(known_at) < ROW_TTL && now.saturating_sub(at) < MAX_ROW_AGE).then_some(value)
    }

    fn confirmed(&self) -> Duration {
        Duration::from_millis(self.confirmed.load(Ordering::SeqCst))
    }

    fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.confirmed()) >= CONFIRM_AFTER
    }

    /// Wakes the confirming task if a confirmation is due. An idle process does no work.
    pub(crate) fn request_confirmation(&self, now: Duration) {
        if self.is_due(now) {
            self.confirmation_requested.notify_one();
        }
    }

    /// Waits until rows without a recent confirmation are used.
    pub(crate) async fn confirmation_requested(&self) {
        self.confirmation_requested.notified().await;
    }

    /// Records that a task was cancelled in the middle of a change. Reset by [`RowCache::take_uncertain`].
    pub(crate) fn mark_uncertain(&self) {
        self.uncertain.store(true, Ordering::SeqCst);
    }

    pub(crate) fn take_uncertain(&self) -> bool {
        self.uncertain.swap(false, Ordering::SeqCst)
    }

    /// Confirms that no write by another process before this moment is missing from the cached rows.
    pub(crate) fn confirm(&self, at: Duration) {
        let millis = u64::try_from(at.as_millis()).unwrap_or_default();
        self.confirmed.fetch_max(millis, Ordering::SeqCst);
    }

    /// Must be called before the database is queried.
    pub(crate) fn read_mark(&self, now: Duration) -> ReadMark {
        ReadMark { at: now, epoch: self.epoch.load(Ordering::SeqCst) }
    }

    pub(crate) fn insert(&self, key: &K, value: Arc<V>, before: ReadMark) {
        // Otherwise a change since the read would be hidden for up to a second.
        if self.is_before_change(before) {
            return;
        }
        self.rows.insert(key.clone(), (before.at, value));
        // A change may have come between the two steps.
        if self.is_before_change(before) {
            self.rows.remove(key);
        }
    }

    fn is_before_change(&self, mark: ReadMark) -> bool {
        self.epoch.load(Ordering::SeqCst) != mark.epoch
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
        let rows = RowCache::new(10);
        rows.insert(&1, Arc::new("a"), rows.read_mark(AT(100)));
        assert_eq!(rows.find(&1, AT(999)).as_deref(), Some(&"a"));
        assert_eq!(rows.find(&1, AT(1000)), None);
        rows.insert(&1, Arc::new("b"), rows.read_mark(AT(100)));
        rows.evict(&1);
        assert_eq!(rows.find(&1, AT(100)), None);
    }

    #[test]
    fn a_row_lives_on_while_it_is_confirmed_but_not_for_ever() {
        let rows = RowCache::new(10);
        rows.insert(&1, Arc::new("a"), rows.read_mark(AT(100)));
        for step in 1..70 {
            rows.confirm(AT(step * 850));
            assert_eq!(rows.find(&1, AT(step * 850 + 899)).as_deref(), Some(&"a"));
            assert_eq!(rows.find(&1, AT(step * 850 + 900)), None);
        }
        rows.confirm(AT(60_100));
        assert_eq!(rows.find(&1, AT(60_100)), None);
    }

    #[test]
    fn rows_are_limited_by_their_weight() {
        #[derive(Debug, Clone)]
        struct Length;
        impl Weighter<u64, ReadRow<Vec<u8>>> for Length {
            fn weight(&self, _: &u64, (_, row): &ReadRow<Vec<u8>>) -> u64 {
                row.len() as u64
            }
        }
        let rows = RowCache::over(Cache::with_weighter(1000, 1 << 20, Length));
        let mark = rows.read_mark(AT(0));
        for key in 0..5000 {
            rows.insert(&key, Arc::new(vec![0; 1 << 10]), mark);
        }
        let kept = (0..5000).filter(|key| rows.find(key, AT(0)).is_some()).count();
        assert!((500..=1024).contains(&kept), "{kept} rows of 1 KiB in 1 MiB");
    }

    #[test]
    fn a_row_read_before_a_change_is_not_kept_after_it() {
        let rows = RowCache::new(10);
        let before = rows.read_mark(AT(0));
        rows.evict(&2);
        rows.insert(&1, Arc::new("stale"), before);
        assert_eq!(rows.find(&1, AT(0)), None);
        let before = rows.read_mark(AT(0));
        rows.clear();
        rows.insert(&1, Arc::new("stale"), before);
        assert_eq!(rows.find(&1, AT(0)), None);
    }
}
