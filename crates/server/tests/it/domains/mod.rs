//! Tests of custom domains.

mod lapse;
mod life_cycle;
mod plan;
mod refusals;
mod served_gates;
mod served_hosts;
pub(crate) mod served_names;
mod served_nodes;
mod served_pages;
mod takeover;
mod tls_allow;

use crate::harness::{Answer, DnsServer, Form, Node, Setup, page};
use serde_json::{Value, json};

pub(crate) const NAME: &str = "reports.customer.example";

pub(crate) fn with_dns(dns: &DnsServer) -> Setup {
    Setup::new().set("dns.servers", dns.address()).set("dns.timeout_seconds", "30")
}

pub(crate) async fn publish(node: &Node, key: &str) -> Value {
    node.publish_as(key, Form::file("a.html", page("At a domain"))).await
}

pub(crate) async fn try_add(node: &Node, key: &str, hostname: &str, site: &Value) -> Answer {
    let body = json!({"hostname": hostname, "site_id": site["id"]});
    node.post("/custom-domains").key(key).json(&body).send().await
}

pub(crate) async fn add(node: &Node, key: &str, hostname: &str, site: &Value) -> Value {
    try_add(node, key, hostname, site).await.expect(201).json()
}

pub(crate) async fn verify(node: &Node, key: &str, hostname: &str) -> Answer {
    node.post(&format!("/custom-domains/{hostname}/verify")).key(key).send().await
}

pub(crate) async fn read(node: &Node, key: &str, hostname: &str) -> Value {
    node.get(&format!("/custom-domains/{hostname}")).key(key).send().await.expect(200).json()
}

/// The status after a check now.
pub(crate) async fn verified(node: &Node, key: &str, hostname: &str) -> (String, String) {
    let domain = verify(node, key, hostname).await.expect(200).json();
    let text = |name: &str| domain[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("last_error"))
}

pub(crate) fn target(domain: &Value) -> &str {
    domain["cname_target"].as_str().unwrap()
}

/// Adds a domain whose record exists, and verifies it.
pub(crate) async fn working(node: &Node, dns: &DnsServer, key: &str, hostname: &str) -> (Value, Value) {
    let site = publish(node, key).await;
    let domain = add(node, key, hostname, &site).await;
    dns.cname(hostname, target(&domain));
    let domain = verify(node, key, hostname).await.expect(200).json();
    assert_eq!(domain["status"], "verified", "{domain}");
    (site, domain)
}

/// The primary domain in the row of a site.
pub(crate) async fn primary_of(node: &Node, site: &Value) -> Option<String> {
    let id = site["id"].as_str().unwrap();
    node.rows("SELECT primary_domain FROM sites WHERE id = $1", vec![id.into()], |row| row.opt_string(0))
        .await[0]
        .clone()
}
