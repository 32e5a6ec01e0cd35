//! The toolbar: its script, and the tag inserted into documents in every coding, for HEAD and for validators.

use crate::harness::{Answer, Form, Node, noise, page, zip};
use serde_json::{Value, json};
use std::io::Read;

async fn own_root(node: &Node, site: &Value) -> String {
    let sent = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    sent.header("location").to_owned()
}

/// Large enough to be compressed.
fn long_page() -> String {
    format!("{}{}", page("Long"), "<p>hello hello hello</p>".repeat(100))
}

/// The document without the toolbar, and the inserted tag.
fn taken_out(html: &str) -> (String, String) {
    let at = html.find("<script src=").unwrap();
    let end = at + html[at..].find("</script>").unwrap() + "</script>".len();
    (format!("{}{}", &html[..at], &html[end..]), html[at..end].to_owned())
}

fn decoded(answer: &Answer) -> Vec<u8> {
    let mut plain = Vec::new();
    match answer.header("content-encoding") {
        "zstd" => plain = zstd::stream::decode_all(&answer.body[..]).unwrap(),
        "br" => drop(brotli::Decompressor::new(&answer.body[..], 4096).read_to_end(&mut plain).unwrap()),
        "gzip" => drop(flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut plain).unwrap()),
        _ => plain.clone_from(&answer.body),
    }
    plain
}

#[tokio::test]
async fn document_gets_the_toolbar_into_its_head_on_its_own_host_only() {
    let node = Node::start().await;
    let source = long_page();
    let form = Form::file("a.html", &source).field("agentation", "true").field("slug", "annotated");
    let site = node.publish(form).await;
    let token = site["unlisted_token"].as_str().unwrap();
    let slug = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    let (rest, tag) = taken_out(&slug.text());
    assert_eq!(rest, source);
    assert!(slug.text().contains(&format!("<head>{tag}<title>")), "{}", &slug.text()[..200]);
    let version = tag.strip_prefix("<script src=/_dropleaf/toolbar.js?v=").unwrap();
    let version = version.strip_suffix(" defer></script>").unwrap();
    assert!(version.len() == 16 && version.bytes().all(|b| b.is_ascii_hexdigit()));
    let shared = format!("/p/{token}/");
    let own = node.get(&shared).browser().send().await.expect(307).header("location").to_owned();
    let isolated = node.get(&own).browser().send().await.expect(200).text();
    let expected = format!("<script src=/p/{token}/_dropleaf/toolbar.js?v={version} defer></script>");
    assert_eq!(taken_out(&isolated), (source.clone(), expected));
    // In the sandbox of the shared address it could not post.
    assert_eq!(node.get(&shared).send().await.expect(200).text(), source);
    let stored = node.get(&format!("/sites/{}/content", site["id"].as_str().unwrap())).key(&node.key);
    assert_eq!(stored.send().await.expect(200).text(), source, "what is stored stays as it was");
}

#[tokio::test]
async fn every_coding_head_and_validator_is_right() {
    let node = Node::start().await;
    let source = long_page();
    let site = node.publish(Form::file("a.html", &source).field("agentation", "true")).await;
    let plain = node.publish(Form::file("a.html", &source)).await;
    let (root, other) = (own_root(&node, &site).await, own_root(&node, &plain).await);
    let whole = node.get(&root).send().await.expect(200);
    assert_eq!(taken_out(&whole.text()).0, source);
    let mut tags = std::collections::HashSet::new();
    for coding in ["identity", "gzip", "br", "zstd"] {
        let ask = || node.get(&root).header("accept-encoding", coding);
        let answer = ask().send().await.expect(200);
        assert_eq!(answer.header("content-encoding"), if coding == "identity" { "" } else { coding });
        assert_eq!(decoded(&answer), whole.body, "{coding}");
        assert_eq!(answer.header("content-length"), answer.body.len().to_string());
        assert_eq!(answer.header("accept-ranges"), "none");
        assert_eq!(answer.header("vary"), "Accept-Encoding");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        let etag = answer.header("etag").to_owned();
        let bare = node.get(&other).header("accept-encoding", coding).send().await.expect(200);
        assert_ne!(etag, bare.header("etag"), "a body of its own has a validator of its own");
        assert_eq!(bare.header("accept-ranges"), "bytes");
        assert!(tags.insert(etag.clone()));
        let head = node.head(&root).header("accept-encoding", coding).send().await.expect(200);
        assert_eq!((head.header("etag"), head.body.len()), (etag.as_str(), 0));
        assert_eq!(head.header("content-length"), answer.header("content-length"));
        assert_eq!(head.header("content-encoding"), answer.header("content-encoding"));
        let same = ask().header("if-none-match", &etag).send().await.expect(304);
        assert_eq!((same.header("etag"), same.body.len()), (etag.as_str(), 0));
        ask().header("if-none-match", bare.header("etag")).send().await.expect(200);
        let part = ask().header("range", "bytes=0-3").send().await.expect(200);
        assert_eq!(decoded(&part), whole.body, "never in parts");
    }
}

