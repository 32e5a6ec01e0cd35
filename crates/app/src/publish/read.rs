//! Reads sites as their owner: one, many, and the stored content verbatim. Spec §4.

use super::site_search::search_text;
use crate::app::App;
use crate::infra::replica_read::from_replica;
use crate::viewing::pages::ServedFile;
use bytes::Bytes;
use dropleaf_core::account::Account;
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::{Code, Error, Minter, Result};
use dropleaf_store::sites::Before;
use dropleaf_store::{DbError, Store};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) const LIST_DEFAULT: i64 = 200;
pub(super) const LIST_MOST: i64 = 500;

#[derive(Debug, Clone)]
pub struct ListQuery {
    pub limit: i64,
    pub before: Option<i64>,
    pub before_id: Option<String>,
    pub state: State,
    /// Words that the title or the slug must contain, or a whole id or token; empty for all.
    pub words: String,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self { limit: LIST_DEFAULT, before: None, before_id: None, state: State::Live, words: String::new() }
    }
}

#[derive(Debug)]
pub struct SiteList {
    pub sites: Vec<Site>,
    pub has_more: bool,
}

/// A site's main document or its source, before it is read.
#[derive(Debug)]
pub struct SiteDocument {
    pub file: Arc<ServedFile>,
    version: i64,
    updated_at: i64,
}

impl SiteDocument {
    pub fn mime(&self) -> String {
        String::from_utf8_lossy(&self.file.mime).into_owned()
    }
}

/// The stored bytes of a site's main document or its source, and the version they belong to.
#[derive(Debug)]
pub struct SiteContent {
    pub mime: String,
    pub bytes: Bytes,
    pub version: i64,
    pub updated_at: i64,
}

impl SiteContent {
    /// Whether it was stored as text; ciphertext and binary files are not.
    pub fn is_text(&self) -> bool {
        Self::is_text_kind(&self.mime)
    }

    /// The same for a media type.
    pub fn is_text_kind(mime: &str) -> bool {
        mime.starts_with("text/")
    }
}

async fn list_in(
    store: &Store,
    account_id: &str,
    state: State,
    words: &str,
    now: i64,
    before: Option<Before>,
    limit: i64,
) -> Result<Vec<Site>, DbError> {
    if words.is_empty() {
        store.list_sites(account_id, state, now, before, limit).await
    } else {
        store.list_matching_sites(account_id, state, words, now, before, limit).await
    }
}

impl App {
    /// The canonical URL of a page: its primary custom domain, its slug while it is public, or its token.
    pub fn canonical_url(&self, site: &Site) -> String {
        match &site.primary_domain {
            Some(hostname) => self.hosts.domain_url(hostname),
            None => self.own_url(site),
        }
    }

    /// The URL of a page on our own hosts, which works whatever becomes of a custom domain and its DNS records.
    pub(crate) fn own_url(&self, site: &Site) -> String {
        match &site.slug {
            Some(slug) if site.visibility == Visibility::Public => self.hosts.slug_url(slug),
            _ => self.hosts.page_url(&site.token),
        }
    }

    /// Every origin at which a browser may be shown this site, on its way from its URL on our own hosts.
    pub fn page_origins(&self, site: &Site) -> Vec<String> {
        let slug = site.slug.as_deref().filter(|_| site.visibility == Visibility::Public);
        let mut origins = vec![self.hosts.site.url()];
        if self.hosts.isolated {
            origins.push(self.hosts.isolated_origin(slug.unwrap_or(&site.host_label)));
        }
        origins
    }

    /// A site of the account. Live and expired sites are visible to their owner; deleted ones are not found.
    pub async fn get_site(&self, account: &Account, name: &str) -> Result<Site> {
        let mut site = self.get_own_site_row(account, name).await?;
        site.state = site.state_at(self.now());
        if !matches!(site.state, State::Live | State::Expired) {
            return Err(Error::not_found("site"));
        }
        self.add_pending_views(&mut site);
        Ok(site)
    }

    /// Which of these ids are visible pages of the account, in one query.
    pub async fn filter_visible(&self, account: &Account, ids: &[&str]) -> Result<HashSet<String>> {
        let ids: Vec<&str> = ids.iter().copied().filter(|id| Minter::is_id("site", id)).collect();
        Ok(self.store.list_owned_ids(&account.id, &ids).await?.into_iter().collect())
    }

    pub async fn list_sites(&self, account: &Account, query: ListQuery) -> Result<SiteList> {
        if !(1..=LIST_MOST).contains(&query.limit) {
            return Err(Error::field("limit", format!("must be 1 to {LIST_MOST}")));
        }
        if query.state == State::Expired {
            // A page is expired from its expiry on, whether or not the sweep has run.
            let expired = self.store.list_expired_of(&account.id, self.now(), 1000).await?;
            self.expire_sites(expired).await?;
        }
        let before =
            query.before.map(|updated_at| Before { updated_at, id: query.before_id.unwrap_or_default() });
        let words = search_text(&query.words);
        let (now, limit) = (self.now(), query.limit + 1);
        let found = match self.replica_for(&account.id) {
            Some(it) => {
                from_replica(list_in(&it, &account.id, query.state, &words, now, before.clone(), limit)).await
            }
            None => None,
        };
        let mut sites = match found {
            Some(sites) => sites,
            None => list_in(&self.store, &account.id, query.state, &words, now, before, limit).await?,
        };
        let has_more = i64::try_from(sites.len()).is_ok_and(|n| n > query.limit);
        sites.truncate(usize::try_from(query.limit).unwrap_or_default());
        for site in &mut sites {
            self.add_pending_views(site);
        }
        Ok(SiteList { sites, has_more })
    }

    /// Reads the document of a site if `may`, which gets its type and size, allows it.
    pub async fn read_content_if(
        &self,
        account: &Account,
        name: &str,
        source: bool,
        may: impl FnOnce(&str, u64) -> Result<()> + Send,
    ) -> Result<SiteContent> {
        let document = self.find_content(account, name, source).await?;
        may(&document.mime(), document.file.size_bytes)?;
        self.read_document(document).await
    }

    /// Spec §4: the stored document, not a rendered view of it. With `source`, the uploaded file instead.
    pub async fn find_content(&self, account: &Account, name: &str, source: bool) -> Result<SiteDocument> {
        let site = self.get_site(account, name).await?;
        let id = site.bundle_id.ok_or_else(|| Error::not_found("content"))?;
        let bundle = self.get_bundle(&id).await?;
        let file = match source.then(|| bundle.source()).flatten() {
            Some(file) => file,
            None => bundle.entry().ok_or_else(|| Error::internal("bundle has no entry file"))?,
        };
        Ok(SiteDocument { file: Arc::clone(file), version: site.version, updated_at: site.updated_at })
    }

    async fn read_document(&self, document: SiteDocument) -> Result<SiteContent> {
        let bytes = self.store.blobs.read(&self.store.db, &document.file.hash).await?;
        let SiteDocument { version, updated_at, .. } = document;
        Ok(SiteContent { mime: document.mime(), bytes, version, updated_at })
    }

    /// Fails if the site has changed since the caller read it.
    pub(crate) fn check_unchanged(site: &Site, expected: Option<i64>) -> Result<()> {
        match expected {
            Some(at) if at != site.updated_at => Err(conflict(site)),
            _ => Ok(()),
        }
    }
}

/// The error if the page is not as the caller expects it.
pub(super) fn conflict(site: &Site) -> Error {
    Error::new(Code::Conflict, format!("The page changed at {}. Read it again, then retry.", site.updated_at))
        .with_fact("updated_at", dropleaf_core::error::Fact::Int(site.updated_at))
}
