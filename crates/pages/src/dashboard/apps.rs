//! The pages about apps that a person gives access: the consent page, and the list of those that have access. Besides an app's
//! name, which anyone can choose, they show its host, which cannot be faked.

use super::{Section, Shell};
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::oauth::client::document_host;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::scope::Scopes;

/// A request of an app for access, to allow or deny.
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

#[derive(Template)]
#[template(path = "apps.html")]
struct AppsTemplate<'a> {
    shell: Shell<'a>,
    apps: Vec<AppRow<'a>>,
    base_url: &'a str,
}

/// An app that has access.
struct AppRow<'a> {
    id: &'a str,
    name: &'a str,
    host: Option<String>,
    scopes: Scopes,
    since: Moment,
    last_used: Option<Moment>,
    ends: Moment,
}

pub fn apps(shell: Shell<'_>, grants: &[Grant], base_url: &str) -> Html {
    let apps = grants.iter().map(|grant| AppRow {
        id: &grant.id,
        name: &grant.client_name,
        host: document_host(&grant.client_id),
        scopes: grant.scopes,
        since: Moment(grant.created_at),
        last_used: grant.last_used_at.map(Moment),
        ends: Moment(grant.ends_at),
    });
    Html(AppsTemplate { shell, apps: apps.collect(), base_url }.render().unwrap_or_default())
}
