//! Custom domains as rows, without the operations that verify them.

use crate::harness::{NOW, Node};
use dropleaf_core::custom_domain::{CustomDomain, DomainStatus};
use dropleaf_core::hostname::Hostname;
use dropleaf_store::{Stmt, custom_domains, revisions};
use serde_json::Value;

/// The root of a name at this node.
pub(crate) fn root(node: &Node, hostname: &str) -> String {
    node.app().hosts.domain_url(hostname)
}

/// A name of the site's owner with this status.
pub(crate) async fn domain(node: &Node, hostname: &str, site: &Value, status: DomainStatus) -> CustomDomain {
    let site_id = site["id"].as_str().unwrap();
    let owners = "SELECT account_id FROM sites WHERE id = $1";
    let owner = node.rows(owners, vec![site_id.into()], |row| row.string(0)).await;
    CustomDomain {
        hostname: Hostname::parse_stored(hostname.to_owned()),
        account_id: owner[0].clone(),
        site_id: site_id.to_owned(),
        status,
        is_primary: false,
        created_at: NOW,
        verified_at: None,
        last_checked_at: None,
        last_error: None,
        failing_since: None,
        notice: None,
        next_check_at: NOW,
    }
}

/// Changes custom domains as the operations do: with the revision, and in force on this node at once.
pub(crate) async fn change(node: &Node, mut stmts: Vec<Stmt>) {
    stmts.push(revisions::advance(revisions::DOMAINS));
    node.commit(stmts).await;
    node.app().served_domains_changed().await.unwrap();
}

/// Adds a name with this status, and returns its root.
pub(crate) async fn add(node: &Node, hostname: &str, site: &Value, status: DomainStatus) -> String {
    let domain = domain(node, hostname, site, status).await;
    change(node, custom_domains::insert(&domain, 1000).into()).await;
    root(node, hostname)
}

/// Adds a verified name, and returns its root.
pub(crate) async fn serve(node: &Node, hostname: &str, site: &Value) -> String {
    add(node, hostname, site, DomainStatus::Verified).await
}

/// Adds a verified name that the URL of the site shows.
pub(crate) async fn serve_as_primary(node: &Node, hostname: &str, site: &Value) -> String {
    let mut domain = domain(node, hostname, site, DomainStatus::Verified).await;
    domain.is_primary = true;
    let mut stmts = Vec::from(custom_domains::insert(&domain, 1000));
    stmts.push(custom_domains::refresh_primary(&domain.site_id));
    change(node, stmts).await;
    root(node, hostname)
}
