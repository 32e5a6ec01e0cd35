//! The consent page, where a person allows or denies an app access. Besides the app's name, which anyone can choose, it shows
//! the host, which cannot be faked.

use super::{Section, Shell};
use crate::Html;
use askama::Template;
use dropleaf_core::scope::Scopes;

#[derive(Debug, Template)]
#[template(path = "consent.html")]
pub struct Consent<'a> {
    pub shell: Shell<'a>,
    /// Identifies this request; it can be answered once.
    pub request: &'a str,
    pub name: &'a str,
    pub account: &'a str,
    /// The link to sign in with another account and return.
    pub other_account: String,
    pub scopes: Scopes,
    /// The host that receives the answer.
    pub host: &'a str,
    /// Whether the app runs on the person's own machine.
    pub is_local: bool,
    /// The host of the app's client metadata document, if it has one.
    pub document_host: Option<String>,
}

pub fn consent(page: &Consent<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}
