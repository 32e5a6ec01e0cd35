//! Answers to tool calls whose connection was cut: fetched with `Last-Event-ID`, from any node and after a restart, by the
//! client alone to which they belong; and what is not offered.

use crate::harness::mcp::{LEGACY, message_in};
use crate::harness::mcp_line::{BOTH, begin, say};
use crate::harness::{Ask, Database, Node, Setup, in_time, on_each_database, page};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};

const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const PAGES: &str = "SELECT COUNT(*) FROM sites";
const ANSWERS: &str = "SELECT COUNT(*) FROM mcp_answers";

/// Messages of one session that are answered at the same time need different ids.
static LAST_ID: AtomicI64 = AtomicI64::new(100);

/// A call whose connection is cut after the first bytes of the response; returns the id of the first event.
async fn cut(node: &Node, key: &str, session: &str, tool: &str, arguments: Value) -> String {
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed);
    let params = json!({"name": tool, "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let ask = node.post("/mcp").key(key).header("accept", BOTH).header("mcp-session-id", session);
    let mut response = ask.header("mcp-protocol-version", LEGACY).json(&message).begin().await;
    assert_eq!(response.status(), 200);
    let mut text = String::new();
    while !text.contains("\n\n") {
        let chunk = in_time("the first event", response.chunk()).await.unwrap().unwrap();
        text.push_str(str::from_utf8(&chunk).unwrap());
    }
    let (first, _) = text.split_once("\n\n").unwrap();
    let lines: Vec<_> = first.lines().collect();
    assert_eq!(lines[1..], ["retry: 1000", "data:"], "{first}");
    lines[0].strip_prefix("id: ").unwrap().to_owned()
}

fn resume(node: &Node, key: &str, session: &str, last: &str) -> Ask {
    let ask = node.get("/mcp").key(key).header("accept", "text/event-stream");
    ask.header("mcp-session-id", session).header("mcp-protocol-version", LEGACY).header("last-event-id", last)
}

/// The message that a resumed stream ends with.
async fn resumed(node: &Node, key: &str, session: &str, last: &str) -> Value {
    let answer = in_time("the end of a resumed stream", resume(node, key, session, last).send()).await;
    message_in(&answer.expect(200))
}

#[tokio::test]
async fn fifty_cut_calls_are_resumed_and_none_is_done_twice() {
    on_each_database(Setup::new, async |node| {
        let session = begin(node, &node.key).await;
        let session = &session;
        let call = async |n: usize| {
            let html = page(&format!("Page {n}"));
            let last = cut(node, &node.key, session, "publish_html", json!({"html": html})).await;
            let message = resumed(node, &node.key, session, &last).await;
            assert!(message["id"].is_i64(), "{message}");
            let site = &message["result"]["structuredContent"];
            assert_eq!(site["title"], format!("Page {n}"), "{message}");
            // The same answer again: the client may have been cut a second time.
            assert_eq!(resumed(node, &node.key, session, &last).await, message);
            site["id"].as_str().unwrap().to_owned()
        };
        let mut ids = Vec::new();
        for tens in 0..5 {
            ids.extend(join_all((0..10).map(|ones| call(tens * 10 + ones))).await);
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 50);
        assert_eq!(node.count(PAGES).await, 50);
    })
    .await;
}

#[tokio::test]
async fn another_node_and_the_next_process_have_the_answer() {
    let database = Database::postgres().await;
    let setup = || Setup::new().set("secret_key", SECRET).database(database.clone());
    let (first, second) = (setup().start().await, setup().start().await);
    let key = first.key.clone();
    let session = begin(&first, &key).await;
    let last = cut(&first, &key, &session, "publish_html", json!({"html": page("Here")})).await;
    let there = resumed(&second, &key, &session, &last).await;
    assert_eq!(there["result"]["structuredContent"]["title"], "Here");
    let last = cut(&first, &key, &session, "publish_html", json!({"html": page("Before")})).await;
    let dir = first.stop().await;
    let third = setup().start_in(dir).await;
    let after = resumed(&third, &key, &session, &last).await;
    assert_eq!(after["result"]["structuredContent"]["title"], "Before");
    assert_eq!(third.count(PAGES).await, 2);
    second.stop().await;
    third.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn restart_on_sqlite_keeps_the_answer() {
    let node = Node::start().await;
    let key = node.key.clone();
    let session = begin(&node, &key).await;
    let last = cut(&node, &key, &session, "publish_html", json!({"html": page("Before")})).await;
    let node = Setup::new().start_in(node.stop().await).await;
    let message = resumed(&node, &key, &session, &last).await;
    assert_eq!(message["result"]["structuredContent"]["title"], "Before");
    assert_eq!(node.count(PAGES).await, 1);
}

#[tokio::test]
async fn client_waits_for_an_operation_that_still_runs() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let (app, id) = (node.app(), "w".repeat(22));
    let last = format!("answer~{id}~{}~{}", app.now(), URL_SAFE_NO_PAD.encode("7"));
    let mut response = resume(&node, &node.key, &session, &last).begin().await;
    let first = in_time("the first event", response.chunk()).await.unwrap().unwrap();
    assert_eq!(str::from_utf8(&first).unwrap(), format!("id: {last}\nretry: 1000\ndata:\n\n"));
    let who = app.authenticate_bearer(&node.key).await.unwrap();
    app.store_mcp_answer(&who, &session, &id, br#"{"jsonrpc":"2.0","id":7,"result":{}}"#).await.unwrap();
    let rest = in_time("the answer", response.text()).await.unwrap();
    assert_eq!(rest, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n");
}

#[tokio::test]
async fn answer_belongs_to_its_session_and_is_stored_encrypted() {
    on_each_database(Setup::new, async |node| {
        let (session, other) = (begin(node, &node.key).await, begin(node, &node.key).await);
        let link = json!({"html": page("Secret words"), "title": "Secret words"});
        let last = cut(node, &node.key, &session, "publish_html", link).await;
        resumed(node, &node.key, &session, &last).await;
        let stored =
            node.rows("SELECT sealed FROM mcp_answers", vec![], |row| Ok(row.bytes(0)?.to_vec())).await;
        assert_eq!(stored.len(), 1);
        assert!(!String::from_utf8_lossy(&stored[0]).contains("Secret"));
        let stranger = node.account("pro").await;
        resume(node, &stranger, &session, &last).send().await.refused(404, "not_found");
        resume(node, "stk_live_wrong", &session, &last).send().await.expect(401);
        // Far later, so that nothing waits for an answer that may still come.
        node.clock.advance(70);
        let elsewhere = resumed(node, &node.key, &other, &last).await;
        assert!(
            elsewhere["error"]["message"].as_str().unwrap().contains("no longer available"),
            "{elsewhere}"
        );
        assert!(elsewhere["id"].is_i64(), "{elsewhere}");
        assert_eq!(resumed(node, &node.key, &session, &last).await["result"]["isError"], false);
        let end = node.delete("/mcp").key(&node.key).header("mcp-session-id", &session);
        end.send().await.expect(204);
        assert_eq!(node.count(ANSWERS).await, 0, "they end with the session");
    })
    .await;
}

#[tokio::test]
async fn answers_are_kept_for_five_minutes_and_so_many_of_an_account() {
    on_each_database(Setup::new, async |node| {
        let session = begin(node, &node.key).await;
        let client = node.mcp_in(&node.key, &session);
        let site = node.publish_page("Changed often").await;
        let change = || json!({"site": site["id"], "live": true});
        let old = cut(node, &node.key, &session, "set_live", change()).await;
        resumed(node, &node.key, &session, &old).await;
        for _ in 0..210 {
            client.give("set_live", change()).await;
        }
        assert_eq!(node.count(ANSWERS).await, 200);
        let last = cut(node, &node.key, &session, "set_live", change()).await;
        resumed(node, &node.key, &session, &last).await;
        node.clock.advance(301);
        let gone = resumed(node, &node.key, &session, &last).await;
        assert!(gone["error"]["message"].as_str().unwrap().contains("check with get_site"), "{gone}");
        node.app().sweep().await.unwrap();
        assert_eq!(node.count(ANSWERS).await, 0);
    })
    .await;
}

#[tokio::test]
async fn stream_that_ended_with_an_error_is_not_resumed_for_ever() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let call = json!({"name": "no_such_tool", "arguments": {}});
    let text = say(&node, &node.key, &session, "tools/call", &call).send().await.expect(200).text();
    assert!(text.contains("\"error\":") && text.ends_with("\n\nid: end\ndata:\n\n"), "{text}");
    let last = cut(&node, &node.key, &session, "no_such_tool", json!({})).await;
    let again = resume(&node, &node.key, &session, &last).send().await.expect(200).text();
    assert!(again.contains("no_such_tool") && again.ends_with("\n\nid: end\ndata:\n\n"), "{again}");
    resume(&node, &node.key, &session, "end").send().await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn only_tools_that_write_and_clients_that_can_resume_are_offered_it() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let params = json!({"name": "publish_html", "arguments": {"html": page("Old client")}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    for version in ["2025-03-26", "2025-06-18"] {
        let ask = node.post("/mcp").key(&node.key).header("accept", BOTH).header("mcp-session-id", &session);
        let text = ask.header("mcp-protocol-version", version).json(&call).send().await.expect(200).text();
        assert!(text.starts_with("event: message\ndata: {"), "{text}");
        assert!(!text.contains("\nid:") && !text.contains("retry:"), "{text}");
    }
    let reads = json!({"name": "get_me", "arguments": {}});
    let text = say(&node, &node.key, &session, "tools/call", &reads).send().await.expect(200).text();
    assert!(text.starts_with("event: message\ndata: {"), "it can be called again: {text}");
    let list = say(&node, &node.key, &session, "tools/list", &json!({})).send().await.expect(200).text();
    assert!(list.starts_with("event: message\ndata: {"), "{list}");
    let modern =
        node.mcp_modern(&node.key).send("tools/call", json!({"name": "get_me", "arguments": {}})).await;
    let text = modern.expect(200).text();
    assert!(!text.contains("\nid:") && !text.starts_with("id:") && !text.contains("retry:"), "{text}");
    let begun = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
    }});
    let ask = node.post("/mcp").key(&node.key).header("accept", BOTH).json(&begun);
    let text = ask.send().await.expect(200).text();
    assert!(text.starts_with("event: message\ndata: {"), "{text}");
    assert_eq!(node.count(ANSWERS).await, 0);
}
