//! One page under moderation.

use super::audit::about;
use super::safe_preview::SafePreview;
use super::{at, size, stylesheet, title, visibility_label, waiting_text};
use crate::Html;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::account::Account;
use dropleaf_core::attention::Signal;
use dropleaf_core::audit::AuditEntry;
use dropleaf_core::report::{Reason, Report};
use dropleaf_core::site::{Site, State, Visibility};

/// All that is known about a page.
#[derive(Debug)]
pub struct CaseView<'a> {
    pub site: &'a Site,
    pub url: &'a str,
    /// The owner; `None` if it was published anonymously.
    pub account: Option<&'a Account>,
    /// Open reports, beginning with those of signals, then the others, newest first.
    pub reports: &'a [Report],
    /// The number of reports that are not listed.
    pub more_reports: i64,
    /// Viewers' open reports, and how often each reason occurs in them, most frequent first.
    pub open_reports: i64,
    pub open_reasons: &'a [(Reason, i64)],
    /// Audit entries about the page and its account, newest first.
    pub audit_entries: &'a [AuditEntry],
    /// Newest first; empty once they are erased.
    pub versions: Vec<CaseVersion>,
    /// Other pages of the account.
    pub other_sites: &'a [Site],
    /// How many pages of the account were taken down.
    pub taken_down: i64,
    /// Pages of any account with the same main document.
    pub similar_sites: &'a [Site],
    /// The evidence kept after a takedown.
    pub evidence: Option<CaseEvidence>,
    /// Since when its content is refused on upload; `None` if it is not.
    pub refused_since: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
pub struct CaseVersion {
    pub version: i64,
    pub created_at: i64,
    pub byte_size: i64,
}

#[derive(Debug, Clone, Copy)]
pub struct CaseEvidence {
    pub size_bytes: i64,
    /// When it will be erased.
    pub erase_after: i64,
    pub erased_at: Option<i64>,
}

/// A form that was refused.
#[derive(Debug, Clone, Copy)]
pub struct RefusedCaseForm<'a> {
    pub form: &'static str,
    pub reason: &'a str,
    pub problem: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "operator_case.html")]
pub struct CasePage<'a> {
    pub shell: Shell<'a>,
    pub case: CaseView<'a>,
    /// `None` if there is nothing to preview.
    pub preview: Option<&'a SafePreview>,
    /// The version in the preview.
    pub version: i64,
    pub refused: Option<RefusedCaseForm<'a>>,
    pub is_recent: bool,
}

impl CasePage<'_> {
    fn here(&self) -> String {
        format!("/operator/pages/{}", self.case.site.id)
    }

    fn refused_at(&self, form: &str) -> Option<RefusedCaseForm<'_>> {
        self.refused.filter(|refused| refused.form == form)
    }

    /// The reason that was sent with a form that is shown again.
    fn sent_reason(&self, form: &str) -> &str {
        self.refused_at(form).map_or("", |refused| refused.reason)
    }

    fn is_down(&self) -> bool {
        self.case.site.state == State::TakenDown
    }

    /// The signals that put the page before the operator.
    fn signals(&self) -> Vec<Signal> {
        let open = self.case.reports.iter().filter(|report| report.closed.is_none());
        open.filter_map(|report| report.signal).collect()
    }

    fn is_waiting(&self) -> bool {
        self.case.open_reports > 0 || !self.signals().is_empty()
    }

    /// What waits, in words.
    fn waiting(&self) -> String {
        waiting_text(self.case.open_reports, i64::try_from(self.signals().len()).unwrap_or_default())
    }

    /// Whether this version was current when a still open report was made.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_reported(&self, version: &i64) -> bool {
        let mut open = self.case.reports.iter().filter(|report| report.closed.is_none());
        open.any(|report| report.version == Some(*version))
    }

    /// The newest reported version, if the version in the preview is later and was not reported.
    fn reported_before(&self) -> Option<i64> {
        let mut older = self.case.versions.iter().map(|known| known.version);
        let reported = older.find(|version| *version < self.version && self.is_reported(version))?;
        (!self.is_reported(&self.version)).then_some(reported)
    }

    fn is_live(&self) -> bool {
        self.case.site.state == State::Live
    }

    /// Whether its account can be suspended.
    fn can_suspend(&self) -> bool {
        self.case.account.is_some_and(Account::can_be_suspended)
    }

    fn gates(&self) -> &'static str {
        match (&self.case.site.password_hash, &self.case.site.email_gate_domain) {
            (Some(_), Some(_)) => "password and email gate",
            (Some(_), None) => "password",
            (None, Some(_)) => "email gate",
            (None, None) => "no password or email gate",
        }
    }

    /// Why there is no preview.
    fn no_preview_reason(&self) -> &'static str {
        let site = &self.case.site;
        if site.visibility == Visibility::Burn {
            return "This page can be viewed only once and is private to its reader, so it cannot be previewed. Taking it down \
                    erases it immediately.";
        }
        match site.state {
            State::TakenDown => {
                "The page was taken down. Its content is stored as encrypted evidence for a limited time and then erased. To \
                 see it, download the evidence."
            }
            _ => "The content has been erased.",
        }
    }
}

pub fn case(page: &CasePage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