#[tokio::test]
async fn change_of_the_setting_changes_the_validator() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", long_page())).await;
    let root = own_root(&node, &site).await;
    let before = node.get(&root).send().await.expect(200);
    node.patch_site(&site, json!({"agentation": true})).await.expect(200);
    let after = node.get(&root).header("if-none-match", before.header("etag")).send().await.expect(200);
    assert!(after.text().contains("toolbar.js"));
    node.patch_site(&site, json!({"agentation": false})).await.expect(200);
    let back = node.get(&root).header("if-none-match", after.header("etag")).send().await.expect(200);
    assert_eq!(back.body, before.body);
}

#[tokio::test]
async fn strict_policy_lets_the_toolbar_in() {
    let node = Node::start().await;
    let form = Form::file("a.html", page("x")).field("agentation", "true").field("csp_strict", "true");
    let root = own_root(&node, &node.publish(form).await).await;
    let answer = node.get(&root).browser().send().await.expect(200);
    assert!(answer.text().contains("toolbar.js"));
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && policy.contains("connect-src 'self'"), "{policy}");
}

#[tokio::test]
async fn every_html_page_of_an_archive_and_nothing_else_gets_it() {
    let node = Node::start().await;
    let files = [
        ("index.html", "<p>index"),
        ("deep/index.html", "<p>deep"),
        ("404.html", "<p>missing"),
        ("app.js", "let x = 1;"),
        ("data.json", "{}"),
        ("notes.txt", "text"),
        ("logo.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
    ];
    let site = node.publish(Form::file("a.zip", zip(&files)).field("agentation", "true")).await;
    let root = own_root(&node, &site).await;
    let token = site["unlisted_token"].as_str().unwrap();
    let tag = format!("<script src=/p/{token}/_dropleaf/toolbar.js?v=");
    for (path, status) in [("", 200), ("deep/", 200), ("none", 404)] {
        let answer = node.get(&format!("{root}{path}")).send().await.expect(status);
        assert!(answer.text().contains(&tag), "{path}");
    }
    for (path, text) in &files[3..] {
        let answer = node.get(&format!("{root}{path}")).send().await.expect(200);
        assert_eq!((answer.text().as_str(), answer.header("accept-ranges")), (*text, "bytes"), "{path}");
    }
}

#[tokio::test]
async fn markdown_and_two_byte_text_get_it_in_their_own_letters() {
    let node = Node::start().await;
    let notes = node.publish(Form::file("a.md", "# Notes").field("agentation", "true")).await;
    let notes = node.get(&own_root(&node, &notes).await).send().await.expect(200);
    assert!(taken_out(&notes.text()).0.contains("Notes"));
    let wide = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let form = Form::file("a.html", wide("<p>wide</p>")).field("agentation", "true");
    let shown = node.get(&own_root(&node, &node.publish(form).await).await).send().await.expect(200).body;
    let units: Vec<u16> = shown.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    assert_eq!(taken_out(&String::from_utf16(&units).unwrap()).0, "\u{feff}<p>wide</p>");
}

#[tokio::test]
async fn very_large_document_gets_it_while_it_is_streamed() {
    let node = Node::start().await;
    let source = format!("<!doctype html>{}", "<p>a large page</p>".repeat(300_000));
    let site = node.publish(Form::file("a.html", &source).field("agentation", "true")).await;
    let root = own_root(&node, &site).await;
    let answer = node.get(&root).send().await.expect(200);
    assert_eq!((answer.header("accept-ranges"), answer.header("content-encoding")), ("none", ""));
    let (rest, tag) = taken_out(&answer.text());
    assert!(rest == source && answer.text().starts_with(&format!("<!doctype html>{tag}<p>")));
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
    let head = node.head(&root).send().await.expect(200);
    assert_eq!(head.header("content-length"), answer.header("content-length"));
    assert_eq!((head.header("etag"), head.body.len()), (answer.header("etag"), 0));
    let same = node.get(&root).header("if-none-match", answer.header("etag")).send().await.expect(304);
    assert_eq!(same.body.len(), 0);
    let part = node.get(&root).header("range", "bytes=0-3").send().await.expect(200);
    assert!(part.body == answer.body, "never in parts");
}

#[tokio::test]
async fn views_of_annotated_pages_are_counted_alike() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("x")).field("agentation", "true")).await;
    let root = own_root(&node, &site).await;
    node.get(&root).send().await.expect(200);
    node.head(&root).send().await.expect(200);
    node.get(&format!("{root}_dropleaf/toolbar.js")).send().await.expect(200);
    assert_eq!(node.read_site(&site).await["view_count"], 1);
}

