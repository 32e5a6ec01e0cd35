//! Opens pages for viewers: the site row that decides, the bundle it points at, and the bytes to send. Bundles and bodies
//! are immutable under their keys, so their caches need no invalidation; site rows are cached briefly (see `row_cache`).

pub(crate) mod archive_stream;
mod body_cache;
mod bundle_cache;
mod content_coding;
mod file_stream;
mod script_insertion;

pub use body_cache::{AnnotatedDocument, Body};
pub use bundle_cache::{ServedBundle, ServedFile};
pub use content_coding::{ContentCoding, encode};
pub use file_stream::FileStream;
pub use script_insertion::{Insertion, WINDOW as INSERTION_WINDOW};

use crate::app::{ALL_CHANGED, App, DOMAINS_CHANGED};
use crate::infra::row_cache::{ReadMark, RowCache};
use crate::viewing::live_pages::LivePages;
use crate::viewing::page_changes::ChangesCache;
use body_cache::BodyCache;
use bundle_cache::BundleCache;
use dropleaf_core::Result;
use dropleaf_core::access::AccessRules;
use dropleaf_core::site::{Site, Visibility};
use std::sync::Arc;

const ROWS: usize = 20_000;

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

#[derive(Debug)]
pub(crate) struct PageCaches {
    rows: RowCache<PageKey, PageView>,
    bundles: BundleCache,
    bodies: BodyCache,
    /// The open streams of pages that update in the browser; they hear of every change that evicts a row.
    pub(crate) live: Arc<LivePages>,
    pub(crate) changes: ChangesCache,
}

impl PageCaches {
    pub(crate) fn new(cache_bytes: u64) -> Self {
        Self {
            rows: RowCache::new(ROWS),
            bundles: bundle_cache::cache(cache_bytes / 4),
            bodies: body_cache::cache(cache_bytes),
            live: Arc::default(),
            changes: ChangesCache::new(),
        }
    }

    pub(crate) const fn changing(&self) -> PendingChange<'_> {
        PendingChange(self)
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
        match key {
            Some(key) => self.rows.evict(&key),
            None => self.rows.clear(),
        }
        // After the eviction, so that a stream that is woken reads the new row.
        self.live.page_changed(name);
    }
}

/// Held while a change is being committed. If its task is cancelled in between, nothing would evict the rows it changed,
/// so dropping it marks the cache as doubtful.
#[derive(Debug)]
pub(crate) struct PendingChange<'a>(&'a PageCaches);

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        self.0.rows.mark_uncertain();
    }
}

impl PendingChange<'_> {
    pub(crate) fn done(self, names: &[String]) {
        for name in names {
            self.0.evict_named(name);
        }
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

    /// The page with this name and its current row. None if there never was one.
    pub async fn open_page(&self, key: &PageKey) -> Result<Option<Arc<PageView>>> {
        let now = self.clock.monotonic();
        self.caches.pages.rows.request_confirmation(now);
        if let Some(page) = self.caches.pages.rows.find(key, now) {
            return Ok(Some(page));
        }
        // Boxed, because the future of the storage path is large and nearly every view ends above.
        Box::pin(self.load_page(key, self.caches.pages.rows.read_mark(now))).await
    }

    /// The same without the cache, for decisions that must not depend on a stale row.
    pub async fn open_page_uncached(&self, key: &PageKey) -> Result<Option<Arc<PageView>>> {
        self.load_page(key, self.caches.pages.rows.read_mark(self.clock.monotonic())).await
    }

    /// The site, and whether its account is suspended.
    async fn find_page(&self, key: &PageKey) -> Result<Option<(Site, bool)>> {
        if !key.slug {
            return Ok(self.store.find_viewable_by_token(key.name()).await?);
        }
        let found = self.store.find_viewable_by_slug(key.name()).await?;
        // A slug belongs to the site only while the site is public under it.
        Ok(found.filter(|(site, _)| {
            site.visibility == Visibility::Public && site.slug.as_deref() == Some(key.name())
        }))
    }

    async fn load_page(&self, key: &PageKey, before: ReadMark) -> Result<Option<Arc<PageView>>> {
        let Some((mut site, mut is_suspended)) = self.find_page(key).await? else { return Ok(None) };
        let bundle = loop {
            let Some(id) = &site.bundle_id else { break None };
            match self.get_bundle(id).await {
                Ok(bundle) => break Some(bundle),
                // The content may have been erased between the two reads; in that case the row has changed by now.
                Err(error) => match self.find_page(key).await? {
                    Some(now) if now.0.updated_at != site.updated_at => (site, is_suspended) = now,
                    Some(_) => return Err(error),
                    None => return Ok(None),
                },
            }
        };
        if let (true, Some(id), Some(bundle)) = (site.csp_strict, &site.bundle_id, &bundle) {
            self.load_script_sources(id, bundle).await?;
        }
        let access_rules = AccessRules {
            state: site.state,
            visibility: site.visibility,
            expires_at: site.expires_at,
            has_password: site.password_hash.is_some(),
            has_email_gate: site.email_gate_domain.is_some(),
            is_suspended,
        };
        let page = Arc::new(PageView { site, access_rules, bundle });
        self.caches.pages.rows.insert(key, Arc::clone(&page), before);
        Ok(Some(page))
    }
}
