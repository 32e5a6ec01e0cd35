//! Collects all that an operator needs to judge one page: reports, audit entries, related pages and a safe preview.

use crate::app::App;
use crate::moderation::safe_preview::SafePreview;
use dropleaf_core::account::Account;
use dropleaf_core::audit::AuditEntry;
use dropleaf_core::report::{Reason, Report};
use dropleaf_core::site::{Site, Visibility};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::{Error, Result};
use dropleaf_store::blocked_content::BlockedContent;
use dropleaf_store::evidence::Evidence;

/// Limits of the lists in a case file.
const REPORTS_MOST: i64 = 100;
const AUDIT_ENTRIES_MOST: i64 = 50;
const PAGES_MOST: i64 = 10;

/// All that is known about a page.
#[derive(Debug, Clone)]
pub struct CaseFile {
    pub site: Site,
    pub url: String,
    /// The owner; none if it was published anonymously.
    pub account: Option<Account>,
    /// Open reports, beginning with those of signals, then the others, newest first; truncated if there are very many.
    pub reports: Vec<Report>,
    /// All reports, open or not.
    pub reports_total: i64,
    /// How often each reason occurs in viewers' open reports, most frequent first.
    pub open_reasons: Vec<(Reason, i64)>,
    /// Audit entries about the page and its account, newest first.
    pub audit_entries: Vec<AuditEntry>,
    /// Newest first; empty once they are erased.
    pub versions: Vec<SiteVersion>,
    /// Other pages of the account.
    pub other_sites: Vec<Site>,
    /// How many pages of the account were taken down.
    pub taken_down: i64,
    /// Pages of any account with the same main document.
    pub similar_sites: Vec<Site>,
    /// The evidence kept after a takedown.
    pub evidence: Option<Evidence>,
    /// Set if its content is on the blocklist and refused on upload.
    pub blocked_content: Option<BlockedContent>,
}

impl CaseFile {
    /// Open reports by viewers.
    pub fn open_reports(&self) -> i64 {
        self.open_reasons.iter().map(|(_, count)| count).sum()
    }

    /// Reports that are not listed.
    pub fn more_reports(&self) -> i64 {
        self.reports_total.saturating_sub(i64::try_from(self.reports.len()).unwrap_or(i64::MAX))
    }
}

impl App {
    pub async fn open_case(&self, site_id: &str) -> Result<CaseFile> {
        let mut site = self.store.find_site(site_id).await?.ok_or_else(|| Error::not_found("page"))?;
        site.state = site.state_at(self.now());
        self.add_pending_views(&mut site);
        let mut audit_entries = self.store.list_audit_of(&site.id, AUDIT_ENTRIES_MOST).await?;
        let (mut account, mut other_sites, mut taken_down) = (None, Vec::new(), 0);
        if let Some(id) = &site.account_id {
            account = self.store.find_account(id).await?;
            other_sites = self.store.list_other_sites(id, &site.id, PAGES_MOST).await?;
            taken_down = self.store.count_taken_down(id).await?;
            audit_entries = self.store.list_audit_of_either(&site.id, id, 2 * AUDIT_ENTRIES_MOST).await?;
        }
        let similar_sites = match self.entry_hash(&site).await? {
            Some(hash) => self.store.list_sites_with_same_document(&site.id, &hash, PAGES_MOST).await?,
            None => Vec::new(),
        };
        Ok(CaseFile {
            url: self.canonical_url(&site),
            reports: self.store.list_reports_of(&site.id, REPORTS_MOST).await?,
            reports_total: self.store.count_reports_of(&site.id).await?,
            open_reasons: self.store.count_open_reasons(&site.id).await?,
            blocked_content: self.store.find_blocked_content(&site.id).await?,
            versions: self.store.list_versions(&site.id).await?,
            evidence: self.store.find_evidence(&site.id).await?,
            site,
            account,
            audit_entries,
            other_sites,
            taken_down,
            similar_sites,
        })
    }

    /// A safe preview of a version of the page, the newest by default. None if nothing may be shown: a burn-after-read
    /// page is for its reader alone, and erased or sealed content is not available.
    pub async fn preview_case(
        &self,
        case: &CaseFile,
        version: Option<i64>,
        file: Option<&str>,
    ) -> Result<Option<SafePreview>> {
        let named = case.versions.iter().find(|known| Some(known.version) == version);
        let bundle = named.map(|known| &known.bundle_id).or(case.site.bundle_id.as_ref());
        match bundle {
            Some(id) if case.site.visibility != Visibility::Burn && case.site.purged_at.is_none() => {
                self.preview_bundle(id, file).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    async fn entry_hash(&self, site: &Site) -> Result<Option<[u8; 32]>> {
        let Some(id) = site.bundle_id.as_ref().filter(|_| !site.e2e && site.purged_at.is_none()) else {
            return Ok(None);
        };
        Ok(self.get_bundle(id).await?.entry().map(|entry| entry.hash))
    }
}
