//! The page where a person lets a program in, or not. It names what cannot be invented, the host, beside what can, the
//! name.

use super::{Section, Shell};
use crate::pages::Html;
use askama::Template;
use dropleaf_core::scope::Scopes;

#[derive(Debug, Template)]
#[template(path = "consent.html")]
pub struct Consent<'a> {
    pub shell: Shell<'a>,
    /// Names this one request; it can be answered once.
    pub request: &'a str,
    pub name: &'a str,
    pub account: &'a str,
    /// Where to sign in as somebody else, and come back.
    pub other_account: String,
    pub scopes: Scopes,
    /// Where the answer goes.
    pub host: &'a str,
    /// Whether that is a program on the person's own machine.
    pub is_local: bool,
    /// Where the program describes itself, if it does.
    pub document_host: Option<String>,
}

pub fn consent(page: &Consent<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}
