//! Reports about pages: left by anybody within a rate, read by the operator. Decisions §6.3.

use crate::app::App;
use dropleaf_core::audit::Act;
use dropleaf_core::report::{Outcome, PER_NETWORK, Report, Said};
use dropleaf_core::site::Site;
use dropleaf_core::takedown::REASON_CHARACTERS;
use dropleaf_core::{Error, Result, plain_text};
use dropleaf_store::{DbError, counters, reports};
use std::net::IpAddr;

/// A report with the address of its page, for the operator.
#[derive(Debug, Clone)]
pub struct ReportedPage {
    pub report: Report,
    pub url: String,
    pub state: &'static str,
    pub account_id: Option<String>,
}

/// A page with what is said against it.
#[derive(Debug, Clone)]
pub struct Case {
    pub site: Site,
    pub url: String,
    /// The owner's address.
    pub owner: Option<String>,
    /// Open ones, the newest first.
    pub reports: Vec<Report>,
}

/// The newest open reports that are looked at, and the pages they are gathered under.
const OPEN_MOST: i64 = 500;
const CASES_MOST: usize = 50;

impl App {
    pub async fn report_page(&self, site: &Site, ip: Option<IpAddr>, said: Said) -> Result<Report> {
        let now = self.now();
        let report = Report {
            id: self.minter.ordered_id("rep", now),
            site_id: site.id.clone(),
            said,
            created_at: now,
            closed: None,
        };
        let mut stmts = Vec::new();
        if !self.is_exempt(ip) {
            stmts.push(counters::take(&self.client_key(&PER_NETWORK, ip), &PER_NETWORK, now));
        }
        stmts.push(reports::insert(&report));
        self.store.commit(stmts).await.map_err(|error| self.guard_error(error, None))?;
        tracing::info!(site = site.id, reason = report.said.reason.as_str(), "a page was reported");
        Ok(report)
    }

    /// The newest reports: those that wait, or all.
    pub async fn list_reports(&self, open: bool, limit: i64) -> Result<Vec<ReportedPage>> {
        let found = self.store.list_reports(open, limit).await?;
        Ok(found.into_iter().map(|listed| self.reported(listed)).collect())
    }

    /// The reports that were dealt with last.
    pub async fn list_closed_reports(&self, limit: i64) -> Result<Vec<ReportedPage>> {
        let found = self.store.list_closed_reports(limit).await?;
        Ok(found.into_iter().map(|listed| self.reported(listed)).collect())
    }

    fn reported(&self, listed: reports::Listed) -> ReportedPage {
        ReportedPage {
            url: self.hosts.page_url(&listed.site_token),
            state: listed.site_state.as_str(),
            account_id: listed.account_id,
            report: listed.report,
        }
    }

    /// Open reports gathered by page, the page with the newest first.
    pub async fn list_cases(&self) -> Result<Vec<Case>> {
        let mut gathered: Vec<(String, Vec<Report>)> = Vec::new();
        for report in self.store.list_open_reports(OPEN_MOST).await? {
            match gathered.iter_mut().find(|(site_id, _)| *site_id == report.site_id) {
                Some((_, reports)) => reports.push(report),
                None => gathered.push((report.site_id.clone(), vec![report])),
            }
        }
        let mut cases = Vec::new();
        for (site_id, reports) in gathered.into_iter().take(CASES_MOST) {
            let Some(mut site) = self.store.find_site(&site_id).await? else { continue };
            site.state = site.state_at(self.now());
            self.add_pending_views(&mut site);
            let owner = match &site.account_id {
                Some(id) => self.store.find_account(id).await?.and_then(|account| account.email),
                None => None,
            };
            cases.push(Case { url: self.canonical_url(&site), site, owner, reports });
        }
        Ok(cases)
    }

    /// Closes the open reports about a page that may stay; why may be left open.
    pub async fn dismiss_reports(&self, actor: &str, site_id: &str, reason: &str) -> Result<()> {
        let now = self.now();
        let reason = plain_text::optional("reason", Some(reason.to_owned()), REASON_CHARACTERS)?;
        let stmts = vec![
            reports::close_first(site_id, Outcome::Dismissed, now),
            reports::close(site_id, Outcome::Dismissed, now),
            self.audited(actor, Act::DismissReports, site_id, reason),
        ];
        match self.store.commit(stmts).await {
            Ok(_) => {
                Self::log_act(actor, Act::DismissReports, site_id);
                Ok(())
            }
            Err(DbError::Guard(reports::NONE_OPEN)) => Err(Error::not_found("open report")),
            Err(error) => Err(error.into()),
        }
    }
}
