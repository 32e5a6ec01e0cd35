//! `/webhooks`: create, list, change, rotate, delete, and what is refused.

use super::{create, path, setup};
use crate::harness::{Node, WebhookReceiver, on_each_database};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_created_listed_changed_and_deleted() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let made = create(node, &receiver).await;
        let secret = made["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_"));
        assert_eq!((&made["state"], &made["events"]), (&json!("enabled"), &json!(["*"])));
        let listed: Value = node.get("/webhooks").key(&node.key).send().await.expect(200).json();
        assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
        assert!(!listed.to_string().contains(secret), "shown once");
        let change =
            json!({"events": ["site.burnt", "feedback.created"], "description": "bot", "enabled": false});
        let changed: Value =
            node.patch(&path(&made, "")).key(&node.key).json(&change).send().await.expect(200).json();
        assert_eq!(changed["events"], json!(["site.burnt", "feedback.created"]));
        assert_eq!((&changed["state"], &changed["description"]), (&json!("disabled"), &json!("bot")));
        let read: Value = node.get(&path(&made, "")).key(&node.key).send().await.expect(200).json();
        assert_eq!(read, changed);
        let rotated: Value =
            node.post(&path(&made, "/rotate")).key(&node.key).send().await.expect(200).json();
        assert_ne!(rotated["secret"], made["secret"]);
        assert!(rotated["previous_secret_until"].is_i64());
        // A test of a paused webhook is refused, and so is everything of another account.
        node.post(&path(&made, "/test")).key(&node.key).send().await.refused(409, "conflict");
        let other = node.account("solo").await;
        node.get(&path(&made, "")).key(&other).send().await.refused(404, "not_found");
        node.delete(&path(&made, "")).key(&other).send().await.refused(404, "not_found");
        node.delete(&path(&made, "")).key(&node.key).send().await.expect(200);
        node.get(&path(&made, "")).key(&node.key).send().await.refused(404, "not_found");
        node.get("/webhooks").send().await.refused(401, "auth required");
    })
    .await;
}

async fn refused(node: &Node, body: Value) {
    let answer = node.post("/webhooks").key(&node.key).json(&body).send().await;
    answer.refused(400, "invalid_field");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_and_events_that_are_not_allowed_are_refused() {
    let node = Node::start().await;
    for url in [
        "http://hooks.example.com/",
        "http://127.0.0.1:9/",
        "https://localhost/",
        "https://u:p@hooks.example.com/",
        "https://hooks.example.com:25/",
        "ftp://hooks.example.com/",
        "x",
    ] {
        refused(&node, json!({"url": url})).await;
    }
    refused(&node, json!({"url": format!("{}/webhooks", node.base_url())})).await;
    refused(&node, json!({"url": "https://hooks.example.com/", "events": ["site.born"]})).await;
    refused(&node, json!({"url": "https://hooks.example.com/", "listen": true})).await;
    refused(&node, json!({})).await;
    let unknown = json!({"url": "https://hooks.example.com/", "site_id": "site_aaaaaaaaaaaaaaaaaaaa"});
    node.post("/webhooks").key(&node.key).json(&unknown).send().await.refused(404, "not_found");
    for _ in 0..10 {
        let body = json!({"url": "https://hooks.example.com/"});
        node.post("/webhooks").key(&node.key).json(&body).send().await.expect(201);
    }
    let body = json!({"url": "https://hooks.example.com/"});
    node.post("/webhooks").key(&node.key).json(&body).send().await.refused(409, "too_many");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_gets_the_same_secret() {
    let node = Node::start().await;
    let send = async |url: &str| {
        let request = node.post("/webhooks").key(&node.key).header("idempotency-key", "one");
        request.json(&json!({"url": url})).send().await
    };
    let first = send("https://hooks.example.com/a").await.expect(201).json();
    assert_eq!(send("https://hooks.example.com/a").await.expect(201).json(), first);
    send("https://hooks.example.com/b").await.refused(422, "idempotency_mismatch");
    node.stop().await;
}
