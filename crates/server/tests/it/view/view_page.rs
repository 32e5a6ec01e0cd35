//! `GET {site_url}/p/<token>/`: responses for a page and for a missing one.

use crate::harness::{DAY, Form, HOUR, Node, Setup, on_each_database, page, site_path};
use serde_json::json;

const SAFARI: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15";

#[tokio::test]
async fn plain_client_gets_the_page_directly() {
    let node = Node::start().await;
    let site = node.publish_page("Direct").await;
    let answer =
        node.get(site["url"].as_str().unwrap()).header("user-agent", "curl/8").send().await.expect(200);
    assert_eq!(answer.text(), page("Direct"));
}

#[tokio::test]
async fn browser_is_sent_to_the_pages_own_host_with_its_query() {
    let node = Node::start().await;
    let site = node.publish_page("Own host").await;
    let token = site["unlisted_token"].as_str().unwrap();
    let url = format!("{}deep/file.html?a=1&b=%20x", site["url"].as_str().unwrap());
    let answer = node.get(&url).browser().send().await.expect(307);
    let target = answer.header("location").to_owned();
    let (host, rest) = target.strip_prefix("http://").unwrap().split_once('/').unwrap();
    assert!(host.starts_with("s-") && host.ends_with(&format!(".localhost:{}", node.port)), "{host}");
    assert!(!host.contains(token), "the token must not show in names");
    assert_eq!(rest, format!("p/{token}/deep/file.html?a=1&b=%20x"));
    assert_eq!(answer.header("cache-control"), "no-store");

    let root = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    let own = node.get(root.header("location")).browser().send().await.expect(200);
    assert_eq!(own.text(), page("Own host"));
    let agent_only =
        node.get(site["url"].as_str().unwrap()).header("user-agent", "Mozilla/5.0 (X11) Firefox/140.0");
    agent_only.send().await.expect(307);
    let part = node.get(site["url"].as_str().unwrap()).header("sec-fetch-mode", "cors");
    part.send().await.expect(200);
}

#[tokio::test]
async fn safari_on_loopback_is_answered_in_sandbox() {
    let node = Node::start().await;
    let site = node.publish_page("Safari").await;
    let ask = node.get(site["url"].as_str().unwrap()).header("user-agent", SAFARI);
    let answer = ask.header("sec-fetch-mode", "navigate").send().await.expect(200);
    assert!(answer.header("content-security-policy").starts_with("sandbox "));
}

#[tokio::test]
async fn own_host_serves_only_its_own_page() {
    let node = Node::start().await;
    let (a, b) = (node.publish_page("A").await, node.publish_page("B").await);
    let root = node.get(a["url"].as_str().unwrap()).browser().send().await.expect(307);
    let (origin, _) = root.header("location").split_once("/p/").unwrap();
    let foreign = format!("{origin}/p/{}/", b["unlisted_token"].as_str().unwrap());
    node.get(&foreign).send().await.expect(404);
    for path in ["/", "/sites", "/me", "/docs", "/openapi.json", "/api-keys", "/claim/x"] {
        node.get(&format!("{origin}{path}")).key(&node.key).send().await.expect(404);
    }
}

#[tokio::test]
async fn sandbox_mode_never_redirects_and_serves_public_pages_by_path() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let site = node.publish(Form::file("a.html", page("Shared")).field("slug", "by-path")).await;
    assert_eq!(site["url"], format!("{}/s/by-path/", node.base_url()));
    let token_link = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    for target in [site["url"].as_str().unwrap(), &token_link] {
        let answer = node.get(target).browser().send().await.expect(200);
        assert!(answer.header("content-security-policy").starts_with("sandbox "), "{target}");
    }
    node.get("/s/by-path").send().await.expect(308);
    node.get("/s/unknown/").send().await.expect(404);
}

