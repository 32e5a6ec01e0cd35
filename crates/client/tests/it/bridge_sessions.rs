//! The bridge with protocol versions that have sessions: session state, recreating a session, and shutdown.

use crate::fake::{Fake, Side};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn session_and_revision_travel_with_every_message_after_the_first() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    let news = fake.next().await;
    assert_eq!((news.method.as_str(), news.header("mcp-session-id")), ("GET", Some("one")));
    assert_eq!(news.header("accept"), Some("text/event-stream"));
    let mut news = news.stream().await;
    news.event(Some("1"), &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
    assert_eq!(side.next().await["method"], "notifications/tools/list_changed");

    side.send(request(1, "tools/list", &json!({}))).await;
    let asked = fake.next_post("tools/list").await;
    for (name, value) in [
        ("mcp-session-id", Some("one")),
        ("mcp-protocol-version", Some("2025-11-25")),
        ("mcp-method", None),
        ("authorization", Some("Bearer k")),
        ("accept", Some("application/json, text/event-stream")),
        ("content-type", Some("application/json")),
    ] {
        assert_eq!(asked.header(name), value, "{name}");
    }
    let mut answer = asked.stream().await;
    answer.event(None, &json!({"jsonrpc": "2.0", "method": "notifications/progress"})).await;
    assert_eq!(side.next().await["method"], "notifications/progress", "before the answer is there");
    // In two data lines, as a server may send it.
    answer.text(": beat\n\ndata: {\"jsonrpc\": \"2.0\", \"id\": 1,\ndata: \"result\": {}}\n\n").await;
    assert_eq!(side.next().await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));

    side.leave();
    let farewell = fake.next().await;
    assert_eq!((farewell.method.as_str(), farewell.header("mcp-session-id")), ("DELETE", Some("one")));
    farewell.accept().await;
    side.ended().await;
}

#[tokio::test]
async fn news_go_on_where_they_were_cut_off() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    let mut news = fake.next().await.stream().await;
    news.text("retry: 1\nid: 7\ndata:\n\n").await;
    news.event(Some("8"), &json!({"jsonrpc": "2.0", "method": "notifications/a"})).await;
    assert_eq!(side.next().await["method"], "notifications/a");
    drop(news);
    let again = fake.next().await;
    assert_eq!((again.method.as_str(), again.header("last-event-id")), ("GET", Some("8")));
    // A server that cannot resume ends the stream at once; then the bridge starts from the beginning.
    drop(again.stream().await);
    let again = fake.next().await;
    assert_eq!(again.header("last-event-id"), None);
    let mut news = again.stream().await;
    news.event(None, &json!({"jsonrpc": "2.0", "method": "notifications/b"})).await;
    assert_eq!(side.next().await["method"], "notifications/b");
    side.stop();
    news.closed().await;
    fake.next().await.accept().await;
    side.ended().await;
}

#[tokio::test]
async fn server_without_a_stream_of_news_is_not_asked_again() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("405 Method Not Allowed", "", "Method Not Allowed").await;
    side.send(request(1, "ping", &json!({}))).await;
    fake.next_post("ping").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 1);
    side.leave();
    assert_eq!(fake.next().await.method, "DELETE");
}

