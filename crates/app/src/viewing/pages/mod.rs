//! Opens pages for viewers: the site row that decides, the bundle it points at, and the bytes to send. Bundles and bodies
//! are immutable under their keys, so their caches need no invalidation; site rows are cached briefly (see `row_cache`).

pub(crate) mod archive_stream;
mod body_cache;
mod bundle_cache;
mod content_coding;
mod file_stream;
mod last_known;
mod script_insertion;
mod stale_view;

pub use body_cache::{AnnotatedDocument, Body};
pub use bundle_cache::{ServedBundle, ServedFile};
pub use content_coding::{ContentCoding, encode};
pub use file_stream::FileStream;
pub use last_known::OpenedPage;
pub use script_insertion::{Insertion, WINDOW as INSERTION_WINDOW};
pub use stale_view::Staleness;

use crate::app::{ALL_CHANGED, App, DOMAINS_CHANGED};
use crate::infra::moment::Moment;
use crate::infra::replica_read::from_replica;
use crate::infra::row_cache::{ReadMark, RowCache};
use crate::infra::shared_reads::{SharedRead, SharedReads};
use crate::viewing::live_pages::LivePages;
use crate::viewing::page_changes::ChangesCache;
use body_cache::BodyCache;
use bundle_cache::BundleCache;
use dropleaf_core::Result;
use dropleaf_core::access::AccessRules;
use dropleaf_core::site::{Site, Visibility};
use dropleaf_store::{DbError, Store};
use last_known::{ChangeMark, LastKnownPages};
use quick_cache::Weighter;
use std::sync::Arc;
use std::time::Duration;

/// Memory of a row without its texts and its bundle: the row, its key, and what the cache needs for them.
const ROW_BYTES: u64 = size_of::<PageView>() as u64 + size_of::<PageKey>() as u64 + 128;

/// A viewer's name for a page: its token or its slug. Small and flat, so that a lookup does not allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageKey {
    slug: bool,
    len: u8,
    text: [u8; 63],
}

impl PageKey {
    pub fn token(token: &str) -> Option<Self> {
        if token.len() == 22 { Self::new(false, token) } else { None }
    }

    pub fn slug(slug: &str) -> Option<Self> {
        Self::new(true, slug).map(|mut key| {
            key.text.make_ascii_lowercase();
            key
        })
    }

    fn new(slug: bool, name: &str) -> Option<Self> {
        let mut text = [0; 63];
        text.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        Some(Self { slug, len: u8::try_from(name.len()).ok()?, text })
    }

    /// Its name in notifications between nodes; see [`PageCaches::evict_named`].
    fn change_name(&self) -> String {
        format!("{}{}", if self.slug { "s:" } else { "t:" }, self.name())
    }

    fn name(&self) -> &str {
        std::str::from_utf8(&self.text[..usize::from(self.len)]).unwrap_or_default()
    }
}

/// A page as served to viewers.
#[derive(Debug)]
pub struct PageView {
    pub site: Site,
    pub access_rules: AccessRules,
    /// None if the content is erased.
    pub bundle: Option<Arc<ServedBundle>>,
}

/// Memory of cached rows, as an estimate. A bundle that several rows share is counted for each of them.
#[derive(Debug, Clone)]
struct PageWeighter;

impl Weighter<PageKey, (Duration, Arc<PageView>)> for PageWeighter {
    fn weight(&self, _: &PageKey, (_, page): &(Duration, Arc<PageView>)) -> u64 {
        let site = &page.site;
        let always = [&site.id, &site.token, &site.host_label, &site.title];
        let options = [
            &site.account_id,
            &site.slug,
            &site.bundle_id,
            &site.password_hash,
            &site.email_gate_domain,
            &site.payment_id,
            &site.wallet,
            &site.primary_domain,
        ];
        let texts = always.into_iter().chain(options.into_iter().flatten());
        // What the allocator needs for each is about half of a short text.
        let texts: usize = texts.map(|text| text.capacity() + 16).sum();
        ROW_BYTES + texts as u64 + page.bundle.as_ref().map_or(0, |bundle| bundle.weight())
    }
}

#[derive(Debug)]
pub(crate) struct PageCaches {
    rows: RowCache<PageKey, PageView, PageWeighter>,
    reads: SharedReads<PageKey>,
    last_known: LastKnownPages,
    bundles: BundleCache,
    bodies: BodyCache,
    /// The open streams of pages that update in the browser; they hear of every change that evicts a row.
    pub(crate) live: Arc<LivePages>,
    pub(crate) changes: ChangesCache,
}

