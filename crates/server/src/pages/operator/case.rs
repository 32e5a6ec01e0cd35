//! One page under moderation.

use super::audit::about;
use super::look::Seen;
use super::{at, sheet};
use crate::pages::dashboard::{Section, Shell};
use crate::pages::{Html, Size};
use askama::Template;
use dropleaf_app::CaseFile;
use dropleaf_core::site::{Site, State, Visibility};

/// A form that was refused.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    pub form: &'static str,
    pub reason: &'a str,
    pub problem: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "operator_case.html")]
pub struct CasePage<'a> {
    pub shell: Shell<'a>,
    pub file: &'a CaseFile,
    /// `None` if there is nothing to preview.
    pub seen: Option<&'a Seen>,
    /// The version in the preview.
    pub version: i64,
    pub refused: Option<Refused<'a>>,
    pub is_recent: bool,
}

impl CasePage<'_> {
    fn here(&self) -> String {
        format!("/operator/pages/{}", self.file.site.id)
    }

    fn refused_at(&self, form: &str) -> Option<Refused<'_>> {
        self.refused.filter(|refused| refused.form == form)
    }

    /// What was typed into a form that is shown again.
    fn typed(&self, form: &str) -> &str {
        self.refused_at(form).map_or("", |refused| refused.reason)
    }

    fn is_down(&self) -> bool {
        self.file.site.state == State::TakenDown
    }

    /// Whether this version was current when a still open report was made.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_reported(&self, version: &i64) -> bool {
        let mut open = self.file.reports.iter().filter(|report| report.closed.is_none());
        open.any(|report| report.version == Some(*version))
    }

    /// The newest reported version, if the version in the preview is later and was not reported.
    fn reported_before(&self) -> Option<i64> {
        let mut older = self.file.versions.iter().map(|known| known.version);
        let told = older.find(|version| *version < self.version && self.is_reported(version))?;
        (!self.is_reported(&self.version)).then_some(told)
    }

    fn is_live(&self) -> bool {
        self.file.site.state == State::Live
    }

    /// Whether its account can be suspended.
    fn can_suspend(&self) -> bool {
        self.file.account.as_ref().is_some_and(|account| !account.is_operator && account.suspended.is_none())
    }

    fn gates(&self) -> &'static str {
        match (&self.file.site.password_hash, &self.file.site.email_gate_domain) {
            (Some(_), Some(_)) => "password and email gate",
            (Some(_), None) => "password",
            (None, Some(_)) => "email gate",
            (None, None) => "no password or email gate",
        }
    }

    /// Why there is no preview.
    fn unseen(&self) -> &'static str {
        let site = &self.file.site;
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

/// The visibility of a page, for its badge.
fn reach(site: &Site) -> &'static str {
    match site.visibility {
        Visibility::Unlisted => "unlisted",
        Visibility::Public => "public",
        Visibility::Burn => "view once",
    }
}

fn title(site: &Site) -> &str {
    if site.title.is_empty() { "Untitled page" } else { &site.title }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn size(bytes: &i64) -> Size {
    Size(*bytes)
}

pub fn case(page: &CasePage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
