//! The audit log as a page.

use super::{at, stylesheet};
use crate::Html;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::audit::AuditEntry;

#[derive(Debug, Template)]
#[template(path = "operator_audit.html")]
pub struct AuditPage<'a> {
    pub shell: Shell<'a>,
    /// The subject that the list is filtered by; empty for no filter.
    pub subject: &'a str,
    pub entries: &'a [AuditEntry],
    pub older: Option<&'a str>,
}

/// The page with more about the subject of an entry.
pub(super) fn about(entry: &AuditEntry) -> Option<String> {
    let under = |section: &str| Some(format!("/operator/{section}/{}", entry.subject));
    match entry.subject.split_once('_')?.0 {
        "site" => under("pages"),
        "pay" => under("payments"),
        _ => None,
    }
}

pub fn audit(page: &AuditPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
