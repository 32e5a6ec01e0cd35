//! View counts without tracking: numbers only, accumulated in memory and written periodically. A crash may lose the last
//! few, but none is written twice: a batch whose outcome is unknown is repeated with its number, which the database accepts
//! once.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::site::Site;
use dropleaf_store::{DbError, Stmt, sites, view_flushes};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, Notify};

const SHARDS: usize = 16;
/// Pages per shard that trigger an early write.
const FLUSH_SOON_PAGES: usize = 4096;
const BATCH: usize = 500;
/// How many pages are remembered whose first view was written.
const VIEWED_MOST: usize = 10_000;

#[derive(Debug, Clone, Default)]
struct Pending {
    views: i64,
    last_at: i64,
    /// The owner, if these may be the first views of the page.
    first_for: Option<String>,
    /// Many views of it would be a signal for the operator.
    is_watched: bool,
}

#[derive(Debug)]
pub(crate) struct ViewCounts {
    shards: [Mutex<HashMap<String, Pending>>; SHARDS],
    hasher: RandomState,
    flush_soon: Notify,
    /// Pages whose first view was written: their cached rows say for a while that they were never viewed.
    viewed: Mutex<HashSet<String>>,
    /// Names this process in the database.
    node: String,
    /// Locked while views are written, so that batches are written in the order of their numbers.
    writer: AsyncMutex<BatchWriter>,
}

#[derive(Debug, Default)]
struct BatchWriter {
    /// The number of the last batch.
    number: i64,
    /// That batch, while it is not known to be written.
    unfinished: Option<Vec<(String, Pending)>>,
    /// What follows in later batches.
    waiting: Vec<(String, Pending)>,
}

impl ViewCounts {
    pub(crate) fn new(node: String) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            flush_soon: Notify::new(),
            viewed: Mutex::default(),
            node,
            writer: AsyncMutex::default(),
        }
    }

    fn shard(&self, id: &str) -> MutexGuard<'_, HashMap<String, Pending>> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits choose the shard")]
        let at = self.hasher.hash_one(id) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: &str, views: i64, at: i64, first_for: Option<&str>, is_watched: bool) {
        let mut shard = self.shard(id);
        let pending = match shard.get_mut(id) {
            Some(pending) => pending,
            None => shard.entry(id.to_owned()).or_default(),
        };
        if pending.first_for.is_none() {
            pending.first_for = first_for.map(str::to_owned);
        }
        pending.is_watched |= is_watched;
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

    /// Puts what no batch has begun to write back to the views that are accumulated.
    fn put_back(&self, writer: &mut BatchWriter) {
        for (id, pending) in std::mem::take(&mut writer.waiting) {
            self.add(&id, pending.views, pending.last_at, pending.first_for.as_deref(), pending.is_watched);
        }
    }

    fn viewed(&self) -> MutexGuard<'_, HashSet<String>> {
        self.viewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the mark of possible first views where the first one is known to be written.
    fn unmark_viewed(&self, pending: &mut [(String, Pending)]) {
        let viewed = self.viewed();
        for (_, pending) in pending.iter_mut().filter(|(id, _)| viewed.contains(id)) {
            pending.first_for = None;
        }
    }

    /// Remembers the pages whose first views were written. A page that is forgotten costs a few statements, no second event.
    fn remember_viewed(&self, written: &[(String, Pending)]) {
        let mut viewed = self.viewed();
        for (id, _) in written.iter().filter(|(_, pending)| pending.first_for.is_some()) {
            if viewed.len() >= VIEWED_MOST {
                viewed.clear();
            }
            viewed.insert(id.clone());
        }
    }
}

