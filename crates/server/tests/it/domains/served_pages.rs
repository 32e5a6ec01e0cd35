//! What a page does at a custom domain: its files, strict policy, encryption, feedback, reports, and its canonical URL.

use crate::domains::served_names::{change, domain, serve, serve_as_primary};
use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path, zip};
use dropleaf_core::custom_domain::{CustomDomain, DomainStatus};
use dropleaf_store::custom_domains;
use serde_json::{Value, json};

const NAME: &str = "reports.example.com";

#[tokio::test]
async fn root_absolute_paths_need_no_cookie() {
    let node = Node::start().await;
    let index = "<script src=/assets/app.js></script><a href=/about>about</a>";
    let files = [
        ("index.html", index),
        ("assets/app.js", "run()"),
        ("about.html", "about"),
        ("docs/index.html", "docs"),
    ];
    let site = node.publish(Form::file("s.zip", zip(&files)).field("spa", "true")).await;
    let root = serve(&node, NAME, &site).await;
    for (path, text) in [
        ("", index),
        ("assets/app.js", "run()"),
        ("about", "about"),
        ("docs/", "docs"),
        ("route/of/a/client", index),
    ] {
        let seen = node.get(&format!("{root}{path}")).browser().send().await.expect(200);
        assert_eq!(seen.text(), text, "{path}");
        assert!(!seen.has("set-cookie"), "{path}");
    }
    let folder = node.get(&format!("{root}docs?x=1")).send().await.expect(308);
    assert_eq!(folder.header("location"), "/docs/?x=1");
}

#[tokio::test]
async fn public_page_may_be_cached_briefly_and_others_not() {
    let node = Node::start().await;
    let public = node.publish(Form::file("a.html", page("Public")).field("slug", "public-page")).await;
    let root = serve(&node, NAME, &public).await;
    let seen = node.get(&root).send().await.expect(200);
    assert_eq!(seen.header("cache-control"), "public, max-age=60, must-revalidate");
    node.patch_site(&public, json!({"visibility": "unlisted"})).await.expect(200);
    assert_eq!(node.get(&root).send().await.expect(200).header("cache-control"), "private, no-cache");
}

#[tokio::test]
async fn strict_policy_is_that_of_the_pages_own_host() {
    let node = Node::start().await;
    let html = "<!doctype html><title>S</title><script>run()</script>";
    let site = node.publish(Form::file("a.html", html).field("csp_strict", "true")).await;
    let root = serve(&node, NAME, &site).await;
    let own = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    let own = node.get(own.header("location")).browser().send().await.expect(200);
    let seen = node.get(&root).browser().send().await.expect(200);
    let policy = seen.header("content-security-policy");
    assert!(policy.contains("allow-same-origin") && policy.contains("'sha256-"), "{policy}");
    assert_eq!(policy, own.header("content-security-policy"));
    assert_eq!(seen.header("referrer-policy"), "no-referrer");
}

#[tokio::test]
async fn encrypted_page_opens_in_the_viewer() {
    let node = Node::start().await;
    let bytes = noise("sealed", 5000);
    let site =
        node.publish(Form::file("page.html", &bytes).field("e2e", "true").field("password", "x")).await;
    let root = serve(&node, NAME, &site).await;
    let gate = node.get(&root).browser().send().await.expect(401);
    assert!(!gate.text().contains("action="), "posted to its own address, which keeps the fragment");
    let form = node.post(&root).fields(&[("password", "x")]).browser();
    let form = form.header("origin", root.trim_end_matches('/'));
    let cookie = form.send().await.expect(303).cookie();
    let seen = node.get(&root).browser().cookie(&cookie).send().await.expect(200);
    assert!(seen.text().contains("id=\"payload\""));
    assert_eq!(seen.header("content-security-policy"), "frame-ancestors 'self'");
    assert_eq!(node.get(&root).cookie(&cookie).send().await.expect(200).body, bytes);
}

