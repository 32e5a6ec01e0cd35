//! Sessions of the older MCP revisions: ownership, lifetime, and survival of a restart.

use crate::harness::mcp::{LEGACY, message_in};
use crate::harness::mcp_line::{BOTH, Line, begin, comment, open_page, result, say, uri_of};
use crate::harness::oauth::let_in;
use crate::harness::{DAY, Database, HOUR, Node, Setup, in_time, on_each_database};
use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;

const COUNT: &str = "SELECT COUNT(*) FROM mcp_sessions";
/// Often enough that a test does not wait for it.
const CHECKS: Duration = Duration::from_millis(20);

async fn goes_on(node: &Node, key: &str, session: &str) {
    let tools = result(node, key, session, "tools/list", json!({})).await;
    assert!(tools["tools"].as_array().unwrap().len() > 1);
}

/// One of several concurrent messages.
async fn answers(node: &Node, key: &str, session: &str, number: u32) {
    let body = json!({"jsonrpc": "2.0", "id": number, "method": "ping"});
    let ask = node.post("/mcp").key(key).header("accept", BOTH).header("mcp-session-id", session).json(&body);
    assert_eq!(message_in(&ask.send().await.expect(200))["id"], number);
}

/// Another key of the operator: its id and the key.
async fn another_key(node: &Node) -> (String, String) {
    let made = node.post("/api-keys").key(&node.key).json(&json!({"name": "another"})).send().await;
    let made = made.expect(201).json();
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

async fn is_not_there(node: &Node, key: &str, session: &str) {
    let posted = say(node, key, session, "tools/list", &json!({})).send().await;
    let gone = [
        posted,
        node.get("/mcp").key(key).header("accept", BOTH).header("mcp-session-id", session).send().await,
        node.delete("/mcp").key(key).header("mcp-session-id", session).send().await,
    ];
    for answer in gone {
        answer.refused(404, "not_found");
    }
}

#[tokio::test]
async fn session_is_its_credentials_alone() {
    on_each_database(Setup::new, async |node| {
        let session = begin(node, &node.key).await;
        let stranger = node.account("pro").await;
        let (_, another) = another_key(node).await;
        for key in [&stranger, &another] {
            is_not_there(node, key, &session).await;
        }
        is_not_there(node, &node.key, "00000000-0000-4000-8000-000000000000").await;
        is_not_there(node, &node.key, "not-an-id").await;
        goes_on(node, &node.key, &session).await;
    })
    .await;
}

#[tokio::test]
async fn ended_session_is_gone_with_its_stream() {
    on_each_database(Setup::new, async |node| {
        let session = begin(node, &node.key).await;
        let mut line = Line::open(node, &node.key, &session).await;
        let ask = node.delete("/mcp").key(&node.key).header("mcp-protocol-version", LEGACY);
        let ended = ask.header("mcp-session-id", &session).send().await.expect(204);
        assert!(ended.body.is_empty());
        assert!(line.rest().await.is_empty());
        is_not_there(node, &node.key, &session).await;
        assert_eq!(node.count(COUNT).await, 0);
    })
    .await;
}

#[tokio::test]
async fn every_stream_of_an_ended_session_ends() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let mut old = Line::open(&node, &node.key, &session).await;
    let mut new = Line::open(&node, &node.key, &session).await;
    node.delete("/mcp").key(&node.key).header("mcp-session-id", &session).send().await.expect(204);
    for line in [&mut old, &mut new] {
        assert!(in_time("the end of a stream", line.rest()).await.is_empty());
    }
}

#[tokio::test]
async fn session_that_could_not_be_deleted_is_not_reported_as_ended() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let end = || node.delete("/mcp").key(&node.key).header("mcp-session-id", &session).send();
    node.exec(
        "CREATE TRIGGER stuck BEFORE DELETE ON mcp_sessions BEGIN SELECT RAISE(ABORT, 'stuck'); END",
        vec![],
    )
    .await;
    let failed = end().await;
    assert!(failed.status >= 500, "{} {}", failed.status, failed.text());
    assert_eq!(node.count(COUNT).await, 1);
    goes_on(&node, &node.key, &session).await;
    node.exec("DROP TRIGGER stuck", vec![]).await;
    end().await.expect(204);
    assert_eq!(node.count(COUNT).await, 0);
}

