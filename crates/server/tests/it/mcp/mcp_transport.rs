//! Requests that `/mcp` checks itself: credential, origin, and invalid messages. Spec §4 MCP.

use crate::harness::mcp::message_in;
use crate::harness::mcp_line::{BOTH, ask_now, begin, say};
use crate::harness::oauth::let_in;
use crate::harness::{Ask, Node, Setup};
use serde_json::json;

#[tokio::test]
async fn mcp_asks_for_a_credential_and_names_its_own_document() {
    let node = Node::start().await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", node.base_url());
    let asks = format!("Bearer resource_metadata=\"{metadata}\", scope=\"sites:read sites:write\"");
    for ask in [node.get("/mcp"), node.post("/mcp"), node.delete("/mcp")] {
        let answer = ask.send().await.refused(401, "auth required");
        assert_eq!(answer.header("www-authenticate"), asks);
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert!(answer.header("access-control-expose-headers").contains("WWW-Authenticate, Mcp-Session-Id"));
    }
    let answer = node.post("/mcp").key("oat_nonsense").send().await.refused(401, "invalid_credential");
    assert!(
        answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\", resource_metadata=")
    );
    assert!(answer.header("www-authenticate").contains(&metadata));
    let document = node.get("/.well-known/oauth-protected-resource/mcp").send().await.expect(200).json();
    assert_eq!(document["resource"], format!("{}/mcp", node.base_url()));
}

fn list(node: &Node) -> Ask {
    ask_now(node, &node.key, "tools/list", &json!({}))
}

#[tokio::test]
async fn pages_of_other_sites_may_not_speak_here() {
    let setup = || {
        Setup::new()
            .set("base_url", "https://api.example.com")
            .set("mcp.allowed_origins", "https://Inspector.example.net:443/,chrome-extension://abcdef")
    };
    let node = setup().start().await;
    let at = |ask: Ask| ask.host("api.example.com");
    at(list(&node)).send().await.expect(200);
    for good in ["https://api.example.com", "https://inspector.example.net", "chrome-extension://abcdef"] {
        let answer = at(list(&node)).header("origin", good).send().await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), "*");
    }
    let bad = [
        "null",
        "https://evil.example",
        "http://api.example.com",
        "https://api.example.com:8443",
        "https://inspector.example.net.evil.example",
        "https://x.inspector.example.net",
        "http://localhost",
        "chrome-extension://other",
    ];
    for origin in bad {
        at(list(&node)).header("origin", origin).send().await.refused(403, "cross_site");
    }
    let twice =
        at(list(&node)).header("origin", "https://api.example.com").header("origin", "https://evil.example");
    twice.send().await.refused(403, "cross_site");
    // The origin is checked before the credential.
    at(node.post("/mcp")).header("origin", "https://evil.example").send().await.refused(403, "cross_site");
    list(&node).host("rebound.example").send().await.expect(421);
    let preflight =
        at(node.ask(reqwest::Method::OPTIONS, "/mcp")).header("origin", "https://inspector.example.net");
    let allowed = preflight.send().await.expect(204);
    for name in
        ["Authorization", "MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID"]
    {
        assert!(allowed.header("access-control-allow-headers").contains(name), "{name}");
    }
}

#[tokio::test]
async fn on_this_machine_pages_of_this_machine_may_speak() {
    let node = Node::start().await;
    for good in ["http://localhost:6274", "http://127.0.0.1:5173", "http://[::1]:1234"] {
        list(&node).header("origin", good).send().await.expect(200);
    }
    // A published page has its own host, which is not allowed.
    for bad in ["http://s-abc.localhost:8080", "null", "http://localhost.evil.example", "http://192.168.1.1"]
    {
        list(&node).header("origin", bad).send().await.refused(403, "cross_site");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_in_json() {
    let node = Node::start().await;
    let post =
        |body: &str| node.post("/mcp").key(&node.key).header("accept", BOTH).body("application/json", body);
    let wrong = [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        ("7", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":7}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
        ("\"ping\"", -32600),
        ("{\"method\":\"ping\",\"params\":{\"notifications\":7}}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32600),
    ];
    for (body, code) in wrong {
        let answer = post(body).send().await.expect(400);
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {}", answer.text());
        for ours in ["Peek", "Params", "struct", "enum", "variant", "JsonRpc"] {
            assert!(!answer.text().contains(ours), "{body}: {}", answer.text());
        }
    }
    node.post("/mcp").key(&node.key).json(&json!({})).send().await.refused(406, "invalid_request");
    let ask = node.post("/mcp").key(&node.key).header("accept", BOTH).body("text/plain", "{}");
    ask.send().await.refused(415, "invalid_request");
    say(&node, &node.key, "", "tools/list", &json!({})).send().await.refused(400, "invalid_request");
    let put = node.put("/mcp").key(&node.key).send().await.refused(405, "method_not_allowed");
    assert_eq!(put.header("allow"), "GET, POST, DELETE");
    let session = begin(&node, &node.key).await;
    let version =
        post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").header("mcp-session-id", &session);
    version.header("mcp-protocol-version", "1999-01-01").send().await.refused(400, "invalid_request");
}

#[tokio::test]
async fn messages_that_are_too_long_are_refused() {
    let node = Setup::new().set("limits.upload_bytes", "1000").start().await;
    let long = json!({"name": "publish_html", "arguments": {"html": "x".repeat(1_200_000)}});
    let refused = ask_now(&node, &node.key, "tools/call", &long).send().await.refused(413, "too_large");
    assert!(refused.text().contains("the limit of 1120112 bytes"), "{}", refused.text());
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "x".repeat(70_000), "version": "1"},
    });
    let refused = say(&node, &node.key, "", "initialize", &params).send().await.refused(413, "too_large");
    assert!(refused.text().contains("the limit of 65536 bytes"), "{}", refused.text());
}

#[tokio::test]
async fn only_documents_of_who_may_publish_are_long() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let reader = let_in(&person, "sites:read").await;
    let call = |name: &str, value: serde_json::Value| json!({"name": name, "arguments": {"html": value}});
    let text = json!("x".repeat(300_000));
    for tool in ["publish_html", "update_site", "edit_site"] {
        ask_now(&node, &node.key, "tools/call", &call(tool, text.clone())).send().await.expect(200);
    }
    let others = [
        (&reader.access, "tools/call", call("publish_html", text.clone())),
        (&reader.access, "tools/call", call("get_site", text.clone())),
        (&node.key, "tools/call", call("get_site", text.clone())),
        (&node.key, "tools/call", call("no_tool", text.clone())),
        (&node.key, "resources/read", call("publish_html", text)),
    ];
    for (key, method, params) in others {
        let refused = ask_now(&node, key, method, &params).send().await.refused(413, "too_large");
        assert!(refused.text().contains("the limit of 262144 bytes"), "{}", refused.text());
    }
    let pieces = call("publish_html", json!(vec![0; 150_000]));
    let refused = ask_now(&node, &node.key, "tools/call", &pieces).send().await.refused(413, "too_large");
    assert!(refused.text().contains("10000 JSON values"), "{}", refused.text());
}

