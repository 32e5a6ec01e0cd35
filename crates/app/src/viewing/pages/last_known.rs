//! The last row that was read of each page that any viewer may see, for views while the database does not answer. Off unless
//! the operator sets a limit. A row is used for at most that long after it was read, and forgotten with every change of its
//! page that this node makes or hears of.

use super::{PageKey, PageView};
use crate::infra::moment::Moment;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// While the database does not answer, one view asks it again after this.
const TRY_AGAIN_MILLIS: u64 = 1000;
/// Changes are counted in so many groups of pages.
const STRIPES: usize = 256;
/// Memory of a row and its key, without the bundle.
const ROW_BYTES: u64 = 2048;

/// A page, and how old its row is if the database did not answer.
#[derive(Debug)]
pub struct OpenedPage {
    pub page: Arc<PageView>,
    pub stale_for: Option<Duration>,
}

impl OpenedPage {
    pub(super) const fn current(page: Arc<PageView>) -> Self {
        Self { page, stale_for: None }
    }
}

#[derive(Debug, Clone)]
struct RowWeighter;

impl Weighter<PageKey, (Moment, Arc<PageView>)> for RowWeighter {
    fn weight(&self, _: &PageKey, (_, page): &(Moment, Arc<PageView>)) -> u64 {
        ROW_BYTES + page.bundle.as_ref().map_or(0, |bundle| bundle.weight())
    }
}

#[derive(Debug)]
pub(super) struct LastKnownPages {
    /// Zero: off.
    limit: Duration,
    rows: Cache<PageKey, (Moment, Arc<PageView>), RowWeighter>,
    /// Incremented with every change, so that a row read before it is not recorded after it.
    changes: Vec<AtomicU64>,
    hasher: RandomState,
    pub(super) outage: Outage,
}

/// The number of changes before a row was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangeMark(u64);

impl LastKnownPages {
    /// `bytes` limits the memory of the rows.
    pub(super) fn new(limit: Duration, bytes: u64) -> Self {
        Self {
            limit,
            rows: Cache::with_weighter(1024, bytes.max(1 << 20), RowWeighter),
            changes: std::iter::repeat_with(AtomicU64::default).take(STRIPES).collect(),
            hasher: RandomState::new(),
            outage: Outage::default(),
        }
    }

    pub(super) const fn is_on(&self) -> bool {
        !self.limit.is_zero()
    }

    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }

    fn stripe(&self, key: &PageKey) -> &AtomicU64 {
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or_default();
        &self.changes[hash % STRIPES]
    }

    /// Must be called before the database is queried.
    pub(super) fn mark(&self, key: &PageKey) -> ChangeMark {
        ChangeMark(if self.is_on() { self.stripe(key).load(Ordering::SeqCst) } else { 0 })
    }

    /// Records a row that was read at `at`, or forgets the page if it is not open to all.
    pub(super) fn record(&self, key: &PageKey, page: &Arc<PageView>, at: Moment, before: ChangeMark) {
        if !self.is_on() {
            return;
        }
        if !page.access_rules.is_open_to_all(at.wall) {
            return self.forget(key);
        }
        // A slower read must not replace the row of one that began later.
        if self.rows.peek(key).is_none_or(|(known, _)| known.monotonic <= at.monotonic) {
            self.rows.insert(*key, (at, Arc::clone(page)));
        }
        if self.mark(key) != before {
            self.rows.remove(key);
        }
    }

    /// The page as it was last read, if that was recent enough and it is still open to all. An address that was last known to
    /// lead here at `address_at` counts like the row.
    pub(super) fn find(&self, key: &PageKey, now: Moment, address_at: Option<Moment>) -> Option<OpenedPage> {
        if !self.is_on() {
            return None;
        }
        let (read_at, page) = self.rows.get(key)?;
        let stale_for = now.since(read_at).max(address_at.map_or(Duration::ZERO, |known| now.since(known)));
        (stale_for < self.limit && page.access_rules.is_open_to_all(now.wall))
            .then_some(OpenedPage { page, stale_for: Some(stale_for) })
    }

    pub(super) fn forget(&self, key: &PageKey) {
        if self.is_on() {
            self.stripe(key).fetch_add(1, Ordering::SeqCst);
            self.rows.remove(key);
        }
    }

    pub(super) fn forget_all(&self) {
        if self.is_on() {
            for stripe in &self.changes {
                stripe.fetch_add(1, Ordering::SeqCst);
            }
            self.rows.clear();
        }
    }
}

/// Whether the database answers, as far as views know. While it does not, views of known pages wait for nothing, except for
/// one that asks it again every second.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// Milliseconds of monotonic time, plus one, at which it was last asked in vain; zero while it answers.
    failed_at: AtomicU64,
}

impl Outage {
    pub(super) fn is_on(&self) -> bool {
        self.failed_at.load(Ordering::SeqCst) != 0
    }

    /// Whether this view asks the database.
    pub(super) fn may_try(&self, at: Duration) -> bool {
        let (failed, now) = (self.failed_at.load(Ordering::SeqCst), millis(at));
        failed == 0
            || (now.saturating_sub(failed) >= TRY_AGAIN_MILLIS
                && self.failed_at.compare_exchange(failed, now, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    pub(super) fn failed(&self, at: Duration) {
        self.failed_at.fetch_max(millis(at), Ordering::SeqCst);
    }

    pub(super) fn answered(&self) {
        if self.failed_at.load(Ordering::Relaxed) != 0 {
            self.failed_at.store(0, Ordering::SeqCst);
        }
    }
}

fn millis(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX - 1) + 1
}

#[cfg(test)]
mod tests;
