//! `agents_url`: a host for paying agents, where POST / publishes and GET / describes how.

use crate::harness::{Node, Setup, page};
use dropleaf::config::{Layers, Sources};
use serde_json::json;

const AGENTS: &str = "agents.example.org";

async fn node() -> Node {
    Setup::new().set("agents_url", format!("http://{AGENTS}")).start().await
}

#[tokio::test]
async fn root_publishes_and_tells_how() {
    let node = node().await;
    let api = node.post("/publish").send().await.refused(402, "payment_required");
    let agents = node.post("/").host(AGENTS).send().await.refused(402, "payment_required");
    assert_eq!(agents.header("payment-required"), api.header("payment-required"));
    assert_eq!(agents.body, api.body, "the same terms: addresses come from the settings");
    node.post("/").host(AGENTS).json(&json!({"html": ""})).send().await.refused(400, "empty_file");
    let record = node.get("/").host(AGENTS).send().await.expect(200).json();
    assert_eq!(record["record_version"], 1);
    assert_eq!(record["service"]["agents_url"], format!("http://{AGENTS}"));
    assert_eq!(record, node.get("/.well-known/x402-service").send().await.expect(200).json());
    assert!(node.get("/auth.md").send().await.text().contains(&format!("http://{AGENTS}")));
}

#[tokio::test]
async fn paid_routes_discovery_and_updates_work_there_too() {
    let node = node().await;
    let at = |path: &str| node.get(path).host(AGENTS);
    for path in [
        "/.well-known/x402-service",
        "/.well-known/x402",
        "/discovery/resources",
        "/openapi.json",
        "/provision",
        "/unlock",
    ] {
        at(path).send().await.expect(200);
    }
    at("/publish").send().await.refused(402, "payment_required");
    for path in ["/publish", "/provision"] {
        node.post(path).host(AGENTS).send().await.refused(402, "payment_required");
    }
    node.post("/unlock?feature=make_permanent").host(AGENTS).send().await.refused(401, "auth required");
    let site = node.publish_anonymously().await;
    let (id, claim) = (site["id"].as_str().unwrap(), site["claim_token"].as_str().unwrap());
    let put = node.put(&format!("/sites/{id}")).host(AGENTS).claim(claim).json(&json!({"html": page("New")}));
    assert_eq!(put.send().await.expect(200).json()["version"], 2);
    let adopt = node.post(&format!("/sites/{id}/claim")).host(AGENTS).key(&node.key);
    adopt.json(&json!({"claim_token": claim})).send().await.expect(200);
    let preflight = node.ask(reqwest::Method::OPTIONS, "/").host(AGENTS).send().await.expect(204);
    assert!(preflight.header("access-control-allow-headers").contains("PAYMENT-SIGNATURE"));
}

#[tokio::test]
async fn nothing_else_is_behind_it() {
    let node = node().await;
    let site = node.publish_page("Mine").await;
    let own = crate::harness::site_path(&site);
    for path in [
        "/dashboard",
        "/login",
        "/operator",
        "/sites",
        "/me",
        "/api-keys",
        "/mcp",
        "/docs",
        "/oauth/token",
        &own,
    ] {
        for method in ["GET", "POST", "DELETE", "PATCH"] {
            let ask = node.ask(method.parse().unwrap(), path).host(AGENTS).key(&node.key);
            ask.send().await.refused(404, "not_found");
        }
        let browser = node.get(path).host(AGENTS).browser().send().await.expect(404);
        assert!(!browser.has("set-cookie"), "{path}");
    }
    let page = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    node.get(&page).host(AGENTS).send().await.expect(404);
    node.get("/healthz").host(AGENTS).send().await.expect(200);
}

#[tokio::test]
async fn name_below_the_pages_host_that_no_page_can_have_will_do() {
    let node = Setup::new()
        .set("base_url", "http://api.example.org")
        .set("site_url", "http://pages.example.net")
        .set("agents_url", "http://agents.pages.example.net")
        .start()
        .await;
    node.post("/").host("agents.pages.example.net").send().await.refused(402, "payment_required");
}

#[test]
fn address_that_means_something_else_is_refused_at_the_start() {
    let resolve = |agents_url: &str| {
        let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let flags = vec![
            set("base_url", "https://api.example.org"),
            set("site_url", "https://pages.example.net"),
            set("agents_url", agents_url),
        ];
        let layers = Layers::load(&Sources { flags, ..Sources::default() }).unwrap();
        layers.config().unwrap().resolve(8080)
    };
    for taken in [
        "https://api.example.org",
        "https://pages.example.net",
        "https://report.pages.example.net",
        "https://s-abc.pages.example.net",
        "agents.example.org",
        "https://agents.example.org/path",
    ] {
        let why = resolve(taken).unwrap_err().to_string();
        assert!(why.contains("agents_url"), "{taken}: {why}");
    }
    resolve("https://agents.example.org").unwrap();
}
