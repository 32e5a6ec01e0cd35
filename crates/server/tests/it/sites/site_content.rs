//! `GET /sites/{idOrSlug}/content`: the stored document verbatim. Spec §4.

use crate::harness::{Form, Node, Setup, noise, on_each_database, page, pdf, site_path, zip};
use serde_json::json;

#[tokio::test]
async fn stored_html_comes_back_verbatim_and_locked() {
    on_each_database(Setup::new, async |node| {
        let html = "<!doctype html>\r\n<title>x</title><script>alert(1)</script>\u{feff}é";
        let site = node.publish(Form::file("a.html", html)).await;
        let answer =
            node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await.expect(200);
        assert_eq!(answer.body, html.as_bytes());
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("content-security-policy"), "sandbox; default-src 'none'");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    })
    .await;
}

#[tokio::test]
async fn markdown_gives_its_rendering_and_on_demand_its_source() {
    let node = Node::start().await;
    let source = "# Hello\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>alert(1)</script>\n\n```rust\nfn main() {}\n```\n";
    let site = node.publish(Form::file("notes.md", source)).await;
    assert_eq!(site["title"], "Hello");
    let path = format!("{}/content", site_path(&site));
    let rendered = node.get(&path).key(&node.key).send().await.expect(200);
    let html = rendered.text();
    assert!(html.contains("<table>") && html.contains("<h1"), "{html}");
    assert!(!html.contains("<script>alert"), "raw script stays out");
    assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.text(), html);
    let original = node.get(&format!("{path}?source=true")).key(&node.key).send().await.expect(200);
    assert_eq!(original.text(), source);
    assert!(original.header("content-type").starts_with("text/markdown"), "{original:?}");
    let hidden = format!("{}_dropleaf/source.md", site["url"].as_str().unwrap());
    node.get(&hidden).send().await.expect(404);
}

#[tokio::test]
async fn other_kinds_give_their_main_document() {
    let node = Node::start().await;
    let read = async |form: Form| {
        let site = node.publish(form).await;
        node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await.expect(200)
    };
    let archive = zip(&[("index.html", &page("Zipped")), ("other.html", "<p>")]);
    assert_eq!(read(Form::file("a.zip", archive)).await.text(), page("Zipped"));
    let document = read(Form::file("a.pdf", pdf())).await;
    assert_eq!((document.body.clone(), document.header("content-type")), (pdf(), "application/pdf"));
    let secret = noise("e2e", 100);
    assert_eq!(read(Form::file("x", &secret).field("e2e", "true")).await.body, secret);
}

#[tokio::test]
async fn only_the_owner_reads_it() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let path = format!("{}/content", site_path(&site));
    node.get(&path).send().await.refused(401, "auth required");
    let stranger = node.account("solo").await;
    node.get(&path).key(&stranger).send().await.refused(404, "not_found");
    node.get("/sites/no-such-page/content").key(&node.key).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn protected_page_is_readable_to_its_owner() {
    let node = Node::start().await;
    let site = node.publish_page("Gated").await;
    node.patch_site(&site, json!({"password": "x", "visibility": "burn"})).await.expect(200);
    node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await.expect(200);
    assert_eq!(node.read_site(&site).await["visibility"], "burn", "reading it burns nothing");
}