#[tokio::test]
async fn read_only_token_is_told_which_scope_a_tool_needs() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let program = let_in(&person, "sites:read").await;
    let publish = json!({"name": "publish_html", "arguments": {"html": "<p>x"}});
    let session = begin(&node, &program.access).await;
    let refused = [
        ask_now(&node, &program.access, "tools/call", &publish).send().await,
        say(&node, &program.access, &session, "tools/call", &publish).send().await,
    ];
    for answer in refused {
        let answer = answer.refused(403, "insufficient_scope");
        let challenge = answer.header("www-authenticate");
        assert!(
            challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\"sites:write\""),
            "{challenge}"
        );
        assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp\""), "{challenge}");
    }
    let answer = ask_now(&node, &program.access, "tools/list", &json!({})).send().await.expect(200);
    assert!(message_in(&answer)["result"]["tools"].is_array());
}

#[tokio::test]
async fn message_that_says_two_things_is_refused() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let program = let_in(&person, "sites:read").await;
    let session = begin(&node, &program.access).await;
    // With duplicate names, the check must not see one value and the library another.
    let tricks = [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"publish_html","arguments":{"html":"<p>x"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_site","name":"publish_html","arguments":{"html":"<p>x"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_site"},"params":{"name":"publish_html","arguments":{"html":"<p>x"}}}"#,
    ];
    for trick in tricks {
        let ask =
            node.post("/mcp").key(&program.access).header("accept", BOTH).header("mcp-session-id", &session);
        let answer = ask.body("application/json", trick).send().await.expect(400);
        assert_eq!(answer.json()["error"]["code"], -32600, "{}", answer.text());
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
}

#[tokio::test]
async fn types_are_read_without_regard_to_case() {
    let node = Node::start().await;
    let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let session = begin(&node, &node.key).await;
    let post = |kind: &str, accept: &str| {
        let ask = node.post("/mcp").key(&node.key).header("mcp-session-id", &session);
        ask.header("accept", accept).body(kind, body)
    };
    for (kind, accept) in [
        ("Application/JSON", BOTH),
        ("application/json ; charset=utf-8", "Text/Event-Stream;q=0.9, APPLICATION/json"),
    ] {
        assert_eq!(message_in(&post(kind, accept).send().await.expect(200))["id"], 1, "{kind}");
    }
    post("application/jsonp", BOTH).send().await.refused(415, "invalid_request");
    post("application/json", "application/json;q=0, text/event-stream")
        .send()
        .await
        .refused(406, "invalid_request");
}

#[tokio::test]
async fn request_without_the_session_it_needs_says_what_to_do() {
    let node = Node::start().await;
    for ask in [node.get("/mcp").header("accept", "text/event-stream"), node.get("/mcp")] {
        let refused = ask.key(&node.key).send().await.refused(400, "invalid_request");
        for word in ["`initialize`", "`Mcp-Session-Id`", "`subscriptions/listen`"] {
            assert!(refused.text().contains(word), "{}", refused.text());
        }
    }
    let refused = node.delete("/mcp").key(&node.key).send().await.refused(400, "invalid_request");
    assert!(refused.text().contains("`Mcp-Session-Id`"), "{}", refused.text());
    // The revision without sessions has no stream to open.
    let modern =
        node.get("/mcp").key(&node.key).header("accept", BOTH).header("mcp-protocol-version", "2026-07-28");
    modern.send().await.refused(405, "method_not_allowed");
}
