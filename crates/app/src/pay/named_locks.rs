//! Mutexes by name, so that copies of a payment request wait for the first. Valid within this process; between nodes the
//! lease in the payment's row applies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Unused entries are removed when this many have accumulated.
const SWEEP_AT: usize = 1024;
/// Copies of a payment request that may run or wait at once.
const MAX_WAITERS: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct NamedLocks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl NamedLocks {
    /// Waits until no other task in this process holds the name.
    pub(crate) async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        self.mutex(name).lock_owned().await
    }

    /// Does not wait: None while another task in this process holds the name.
    pub(crate) fn try_lock(&self, name: &str) -> Option<OwnedMutexGuard<()>> {
        self.mutex(name).try_lock_owned().ok()
    }

    /// Whether any name is held or waited for.
    pub(crate) fn is_busy(&self) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|mutex| mutex.strong_count() > 0)
    }

    /// Whether so many tasks hold or wait for a name, each with its page in memory, that one more should retry later.
    pub(crate) fn is_crowded(&self, name: &str) -> bool {
        self.waiters(name) >= MAX_WAITERS
    }

    /// Tasks in this process that hold a name or wait for it.
    fn waiters(&self, name: &str) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).map_or(0, Weak::strong_count)
    }

    fn mutex(&self, name: &str) -> Arc<AsyncMutex<()>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SWEEP_AT {
            known.retain(|_, mutex| mutex.strong_count() > 0);
        }
        known.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let mutex = Arc::new(AsyncMutex::new(()));
            known.insert(name.to_owned(), Arc::downgrade(&mutex));
            mutex
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn the_same_name_is_worked_on_by_one_at_a_time() {
        let locks = NamedLocks::default();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = async || {
            let _lock = locks.lock("a").await;
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
        };
        tokio::join!(work(), work(), work(), async {
            let mutex = locks.lock("b").await;
            assert!(locks.is_busy());
            drop(mutex);
        });
        assert!(!locks.is_busy());
        assert_eq!(most.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn those_who_wait_are_counted() {
        let locks = NamedLocks::default();
        let first = locks.lock("a").await;
        let waiting = async { drop(locks.lock("a").await) };
        tokio::join!(waiting, async {
            assert_eq!((locks.waiters("a"), locks.waiters("b")), (2, 0));
            drop(first);
        });
        assert_eq!(locks.waiters("a"), 0);
    }
}
