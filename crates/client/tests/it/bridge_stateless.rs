//! The bridge with protocol version 2026-07-28, where every message is independent of a session.

use crate::fake::{Fake, Side};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

fn request(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn headers_say_what_the_body_says() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    for (id, method, params, name) in [
        (1, "server/discover", json!({}), None),
        (2, "tools/call", json!({"name": "get_me"}), Some("get_me")),
        (3, "resources/read", json!({"uri": "dropleaf://sites/x"}), Some("dropleaf://sites/x")),
        (4, "prompts/get", json!({"name": "grüße"}), Some("=?base64?Z3LDvMOfZQ==?=")),
    ] {
        side.send(request(id, method, params)).await;
        let asked = fake.next_post(method).await;
        assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!((asked.header("mcp-method"), asked.header("mcp-name")), (Some(method), name));
        assert_eq!(asked.header("mcp-session-id"), None);
        asked.result("", json!({"n": id})).await;
        assert_eq!(side.next().await["result"]["n"], id);
    }
    side.leave();
    side.ended().await;
}

#[tokio::test]
async fn error_under_another_status_is_passed_on() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.send(request(9, "no/such", json!({}))).await;
    let body = r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}}"#;
    fake.next().await.answer("404 Not Found", "Content-Type: application/json\r\n", body).await;
    let answer = side.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32601)));
}

#[tokio::test]
async fn answers_come_in_any_order() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    let mut waiting = Vec::new();
    for id in 0..20 {
        side.send(request(id, "tools/list", json!({}))).await;
        waiting.push(fake.next_post("tools/list").await);
    }
    for asked in waiting.into_iter().rev() {
        let id = asked.body["id"].clone();
        asked.result("", json!({})).await;
        assert_eq!(side.next().await["id"], id);
    }
}

#[tokio::test]
async fn listening_lasts_and_is_taken_up_again_until_it_is_cancelled() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    let acknowledged = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"});
    let updated = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated"});
    side.send(request(1, "subscriptions/listen", json!({"notifications": {}}))).await;
    let mut stream = fake.next_post("subscriptions/listen").await.stream().await;
    stream.event(None, &acknowledged).await;
    assert_eq!(side.next().await, acknowledged);
    // Other requests continue in the meantime.
    side.send(request(2, "tools/list", json!({}))).await;
    fake.next_post("tools/list").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 2);

    drop(stream);
    let mut stream = fake.next_post("subscriptions/listen").await.stream().await;
    stream.event(None, &acknowledged).await;
    stream.event(None, &updated).await;
    assert_eq!(side.next().await, updated, "the acknowledgement is said once");
    // A server that shuts down ends the subscription, which the client has not asked for.
    stream.event(None, &json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await;
    drop(stream);
    let mut stream = fake.next_post("subscriptions/listen").await.stream().await;
    stream.event(None, &updated).await;
    assert_eq!(side.next().await, updated);
    side.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    stream.closed().await;
    side.leave();
    side.ended().await;
}

#[tokio::test]
async fn listening_does_not_keep_the_bridge_from_leaving() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.send(request(1, "subscriptions/listen", json!({"notifications": {}}))).await;
    let stream = fake.next_post("subscriptions/listen").await.stream().await;
    side.leave();
    stream.closed().await;
    side.ended().await;
}
