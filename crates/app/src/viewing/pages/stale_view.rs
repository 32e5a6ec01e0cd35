//! Views while the database does not answer: pages that any viewer may see are shown from their last known row. Everything
//! else fails as always, because nothing here can tell whether it may still be shown.

use super::{OpenedPage, PageKey, PageView, RowSource, Shared, access_rules, find_page_in};
use crate::app::App;
use crate::infra::moment::Moment;
use crate::infra::replica_read::from_replica;
use dropleaf_core::access::AccessRules;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::DbError;
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
        if let Some(page) = self.cached_page(key) {
            return Ok(Some(OpenedPage::current(page)));
        }
        // Boxed, because the future of the storage path is large and nearly every view ends above.
        Box::pin(self.load_or_stale(key, staleness)).await
    }

    /// Reads the row of a page into memory, unless the database is known not to answer.
    pub async fn reload_page(&self, key: &PageKey) {
        if !self.caches.pages.last_known.outage.is_on() {
            // An error is left to the view that follows.
            let _ = self.open_page(key).await;
        }
    }

    /// Whether a replica of the database is current and holds every change of the page that this node knows of.
    pub fn has_replica_of(&self, key: &PageKey) -> bool {
        self.replica_for(&key.change_name()).is_some()
    }

    async fn load_or_stale(&self, key: &PageKey, staleness: Staleness) -> Result<Option<OpenedPage>> {
        let known = &self.caches.pages.last_known;
        // Nobody waits for a read that is known to fail.
        let shared = if known.outage.is_on() { Shared::Read(None) } else { self.share_read(key).await };
        let _read = match shared {
            Shared::Read(read) => read,
            Shared::Found(page) => return Ok(Some(OpenedPage::current(page))),
        };
        let now = self.clock.monotonic();
        let read = self.begin_read(key, self.caches.pages.rows.read_mark(now));
        let reading = self.find_page(key, RowSource::AnyCurrent);
        if !known.is_on() {
            let found = reading.await?;
            return Ok(self.load_content(key, found, read).await?.map(OpenedPage::current));
        }
        let mut stale = self.find_stale(key, staleness);
        if stale.is_none() && known.outage.is_on() {
            stale = Box::pin(self.find_in_replica(key, staleness)).await;
        }
        if stale.is_some() && !known.outage.may_try(now) {
            return Ok(stale);
        }
        // Only the row has to be read in this time: a large page that is not cached may take longer.
        let found = if stale.is_some() {
            let late = || Error::plain(Code::StorageUnavailable).retry_after(RETRY);
            tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| Err(late()))
        } else {
            reading.await
        };
        let (row, error) = match found {
            Ok(found) => {
                known.outage.answered();
                let row = found.as_ref().map(|(site, is_suspended)| CurrentRow::new(site, *is_suspended));
                match self.load_content(key, found, read).await {
                    Err(error) if is_away(&error) => {
                        // The storage of bodies may be away by itself.
                        if error.source.as_ref().is_some_and(|source| source.is::<DbError>()) {
                            known.outage.failed(self.clock.monotonic());
                        }
                        (row, error)
                    }
                    loaded => return Ok(loaded?.map(OpenedPage::current)),
                }
            }
            Err(error) if is_away(&error) => {
                known.outage.failed(self.clock.monotonic());
                (None, error)
            }
            Err(error) => return Err(error),
        };
        // Looked up again: the page may have changed or expired while this view waited.
        let stale = match self.find_stale(key, staleness) {
            None => Box::pin(self.find_in_replica(key, staleness)).await,
            stale => stale,
        };
        let is_shown =
            |opened: &OpenedPage| row.as_ref().is_none_or(|row| row.allows(&opened.page, self.now()));
        stale.filter(is_shown).map(Some).ok_or(error)
    }

    /// Whether the database has answered so recently that last known rows may be used.
    pub fn can_show_stale_pages(&self) -> bool {
        let known = &self.caches.pages.last_known;
        let answered = self.caches.served_domains.confirmed_at();
        known.is_on() && answered.is_some_and(|at| Moment::now(&*self.clock).since(at) < known.limit())
    }

    fn find_stale(&self, key: &PageKey, staleness: Staleness) -> Option<OpenedPage> {
        let address_at = match staleness {
            Staleness::Refused => return None,
            Staleness::Accepted => None,
            Staleness::AcceptedForDomain => Some(self.caches.served_domains.confirmed_at()?),
        };
        self.caches.pages.last_known.find(key, Moment::now(&*self.clock), address_at)
    }

    /// The page from a replica that is no further behind than a last known row may be.
    async fn find_in_replica(&self, key: &PageKey, staleness: Staleness) -> Option<OpenedPage> {
        if staleness == Staleness::Refused || !self.store.db.has_replicas() {
            return None;
        }
        let known = &self.caches.pages.last_known;
        let (before, at) = (known.mark(key), Moment::now(&*self.clock));
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
        known.record(key, &page, at.before(age), before);
        self.find_stale(key, staleness)
    }
}

/// What a row says that was read although the rest of its page was not.
struct CurrentRow {
    updated_at: i64,
    bundle_id: Option<String>,
    access_rules: AccessRules,
}

impl CurrentRow {
    fn new(site: &Site, is_suspended: bool) -> Self {
        let access_rules = access_rules(site, is_suspended);
        Self { updated_at: site.updated_at, bundle_id: site.bundle_id.clone(), access_rules }
    }

    /// Whether the page as it was last known is still the current one, and open to all.
    fn allows(&self, page: &PageView, now: i64) -> bool {
        let is_same = self.updated_at == page.site.updated_at && self.bundle_id == page.site.bundle_id;
        is_same && self.access_rules.is_open_to_all(now)
    }
}

fn is_away(error: &Error) -> bool {
    matches!(error.code, Code::StorageUnavailable | Code::Overloaded)
}
