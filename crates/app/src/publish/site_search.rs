//! An owner's dashboard list of their sites: search, filter, any state, with a thumbnail of each.

use super::SiteList;
use crate::app::App;
use crate::infra::replica_read::from_replica;
use crate::viewing::pages::ContentCoding;
use dropleaf_content::thumbnail;
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use dropleaf_core::site_filter::Filter;
use dropleaf_core::{Error, Result};
use dropleaf_store::sites::Before;
use std::collections::HashMap;

/// Longer search texts are cut; no title is longer.
const MAX_QUERY_CHARACTERS: usize = 200;
/// Sites per page of the list.
const SEARCH_PAGE: i64 = 24;
/// How much of a document is read for its thumbnail: more than the first screen shows.
const THUMBNAIL_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone)]
pub struct SiteSearch {
    pub filter: Filter,
    pub words: String,
    /// `updated_at` and id of the last one seen.
    pub before: Option<(i64, String)>,
}

/// The text of a search as the database may get it.
pub(super) fn search_text(text: &str) -> String {
    text.trim().chars().filter(|c| *c != '\0').take(MAX_QUERY_CHARACTERS).collect()
}

impl App {
    /// The matching sites, most recently changed first.
    pub async fn search_sites(&self, account: &Account, search: SiteSearch) -> Result<SiteList> {
        let words = search_text(&search.words);
        let before = search.before.map(|(updated_at, id)| Before { updated_at, id });
        let (filter, now, limit) = (search.filter, self.now(), SEARCH_PAGE + 1);
        let found = match self.replica_for(&account.id) {
            Some(it) => {
                from_replica(it.search_sites(&account.id, filter, &words, now, before.clone(), limit)).await
            }
            None => None,
        };
        let mut sites = match found {
            Some(sites) => sites,
            None => self.store.search_sites(&account.id, filter, &words, now, before, limit).await?,
        };
        let has_more = i64::try_from(sites.len()).is_ok_and(|n| n > SEARCH_PAGE);
        sites.truncate(usize::try_from(SEARCH_PAGE).unwrap_or_default());
        for site in &mut sites {
            site.state = site.state_at(self.now());
            self.add_pending_views(site);
        }
        Ok(SiteList { sites, has_more })
    }

    /// Open comments by site id.
    pub async fn count_open_feedback(&self, account: &Account) -> Result<HashMap<String, i64>> {
        Ok(self.store.count_open_feedback(&account.id).await?.into_iter().collect())
    }

    /// An own site by its id, also if it has ended.
    pub async fn get_own_site(&self, account: &Account, id: &str) -> Result<Site> {
        let mut site = self.get_own_site_row(account, id).await?;
        site.state = site.state_at(self.now());
        self.add_pending_views(&mut site);
        Ok(site)
    }

    /// Until when a deleted site can be restored.
    pub fn restorable_until(&self, site: &Site) -> Option<i64> {
        let deleted = site.state == dropleaf_core::site::State::Deleted && site.purged_at.is_none();
        let until = site.ended_at.filter(|_| deleted)? + self.settings.retention.restore;
        (until > self.now()).then_some(until)
    }

    /// A thumbnail of the site's main document as SVG. It reads only the stored bytes: it is not counted as a view and runs
    /// nothing.
    pub async fn draw_thumbnail(&self, account: &Account, id: &str) -> Result<String> {
        let site = self.get_own_site_row(account, id).await?;
        let Some(bundle_id) = &site.bundle_id else { return Ok(thumbnail::blank()) };
        let bundle = self.get_bundle(bundle_id).await?;
        let entry = bundle.entry().ok_or_else(|| Error::internal("bundle has no entry file"))?;
        let kind = if site.e2e { "e2e" } else { bundle.kind.as_str() };
        if !entry.is_document || matches!(kind, "e2e" | "file") || !entry.is_small() {
            return Ok(thumbnail::of_kind(kind));
        }
        let body = self.file_body(entry, ContentCoding::Identity).await?;
        let files = bundle.file_count();
        let draw = move || thumbnail::of_html(&body.bytes[..body.bytes.len().min(THUMBNAIL_BYTES)], files);
        tokio::task::spawn_blocking(draw).await.map_err(Error::internal)
    }
}