impl PageCaches {
    /// For at most `stale_limit` after a row was read, it may be used if the database does not answer.
    /// [`crate::Settings::all_caches_bytes`] adds up the sizes.
    pub(crate) fn new(cache_bytes: u64, stale_limit: Duration) -> Self {
        Self {
            rows: RowCache::over(bundle_cache::sharded(cache_bytes, PageWeighter)),
            reads: SharedReads::new(),
            last_known: LastKnownPages::new(stale_limit, cache_bytes / 4),
            bundles: bundle_cache::cache(cache_bytes / 4),
            bodies: body_cache::cache(cache_bytes),
            live: Arc::default(),
            changes: ChangesCache::new(),
        }
    }

    /// For a change of what is cached under these names, as in [`PageCaches::evict_named`].
    pub(crate) const fn changing<'a>(&'a self, names: &'a [String]) -> PendingChange<'a> {
        PendingChange { caches: self, names }
    }

    /// Evicts a row by its name in notifications between nodes: `t:` and a token, `s:` and a slug, `*` for all. A change of
    /// custom domains affects no row.
    pub(crate) fn evict_named(&self, name: &str) {
        if name.starts_with(DOMAINS_CHANGED) {
            return;
        }
        let key = match name.split_at_checked(2) {
            Some(("t:", token)) => PageKey::token(token),
            Some(("s:", slug)) => PageKey::slug(slug),
            _ => None,
        };
        if let Some(key) = key {
            self.rows.evict(&key);
            self.last_known.forget(&key);
        } else {
            self.rows.clear();
            self.last_known.forget_all();
        }
        // After the eviction, so that a stream that is woken reads the new row.
        self.live.page_changed(name);
    }

    /// Evicts all rows because notifications may have been missed. Nothing is known to have changed, so the last known rows
    /// stay, for the time that they may be used anyway: connections often come back for a moment before they come to stay.
    pub(crate) fn evict_unconfirmed(&self) {
        self.rows.clear();
        self.live.page_changed(ALL_CHANGED);
    }
}

/// Held while a change is being committed. If its task is cancelled in between, nothing would evict the rows it changed,
/// so dropping it marks the cache as doubtful, and nothing of it may be shown from a last known row.
#[derive(Debug)]
pub(crate) struct PendingChange<'a> {
    caches: &'a PageCaches,
    names: &'a [String],
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        self.caches.rows.mark_uncertain();
        self.evict();
    }
}

impl PendingChange<'_> {
    fn evict(&self) {
        for name in self.names {
            self.caches.evict_named(name);
        }
    }

    pub(crate) fn done(self) {
        self.evict();
        std::mem::forget(self);
    }
}

