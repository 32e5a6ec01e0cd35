//! Reports about pages: left by anybody within a rate, read by the operator. Decisions §6.3.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::report::{PER_NETWORK, Report, Said};
use dropleaf_core::site::Site;
use dropleaf_store::{counters, reports};
use std::net::IpAddr;

/// A report with the address of its page, for the operator.
#[derive(Debug, Clone)]
pub struct ReportedPage {
    pub report: Report,
    pub url: String,
    pub state: &'static str,
    pub account_id: Option<String>,
}

impl App {
    pub async fn report_page(&self, site: &Site, ip: Option<IpAddr>, said: Said) -> Result<Report> {
        let now = self.now();
        let report = Report {
            id: self.minter.ordered_id("rep", now),
            site_id: site.id.clone(),
            said,
            created_at: now,
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

    /// The newest reports.
    pub async fn list_reports(&self, limit: i64) -> Result<Vec<ReportedPage>> {
        let found = self.store.list_reports(limit).await?;
        Ok(found
            .into_iter()
            .map(|listed| ReportedPage {
                url: self.hosts.page_url(&listed.site_token),
                state: listed.site_state.as_str(),
                account_id: listed.account_id,
                report: listed.report,
            })
            .collect())
    }
}
