//! The audit log as a page.

use super::{at, sheet};
use crate::pages::Html;
use crate::pages::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::audit::AuditEntry;

#[derive(Debug, Template)]
#[template(path = "operator_audit.html")]
pub struct Audit<'a> {
    pub shell: Shell<'a>,
    /// The subject that the list is filtered by; empty for no filter.
    pub subject: &'a str,
    pub lines: &'a [AuditEntry],
    pub older: Option<&'a str>,
}

/// The page with more about the subject of an entry.
pub(super) fn about(line: &AuditEntry) -> Option<String> {
    let under = |place: &str| Some(format!("/operator/{place}/{}", line.subject));
    match line.subject.split_once('_')?.0 {
        "site" => under("pages"),
        "pay" => under("payments"),
        _ => None,
    }
}

pub fn audit(page: &Audit<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
