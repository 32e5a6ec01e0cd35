//! What the client receives when something goes wrong: an unreachable server, a refusal, or a line that is not a message.

use crate::fake::{Fake, Side};
use dropleaf_client::mcp::Line;
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

fn call(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "publish_html",
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}})
}

fn list(id: u32) -> Value {
    let mut list = call(id);
    list["method"] = json!("tools/list");
    list
}

#[tokio::test]
async fn server_that_comes_back_in_time_gets_the_message() {
    let fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    let left = fake.leave().await;
    side.send(call(1)).await;
    let mut fake = Fake::back(left).await;
    fake.next_post("tools/call").await.result("", json!({"late": true})).await;
    assert_eq!(side.next().await["result"]["late"], true);
}

#[tokio::test]
async fn server_that_stays_away_is_an_answer_that_says_what_to_do() {
    let fake = Fake::start().await;
    let mut side = Side::of(&fake.url, Duration::ZERO);
    let url = fake.url.clone();
    let _left = fake.leave().await;
    side.send(call(1)).await;
    let answer = side.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(503)));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("cannot reach {url}")) && message.contains("try again"),
        "{message}"
    );
}

#[tokio::test]
async fn call_whose_fate_is_unknown_is_not_repeated_and_a_question_is() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.send(call(1)).await;
    drop(fake.next_post("tools/call").await.stream().await);
    let message = side.next().await["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("may or may not have been"), "{message}");
    side.send(list(2)).await;
    drop(fake.next_post("tools/list").await.stream().await);
    fake.next_post("tools/list").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 2);
}

#[tokio::test]
async fn server_that_is_busy_is_asked_again() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.send(call(1)).await;
    let busy = r#"{"error":"overloaded","error_description":"Later."}"#;
    let json = "Content-Type: application/json\r\n";
    fake.next().await.answer("503 Service Unavailable", json, busy).await;
    fake.next_post("tools/call").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 1);
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    let json = "Content-Type: application/json\r\n";
    let scope =
        format!("{json}WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"sites:write\"\r\n");
    let body = r#"{"error":"some_code","error_description":"The server's words."}"#;
    let login = format!("dropleaf login {}", fake.url);
    for (status, headers, words) in [
        ("401 Unauthorized", json, format!("{login}` or set DROPLEAF_API_KEY")),
        ("403 Forbidden", &scope, "lacks the scope sites:write".to_owned()),
        ("403 Forbidden", json, "The server's words.".to_owned()),
        ("429 Too Many Requests", &format!("{json}Retry-After: 30\r\n"), "Try again in 30 s.".to_owned()),
    ] {
        side.send(call(1)).await;
        fake.next().await.answer(status, headers, body).await;
        let answer = side.next().await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(&words), "{message}");
        assert_eq!(answer["error"]["data"]["error"], "some_code");
        assert_eq!(answer["error"]["code"].to_string(), status[..3]);
    }
    side.send(call(1)).await;
    fake.next().await.answer("302 Found", "Location: http://127.0.0.1:1/\r\n", "").await;
    let message = side.next().await["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("Check the address."), "{message}");
}

#[tokio::test]
async fn key_of_a_new_login_is_found_without_a_new_start() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    side.send(call(1)).await;
    let asked = fake.next().await;
    *side.key.lock().unwrap() = Some("new".into());
    asked.answer("401 Unauthorized", "", "{}").await;
    let again = fake.next().await;
    assert_eq!(again.header("authorization"), Some("Bearer new"));
    again.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 1);
}

#[tokio::test]
async fn lines_that_are_no_messages_are_answered_and_harm_nobody() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    for (line, code) in [
        (Line::Whole(b"hello".to_vec()), -32700),
        (Line::Whole(b"{\"id\":".to_vec()), -32700),
        (Line::Whole(b"[]".to_vec()), -32600),
        (Line::Whole(b"{}".to_vec()), -32600),
        (Line::TooLong, -32600),
    ] {
        side.line(line).await;
        let answer = side.next().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)));
    }
    side.send(list(1)).await;
    fake.next_post("tools/list").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 1);
}

#[tokio::test]
async fn more_requests_than_it_holds_are_refused_at_once() {
    let mut fake = Fake::start().await;
    let mut side = Side::of(&fake.url, PATIENCE);
    let mut held = Vec::new();
    for id in 0..128 {
        side.send(list(id)).await;
        held.push(fake.next_post("tools/list").await);
    }
    side.send(list(128)).await;
    assert_eq!(side.next().await["error"]["code"], 429);
    held.pop().unwrap().result("", json!({})).await;
    assert_eq!(side.next().await["id"], 127);
    side.send(list(129)).await;
    fake.next_post("tools/list").await.result("", json!({})).await;
    assert_eq!(side.next().await["id"], 129);
}

#[tokio::test]
async fn server_that_does_not_answer_keeps_nobody_from_leaving() {
    let progress =
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
    // A notification waits for its response; one that follows an `initialize` waits for the session.
    for first in [&progress, &begin] {
        for is_stopped in [true, false] {
            let mut fake = Fake::start().await;
            let mut side = Side::of(&fake.url, PATIENCE);
            side.send(first.clone()).await;
            let _held = fake.next().await;
            side.send(progress.clone()).await;
            side.send(progress.clone()).await;
            if is_stopped {
                side.stop();
            } else {
                side.leave();
            }
            // Sooner than the delivery timeout. Only timers are left to wait for, so paused time jumps from one to the next and
            // the load of the machine does not matter.
            tokio::time::pause();
            let since = tokio::time::Instant::now();
            side.ended().await;
            let allowed = if is_stopped { 2 } else { 8 };
            assert!(since.elapsed() < Duration::from_secs(allowed), "{:?}", since.elapsed());
            tokio::time::resume();
        }
    }
}
