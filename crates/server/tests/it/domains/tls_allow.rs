//! `GET /tls/allow`: for which names a reverse proxy may obtain a certificate.

use crate::domains::served_names::{add, serve};
use crate::harness::{Form, Node, Setup, page};
use dropleaf_core::custom_domain::DomainStatus;
use serde_json::json;

const API: &str = "api.example.org";

fn setup() -> Setup {
    Setup::new()
        .set("base_url", format!("https://{API}"))
        .set("site_url", "https://pages.example.net")
        .set("agents_url", "https://agents.example.org")
}

async fn with_domains(setup: Setup) -> Node {
    let node = setup.start().await;
    let form = Form::file("a.html", page("A")).field("slug", "existing");
    let site = node.post("/sites").host(API).key(&node.key).form(form).send().await.expect(201).json();
    serve(&node, "reports.example.com", &site).await;
    add(&node, "pending.example.com", &site, DomainStatus::Pending).await;
    add(&node, "failed.example.com", &site, DomainStatus::Failed).await;
    node
}

#[tokio::test]
async fn verified_names_and_our_own_may_have_a_certificate() {
    let node = with_domains(setup()).await;
    let ask = |domain: &str| node.get(&format!("/tls/allow?domain={domain}")).host(API).send();
    for name in
        ["reports.example.com", "Reports.Example.com.", API, "pages.example.net", "agents.example.org"]
    {
        assert_eq!(ask(name).await.expect(200).json(), json!({"allowed": true}), "{name}");
    }
    for name in [
        "pending.example.com",
        "failed.example.com",
        "unknown.example.com",
        "a.reports.example.com",
        "existing.pages.example.net",
        "s-abc.pages.example.net",
        "d-abc.pages.example.net",
        "127.0.0.1",
        "reports.example.com:443",
        "*.example.com",
    ] {
        ask(name).await.refused(404, "not_found");
    }
    for query in ["", "?", "?domain=", "?name=reports.example.com"] {
        node.get(&format!("/tls/allow{query}")).host(API).send().await.refused(400, "invalid_field");
    }
    node.post("/tls/allow").host(API).send().await.expect(405);
}

#[tokio::test]
async fn proxy_on_this_machine_asks_by_any_name_and_no_one_through_it() {
    let node = with_domains(setup()).await;
    let allowed = "/tls/allow?domain=reports.example.com";
    let local = format!("127.0.0.1:{}", node.port);
    for host in [&local, "localhost", "dropleaf:8080"] {
        node.get(allowed).host(host).send().await.expect(200);
        node.get("/tls/allow?domain=unknown.example.com").host(host).send().await.refused(404, "not_found");
        node.get("/tls/allowed").host(host).send().await.refused(421, "misdirected_host");
        node.get("/me").host(host).key(&node.key).send().await.refused(421, "misdirected_host");
        for (name, value) in
            [("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9"), ("via", "1.1 Caddy")]
        {
            let forwarded = node.get(allowed).host(host).header(name, value).send().await;
            forwarded.refused(421, "misdirected_host");
        }
    }
    // On hosts of pages it is a path like any other.
    for host in
        ["reports.example.com", "pages.example.net", "existing.pages.example.net", "agents.example.org"]
    {
        node.get(allowed).host(host).send().await.expect(404);
    }
}
