//! A report about a page for the server's operator, by a viewer or because of a signal.

use crate::attention::Signal;
use crate::feedback::string_enum;
use crate::rate::Rate;
use crate::{Error, Result, plain_text};

/// How often one client network may report one page.
pub const PER_PAGE: Rate = Rate { name: "report_page_hour", limit: 10, window_seconds: 3600 };
/// How often one client network may report. Well above the limit per page, so that a page whose script sends reports on behalf of
/// its viewers does not keep them from reporting other pages.
pub const PER_NETWORK: Rate = Rate { name: "report_hour", limit: 100, window_seconds: 3600 };

pub const COMMENT_CHARACTERS: usize = 2000;
pub const CONTACT_CHARACTERS: usize = 254;

string_enum!(Reason: Phishing = "phishing", Malware = "malware", Illegal = "illegal", Harassment = "harassment", Other = "other");

string_enum!(Outcome: TakenDown = "taken_down", Dismissed = "dismissed");

impl Outcome {
    /// The outcome as text for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::TakenDown => "taken down",
            Self::Dismissed => "dismissed",
        }
    }
}

/// When and how an operator handled a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportClosure {
    pub at: i64,
    /// `None` when it was closed before outcomes were recorded.
    pub outcome: Option<Outcome>,
}

impl Reason {
    /// The text in the form.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Phishing => "It impersonates someone",
            Self::Malware => "It harms my device",
            Self::Illegal => "It is illegal",
            Self::Harassment => "It harasses or exposes someone",
            Self::Other => "Something else",
        }
    }

    pub const fn example(self) -> &'static str {
        match self {
            Self::Phishing => "Asks for a password, card or personal details under a false identity",
            Self::Malware => "Harmful downloads, pop-ups or software",
            Self::Illegal => "Content that is against the law or infringes copyright",
            Self::Harassment => "Threats, hate or private details about someone",
            Self::Other => "Describe it below",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub id: String,
    pub site_id: String,
    pub content: ReportContent,
    /// The version of the page at the time; `None` when it was not recorded.
    pub version: Option<i64>,
    pub created_at: i64,
    /// `None` while the report is open.
    pub closed: Option<ReportClosure>,
    /// The signal, if the server itself put the page before the operator.
    pub signal: Option<Signal>,
}

impl Report {
    /// What it is about, as a heading.
    pub fn title(&self) -> &'static str {
        self.signal.map_or_else(|| self.content.reason.title(), Signal::title)
    }

    /// The status in a word or two.
    pub fn status(&self) -> &'static str {
        match self.closed {
            None => "open",
            Some(closed) => closed.outcome.map_or("closed", Outcome::description),
        }
    }
}

/// What the reporter wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportContent {
    pub reason: Reason,
    pub comment: Option<String>,
    pub contact: Option<String>,
}

/// Validates what the form sent.
pub fn checked(
    reason: Option<&str>,
    comment: Option<String>,
    contact: Option<String>,
) -> Result<ReportContent> {
    let reason = reason.and_then(Reason::parse);
    Ok(ReportContent {
        reason: reason.ok_or_else(|| {
            Error::field("reason", "must be phishing, malware, illegal, harassment or other")
        })?,
        comment: plain_text::optional("comment", comment, COMMENT_CHARACTERS)?,
        contact: plain_text::optional("contact", contact, CONTACT_CHARACTERS)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_needs_a_known_reason_and_nothing_else() {
        for reason in Reason::ALL {
            assert_eq!(checked(Some(reason.as_str()), None, None).unwrap().reason, *reason);
        }
        for bad in [None, Some(""), Some("spam")] {
            assert!(checked(bad, None, None).is_err());
        }
        let content = checked(Some("other"), Some(" ".into()), Some("a@b.example\u{0}".into())).unwrap();
        assert_eq!((content.comment, content.contact.as_deref()), (None, Some("a@b.example")));
        assert!(checked(Some("other"), Some("x".repeat(2001)), None).is_err());
    }
}