#[tokio::test]
async fn viewers_comment_at_the_name_and_only_with_its_own_addresses() {
    on_each_database(Setup::new, async |node| {
        let publish = async |title: &str| {
            node.publish(Form::file("a.html", page(title)).field("agentation", "true")).await
        };
        let (site, other) = (publish("Draft").await, publish("Other").await);
        let root = serve(node, NAME, &site).await;
        let second = serve(node, "second.example.com", &site).await;
        let foreign = serve(node, "other.example.com", &other).await;
        let seen = node.get(&root).browser().send().await.expect(200);
        assert!(seen.text().contains("<script src=/_dropleaf/toolbar.js?v="), "{}", seen.text());
        node.get(&format!("{root}_dropleaf/toolbar.js")).send().await.expect(200);
        let say = |page_url: &str, origin: &str| {
            let ask = node
                .post(&format!("{root}_dropleaf/feedback"))
                .header("origin", origin.trim_end_matches('/'));
            ask.json(&json!({"comment": "Old number", "page_url": page_url})).send()
        };
        for url in [&format!("{root}a/b?x=1"), &second, site["url"].as_str().unwrap()] {
            say(url, &root).await.expect(201);
        }
        for url in [
            &foreign,
            other["url"].as_str().unwrap(),
            "http://reports.example.com:1/",
            "https://evil.example/",
        ] {
            say(url, &root).await.expect(400);
        }
        for origin in [&foreign, &second, &node.base_url()] {
            say(&root, origin).await.expect(403);
        }
        let list = node.get(&format!("{root}_dropleaf/feedback")).send().await.expect(200).json();
        assert_eq!(list["feedback"].as_array().unwrap().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn page_is_reported_at_the_name() {
    let node = Node::start().await;
    let site = node.publish_page("Bad").await;
    let root = serve(&node, NAME, &site).await;
    let form = node.get(&format!("{root}_dropleaf/report")).browser().send().await.expect(200);
    assert!(form.text().contains("<form method=\"post\" action=\"/_dropleaf/report\">"));
    let report = |origin: &str| {
        let ask = node.post(&format!("{root}_dropleaf/report")).browser().header("sec-fetch-user", "?1");
        let ask = ask.header("sec-fetch-dest", "document").header("origin", origin);
        ask.fields(&[("reason", "phishing")]).send()
    };
    report("https://evil.example").await.expect(403);
    assert_eq!(
        report(root.trim_end_matches('/')).await.expect(303).header("location"),
        "/_dropleaf/report?sent"
    );
    assert_eq!(node.count("SELECT COUNT(*) FROM reports").await, 1);
}

#[tokio::test]
async fn canonical_url_is_the_primary_domain() {
    on_each_database(Setup::new, async |node| {
        let form = Form::file("a.html", page("Report")).field("slug", "the-report");
        let site = node.publish(form).await;
        let id = site["id"].as_str().unwrap();
        let root = serve_as_primary(node, NAME, &site).await;
        assert_eq!(node.read_site(&site).await["url"], root);
        let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
        let urls: Vec<&Value> = list["sites"].as_array().unwrap().iter().map(|site| &site["url"]).collect();
        assert_eq!(urls, [&json!(root)]);
        node.patch_site(&site, json!({"visibility": "unlisted"})).await.expect(200);
        let put = node.put(&site_path(&site)).key(&node.key).form(Form::file("a.html", page("New")));
        put.send().await.expect(200);
        assert_eq!(node.read_site(&site).await["url"], root);
        assert_eq!(node.get(&root).send().await.expect(200).text(), page("New"));
        // Other addresses stay.
        node.get(&format!("/p/{}/", site["unlisted_token"].as_str().unwrap())).send().await.expect(200);
        let mut domain = domain(node, NAME, &site, DomainStatus::Verified).await;
        domain.is_primary = true;
        let demoted = CustomDomain { is_primary: false, ..domain.clone() };
        change(node, vec![custom_domains::update(&domain, &demoted), custom_domains::refresh_primary(id)])
            .await;
        assert_ne!(node.read_site(&site).await["url"], root);
    })
    .await;
}