#[tokio::test]
async fn restart_strands_nobody() {
    for database in [Database::Sqlite, Database::postgres().await] {
        let setup = || Setup::new().database(database.clone());
        let node = setup().start().await;
        let key = node.key.clone();
        let (one, two) = (open_page(&node, &key, "One").await, open_page(&node, &key, "Two").await);
        let (session, idle) = (begin(&node, &key).await, begin(&node, &key).await);
        result(&node, &key, &session, "resources/subscribe", json!({"uri": uri_of(&one)})).await;
        let mut line = Line::open(&node, &key, &session).await;
        let dir = node.stop().await;
        assert!(line.rest().await.is_empty());
        let node = setup().start_in(dir).await;
        // A client reconnects with all its connections at once, and may open a stream first.
        let mut line = Line::open(&node, &key, &session).await;
        for id in [&session, &idle] {
            join_all((0..20).map(|number| answers(&node, &key, id, number))).await;
        }
        for site in [&two, &one] {
            let path = format!("/sites/{}", site["id"].as_str().unwrap());
            let site = node.get(&path).key(&key).send().await.expect(200).json();
            comment(&node, &site, "After the restart.").await;
        }
        assert_eq!(line.news().await, uri_of(&one), "what it watches was kept");
        let stranger = node.account("pro").await;
        is_not_there(&node, &stranger, &session).await;
        node.stop().await;
        database.remove().await;
    }
}

#[tokio::test]
async fn sessions_end_with_the_key_or_the_grant_they_were_begun_with() {
    on_each_database(Setup::new, async |node| {
        let (id, key) = another_key(node).await;
        begin(node, &key).await;
        let kept = begin(node, &node.key).await;
        node.delete(&format!("/api-keys/{id}")).key(&node.key).send().await.expect(200);
        assert_eq!(node.count(COUNT).await, 1);
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "sites:read sites:write").await;
        let session = begin(node, &program.access).await;
        goes_on(node, &program.access, &session).await;
        let made = node.post("/api-keys").key(&program.access).json(&json!({"name": "its own"})).send().await;
        begin(node, made.expect(201).json()["key"].as_str().unwrap()).await;
        assert_eq!(node.count(COUNT).await, 3);
        let end = [("token", program.refresh.as_str()), ("client_id", &program.client_id)];
        node.post("/oauth/revoke").fields(&end).send().await.expect(200);
        assert_eq!(node.count(COUNT).await, 1, "the program's, and that of the key it made");
        goes_on(node, &node.key, &kept).await;
    })
    .await;
}

#[tokio::test]
async fn session_of_a_program_goes_on_with_its_next_token() {
    let node = Setup::new().mcp_checks_every(CHECKS).start().await;
    let person = node.newcomer("ada@example.org").await;
    let program = let_in(&person, "sites:read sites:write").await;
    let session = begin(&node, &program.access).await;
    let tokens = crate::harness::oauth::refresh(&node, &program.client_id, &program.refresh, &[]).await;
    let next = tokens.expect(200).json()["access_token"].as_str().unwrap().to_owned();
    goes_on(&node, &next, &session).await;
    // An expired token keeps no stream open either: the next check ends it.
    let mut line = Line::open(&node, &next, &session).await;
    node.clock.advance(2 * HOUR);
    assert!(line.rest().await.is_empty());
}

