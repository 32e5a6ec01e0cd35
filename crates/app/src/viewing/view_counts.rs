//! View counts without tracking: numbers only, accumulated in memory and written periodically. A crash may lose the last
//! few; a count is a statistic, not a guarantee.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::site::Site;
use dropleaf_store::{Stmt, sites};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

const SHARDS: usize = 16;
/// Pages per shard that trigger an early write.
const FLUSH_SOON_PAGES: usize = 4096;
const BATCH: usize = 500;

#[derive(Debug, Clone, Default)]
struct Pending {
    views: i64,
    last_at: i64,
    /// The owner, if these may be the first views of the page.
    first_for: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct ViewCounts {
    shards: [Mutex<HashMap<String, Pending>>; SHARDS],
    hasher: RandomState,
    flush_soon: Notify,
}

impl ViewCounts {
    fn shard(&self, id: &str) -> MutexGuard<'_, HashMap<String, Pending>> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits choose the shard")]
        let at = self.hasher.hash_one(id) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: &str, views: i64, at: i64, first_for: Option<&str>) {
        let mut shard = self.shard(id);
        let pending = match shard.get_mut(id) {
            Some(pending) => pending,
            None => shard.entry(id.to_owned()).or_default(),
        };
        if pending.first_for.is_none() {
            pending.first_for = first_for.map(str::to_owned);
        }
        pending.views += views;
        pending.last_at = pending.last_at.max(at);
        if shard.len() >= FLUSH_SOON_PAGES {
            self.flush_soon.notify_one();
        }
    }

    fn take_all(&self) -> Vec<(String, Pending)> {
        let take = |shard: &Mutex<HashMap<_, _>>| {
            std::mem::take(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.shards.iter().flat_map(take).collect()
    }
}

impl App {
    /// Counts one view of a page.
    pub fn count_view(&self, site: &Site) {
        if self.settings.count_views {
            // The row may be a second old; whether it is the first view is decided when it is written.
            let first_for = site.account_id.as_deref().filter(|_| site.view_count == 0);
            self.pending.view_counts.add(&site.id, 1, self.now(), first_for);
        }
    }

    /// Adds views that are not written yet, so that an owner sees them at once.
    pub(crate) fn add_pending_views(&self, site: &mut Site) {
        if let Some(pending) = self.pending.view_counts.shard(&site.id).get(&site.id) {
            site.view_count += pending.views;
            site.last_viewed_at = site.last_viewed_at.max(Some(pending.last_at));
        }
    }

    /// Waits until the views of so many pages have accumulated that they should be written soon.
    pub async fn wait_for_many_views(&self) {
        self.pending.view_counts.flush_soon.notified().await;
    }

    /// Writes the accumulated counts. What could not be written is kept for the next time.
    pub async fn flush_views(&self) -> Result<()> {
        let mut pending = self.pending.view_counts.take_all();
        // In the order of the index, so that neighbouring rows are found and written together.
        pending.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        while !pending.is_empty() {
            let batch = pending.split_off(pending.len().saturating_sub(BATCH));
            let stmts = batch.iter().flat_map(|(id, pending)| self.view_stmts(id, pending)).collect();
            if let Err(error) = self.store.commit(stmts).await {
                for (id, p) in batch.into_iter().chain(pending) {
                    self.pending.view_counts.add(&id, p.views, p.last_at, p.first_for.as_deref());
                }
                return Err(error.into());
            }
        }
        Ok(())
    }
    /// Adds views to a page. The first ones are an event for its owner, which another node may have written already.
    fn view_stmts(&self, id: &str, pending: &Pending) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        if let Some(owner) = &pending.first_for {
            stmts.push(sites::lock(id));
            stmts.extend(self.first_view_stmts(owner, id));
        }
        stmts.push(sites::add_views(id, pending.views, pending.last_at));
        stmts
    }
}
