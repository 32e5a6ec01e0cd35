//! Files that are not pages: rendered to a page and served as they are, or refused by their name, at every entry point.

use crate::access::gates::own_host;
use crate::harness::{Form, Node, Setup, on_each_database, page, site_path, zip};
use serde_json::json;

const SVG: &str =
    "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
const STILL: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"9\" height=\"9\"/></svg>";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const REFUSED: [&str; 10] =
    ["a.php", "a.php.", "a.py", "a.exe", "a.docx", "a.js", "feed.xml", "a.yaml", "a.mp4", "a.jar"];

#[tokio::test]
async fn drawings_texts_and_pictures_get_a_page_and_are_served_as_what_they_are() {
    on_each_database(Setup::new, async |node| {
        for (name, bytes, mime) in [
            ("Plan of the orchard.svg", STILL.as_bytes(), "image/svg+xml; charset=utf-8"),
            (
                "Plan of the orchard.TXT",
                "<script>alert(1)</script> é".as_bytes(),
                "text/plain; charset=utf-8",
            ),
            ("Plan of the orchard.png", PNG, "image/png"),
            ("Plan of the orchard.jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            ("Plan of the orchard.gif", b"GIF89a\x01\0\x01\0", "image/gif"),
            ("Plan of the orchard.webp", b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            ("Plan of the orchard.avif", b"\0\0\0\x20ftypavif", "image/avif"),
        ] {
            let site = node.publish(Form::file(name, bytes)).await;
            assert_eq!(site["title"], "Plan of the orchard", "{name}");
            for address in [site["url"].as_str().unwrap().to_owned(), own_host(node, &site).await] {
                let path = name.replace(' ', "%20");
                let file = node.get(&format!("{address}{path}")).send().await.expect(200);
                assert_eq!((file.header("content-type"), &file.body[..]), (mime, bytes), "{name}");
                assert_eq!(file.header("x-content-type-options"), "nosniff");
                let page = node.get(&address).send().await.expect(200);
                assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{name}");
                let text = page.text();
                assert!(text.contains(&format!("href=\"{path}\" download")), "{name}: {text}");
                assert!(!text.contains("<script>alert"), "{name}: {text}");
                let is_shown = if name.ends_with("TXT") { "&lt;script&gt;" } else { "<img src=\"Plan" };
                assert!(text.contains(is_shown), "{name}: {text}");
            }
            let content = node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await;
            assert_eq!(content.expect(200).header("content-type"), "text/html; charset=utf-8", "{name}");
            let source = format!("{}/content?source=true", site_path(&site));
            let source = node.get(&source).key(&node.key).send().await.expect(200);
            assert_eq!((source.header("content-type"), &source.body[..]), (mime, bytes), "{name}");
            let preview = node.operator().await;
            let id = site["id"].as_str().unwrap();
            let preview = preview.get(&format!("/dashboard/pages/{id}/preview.svg")).await.expect(200).text();
            assert!(preview.contains("One file") && !preview.contains("alert"), "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn interactive_drawing_is_shown_as_the_document_that_it_is() {
    let node = Node::start().await;
    let site = node.publish(Form::file("flame graph.svg", SVG)).await;
    for address in [site["url"].as_str().unwrap().to_owned(), own_host(&node, &site).await] {
        for path in ["", "flame%20graph.svg"] {
            let shown = node.get(&format!("{address}{path}")).send().await.expect(200);
            assert_eq!(
                (shown.header("content-type"), shown.text().as_str()),
                ("image/svg+xml; charset=utf-8", SVG)
            );
        }
    }
}

#[tokio::test]
async fn drawing_has_the_protection_of_a_page() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.svg", SVG)).await;
    let html = node.publish_page("Page").await;
    for shared in [true, false] {
        let headers = async |site: &serde_json::Value| {
            let address =
                if shared { site["url"].as_str().unwrap().to_owned() } else { own_host(&node, site).await };
            let answer = node.get(&address).send().await.expect(200);
            let names = [
                "content-security-policy",
                "x-content-type-options",
                "referrer-policy",
                "cross-origin-opener-policy",
                "origin-agent-cluster",
                "permissions-policy",
                "x-robots-tag",
                "cache-control",
            ];
            names.map(|name| answer.header(name).to_owned())
        };
        assert_eq!(headers(&site).await, headers(&html).await, "shared: {shared}");
    }
    let strict = node.publish(Form::file("a.svg", SVG).field("csp_strict", "true")).await;
    let answer = node.get(&own_host(&node, &strict).await).send().await.expect(200);
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
}

#[tokio::test]
async fn known_kinds_that_are_no_page_are_refused_at_every_entrance() {
    let node = Node::start().await;
    let site = node.publish_page("Stays").await;
    let tab = node.operator().await;
    tab.get("/dashboard/upload").await.expect(200);
    for name in REFUSED {
        for bytes in [page("Sly").into_bytes(), zip(&[("index.html", "<p>")])] {
            let form = || Form::file(name, &bytes);
            let told = node.post("/sites").key(&node.key).form(form()).send().await;
            let told = told.refused(400, "unsupported_type").json();
            let words = told["error_description"].as_str().unwrap();
            assert!(words.contains(name) && words.contains(".html") && words.contains(".svg"), "{words}");
            node.post("/sites").form(form()).send().await.refused(400, "unsupported_type");
            node.put(&site_path(&site))
                .key(&node.key)
                .form(form())
                .send()
                .await
                .refused(400, "unsupported_type");
            node.post("/check").key(&node.key).form(form()).send().await.refused(400, "unsupported_type");
            let given = node.mcp_modern(&node.key).give("create_upload", json!({})).await;
            let address = given["upload_url"].as_str().unwrap();
            let sent = node.put(&format!("{address}{name}")).body("application/octet-stream", bytes.clone());
            sent.send().await.refused(400, "unsupported_type");
            let sent = node.post(address.trim_end_matches('/')).form(form());
            sent.send().await.refused(400, "unsupported_type");
            let token = tab.token();
            let upload = Form::new().field("form_token", &token).and_file(name, &bytes);
            let sent = tab.bare("/dashboard/upload").header("origin", &node.base_url()).form(upload);
            assert_eq!(sent.send().await.status, 400, "{name}");
        }
        let html = json!({"html": page("Sly"), "filename": name});
        node.post("/publish").json(&html).send().await.refused(400, "invalid_field");
        node.post("/check").key(&node.key).json(&html).send().await.refused(400, "invalid_field");
    }
    node.post("/publish")
        .json(&json!({"html": page("Sly"), "filename": "a.svg"}))
        .send()
        .await
        .refused(400, "invalid_field");
    node.post("/publish").json(&json!({"html": page("Fine"), "filename": "a.html"})).send().await.expect(402);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn content_has_to_be_what_the_name_says() {
    let node = Node::start().await;
    for (name, bytes, code) in [
        ("a.svg", page("HTML").as_bytes(), "unsupported_type"),
        ("a.svg", b"\xff\xfeh\0i\0", "unsupported_type"),
        ("a.png", b"<svg/>", "unsupported_type"),
        ("a.jpg", PNG, "unsupported_type"),
        ("a.txt", b"a\0b", "not_text"),
        ("a.json", b"\"caf\xe9\"", "not_text"),
        ("a.txt", b" \n", "empty_file"),
    ] {
        node.post("/sites").key(&node.key).form(Form::file(name, bytes)).send().await.refused(400, code);
    }
}

#[tokio::test]
async fn refusal_names_the_extension_that_was_sent() {
    let node = Node::start().await;
    let refused = node.post("/sites").key(&node.key).form(Form::file("a.jpeg", PNG)).send().await;
    let words = refused.refused(400, "unsupported_type").json()["error_description"].to_string();
    assert!(words.contains("indicates .jpeg, but the content does not match"), "{words}");
}

#[tokio::test]
async fn toolbar_on_a_file_that_is_no_page_is_a_warning() {
    let node = Node::start().await;
    let form = |on: &str| Form::file("a.svg", SVG).field("agentation", on);
    let told = |site: &serde_json::Value| site["warnings"].to_string().contains("works on HTML pages only");
    assert!(told(&node.publish(form("true")).await));
    assert!(!told(&node.publish(form("false")).await));
    let page = node.publish(Form::file("a.html", page("Page")).field("agentation", "true")).await;
    assert!(!told(&page));
    let put = node.put(&site_path(&page)).key(&node.key).form(form("true")).send().await.expect(200);
    assert!(told(&put.json()));
    let dry = node.post("/check").form(form("true")).send().await.expect(200);
    assert!(told(&dry.json()));
}

#[tokio::test]
async fn page_with_an_unknown_or_no_extension_is_still_a_page() {
    let node = Node::start().await;
    for name in ["page", "page.v2", "www.example.com", "page.unheard", "page.xhtml"] {
        let site = node.publish(Form::file(name, page("Known by its content"))).await;
        let shown = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(shown.header("content-type"), "text/html; charset=utf-8", "{name}");
    }
}

#[tokio::test]
async fn page_becomes_a_picture_and_a_page_again() {
    let node = Node::start().await;
    let site = node.publish_page("Page").await;
    let put =
        async |form: Form| node.put(&site_path(&site)).key(&node.key).form(form).send().await.expect(200);
    let picture = || node.get(&format!("{}a.png", site["url"].as_str().unwrap())).send();
    put(Form::file("a.png", PNG)).await;
    assert_eq!(picture().await.expect(200).header("content-type"), "image/png");
    put(Form::file("a.html", page("Page"))).await;
    picture().await.expect(404);
}