#[tokio::test]
async fn unused_sessions_are_swept_and_used_ones_are_not() {
    on_each_database(Setup::new, async |node| {
        let (used, unused) = (begin(node, &node.key).await, begin(node, &node.key).await);
        node.clock.advance(20 * DAY);
        goes_on(node, &node.key, &used).await;
        node.clock.advance(11 * DAY);
        node.app().sweep().await.unwrap();
        goes_on(node, &node.key, &used).await;
        is_not_there(node, &node.key, &unused).await;
    })
    .await;
}

#[tokio::test]
async fn account_holds_so_many_sessions_and_the_least_recently_used_ends_first() {
    on_each_database(Setup::new, async |node| {
        // The stream may be checked at any time, which counts as a use of its session. It is the oldest, so that it
        // ends even if it was used as recently as the others.
        let streaming = begin(node, &node.key).await;
        let mut line = Line::open(node, &node.key, &streaming).await;
        node.clock.advance(1);
        let used = begin(node, &node.key).await;
        node.clock.advance(1);
        let unused = begin(node, &node.key).await;
        let stranger = node.account("pro").await;
        let kept = begin(node, &stranger).await;
        node.clock.advance(100);
        goes_on(node, &node.key, &used).await;
        // Another key of the same account shares the session limit with the first.
        let (_, another) = another_key(node).await;
        for _ in 0..99 {
            begin(node, &another).await;
        }
        assert_eq!(node.count(COUNT).await, 101, "100 of the one account, 1 of the other");
        assert!(line.rest().await.is_empty(), "the stream ends with its session");
        for ended in [&streaming, &unused] {
            is_not_there(node, &node.key, ended).await;
        }
        goes_on(node, &node.key, &used).await;
        goes_on(node, &stranger, &kept).await;
    })
    .await;
}

#[tokio::test]
async fn open_stream_counts_as_use_of_its_session() {
    on_each_database(
        || Setup::new().mcp_checks_every(CHECKS),
        async |node| {
            let (listening, unused) = (begin(node, &node.key).await, begin(node, &node.key).await);
            let mut line = Line::open(node, &node.key, &listening).await;
            node.clock.advance(31 * DAY);
            let used = "SELECT COUNT(*) FROM mcp_sessions WHERE last_seen_at > created_at";
            in_time("the recorded use", async { while node.count(used).await == 0 {} }).await;
            node.app().sweep().await.unwrap();
            is_not_there(node, &node.key, &unused).await;
            goes_on(node, &node.key, &listening).await;
            let site = open_page(node, &node.key, "Page").await;
            comment(node, &site, "For a client that only listens.").await;
            assert_eq!(line.news().await, uri_of(&site));
        },
    )
    .await;
}

#[tokio::test]
async fn session_keeps_only_what_it_needs_of_long_parameters() {
    on_each_database(Setup::new, async |node| {
        let long = "x".repeat(12_000);
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {"roots": {}, "experimental": {"a": {"note": long}}},
            "clientInfo": {"name": long, "version": "1", "icons": [{"src": long}], "description": long},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let begun =
            node.post("/mcp").key(&node.key).header("accept", BOTH).json(&body).send().await.expect(200);
        let session = begun.header("mcp-session-id").to_owned();
        let kept = node.count("SELECT MAX(LENGTH(params)) FROM mcp_sessions").await;
        assert!((1..1000).contains(&kept), "{kept}");
        goes_on(node, &node.key, &session).await;
    })
    .await;
}

#[tokio::test]
async fn newest_revision_neither_needs_nor_gets_a_session() {
    let node = Node::start().await;
    let ask = crate::harness::mcp_line::ask_now(&node, &node.key, "tools/list", &json!({}));
    let answer = ask.header("mcp-session-id", "nobody's").send().await.expect(200);
    assert!(!answer.has("mcp-session-id"));
    assert_eq!(message_in(&answer)["result"]["resultType"], "complete");
    assert_eq!(node.count(COUNT).await, 0);
    let get =
        node.get("/mcp").key(&node.key).header("accept", BOTH).header("mcp-protocol-version", "2026-07-28");
    assert_eq!(get.send().await.refused(405, "method_not_allowed").header("allow"), "POST");
}