/// Every name these states of a site are cached under.
pub(crate) fn cache_names<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<String> {
    let mut names: Vec<String> = sites
        .flat_map(|site| {
            let slug = site.slug.as_deref().map(|slug| format!("s:{slug}"));
            [Some(format!("t:{}", site.token)), slug].into_iter().flatten()
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl App {
    /// Keeps cached rows valid while no other process writes to the database. Returns at once if the database cannot
    /// tell; rows then expire in less than a second.
    pub async fn confirm_rows(&self) {
        let rows = &self.caches.pages.rows;
        let mut known = None;
        loop {
            let at = self.clock.monotonic();
            // Taken before the query: a change whose task was cancelled was submitted earlier, and so is written earlier.
            let uncertain = rows.take_uncertain();
            match self.store.db.data_version().await {
                Ok(Some(version)) => {
                    if uncertain || known.replace(version) != Some(version) {
                        rows.clear();
                        self.caches.pages.last_known.forget_all();
                        self.caches.pages.live.page_changed(ALL_CHANGED);
                    }
                    rows.confirm(at);
                }
                Ok(None) => return,
                Err(error) => {
                    rows.mark_uncertain();
                    tracing::debug!(%error, "cached rows not confirmed");
                }
            }
            tokio::select! {
                () = rows.confirmation_requested() => {}
                // Viewers with an open stream request nothing, so the changes of other processes are looked for.
                () = self.caches.pages.live.next_look() => {}
            }
        }
    }

    /// The page with this name, if its row is in memory and current.
    pub fn cached_page(&self, key: &PageKey) -> Option<Arc<PageView>> {
        self.find_cached(key, self.clock.monotonic())
    }

    fn find_cached(&self, key: &PageKey, now: Duration) -> Option<Arc<PageView>> {
        self.caches.pages.rows.request_confirmation(now);
        self.caches.pages.rows.find(key, now)
    }

    /// The page with this name and its current row. None if there never was one.
    pub async fn open_page(&self, key: &PageKey) -> Result<Option<Arc<PageView>>> {
        if let Some(page) = self.cached_page(key) {
            return Ok(Some(page));
        }
        // Boxed, because the future of the storage path is large and nearly every view ends above.
        Box::pin(self.read_page(key)).await
    }

    async fn read_page(&self, key: &PageKey) -> Result<Option<Arc<PageView>>> {
        let _read = match self.share_read(key).await {
            Shared::Read(read) => read,
            Shared::Found(page) => return Ok(Some(page)),
        };
        let before = self.caches.pages.rows.read_mark(self.clock.monotonic());
        self.load_page(key, before, RowSource::AnyCurrent).await
    }

    /// Waits for another view that reads this row, because it may have many viewers when it expires. SQLite reads at once.
    async fn share_read(&self, key: &PageKey) -> Shared<'_> {
        if !self.store.db.is_shared() {
            return Shared::Read(None);
        }
        let read = self.caches.pages.reads.begin(key).await;
        match self.cached_page(key).filter(|_| read.is_none()) {
            Some(page) => Shared::Found(page),
            None => Shared::Read(read),
        }
    }

    /// The same from the primary and without the cache, for decisions that must not depend on a stale row.
    pub async fn open_page_uncached(&self, key: &PageKey) -> Result<Option<Arc<PageView>>> {
        let before = self.caches.pages.rows.read_mark(self.clock.monotonic());
        self.load_page(key, before, RowSource::Primary).await
    }

    /// The site, and whether its account is suspended. A page that a replica does not have may be new.
    async fn find_page(&self, key: &PageKey, source: RowSource) -> Result<Option<(Site, bool)>> {
        if source == RowSource::AnyCurrent
            && self.store.db.has_replicas()
            && let Some(replica) = self.replica_for(&key.change_name())
            && let Some(Some(found)) = from_replica(find_page_in(&replica, key)).await
        {
            return Ok(Some(found));
        }
        Ok(find_page_in(&self.store, key).await?)
    }

    async fn load_page(
        &self,
        key: &PageKey,
        before: ReadMark,
        source: RowSource,
    ) -> Result<Option<Arc<PageView>>> {
        let read = self.begin_read(key, before);
        let found = self.find_page(key, source).await?;
        self.load_content(key, found, read).await
    }

    /// Must be called before the database is queried.
    fn begin_read(&self, key: &PageKey, before: ReadMark) -> PageRead {
        let changes = self.caches.pages.last_known.mark(key);
        PageRead { before, changes, at: Moment::now(&*self.clock) }
    }

    /// The page of a row, with what the row refers to.
    async fn load_content(
        &self,
        key: &PageKey,
        found: Option<(Site, bool)>,
        read: PageRead,
    ) -> Result<Option<Arc<PageView>>> {
        let last_known = &self.caches.pages.last_known;
        let Some((mut site, mut is_suspended)) = found else {
            last_known.forget(key);
            return Ok(None);
        };
        let bundle = loop {
            let Some(id) = &site.bundle_id else { break None };
            match self.get_bundle(id).await {
                Ok(bundle) => break Some(bundle),
                // The content may have been erased between the two reads; in that case the row has changed by now. A replica
                // may not have the change yet.
                Err(error) => match self.find_page(key, RowSource::Primary).await? {
                    Some(now) if now.0.updated_at != site.updated_at => (site, is_suspended) = now,
                    Some(_) => return Err(error),
                    None => return Ok(None),
                },
            }
        };
        if let (true, Some(id), Some(bundle)) = (site.csp_strict, &site.bundle_id, &bundle) {
            bundle.load_script_sources(&self.store, id).await?;
        }
        let page = Arc::new(PageView { access_rules: access_rules(&site, is_suspended), site, bundle });
        self.caches.pages.rows.insert(key, Arc::clone(&page), read.before);
        last_known.record(key, &page, read.at, read.changes);
        Ok(Some(page))
    }
}

/// The state of the caches and the time before a row was read.
#[derive(Debug, Clone, Copy)]
struct PageRead {
    before: ReadMark,
    changes: ChangeMark,
    at: Moment,
}

/// What comes of sharing a read.
enum Shared<'a> {
    /// Another view has read the row meanwhile.
    Found(Arc<PageView>),
    /// The caller reads it. Held until then, if others may wait for it.
    Read(Option<SharedRead<'a, PageKey>>),
}

/// Where a row is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowSource {
    Primary,
    /// Also from a replica that is current enough.
    AnyCurrent,
}

async fn find_page_in(store: &Store, key: &PageKey) -> Result<Option<(Site, bool)>, DbError> {
    if !key.slug {
        return store.find_viewable_by_token(key.name()).await;
    }
    let found = store.find_viewable_by_slug(key.name()).await?;
    // A slug belongs to the site only while the site is public under it.
    Ok(found.filter(|(site, _)| {
        site.visibility == Visibility::Public && site.slug.as_deref() == Some(key.name())
    }))
}

fn access_rules(site: &Site, is_suspended: bool) -> AccessRules {
    AccessRules {
        state: site.state,
        visibility: site.visibility,
        expires_at: site.expires_at,
        has_password: site.password_hash.is_some(),
        has_email_gate: site.email_gate_domain.is_some(),
        is_suspended,
    }
}
