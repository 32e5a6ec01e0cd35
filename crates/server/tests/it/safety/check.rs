//! `POST /check`: the checks of publishing, without publishing.

use crate::harness::{Answer, Form, HARVEST, LEAK, Node, Setup, on_each_database, page, zip};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn check(node: &Node, form: Form) -> Value {
    node.post("/check").form(form).send().await.expect(200).json()
}

async fn nothing_is_stored(node: &Node) {
    for sql in ["SELECT COUNT(*) FROM sites", "SELECT COUNT(*) FROM bundles", "SELECT COUNT(*) FROM blobs"] {
        assert_eq!(node.count(sql).await, 0, "{sql}");
    }
}

#[tokio::test]
async fn honest_page_is_accepted_and_nothing_is_stored() {
    on_each_database(Setup::new, async |node| {
        let said = check(node, Form::file("page.html", page("Report"))).await;
        assert_eq!((&said["accepted"], &said["code"]), (&json!(true), &Value::Null));
        assert_eq!((&said["reasons"], &said["warnings"]), (&json!([]), &json!([])));
        assert_eq!(said["content_hash"].as_str().unwrap().len(), 64);
        nothing_is_stored(node).await;
    })
    .await;
}

#[tokio::test]
async fn refused_page_is_told_each_reason_with_its_line() {
    let node = Node::start().await;
    let said = check(&node, Form::file("page.html", HARVEST)).await;
    assert_eq!((&said["accepted"], &said["code"]), (&json!(false), &json!("phishing_blocked")));
    let reasons = said["reasons"].as_array().unwrap();
    let sent = reasons.iter().find(|reason| reason["rule"] == "sent-to-other-site").unwrap();
    assert_eq!((&sent["file"], &sent["line"]), (&json!("index.html"), &json!(3)));
    assert!(sent["why"].as_str().unwrap().contains("collect.invalid") && sent["fix"].is_string());
    nothing_is_stored(&node).await;
    // Publishing gives the same result.
    let refused = node.post("/sites").key(&node.key).form(Form::file("page.html", HARVEST)).send().await;
    let refused = refused.refused(422, "phishing_blocked").json();
    assert_eq!((&refused["reasons"], &refused["content_hash"]), (&said["reasons"], &said["content_hash"]));
}

#[tokio::test]
async fn page_may_come_as_json_as_itself_or_in_an_archive() {
    let node = Node::start().await;
    let form = check(&node, Form::file("page.html", HARVEST)).await;
    let json = node.post("/check").json(&json!({"html": HARVEST, "filename": "x.html"})).send().await;
    assert_eq!(json.expect(200).json(), form);
    let raw = node.post("/check").body("text/html; charset=utf-8", HARVEST).send().await;
    assert_eq!(raw.expect(200).json(), form);
    let archive = zip(&[("index.html", &page("Fine")), ("sub/login.html", HARVEST)]);
    let said = check(&node, Form::file("site.zip", archive)).await;
    assert_eq!((&said["accepted"], &said["reasons"][0]["file"]), (&json!(false), &json!("sub/login.html")));
    for text in [json!({"markdown": "# Fine\n"}), json!({"html": page("Fine")})] {
        let said = node.post("/check").json(&text).send().await.expect(200).json();
        assert_eq!(said["accepted"], true, "{said}");
    }
    let markdown = node.post("/check").body("text/markdown", "# Fine\n").send().await.expect(200).json();
    assert_eq!(markdown["accepted"], true);
}

