//! `dropleaf mcp`: the real binary between a client on its standard input and output and a running server.

use crate::harness::mcp_line::{comment, open_page, uri_of};
use crate::harness::oauth::let_in;
use crate::harness::pipe::Pipe;
use crate::harness::{Dropleaf, Node, ReservedPort, Setup, in_time, page};
use crate::mcp::mcp_tools::use_them_all;
use serde_json::{Value, json};
use tempfile::TempDir;

const SESSIONS: &str = "SELECT COUNT(*) FROM mcp_sessions";

fn words(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

/// Another server on the same folder and the same port.
async fn again((dir, port): (TempDir, ReservedPort)) -> Node {
    Setup::new().port(port).start_in(dir).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_those_of_the_server_in_both_eras() {
    let node = Node::start().await;
    let by_http = node.mcp(&node.key).await.request("tools/list", json!({})).await;
    let mut old = node.pipe(&node.key).begun().await;
    assert_eq!(old.request("tools/list", json!({})).await["tools"], by_http["tools"]);
    let mut new = node.pipe(&node.key).modern();
    let found = new.request("server/discover", json!({})).await;
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert_eq!(new.request("tools/list", json!({})).await["tools"], by_http["tools"]);
    // A name that no header can carry arrives unchanged.
    let error = new.error("tools/call", json!({"name": "grüße", "arguments": {}})).await;
    assert!(words(&error).contains("grüße"), "{error}");
    for pipe in [old, new] {
        let (rest, success, complaints) = pipe.leave().await;
        assert!(rest.is_empty() && success && complaints.is_empty(), "{rest:?} {complaints}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_works_over_stdio_as_it_does_over_http() {
    for is_modern in [false, true] {
        let node = Node::start().await;
        use_them_all(&node, node.mcp_by_pipe(&node.key, is_modern).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_published_changed_and_talked_about_and_the_session_ends_with_the_input() {
    let node = Node::start().await;
    for mut pipe in [node.pipe(&node.key).begun().await, node.pipe(&node.key).modern()] {
        let site = pipe.give("publish_html", json!({"html": page("One"), "agentation": true})).await;
        let seen = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert!(seen.text().contains("One"));
        let changed = pipe.give("update_site", json!({"site": site["id"], "html": page("Two")})).await;
        assert_eq!((&changed["url"], &changed["version"]), (&site["url"], &json!(2)));
        let list = pipe.give("list_sites", json!({})).await;
        assert!(list["sites"].as_array().unwrap().iter().any(|listed| listed["id"] == site["id"]));
        comment(&node, &site, "Say by when.").await;
        let heard = pipe.give("list_feedback", json!({"site": site["id"]})).await;
        assert_eq!(heard["feedback"][0]["comment"], "Say by when.");
        let (_, success, complaints) = pipe.leave().await;
        assert!(success && complaints.is_empty(), "{complaints}");
    }
    assert_eq!(node.count(SESSIONS).await, 0, "the session was ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_at_once_are_each_answered() {
    let node = Node::start().await;
    for mut pipe in [node.pipe(&node.key).begun().await, node.pipe(&node.key).modern()] {
        let ids: Vec<u32> = (0..40)
            .map(|number| match number % 2 {
                0 => pipe.ask("tools/list", json!({})),
                _ => pipe.ask(
                    "tools/call",
                    json!({"name": "get_site", "arguments": {"site": number.to_string()}}),
                ),
            })
            .collect();
        for (number, id) in ids.into_iter().enumerate() {
            let result = pipe.answer(id).await["result"].clone();
            assert_eq!(result["tools"].is_array(), number % 2 == 0, "{result}");
            assert_eq!(result["isError"] == true, number % 2 == 1, "{result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_mebibytes_pass() {
    let node = Node::start().await;
    let html =
        format!("<!doctype html><title>Large</title>{}", "<p>\"quoted\"\n".repeat(10 * 1024 * 1024 / 12));
    assert!(html.len() > 9 * 1024 * 1024);
    let mut pipe = node.pipe(&node.key).modern();
    let site = pipe.give("publish_html", json!({"html": html})).await;
    let seen = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert!(seen.text() == html, "every byte arrived");
}

#[tokio::test(flavor = "multi_thread")]
async fn news_arrive_on_standard_output() {
    let node = Node::start().await;
    let site = open_page(&node, &node.key, "Talked about").await;
    let mut old = node.pipe(&node.key).begun().await;
    old.request("resources/subscribe", json!({"uri": uri_of(&site)})).await;
    let mut new = node.pipe(&node.key).modern();
    let listening =
        new.ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri_of(&site)]}}));
    new.news("notifications/subscriptions/acknowledged").await;
    // The stream of a session was open before its first request was sent.
    comment(&node, &site, "Say by when.").await;
    for pipe in [&mut old, &mut new] {
        assert_eq!(pipe.news("notifications/resources/updated").await["uri"], uri_of(&site));
    }
    new.notify("notifications/cancelled", &json!({"requestId": listening}));
    assert!(new.request("tools/list", json!({})).await["tools"].is_array(), "and goes on");
    let (rest, success, _) = new.leave().await;
    assert!(rest.is_empty() && success, "{rest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn restart_of_the_server_strands_nobody() {
    let node = Node::start().await;
    let key = node.key.clone();
    let site = open_page(&node, &key, "Before").await;
    let mut old = node.pipe(&key).begun().await;
    let mut new = node.pipe(&key).modern();
    old.request("resources/subscribe", json!({"uri": uri_of(&site)})).await;
    new.ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri_of(&site)]}}));
    new.news("notifications/subscriptions/acknowledged").await;
    let left = node.stop_for_restart().await;
    // Sent while the server is down, answered after its restart.
    let waiting = [old.ask("tools/list", json!({})), new.ask("tools/list", json!({}))];
    let node = again(left).await;
    for (pipe, id) in [&mut old, &mut new].into_iter().zip(waiting) {
        assert!(pipe.answer(id).await["result"]["tools"].is_array());
        pipe.give("publish_html", json!({"html": page("After")})).await;
    }
    let site = node
        .get(&format!("/sites/{}", site["id"].as_str().unwrap()))
        .key(&key)
        .send()
        .await
        .expect(200)
        .json();
    // Streams reconnect after a delay and notifications before that are lost, so comments are repeated until one
    // arrives.
    for pipe in [&mut old, &mut new] {
        let reconnected = async {
            loop {
                comment(&node, &site, "Still there?").await;
                let news = pipe.news("notifications/resources/updated");
                if let Ok(news) = tokio::time::timeout(std::time::Duration::from_secs(1), news).await {
                    return news;
                }
            }
        };
        assert_eq!(in_time("a notification after the restart", reconnected).await["uri"], uri_of(&site));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_the_server_forgot_begins_again_unnoticed() {
    let node = Node::start().await;
    let mut pipe = node.pipe(&node.key).begun().await;
    let session = node
        .rows("SELECT id FROM mcp_sessions", Vec::new(), |row| Ok(row.text(0)?.to_owned()))
        .await
        .remove(0);
    let ask = node.delete("/mcp").key(&node.key).header("mcp-session-id", &session);
    ask.header("mcp-protocol-version", "2025-11-25").send().await.expect(204);
    let site = pipe.give("publish_html", json!({"html": page("After all")})).await;
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(node.count(SESSIONS).await, 1);
    let (_, success, complaints) = pipe.leave().await;
    assert!(success && complaints.contains("a new one was started"), "{complaints}");
    assert_eq!(node.count(SESSIONS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn key_that_does_not_do_says_what_to_do() {
    let node = Node::start().await;
    let login = format!("dropleaf login {}` or set DROPLEAF_API_KEY", node.base_url());
    let mut pipe = node.pipe("stk_live_wrong").modern();
    let error = pipe.error("tools/list", json!({})).await;
    assert!(error["code"] == 401 && words(&error).contains(&login), "{error}");
    let mut pipe = node.pipe("stk_live_wrong");
    let error = pipe.error("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})).await;
    assert!(words(&error).contains(&login), "{error}");

    let account = node.app().get_account_by_email("operator@localhost").await.unwrap();
    let person = node.signed_in(&account).await;
    let reader = let_in(&person, "sites:read").await;
    for mut pipe in [node.pipe(&reader.access).modern(), node.pipe(&reader.access).begun().await] {
        assert!(pipe.request("tools/list", json!({})).await["tools"].is_array());
        let error =
            pipe.error("tools/call", json!({"name": "publish_html", "arguments": {"html": "x"}})).await;
        assert!(error["code"] == 403 && words(&error).contains("lacks the scope sites:write"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_login_is_used_and_found_when_it_comes_later() {
    let node = Node::start().await;
    let home = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(home.path()).env("HOME", home.path().to_str().unwrap());
    let mut pipe = Pipe::start(&dropleaf, &["mcp", "--server", &node.base_url()]).modern();
    assert_eq!(pipe.error("tools/call", json!({"name": "get_me", "arguments": {}})).await["code"], 401);
    let folder = home.path().join(".config/dropleaf");
    std::fs::create_dir_all(&folder).unwrap();
    let stored = format!("[servers.\"{}\"]\nkey = \"{}\"\n", node.base_url(), node.key);
    std::fs::write(folder.join("credentials.toml"), stored).unwrap();
    assert_eq!(pipe.give("get_me", json!({})).await["email"], "operator@localhost");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_is_away_is_named_and_what_is_no_message_too() {
    let node = Node::start().await;
    let url = node.base_url();
    let _left = node.stop_for_restart().await;
    let home = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(home.path()).env("HOME", home.path().to_str().unwrap());
    let mut pipe = Pipe::start(&dropleaf, &["mcp", "--server", &url, "--wait", "0"]).modern();
    let error = pipe.error("tools/list", json!({})).await;
    assert!(words(&error).contains(&format!("cannot reach {url}")), "{error}");
    for (line, code) in [("hello", -32700), ("{", -32700), ("[1]", -32600), ("7", -32600)] {
        pipe.line(line);
        assert_eq!(pipe.complaint().await["code"], code, "{line}");
    }
    let (rest, success, _) = pipe.leave().await;
    assert!(rest.is_empty() && success);
    let complaint = dropleaf.complains(&["mcp", "--server", "not an address"]);
    assert!(complaint.contains("is not the address of a server"), "{complaint}");
}
