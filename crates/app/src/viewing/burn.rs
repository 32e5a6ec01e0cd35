//! Burn after read: claims the only view of a page for one viewer and erases the page afterwards. Spec §1.3.
//!
//! The claim is a compare-and-swap on the site row, committed before the first byte is sent, so every later viewer finds
//! the page burnt. After that only the holder of the view secret is admitted, for a short time window.

use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use crate::viewing::pages::PageView;
use dropleaf_core::burn::{self, Burn};
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::{Result, secret};
use dropleaf_store::{DbError, burns, sites};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

const BATCH: i64 = 500;

/// The outcome of claiming the only view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewClaim {
    Won,
    /// The row differs from what the caller read: another viewer was faster, or the owner changed the page. Read it
    /// again.
    Changed,
}

/// Pages whose only view has been sent, queued for erasure at once instead of at the end of their window.
#[derive(Debug, Default)]
pub(crate) struct ErasureQueue {
    ids: Mutex<Vec<String>>,
    wake: Notify,
    /// Whether erased bytes may still be in the database's log.
    log_has_erased_bytes: AtomicBool,
}

/// Held while the only view is being sent; the page's bytes are erased when it is dropped.
#[derive(Debug)]
pub struct EraseOnDrop {
    app: Arc<App>,
    site_id: String,
}

impl Drop for EraseOnDrop {
    fn drop(&mut self) {
        let queue = &self.app.pending.erasures;
        queue.ids.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.site_id));
        queue.wake.notify_one();
    }
}

impl App {
    /// A new view secret, for the page that asks for confirmation before burning.
    pub fn view_secret(&self) -> String {
        self.minter.page_token()
    }

    /// Claims the only view of this page exactly as the caller read it. Without a secret no one can open it again.
    pub async fn claim_view(&self, page: &PageView, view_secret: Option<&str>) -> Result<ViewClaim> {
        let site = &page.site;
        let open = site.visibility == Visibility::Burn && site.state_at(self.now()) == State::Live;
        let Some(bundle) = page.bundle.as_ref().filter(|_| open) else { return Ok(ViewClaim::Changed) };
        let trace = Burn {
            secret_hash: view_secret.map_or(Burn::NOBODY, secret::hash),
            erase_at: self.now() + burn::window_seconds(bundle.file_count()),
        };
        let (next, mut stmts) = self.end_site_stmts(site, State::Burnt, false);
        stmts.push(burns::insert(&site.id, &trace));
        match self.commit_site(stmts, Some(site), &next).await {
            Ok(()) => Ok(ViewClaim::Won),
            Err(DbError::Guard(sites::CHANGED)) => Ok(ViewClaim::Changed),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether this secret belongs to the viewer who burnt the page, within the time window.
    pub async fn may_view_again(&self, site_id: &str, view_secret: &str) -> Result<bool> {
        let trace = self.store.find_burn(site_id).await?;
        Ok(trace.is_some_and(|trace| trace.admits(view_secret, self.now())))
    }

    /// Whether any viewer may still return to this burnt page.
    pub async fn has_open_view_window(&self, site_id: &str) -> Result<bool> {
        let trace = self.store.find_burn(site_id).await?;
        Ok(trace.is_some_and(|trace| trace.is_open(self.now())))
    }

    /// A guard to keep with the only response; dropping it queues the erasure.
    pub fn erase_on_drop(self: &Arc<Self>, site: &Site) -> EraseOnDrop {
        EraseOnDrop { app: Arc::clone(self), site_id: site.id.clone() }
    }

    /// Waits until the only view of some page has been sent.
    pub async fn wait_for_sent_view(&self) {
        self.pending.erasures.wake.notified().await;
    }

    /// Erases the pages whose only view has been sent or whose window is over. Several nodes may run it concurrently.
    pub async fn erase_burnt(&self) -> Result<usize> {
        let mut ids =
            std::mem::take(&mut *self.pending.erasures.ids.lock().unwrap_or_else(PoisonError::into_inner));
        ids.extend(self.store.list_burns_over(self.now(), BATCH).await?);
        ids.sort_unstable();
        ids.dedup();
        let mut count = 0;
        for id in ids {
            match self.erase_burnt_page(&id).await {
                Ok(erased) => count += usize::from(erased),
                // A failure must not block the other pages; the next round retries it.
                Err(error) => tracing::warn!(%error, site = id, "burnt page not erased, will retry"),
            }
        }
        if count > 0 || self.pending.erasures.log_has_erased_bytes.load(Ordering::Relaxed) {
            let is_clean = self.store.db.truncate_log().await?;
            self.pending.erasures.log_has_erased_bytes.store(!is_clean, Ordering::Relaxed);
        }
        Ok(count)
    }

    async fn erase_burnt_page(&self, id: &str) -> Result<bool> {
        for _ in 0..CONFLICT_RETRIES {
            let Some(site) = self.store.find_site(id).await? else { return Ok(false) };
            if site.state != State::Burnt || site.purged_at.is_some() {
                return Ok(false);
            }
            let versions = self.store.list_versions(&site.id).await?;
            let (next, stmts) = self.end_site_stmts(&site, State::Burnt, true);
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) => {
                    let bundles: Vec<_> = versions.iter().map(|version| version.bundle_id.clone()).collect();
                    self.erase_content(&site.id, &bundles).await;
                    return Ok(true);
                }
                Err(DbError::Guard(sites::CHANGED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}