#[tokio::test]
async fn script_is_kept_for_ever_under_its_own_name() {
    let node = Node::start().await;
    let form = Form::file("a.html", page("x")).field("agentation", "true").field("password", "hunter2");
    let site = node.publish(form).await;
    let root = own_root(&node, &site).await;
    let plain = node.get(&format!("{root}_dropleaf/toolbar.js")).send().await.expect(200);
    assert_eq!(plain.header("content-type"), "text/javascript; charset=utf-8");
    assert_eq!(plain.header("x-content-type-options"), "nosniff");
    assert_eq!(plain.header("cross-origin-resource-policy"), "same-origin");
    assert_eq!(plain.header("cache-control"), "no-cache");
    let etag = plain.header("etag");
    let version = etag.trim_matches('"').split('-').next().unwrap();
    let named = format!("{root}_dropleaf/toolbar.js?v={version}");
    let kept = node.get(&named).send().await.expect(200);
    assert_eq!(kept.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(kept.body, plain.body);
    node.get(&named).header("if-none-match", etag).send().await.expect(304);
    let head = node.head(&named).send().await.expect(200);
    assert_eq!(head.header("content-length"), plain.body.len().to_string());
    for coding in ["gzip", "br", "zstd"] {
        let coded = node.get(&named).header("accept-encoding", coding).send().await.expect(200);
        assert_eq!(coded.header("content-encoding"), coding);
        assert_eq!(decoded(&coded), plain.body);
        assert_ne!(coded.header("etag"), etag);
        assert_eq!(coded.header("vary"), "Accept-Encoding");
    }
    let other = node.publish_page("no toolbar").await;
    node.get(&format!("{}_dropleaf/toolbar.js", other["url"].as_str().unwrap())).send().await.expect(404);
}

#[tokio::test]
async fn burning_and_encrypted_pages_stay_without_it() {
    let node = Node::start().await;
    let burn = Form::file("a.html", page("x")).field("agentation", "true").field("burn_after_read", "true");
    let burn = own_root(&node, &node.publish(burn).await).await;
    node.get(&format!("{burn}_dropleaf/toolbar.js")).send().await.expect(404);
    let cipher = Form::file("a.bin", noise("cipher", 64)).field("agentation", "true").field("e2e", "true");
    let cipher = node.publish(cipher).await;
    assert_eq!(node.get(cipher["url"].as_str().unwrap()).send().await.expect(200).body, noise("cipher", 64));
}