#[tokio::test]
async fn forgotten_session_begins_again_with_what_it_watched_and_the_client_notices_nothing() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("405 Method Not Allowed", "", "Method Not Allowed").await;
    for (id, method, uri) in [
        (1, "resources/subscribe", "dropleaf://sites/a"),
        (2, "resources/subscribe", "dropleaf://sites/b"),
        (3, "resources/unsubscribe", "dropleaf://sites/b"),
    ] {
        side.send(request(id, method, &json!({"uri": uri}))).await;
        fake.next_post(method).await.result("", json!({})).await;
        assert_eq!(side.next().await["id"], id);
    }

    // Two at once: the session is recreated only once.
    side.send(request(4, "tools/call", &json!({"name": "get_me"}))).await;
    let first = fake.next_post("tools/call").await;
    side.send(request(5, "tools/list", &json!({}))).await;
    let second = fake.next_post("tools/list").await;
    let lost = r#"{"error":"not_found","error_description":"There is no such MCP session."}"#;
    first.answer("404 Not Found", "Content-Type: application/json\r\n", lost).await;
    let begun = fake.next_post("initialize").await;
    second.answer("404 Not Found", "", "Not Found: Session not found").await;
    assert_eq!(begun.body["params"]["capabilities"], json!({"roots": {}}), "the client's own");
    assert_eq!(begun.header("mcp-session-id"), None);
    begun.result("Mcp-Session-Id: two\r\n", json!({"protocolVersion": "2025-06-18"})).await;
    let ready = fake.next_post("notifications/initialized").await;
    assert_eq!(ready.header("mcp-session-id"), Some("two"));
    ready.accept().await;
    let watched = fake.next_post("resources/subscribe").await;
    assert_eq!(watched.body["params"]["uri"], "dropleaf://sites/a");
    watched.result("", json!({})).await;
    for _ in 0..2 {
        let asked = fake.next().await;
        assert_eq!(asked.header("mcp-session-id"), Some("two"));
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-06-18"));
        asked.result("", json!({})).await;
    }
    let mut ids = [side.next().await["id"].clone(), side.next().await["id"].clone()];
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(4), json!(5)]);
    assert!(side.notes.lock().unwrap().iter().any(|note| note.contains("a new one was started")));
}

#[tokio::test]
async fn news_of_a_forgotten_session_begin_again_by_themselves() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("404 Not Found", "", "Not Found: Session not found").await;
    fake.next_post("initialize")
        .await
        .result("Mcp-Session-Id: two\r\n", json!({"protocolVersion": "2025-11-25"}))
        .await;
    fake.next_post("notifications/initialized").await.accept().await;
    let news = fake.next().await;
    assert_eq!((news.method.as_str(), news.header("mcp-session-id")), ("GET", Some("two")));
}

#[tokio::test]
async fn answer_that_was_cut_off_is_fetched_where_the_stream_ended() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("405 Method Not Allowed", "", "Method Not Allowed").await;
    side.send(request(1, "tools/call", &json!({"name": "publish_html"}))).await;
    let mut answer = fake.next_post("tools/call").await.stream().await;
    answer.text("id: 0/4\ndata:\n\n").await;
    drop(answer);
    let rest = fake.next().await;
    assert_eq!((rest.method.as_str(), rest.header("last-event-id")), ("GET", Some("0/4")));
    rest.stream().await.event(Some("1/4"), &json!({"jsonrpc": "2.0", "id": 1, "result": {"ok": true}})).await;
    assert_eq!(side.next().await["result"]["ok"], true);
}

#[tokio::test]
async fn cancelled_request_is_told_to_the_server_and_waited_for_no_longer() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("405 Method Not Allowed", "", "Method Not Allowed").await;
    side.send(request(1, "tools/call", &json!({"name": "get_me"}))).await;
    let stream = fake.next_post("tools/call").await.stream().await;
    side.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    fake.next_post("notifications/cancelled").await.accept().await;
    stream.closed().await;
}

#[tokio::test]
async fn what_is_under_way_when_the_client_leaves_is_finished() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.begin(&mut fake).await;
    fake.next().await.answer("405 Method Not Allowed", "", "Method Not Allowed").await;
    side.send(request(1, "tools/call", &json!({"name": "publish_html"}))).await;
    let asked = fake.next_post("tools/call").await;
    side.leave();
    asked.result("", json!({"done": true})).await;
    assert_eq!(side.next().await["result"]["done"], true);
    let farewell = fake.next().await;
    assert_eq!(farewell.method, "DELETE");
    farewell.accept().await;
    side.ended().await;
}
