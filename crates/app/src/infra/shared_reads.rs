//! Lets callers that miss the same row wait for the one that reads it, so that a page with many viewers costs one read when its
//! row expires. Only waiting is shared: each caller then looks at the cache, which knows whether the row is current.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// A caller that has waited this long reads by itself.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct SharedReads<K: Hash + Eq> {
    /// Closed when the read ends. As many as there are reads, which the pool of connections limits.
    under_way: Mutex<HashMap<K, watch::Receiver<()>>>,
}

/// Ends the wait of the others when it is dropped.
#[derive(Debug)]
pub(crate) struct SharedRead<'a, K: Hash + Eq> {
    reads: &'a SharedReads<K>,
    key: K,
    _ended: watch::Sender<()>,
}

impl<K: Hash + Eq + Clone> SharedReads<K> {
    pub(crate) fn new() -> Self {
        Self { under_way: Mutex::default() }
    }

    /// At once if this row is not being read, so that the caller reads it. Otherwise None, after that read has ended or taken long.
    pub(crate) async fn begin(&self, key: &K) -> Option<SharedRead<'_, K>> {
        let mut ended = match self.under_way().entry(key.clone()) {
            Entry::Vacant(entry) => {
                let (sender, receiver) = watch::channel(());
                entry.insert(receiver);
                return Some(SharedRead { reads: self, key: key.clone(), _ended: sender });
            }
            Entry::Occupied(entry) => entry.get().clone(),
        };
        let _ = timeout(LONGEST_WAIT, ended.changed()).await;
        None
    }
}

impl<K: Hash + Eq> SharedReads<K> {
    fn under_way(&self) -> MutexGuard<'_, HashMap<K, watch::Receiver<()>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> Drop for SharedRead<'_, K> {
    fn drop(&mut self) {
        self.reads.under_way().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test(start_paused = true)]
    async fn one_reads_and_the_others_wait_until_it_has() {
        let reads = SharedReads::new();
        let first = reads.begin(&1).await.unwrap();
        let mut waiting = [Box::pin(reads.begin(&1)), Box::pin(reads.begin(&1))];
        assert!(waiting.iter_mut().all(|waiting| waiting.as_mut().now_or_never().is_none()));
        assert!(reads.begin(&2).await.is_some(), "another row");
        drop(first);
        for waiting in &mut waiting {
            assert!(waiting.as_mut().now_or_never().is_some_and(|read| read.is_none()));
        }
        assert!(reads.begin(&1).await.is_some());
        assert!(reads.under_way().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_takes_long_holds_up_nobody_for_long() {
        let reads = SharedReads::new();
        let _slow = reads.begin(&1).await.unwrap();
        let start = tokio::time::Instant::now();
        assert!(reads.begin(&1).await.is_none());
        assert_eq!(start.elapsed(), LONGEST_WAIT);
    }
}
