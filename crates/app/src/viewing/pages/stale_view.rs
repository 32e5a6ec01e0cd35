//! Views while the database does not answer: pages that any viewer may see are shown from their last known row. Everything
//! else fails as always, because nothing here can tell whether it may still be shown.

use super::{OpenedPage, PageKey, PageView, RowSource, access_rules, find_page_in};
use crate::app::App;
use crate::infra::replica_read::from_replica;
use dropleaf_core::{Code, Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// How long a view of a known page waits for the database.
const PATIENCE: Duration = Duration::from_millis(300);
/// `Retry-After` in seconds of a view that found nothing it may show.
const RETRY: i64 = 5;

/// Whether a view may use the last known row of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    Refused,
    Accepted,
    /// The page was found by its custom domain, so that must have been known to lead to it recently too.
    AcceptedForDomain,
}

impl App {
    /// The page with this name for a viewer. None if there never was one. If the database does not answer and the operator
    /// allows it, the page as it was last read.
    pub async fn view_page(&self, key: &PageKey, staleness: Staleness) -> Result<Option<OpenedPage>> {
        let now = self.clock.monotonic();
        self.caches.pages.rows.request_confirmation(now);
        if let Some(page) = self.caches.pages.rows.find(key, now) {
            return Ok(Some(OpenedPage::current(page)));
        }
        // Boxed, because the future of the storage path is large and nearly every view ends above.
        Box::pin(self.load_or_stale(key, staleness, now)).await
    }

    /// Whether a replica of the database is current and holds every change of the page that this node knows of.
    pub fn has_replica_of(&self, key: &PageKey) -> bool {
        self.replica_for(&key.change_name()).is_some()
    }

    async fn load_or_stale(
        &self,
        key: &PageKey,
        staleness: Staleness,
        now: Duration,
    ) -> Result<Option<OpenedPage>> {
        let known = &self.caches.pages.last_known;
        let load = self.load_page(key, self.caches.pages.rows.read_mark(now), RowSource::AnyCurrent);
        if !known.is_on() {
            return Ok(load.await?.map(OpenedPage::current));
        }
        let mut stale = self.find_stale(key, staleness);
        if stale.is_none() && known.outage.is_on() {
            stale = Box::pin(self.find_in_replica(key, staleness)).await;
        }
        if stale.is_some() && !known.outage.may_try(now) {
            return Ok(stale);
        }
        let loaded = if stale.is_some() {
            let late = || Error::plain(Code::StorageUnavailable).retry_after(RETRY);
            tokio::time::timeout(PATIENCE, load).await.unwrap_or_else(|_| Err(late()))
        } else {
            load.await
        };
        match loaded {
            Err(error) if matches!(error.code, Code::StorageUnavailable | Code::Overloaded) => {
                known.outage.failed(self.clock.monotonic());
                // Looked up again: the page may have changed or expired while this view waited.
                let stale = match self.find_stale(key, staleness) {
                    None => Box::pin(self.find_in_replica(key, staleness)).await,
                    stale => stale,
                };
                stale.map(Some).ok_or(error)
            }
            Err(error) => Err(error),
            Ok(page) => {
                known.outage.answered();
                Ok(page.map(OpenedPage::current))
            }
        }
    }

    fn find_stale(&self, key: &PageKey, staleness: Staleness) -> Option<OpenedPage> {
        let address_at = match staleness {
            Staleness::Refused => return None,
            Staleness::Accepted => None,
            Staleness::AcceptedForDomain => Some(self.caches.served_domains.confirmed_at()),
        };
        self.caches.pages.last_known.find(key, self.clock.monotonic(), self.now(), address_at)
    }

    /// The page from a replica that is no further behind than a last known row may be.
    async fn find_in_replica(&self, key: &PageKey, staleness: Staleness) -> Option<OpenedPage> {
        if staleness == Staleness::Refused || !self.store.db.has_replicas() {
            return None;
        }
        let known = &self.caches.pages.last_known;
        let (before, at) = (known.mark(key), self.clock.monotonic());
        let (replica, age) = self.store.on_replica(&key.change_name(), Some(known.limit()))?;
        let (site, is_suspended) = from_replica(find_page_in(&replica, key)).await??;
        let access_rules = access_rules(&site, is_suspended);
        if !access_rules.is_open_to_all(self.now()) {
            known.forget(key);
            return None;
        }
        let bundle = match &site.bundle_id {
            Some(id) => Some(self.get_bundle_in(&replica, id).await.ok()?),
            None => None,
        };
        if let (true, Some(id), Some(bundle)) = (site.csp_strict, &site.bundle_id, &bundle) {
            bundle.load_script_sources(&replica, id).await.ok()?;
        }
        let page = Arc::new(PageView { site, access_rules, bundle });
        known.record(key, &page, at.saturating_sub(age), before, self.now());
        self.find_stale(key, staleness)
    }
}
