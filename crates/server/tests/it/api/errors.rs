//! Error responses: one format, stable codes, no internals. Spec §2 Error, §7.

use crate::harness::{Form, Node, noise, page};
use dropleaf_core::Code;
use serde_json::json;

#[tokio::test]
async fn every_error_is_an_object_with_code_and_description() {
    let node = Node::start().await;
    let answers = [
        node.get("/nowhere").send().await.expect(404),
        node.get("/me").send().await.expect(401),
        node.delete("/me").key(&node.key).send().await.expect(405),
        node.post("/sites").key(&node.key).send().await.expect(400),
        node.get("/sites/unknown-page").key(&node.key).send().await.expect(404),
    ];
    for answer in answers {
        assert_eq!(answer.header("content-type"), "application/json");
        let body = answer.json();
        let code = body["error"].as_str().unwrap();
        assert!(Code::ALL.iter().any(|known| known.as_str() == code), "{code}");
        assert!(!body["error_description"].as_str().unwrap().is_empty());
        assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
    }
}

#[tokio::test]
async fn missing_credential_uses_the_contracts_sample_value() {
    let node = Node::start().await;
    node.get("/sites").send().await.refused(401, "auth required");
}

#[tokio::test]
async fn method_that_an_address_does_not_take_is_405_with_allow() {
    let node = Node::start().await;
    let answer = node.put("/sites").key(&node.key).send().await.refused(405, "method_not_allowed");
    let allow = answer.header("allow");
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
}

#[tokio::test]
async fn browser_gets_a_designed_page_for_an_unknown_address() {
    let node = Node::start().await;
    let answer = node.get("/nowhere").browser().send().await.expect(404);
    assert!(answer.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn head_of_an_api_address_has_no_body() {
    let node = Node::start().await;
    let answer = node.head("/me").key(&node.key).send().await.expect(200);
    assert!(answer.body.is_empty());
    assert!(node.head("/me").send().await.expect(401).body.is_empty());
}

#[tokio::test]
async fn wrong_json_bodies_are_400() {
    let node = Node::start().await;
    let site = node.publish_page("A").await;
    let path = crate::harness::site_path(&site);
    for body in ["", "null", "[]", "5", "\"x\"", "{", "{\"a\":}"] {
        let ask = node.patch(&path).key(&node.key).body("application/json", body);
        let answer = ask.send().await;
        // An empty body counts as an empty change.
        assert_eq!(answer.status, if body.is_empty() { 200 } else { 400 }, "{body}");
    }
    let binary = node.patch(&path).key(&node.key).body("application/json", noise("x", 50));
    binary.send().await.refused(400, "invalid_request");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = node.patch(&path).key(&node.key).body("application/json", format!("{{\"a\":{deep}}}"));
    assert!(matches!(nested.send().await.status, 400 | 413));
}

#[tokio::test]
async fn oversized_json_is_413() {
    let node = Node::start().await;
    let site = node.publish_page("A").await;
    let body = json!({"title": "x".repeat(70_000)});
    node.patch_site(&site, body).await.refused(413, "too_large");
}

#[tokio::test]
async fn malformed_forms_are_400() {
    let node = Node::start().await;
    let kind = "multipart/form-data; boundary=x";
    for body in ["", "garbage", "--x\r\n", "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc"]
    {
        let answer = node.post("/sites").key(&node.key).body(kind, body).send().await;
        assert_eq!(answer.status, 400, "{body:?}: {}", answer.text());
    }
    let no_boundary = node.post("/sites").key(&node.key).body("multipart/form-data", "x");
    no_boundary.send().await.refused(400, "not_multipart");
    let many = (0..40).fold(Form::file("a.html", page("A")), |form, n| form.field(&format!("f{n}"), "x"));
    node.post("/sites").key(&node.key).form(many).send().await.refused(400, "invalid_request");
    let long = Form::file("a.html", page("A")).field("title", &"x".repeat(70_000));
    node.post("/sites").key(&node.key).form(long).send().await.refused(400, "invalid_field");
}

#[tokio::test]
async fn request_ids_differ() {
    let node = Node::start().await;
    let first = node.get("/me").send().await;
    let second = node.get("/me").send().await;
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[test]
fn codes_are_stable_words_and_unique() {
    let mut seen = std::collections::HashSet::new();
    for code in Code::ALL {
        let text = code.as_str();
        assert!(seen.insert(text), "{text} twice");
        let word = text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        assert!(word || text == "auth required", "{text}");
        assert!(dropleaf::http::error::status(*code).as_u16() >= 400);
    }
}
