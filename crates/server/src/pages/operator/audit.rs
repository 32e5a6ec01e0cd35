//! What operators did, as a page.

use super::{at, sheet};
use crate::pages::Html;
use crate::pages::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::audit::Entry;

#[derive(Debug, Template)]
#[template(path = "operator_audit.html")]
pub struct Audit<'a> {
    pub shell: Shell<'a>,
    /// What the list is narrowed to; empty when it is not.
    pub subject: &'a str,
    pub lines: &'a [Entry],
    pub older: Option<&'a str>,
}

/// Where more is said about what a line is about.
pub(super) fn about(line: &Entry) -> Option<String> {
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
