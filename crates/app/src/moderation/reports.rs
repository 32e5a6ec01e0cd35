//! Reports about pages: sent by anyone within rate limits, read by the operator.

use crate::app::App;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::report::{Outcome, PER_NETWORK, PER_PAGE, Reason, Report, ReportContent};
use dropleaf_core::site::Site;
use dropleaf_core::takedown::{self, REASON_CHARACTERS};
use dropleaf_core::{Error, Result, plain_text};
use dropleaf_store::reports::{PageWithReports, ReportSummary, ReportWithPage};
use dropleaf_store::{DbError, counters, reports, site_versions, sites};
use std::collections::HashMap;
use std::net::IpAddr;

/// A report with the URL of its page, for the operator.
#[derive(Debug, Clone)]
pub struct ReportedPage {
    pub report: Report,
    pub url: String,
    pub state: &'static str,
    pub account_id: Option<String>,
}

/// A page with its open reports.
#[derive(Debug, Clone)]
pub struct ReportCase {
    pub site: Site,
    pub url: String,
    /// The owner's email address.
    pub owner: Option<String>,
    /// The number of open reports, and since when.
    pub waiting: ReportSummary,
    /// How often each reason is given, most frequent first.
    pub reasons: Vec<(Reason, i64)>,
    /// The newest open reports.
    pub reports: Vec<Report>,
}

/// Reports that were closed because the page may stay.
#[derive(Debug, Clone)]
pub struct DismissedReports {
    pub site: Site,
    pub url: String,
    pub count: u64,
}

/// Reports listed per case; enough to choose what to look at first.
const REPORTS_PER_CASE: i64 = 5;

impl App {
    pub async fn report_page(
        &self,
        site: &Site,
        ip: Option<IpAddr>,
        content: ReportContent,
    ) -> Result<Report> {
        let now = self.now();
        let report = Report {
            id: self.minter.ordered_id("rep", now),
            site_id: site.id.clone(),
            content,
            version: Some(site.version),
            created_at: now,
            closed: None,
            signal: None,
        };
        let mut stmts = Vec::new();
        if !self.is_exempt(ip) {
            let network = self.client_key(&PER_NETWORK, ip);
            let page = format!("{}:{}", self.client_key(&PER_PAGE, ip), site.id);
            stmts.push(counters::take(&page, &PER_PAGE, now));
            stmts.push(counters::take(&network, &PER_NETWORK, now));
        }
        stmts.push(sites::lock(&site.id));
        let network = self.hash_reporter(&site.id, ip);
        stmts.push(reports::insert(&report, network.as_deref()));
        stmts.extend(self.note_report(&site.id));
        self.store.commit(stmts).await.map_err(|error| self.guard_error(error, None))?;
        tracing::info!(site = site.id, reason = report.content.reason.as_str(), "page reported");
        Ok(report)
    }

    /// The newest reports: only open ones, or all.
    pub async fn list_reports(&self, open: bool, limit: i64) -> Result<Vec<ReportedPage>> {
        let found = self.store.list_reports(open, limit).await?;
        Ok(found.into_iter().map(|found| self.reported_page(found)).collect())
    }

    /// The most recently closed reports.
    pub async fn list_closed_reports(&self, limit: i64) -> Result<Vec<ReportedPage>> {
        let found = self.store.list_closed_reports(limit).await?;
        Ok(found.into_iter().map(|found| self.reported_page(found)).collect())
    }

    fn reported_page(&self, found: ReportWithPage) -> ReportedPage {
        ReportedPage {
            url: self.hosts.page_url(&found.site_token),
            state: found.site_state.as_str(),
            account_id: found.account_id,
            report: found.report,
        }
    }

    /// Pages with open reports, the longest waiting first. `after` is the cursor: time of the first report, and site id.
    pub async fn list_cases(&self, after: Option<(i64, &str)>, limit: i64) -> Result<Vec<ReportCase>> {
        let mut reasons: HashMap<String, Vec<(Reason, i64)>> = HashMap::new();
        for (site_id, reason, count) in self.store.list_reasons_of_pages(after, limit).await? {
            reasons.entry(site_id).or_default().push((reason, count));
        }
        let mut newest: HashMap<String, Vec<Report>> = HashMap::new();
        for report in self.store.list_newest_of_pages(after, limit, REPORTS_PER_CASE).await? {
            newest.entry(report.site_id.clone()).or_default().push(report);
        }
        let pages = self.store.list_pages_with_reports(after, limit).await?;
        let case = |PageWithReports { mut site, owner_email, open }| {
            site.state = site.state_at(self.now());
            self.add_pending_views(&mut site);
            let reasons = reasons.remove(&site.id).unwrap_or_default();
            let reports = newest.remove(&site.id).unwrap_or_default();
            ReportCase {
                url: self.canonical_url(&site),
                site,
                owner: owner_email,
                waiting: open,
                reasons,
                reports,
            }
        };
        Ok(pages.into_iter().map(case).collect())
    }

    /// Closes the open reports about a page that may stay, named by its id, slug, token or URL, and ends the warning before it.
    /// The reason is optional.
    pub async fn dismiss_reports(&self, actor: &str, name: &str, reason: &str) -> Result<DismissedReports> {
        let now = self.now();
        let reason = plain_text::optional("reason", Some(reason.to_owned()), REASON_CHARACTERS)?;
        let unknown = || Error::not_found("page");
        let named = takedown::parse_page_identifier(name, &self.hosts).ok_or_else(unknown)?;
        let site = self.find_site_by_reference(&named).await?.ok_or_else(unknown)?;
        let mut stmts = vec![
            sites::lock(&site.id),
            reports::close_first(&site.id, Outcome::Dismissed, now),
            reports::close(&site.id, Outcome::Dismissed, now),
            self.audit_stmt(actor, AuditAction::DismissReports, &site.id, reason),
        ];
        stmts.extend(self.dismiss_copies_stmts(&site).await?);
        // Trims versions that were kept only for this decision.
        let kept = self.settings.versions_kept;
        stmts.extend(site_versions::trim(&site.id, site.version - kept, kept, now));
        match self.store.commit(stmts).await {
            Ok(closed) => {
                Self::log_operation(actor, AuditAction::DismissReports, &site.id);
                if site.warned_at.is_some()
                    && let Err(error) = self.end_warning(&site).await
                {
                    tracing::warn!(%error, site = site.id, "warning not ended, will retry");
                }
                let count = closed.iter().skip(1).take(2).map(|outcome| outcome.affected).sum();
                Ok(DismissedReports { url: self.canonical_url(&site), site, count })
            }
            Err(DbError::Guard(reports::NONE_OPEN)) => Err(Error::not_found("open report")),
            Err(error) => Err(error.into()),
        }
    }
}
