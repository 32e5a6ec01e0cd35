//! Reports by viewers and because of signals, grouped by page.

use super::{at, size, stylesheet, title, visibility_label, waiting_text};
use crate::Html;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::attention::Signal;
use dropleaf_core::report::{Reason, Report};
use dropleaf_core::site::{Site, State, Visibility};

/// A takedown that was sent without a valid reason.
#[derive(Debug, Clone, Copy)]
pub struct RefusedTakedown<'a> {
    pub site_id: &'a str,
    pub reason: &'a str,
}

/// A page with its open reports.
#[derive(Debug)]
pub struct ReportCaseView<'a> {
    pub site: &'a Site,
    pub url: &'a str,
    /// The owner's email address.
    pub owner: Option<&'a str>,
    /// The number of open reports, and when the first and the last were sent.
    pub count: i64,
    pub first_at: i64,
    pub last_at: i64,
    /// How often each reason is given by viewers, most frequent first.
    pub reasons: &'a [(Reason, i64)],
    /// The newest open reports, those of signals first.
    pub reports: &'a [Report],
}

impl ReportCaseView<'_> {
    /// Open reports that are not listed.
    fn more(&self) -> i64 {
        self.count.saturating_sub(i64::try_from(self.reports.len()).unwrap_or(i64::MAX))
    }

    fn signals(&self) -> Vec<Signal> {
        self.reports.iter().filter_map(|report| report.signal).collect()
    }

    /// What waits, in words.
    fn waiting(&self) -> String {
        let signals = i64::try_from(self.signals().len()).unwrap_or_default();
        waiting_text(self.count.saturating_sub(signals), signals)
    }

    fn is_live(&self) -> bool {
        self.site.state == State::Live
    }

    fn is_burn(&self) -> bool {
        self.site.visibility == Visibility::Burn
    }
}

#[derive(Debug, Template)]
#[template(path = "operator_reports.html")]
pub struct ReportsPage<'a> {
    pub shell: Shell<'a>,
    pub cases: Vec<ReportCaseView<'a>>,
    /// The most recently closed reports.
    pub closed: Vec<&'a Report>,
    /// Whether the list starts with the page that has been waiting longest.
    pub is_first: bool,
    /// The link to the next page of the list.
    pub next: Option<&'a str>,
    pub refused: Option<RefusedTakedown<'a>>,
    pub is_recent: bool,
}

impl ReportsPage<'_> {
    /// The reason that was refused for this page.
    fn refused_at(&self, case: &ReportCaseView<'_>) -> Option<&str> {
        self.refused.filter(|refused| refused.site_id == case.site.id).map(|refused| refused.reason)
    }
}

pub fn reports(page: &ReportsPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