#[tokio::test]
async fn json_over_the_limit_is_refused_before_the_rest_of_it_is_sent() {
    let limit = 200_000;
    let node = Setup::new().set("limits.upload_bytes", limit.to_string()).start().await;
    let escaped = format!("{{\"html\":\"{}\"}}", "\\u0078".repeat(limit));
    node.post("/check").body("application/json", escaped).send().await.expect(200);
    for text in ["x", " \\n", "\",\"x\":\""] {
        let mut stream = TcpStream::connect(("localhost", node.port)).await.unwrap();
        // The maximum length of a body with an escaped page within the limit.
        let head = format!(
            "POST /check HTTP/1.1\r\nhost: localhost:{}\r\ncontent-type: application/json\r\n\
             content-length: 1000000\r\n\r\n{{\"html\":\"",
            node.port
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let more = text.repeat((limit + 70_000) * 3 / 2 / text.len() + 1);
        stream.write_all(more.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        let read = stream.read_exact(&mut status);
        timeout(Duration::from_secs(20), read).await.expect("an answer before the rest").unwrap();
        assert_eq!(&status, b"HTTP/1.1 413", "{text}");
    }
}

#[tokio::test]
async fn what_could_not_be_published_is_refused_as_there() {
    let node = Setup::new().set("limits.upload_bytes", "4096").start().await;
    let post = async |ask: crate::harness::Ask| -> Answer { ask.send().await };
    post(node.post("/check").form(Form::file("page.html", ""))).await.refused(400, "empty_file");
    post(node.post("/check").form(Form::file("a.zip", zip(&[("x.txt", "x")]))))
        .await
        .refused(400, "missing_index");
    post(node.post("/check").form(Form::new().field("x", "y"))).await.refused(400, "missing_file");
    post(node.post("/check").body("text/html", vec![b'x'; 5000])).await.refused(413, "too_large");
    post(node.post("/check").json(&json!({"html": "x".repeat(5000)}))).await.refused(413, "too_large");
    post(node.post("/check").json(&json!({}))).await.refused(400, "invalid_field");
    post(node.post("/check").json(&json!({"html": "a", "markdown": "b"})))
        .await
        .refused(400, "invalid_field");
    post(node.post("/check").body("image/png", "x")).await.refused(400, "not_multipart");
    post(node.post("/check").json(&json!({"html": "<p>", "pii_check": "loud"})))
        .await
        .refused(400, "invalid_field");
}

#[tokio::test]
async fn secrets_are_warnings_unless_they_are_to_be_refused() {
    let node = Node::start().await;
    let said = check(&node, Form::file("page.html", LEAK)).await;
    assert_eq!(said["accepted"], true);
    let warned = said["warnings"][0].as_str().unwrap();
    assert!(warned.contains("line 2") && warned.contains("AWS access key"), "{warned}");
    let blocked = check(&node, Form::file("page.html", LEAK).field("pii_check", "block")).await;
    assert_eq!((&blocked["accepted"], &blocked["code"]), (&json!(false), &json!("secrets_found")));
    assert_eq!(blocked["reasons"][0]["line"], 2);
    let off = node.post("/check").json(&json!({"html": LEAK, "pii_check": "off"})).send().await.json();
    assert_eq!((&off["accepted"], &off["warnings"]), (&json!(true), &json!([])));
    let both = check(&node, Form::file("page.html", format!("{HARVEST}\n{LEAK}"))).await;
    assert_eq!((&both["accepted"], &both["code"]), (&json!(false), &json!("phishing_blocked")));
    assert!(both["warnings"][0].as_str().unwrap().contains("AWS access key"), "{both}");
    for said in [said, blocked, both] {
        assert!(!said.to_string().contains("AKIA"), "{said}");
    }
}

#[tokio::test]
async fn dry_runs_are_counted_by_network_and_need_no_credential() {
    let node = Setup::new().with_rates().set("limits.checks_per_minute", "3").start().await;
    let ask = || node.post("/check").json(&json!({"html": page("Again")}));
    for _ in 0..3 {
        ask().send().await.expect(200);
    }
    let refused = ask().send().await.refused(429, "rate_limited");
    assert!(refused.has("retry-after") && refused.header("ratelimit-policy").contains("q=3"));
    ask().key(&node.key).send().await.refused(429, "rate_limited");
    // Publishing still works: checks and uploads are counted separately.
    node.post("/sites").form(Form::file("page.html", page("Still"))).send().await.expect(201);
    node.clock.advance(60);
    ask().key(&node.key).send().await.expect(200);
    ask().key("stk_live_nobody").send().await.refused(401, "invalid_credential");
}