impl App {
    /// Counts one view of a page.
    pub fn count_view(&self, site: &Site) {
        if self.settings.count_views {
            // The row may be a second old; whether it is the first view is decided when it is written.
            let first_for = site.account_id.as_deref().filter(|_| site.view_count == 0);
            let now = self.now();
            let is_watched = self.settings.safety.attention.watches_views(site, now);
            self.pending.view_counts.add(&site.id, 1, now, first_for, is_watched);
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

    /// Writes the accumulated counts. What could not be written is kept for the next time: the batch that failed unchanged,
    /// because it may have been written, and the rest with the views that are added meanwhile.
    pub async fn flush_views(&self) -> Result<()> {
        let counts = &self.pending.view_counts;
        let mut writer = counts.writer.lock().await;
        let writer = &mut *writer;
        self.write_unfinished(writer).await?;
        // Left by a call that was cancelled.
        counts.put_back(writer);
        writer.waiting = counts.take_all();
        counts.unmark_viewed(&mut writer.waiting);
        // In the order of the index, so that neighbouring rows are found and written together.
        writer.waiting.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        while !writer.waiting.is_empty() {
            let rest = writer.waiting.len().saturating_sub(BATCH);
            writer.number += 1;
            writer.unfinished = Some(writer.waiting.split_off(rest));
            if let Err(error) = self.write_unfinished(writer).await {
                counts.put_back(writer);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the batch under way, if there is one and no earlier attempt has written it.
    async fn write_unfinished(&self, writer: &mut BatchWriter) -> Result<()> {
        let Some(batch) = &writer.unfinished else { return Ok(()) };
        let counts = &self.pending.view_counts;
        let mut stmts = vec![view_flushes::record(&counts.node, writer.number, self.now())];
        stmts.extend(self.view_stmts(batch));
        match self.store.commit(stmts).await {
            Ok(_) | Err(DbError::Guard(view_flushes::WRITTEN)) => {}
            Err(error) => return Err(error.into()),
        }
        counts.remember_viewed(batch);
        writer.unfinished = None;
        Ok(())
    }

    /// Adds views to pages. The first ones of a page are an event for its owner, which another node may have written already.
    /// All pages are locked before the endpoints, and these in the order of their accounts, so that nodes cannot deadlock.
    fn view_stmts(&self, batch: &[(String, Pending)]) -> Vec<Stmt> {
        let add = |id: &str, pending: &Pending| sites::add_views(id, pending.views, pending.last_at);
        let (mut stmts, mut firsts) = (Vec::new(), Vec::new());
        for (id, pending) in batch {
            if let Some(owner) = &pending.first_for {
                stmts.push(sites::lock(id));
                firsts.push((owner, id, pending));
            } else {
                stmts.push(add(id, pending));
                stmts.extend(pending.is_watched.then(|| self.note_views(id)).flatten());
            }
        }
        firsts.sort_by_key(|(owner, ..)| *owner);
        stmts.extend(firsts.iter().flat_map(|(owner, id, _)| self.first_view_stmts(owner, id)));
        stmts.extend(firsts.iter().map(|(_, id, pending)| add(id, pending)));
        stmts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &ViewCounts) -> Vec<(String, Pending)> {
        for id in ["site_1", "site_2"] {
            counts.add(id, 1, 5, Some("acct_1"), false);
        }
        let mut pending = counts.take_all();
        counts.unmark_viewed(&mut pending);
        pending.sort_by(|(one, _), (other, _)| one.cmp(other));
        pending
    }

    #[test]
    fn a_first_view_is_written_once_although_cached_rows_do_not_know_it() {
        let counts = ViewCounts::new(String::new());
        let is_first = |pending: &[(String, Pending)]| -> Vec<bool> {
            pending.iter().map(|(_, pending)| pending.first_for.is_some()).collect()
        };
        let pending = counted(&counts);
        assert_eq!(is_first(&pending), [true, true]);
        counts.remember_viewed(&pending[..1]);
        assert_eq!(is_first(&counted(&counts)), [false, true], "the other was not written");
    }

    #[test]
    fn only_so_many_pages_are_remembered() {
        let counts = ViewCounts::new(String::new());
        let pending = Pending { views: 1, last_at: 5, first_for: Some("acct_1".into()), is_watched: false };
        let all: Vec<_> =
            (0..=VIEWED_MOST).map(|number| (format!("site_{number}"), pending.clone())).collect();
        counts.remember_viewed(&all);
        assert!(counts.viewed().len() <= VIEWED_MOST);
        assert!(counts.viewed().contains(&all[VIEWED_MOST].0));
    }
}
