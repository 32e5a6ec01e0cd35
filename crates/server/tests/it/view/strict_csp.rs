//! `csp_strict`: the exact policy, the hashes of the page's own scripts, and the warnings for the publisher. Spec §1.4.

use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path, zip};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn source(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}

fn policy(scripts: &[&str], shared: bool) -> String {
    let mut sources: Vec<String> = scripts.iter().map(|script| source(script)).collect();
    sources.sort();
    let scripts =
        ["'self' 'wasm-unsafe-eval'".to_owned()].into_iter().chain(sources).collect::<Vec<_>>().join(" ");
    let origin = if shared { "" } else { "allow-same-origin " };
    let (frames, own) = if shared { ("'none'", "'none'") } else { ("'self' blob: data:", "'self'") };
    format!(
        "default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; \
         manifest-src 'self'; frame-src {frames}; object-src 'none'; base-uri 'none'; form-action {own}; \
         frame-ancestors {own}; \
         sandbox allow-scripts {origin}allow-forms allow-modals allow-downloads"
    )
}

/// The policy at the shared address and at the page's own host.
async fn policies(node: &Node, site: &Value) -> (String, String) {
    let url = site["url"].as_str().unwrap();
    let shared = node.get(url).send().await.expect(200);
    let own = node.get(url).browser().send().await.expect(307).header("location").to_owned();
    let own = node.get(&own).browser().send().await.expect(200);
    let read = |answer: crate::harness::Answer| answer.header("content-security-policy").to_owned();
    (read(shared), read(own))
}

fn told(answer: &Value) -> String {
    answer["warnings"].to_string()
}

#[tokio::test]
async fn policy_names_the_pages_own_inline_scripts() {
    on_each_database(Setup::new, async |node| {
        let html = "<title>S</title><script>one()</script><script type=module>two()</script><script type=application/json>{}</script>";
        let site = node.publish(Form::file("a.html", html).field("csp_strict", "true")).await;
        let scripts = ["one()", "two()"];
        assert_eq!(policies(node, &site).await, (policy(&scripts, true), policy(&scripts, false)));
        assert_eq!(told(&site), "[]");

        let put = node.put(&site_path(&site)).key(&node.key);
        put.json(&json!({"html": "<title>S</title><script>three()</script>"})).send().await.expect(200);
        assert_eq!(policies(node, &site).await.1, policy(&["three()"], false), "a replacement has its own");
        let back = node.post(&format!("{}/rollback", site_path(&site))).key(&node.key);
        back.json(&json!({"version": 1})).send().await.expect(200);
        assert_eq!(policies(node, &site).await.1, policy(&scripts, false), "and so has an older version");
    })
    .await;
}

#[tokio::test]
async fn scripts_of_every_page_of_an_archive_are_allowed() {
    let long = format!("/*{}*/", "x".repeat(6_000_000));
    let files = [
        ("index.html", "<script>a()</script>".to_owned()),
        ("docs/b.html", "<script>b()</script>".to_owned()),
        ("large.html", format!("<script>{long}</script>")),
        ("c.txt", "<script>c()</script>".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let node = Setup::new().set("limits.ratio", "100000").start().await;
    let site = node.publish(Form::file("s.zip", zip(&files)).field("csp_strict", "true")).await;
    assert_eq!(policies(&node, &site).await.1, policy(&["a()", "b()", &long], false));
    assert_eq!(
        node.get(&format!("{}large.html", site["url"].as_str().unwrap())).send().await.expect(200).body.len(),
        long.len() + 17,
        "reading it for its scripts took nothing away"
    );
}

#[tokio::test]
async fn workers_and_other_files_obey_the_policy_too() {
    let node = Setup::new().start().await;
    let files =
        [("index.html", "<script src=w.js></script>"), ("w.js", "fetch('https://elsewhere.example')")];
    let site = node.publish(Form::file("s.zip", zip(&files)).field("csp_strict", "true")).await;
    let url = site["url"].as_str().unwrap();
    let own = node.get(url).browser().send().await.expect(307).header("location").to_owned();
    for (root, shared) in [(url, true), (own.as_str(), false)] {
        let script = node.get(&format!("{root}w.js")).send().await.expect(200);
        assert_eq!(script.header("content-security-policy"), policy(&[], shared));
    }
}

#[tokio::test]
async fn existing_page_becomes_strict_with_its_scripts_and_warnings() {
    on_each_database(Setup::new, async |node| {
        let html = "<title>L</title><script>late()</script><button onclick=go()>x</button><img src=https://x.example/a.png>";
        let site = node.publish(Form::file("a.html", html)).await;
        assert_eq!(policies(node, &site).await.1, "");
        let answer = node.patch_site(&site, json!({"csp_strict": true})).await.expect(200).json();
        assert!(told(&answer).contains("onclick in index.html"), "{answer}");
        assert!(told(&answer).contains("https://x.example/a.png"), "{answer}");
        assert_eq!(policies(node, &site).await, (policy(&["late()"], true), policy(&["late()"], false)));
        node.patch_site(&site, json!({"csp_strict": false})).await.expect(200);
        assert_eq!(policies(node, &site).await.1, "");
    })
    .await;
}

#[tokio::test]
async fn more_than_64_inline_scripts_are_422() {
    on_each_database(Setup::new, async |node| {
        let html = |n: usize| (0..n).fold(String::new(), |page, n| format!("{page}<script>f({n})</script>"));
        let strict = |n| Form::file("a.html", html(n)).field("csp_strict", "true");
        let refused = node.post("/sites").key(&node.key).form(strict(65)).send().await;
        refused.refused(422, "too_many_scripts");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
        let full = node.publish(strict(64)).await;
        assert_eq!(policies(node, &full).await.1.matches("sha256-").count(), 64);
        let put = node.put(&site_path(&full)).key(&node.key).form(Form::file("a.html", html(65)));
        put.send().await.refused(422, "too_many_scripts");

        let lax = node.publish(Form::file("a.html", html(65))).await;
        node.patch_site(&lax, json!({"csp_strict": true})).await.refused(422, "too_many_scripts");
        assert_eq!(node.read_site(&lax).await["csp_strict"], false);
    })
    .await;
}

#[tokio::test]
async fn publisher_is_told_what_will_be_blocked() {
    let node = Node::start().await;
    let html = "<title>B</title><script src=https://cdn.example/a.js></script><form action=https://cdn.example/></form><iframe src=https://cdn.example/></iframe>";
    let site = node.publish(Form::file("a.html", html).field("csp_strict", "true")).await;
    for what in ["scripts from other sites", "form submissions to other sites", "frames"] {
        assert!(told(&site).contains(what), "{what}: {site}");
    }
    let lax = node.publish(Form::file("a.html", html)).await;
    assert!(!told(&lax).contains("csp_strict"), "{lax}");
    let sealed = Form::file("x", noise("sealed", 100)).field("e2e", "true").field("csp_strict", "true");
    assert!(told(&node.publish(sealed).await).contains("cannot read an encrypted page"));
    let plain = node.publish(Form::file("a.html", page("Plain")).field("csp_strict", "true")).await;
    assert_eq!(policies(&node, &plain).await.1, policy(&[], false));
}