#[tokio::test]
async fn ip_address_as_site_host_falls_back_to_paths() {
    let node = Setup::new().set("listen", "127.0.0.1:0").start().await;
    let site = node.publish(Form::file("a.html", page("IP")).field("slug", "on-an-ip")).await;
    assert_eq!(site["url"], format!("http://127.0.0.1:{}/s/on-an-ip/", node.port));
    node.get(site["url"].as_str().unwrap()).browser().send().await.expect(200);
}

#[tokio::test]
async fn missing_slash_is_added_with_the_query_kept() {
    let node = Node::start().await;
    let site = node.publish_page("Slash").await;
    let token = site["unlisted_token"].as_str().unwrap();
    let answer = node.get(&format!("/p/{token}?x=1")).send().await.expect(308);
    assert_eq!(answer.header("location"), format!("/p/{token}/?x=1"));
}

#[tokio::test]
async fn what_never_existed_is_404_in_the_callers_words() {
    let node = Node::start().await;
    for path in ["/p/AAAAAAAAAAAAAAAAAAAAAA/", "/p/short/", "/p/", "/p/AAAAAAAAAAAAAAAAAAAAAAA/"] {
        let json = node.get(path).header("accept", "application/json").send().await;
        json.refused(404, "not_found");
        let text = node.get(path).send().await.expect(404);
        assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
        assert!(text.text().starts_with("404 "), "{}", text.text());
        let designed = node.get(path).browser().send().await.expect(404);
        assert_eq!(designed.header("content-type"), "text/html; charset=utf-8");
        assert!(designed.text().contains("<!doctype html>") || designed.text().contains("<!DOCTYPE html>"));
    }
}

#[tokio::test]
async fn what_is_gone_is_410_and_says_why() {
    on_each_database(Setup::new, async |node| {
        let brief = node.publish(Form::file("a.html", page("Brief")).field("expires_in_hours", "1")).await;
        let deleted = node.publish_page("Deleted").await;
        node.get(brief["url"].as_str().unwrap()).send().await.expect(200);
        node.clock.advance(HOUR);
        node.delete(&site_path(&deleted)).key(&node.key).send().await.expect(200);
        for (site, code) in [(&brief, "expired"), (&deleted, "deleted")] {
            let url = site["url"].as_str().unwrap();
            node.get(url).header("accept", "application/json").send().await.refused(410, code);
            let designed = node.get(url).browser().send().await.expect(410);
            assert!(designed.header("content-type").starts_with("text/html"));
            assert_eq!(designed.header("cache-control"), "no-store");
        }
        let unowned = node.publish_anonymously().await;
        node.clock.advance(DAY);
        node.get(unowned["url"].as_str().unwrap()).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn protected_pages_are_refused_to_viewers() {
    on_each_database(Setup::new, async |node| {
        for (change, code) in [
            (json!({"password": "secret"}), "password_required"),
            (json!({"email_gate_domain": "example.org"}), "email_required"),
        ] {
            let site = node.publish_page("Guarded").await;
            let url = site["url"].as_str().unwrap();
            node.get(url).send().await.expect(200);
            node.patch_site(&site, change.clone()).await.expect(200);
            let answer = node.get(url).header("accept", "application/json").send().await;
            answer.refused(401, code);
            for ask in [node.head(url), node.get(url).header("range", "bytes=0-1")] {
                let answer = ask.send().await.expect(401);
                assert!(!answer.text().contains("Guarded"), "{change}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn service_worker_scripts_are_refused() {
    let node = Node::start().await;
    let site = node.publish_page("Worker").await;
    let ask = node.get(site["url"].as_str().unwrap()).header("service-worker", "script");
    ask.header("accept", "application/json").send().await.refused(403, "service_worker_refused");
}

#[tokio::test]
async fn other_methods_are_405() {
    let node = Node::start().await;
    let site = node.publish_page("Read only").await;
    let url = site["url"].as_str().unwrap();
    for ask in [node.post(url), node.put(url), node.delete(url), node.patch(url)] {
        let answer = ask.header("accept", "application/json").send().await.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), "GET, HEAD");
    }
}
