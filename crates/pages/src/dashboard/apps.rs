//! The list of apps that a person has granted access: who they are, their permissions, when they were last used.

use super::{Section, Shell};
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::oauth::client::document_host;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::scope::Scopes;

#[derive(Template)]
#[template(path = "apps.html")]
struct AppsTemplate<'a> {
    shell: Shell<'a>,
    apps: Vec<AppRow<'a>>,
    base_url: &'a str,
}

/// One connection.
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
