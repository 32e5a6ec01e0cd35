//! The time limit for the answer to a message in a session, whose response head is sent before the answer.

use crate::harness::mcp_line::{BOTH, begin, result};
use crate::harness::{Node, in_time};
use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn messages_with_the_same_id_are_all_answered_or_time_out() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    // The library sends the answers to concurrent messages with one id to the newest, and none to the others.
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let sent = (0..20).map(|_| {
        let ask = node.post("/mcp").key(&node.key).header("accept", BOTH).json(&message);
        ask.header("mcp-session-id", &session).begin()
    });
    let responses = join_all(sent).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let bodies = join_all(responses.into_iter().map(reqwest::Response::text));
    for body in in_time("the end of all responses", bodies).await {
        let body = body.unwrap();
        let data: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("data: {")).collect();
        assert_eq!(data.len(), 1, "{body}");
        assert!(data[0].contains("\"id\":7"), "{body}");
        assert!(data[0].contains("\"result\":") || data[0].contains("\"error\":\"timed_out\""), "{body}");
    }
    // The session is not affected.
    assert!(result(&node, &node.key, &session, "tools/list", json!({})).await["tools"].is_array());
}
