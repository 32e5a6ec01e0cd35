//! Errors of tools: by scope, by owner, by argument; and their texts. Spec §4 MCP, §5, §7.

use crate::harness::oauth::let_in;
use crate::harness::{DAY, NOW, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

/// A call of every tool that would succeed for the owner of the page.
pub(crate) fn calls(site: &Value) -> Vec<(&'static str, Value)> {
    let id = &site["id"];
    vec![
        ("get_site", json!({"site": id})),
        ("get_content", json!({"site": id})),
        ("read_site", json!({"site": id})),
        ("list_versions", json!({"site": id})),
        ("list_share_links", json!({"site": id})),
        ("list_feedback", json!({"site": id})),
        ("list_sites", json!({})),
        ("check_page", json!({"html": page("Fine")})),
        ("get_me", json!({})),
        ("get_design_guide", json!({})),
        ("update_site", json!({"site": id, "html": page("New")})),
        ("edit_site", json!({"site": id, "edits": [{"find": "</h1>", "replace": "!</h1>"}]})),
        ("set_visibility", json!({"site": id, "visibility": "unlisted"})),
        ("set_password", json!({"site": id, "password": "x"})),
        ("set_expiry", json!({"site": id, "expires_in_hours": 5})),
        ("set_email_gate", json!({"site": id, "email_gate_domain": "example.com"})),
        ("set_agentation", json!({"site": id, "agentation": true})),
        ("set_live", json!({"site": id, "live": true})),
        ("rollback_site", json!({"site": id, "version": 1})),
        ("create_share_link", json!({"site": id})),
        ("create_upload", json!({"site": id, "file": "a.html"})),
        ("list_custom_domains", json!({})),
        ("add_custom_domain", json!({"hostname": "reports.customer.example", "site": id})),
        ("update_custom_domain", json!({"hostname": "reports.customer.example", "site": id})),
        ("verify_custom_domain", json!({"hostname": "reports.customer.example"})),
        ("delete_custom_domain", json!({"hostname": "reports.customer.example"})),
        ("restore_site", json!({"site": id})),
        ("delete_site", json!({"site": id})),
        ("claim_site", json!({"site": id, "claim_token": "clm_x"})),
        ("revoke_share_link", json!({"token": "share_aaaaaaaaaaaaaaaaaaaa"})),
        ("reply_to_feedback", json!({"id": "fb_aaaaaaaaaaaaaaaaaaaa", "text": "x"})),
        ("resolve_feedback", json!({"id": "fb_aaaaaaaaaaaaaaaaaaaa"})),
        ("publish_html", json!({"html": page("More")})),
    ]
}

#[tokio::test]
async fn token_that_may_only_read_is_challenged_on_every_tool_that_writes() {
    let node = Node::start().await;
    let person = node.newcomer_on("pro").await;
    let (reader, writer) = (let_in(&person, "sites:read").await, let_in(&person, "sites:write").await);
    let both = let_in(&person, "").await;
    let site = node.mcp_modern(&both.access).give("publish_html", json!({"html": page("Mine")})).await;
    let tools = node.mcp_modern(&both.access).tools().await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", node.base_url());
    assert_eq!(calls(&site).len(), tools.len());
    for modern in [true, false] {
        for (tool, arguments) in calls(&site) {
            let described = tools.iter().find(|known| known["name"] == tool).unwrap();
            let reads = described["annotations"]["readOnlyHint"] == true;
            if reads {
                // Write scope includes read scope.
                for good in [&reader, &writer] {
                    node.mcp_modern(&good.access).give(tool, arguments.clone()).await;
                }
                continue;
            }
            let scope = "sites:write";
            let params = json!({"name": tool, "arguments": arguments});
            let client =
                if modern { node.mcp_modern(&reader.access) } else { node.mcp(&reader.access).await };
            let refused = client.send("tools/call", params.clone()).await.refused(403, "insufficient_scope");
            let challenge = refused.header("www-authenticate");
            assert!(
                challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\""),
                "{tool}: {challenge}"
            );
            assert!(challenge.contains(&format!("scope=\"{scope}\"")), "{tool}: {challenge}");
            assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{tool}: {challenge}");
        }
    }
    let unchanged = node.mcp_modern(&reader.access).give("get_site", json!({"site": site["id"]})).await;
    assert_eq!(unchanged["updated_at"], site["updated_at"]);
}

#[tokio::test]
async fn pages_of_others_do_not_exist() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Theirs").await;
        let stranger = node.account("pro").await;
        let client = node.mcp_modern(&stranger);
        for (tool, arguments) in calls(&site) {
            let code = match tool {
                "list_sites"
                | "get_me"
                | "get_design_guide"
                | "publish_html"
                | "check_page"
                | "list_custom_domains" => continue,
                "claim_site" => "already_claimed",
                _ => "not_found",
            };
            let text = client.refused(tool, arguments, code).await;
            assert!(!text.contains("Theirs"), "{tool}: {text}");
        }
        assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
        assert_eq!(client.give("list_sites", json!({})).await["sites"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn bad_arguments_are_refused_with_a_code_and_what_to_do() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let id = &site["id"];
    let client = node.mcp_modern(&node.key);
    for (tool, arguments, code, says) in [
        ("publish_html", json!({}), "invalid_field", "exactly one of `html` and `markdown`"),
        ("publish_html", json!({"html": "x", "markdown": "x"}), "invalid_field", "exactly one"),
        ("publish_html", json!({"html": 5}), "invalid_field", "`html` must be a string"),
        ("publish_html", json!({"html": ""}), "empty_file", "complete document"),
        ("publish_html", json!({"html": "<p>", "slug": "!"}), "invalid_slug", "another slug"),
        ("publish_html", json!({"html": "<p>", "visibility": "public"}), "slug_required", "Send a `slug`"),
        ("publish_html", json!({"html": "<p>", "visibility": "secret"}), "invalid_field", "visibility"),
        (
            "publish_html",
            json!({"html": "<p>", "expires_in_hours": "soon"}),
            "invalid_field",
            "expires_in_hours",
        ),
        ("publish_html", json!({"html": "<p>", "expires_in_hours": -1}), "invalid_field", "expires_in_hours"),
        (
            "publish_html",
            json!({"html": "<p>", "expires_in_hours": [1]}),
            "invalid_field",
            "expires_in_hours",
        ),
        ("publish_html", json!({"html": "<p>", "agentation": "perhaps"}), "invalid_field", "`agentation`"),
        (
            "publish_html",
            json!({"html": "<p>", "slug": "abc", "burn_after_read": true}),
            "invalid_field",
            "burn",
        ),
        ("publish_html", json!({"html": "<p>", "idempotency_key": ""}), "invalid_field", "1 to 255"),
        ("update_site", json!({"html": "<p>"}), "invalid_field", "`site` is required"),
        (
            "update_site",
            json!({"site": id, "html": "<p>", "expected_updated_at": 1}),
            "conflict",
            "get_content before update_site",
        ),
        ("get_site", json!({"site": "nowhere"}), "not_found", "list_sites"),
        ("get_content", json!({"site": id, "max_bytes": 5}), "invalid_field", "`max_bytes`"),
        ("get_content", json!({"site": id, "offset": -1}), "invalid_field", "`offset`"),
        ("read_site", json!({"site": id, "max_bytes": 5}), "invalid_field", "`max_bytes`"),
        ("read_site", json!({"site": id, "version": 99}), "not_found", "list_versions"),
        ("edit_site", json!({"site": id}), "invalid_field", "`edits`"),
        (
            "edit_site",
            json!({"site": id, "edits": [{"find": "Mine", "replce": ""}]}),
            "invalid_field",
            "did you mean `replace`?",
        ),
        ("list_sites", json!({"limit": 0}), "invalid_field", "`limit`"),
        ("list_sites", json!({"state": "deleted"}), "invalid_field", "live or expired"),
        ("set_visibility", json!({"site": id}), "invalid_field", "`visibility` is required"),
        ("set_visibility", json!({"site": id, "slug": "abc"}), "invalid_field", "`visibility` is required"),
        ("set_visibility", json!({"site": id, "visibility": "public"}), "slug_required", "slug"),
        ("set_password", json!({"site": id}), "invalid_field", "`password` is required"),
        ("set_password", json!({"site": id, "password": ""}), "invalid_field", "`password`"),
        ("set_expiry", json!({"site": id}), "invalid_field", "Send `expires_in_hours` or `expires_at`"),
        ("set_expiry", json!({"site": id, "expires_at": 5}), "invalid_field", "past"),
        (
            "set_expiry",
            json!({"site": id, "expires_at": NOW + 9000, "expires_in_hours": 5}),
            "invalid_field",
            "send only one of them",
        ),
        ("set_email_gate", json!({"site": id, "email_gate_domain": "no domain"}), "invalid_field", "email"),
        ("set_agentation", json!({"site": id, "agentation": null}), "invalid_field", "true or false"),
        ("rollback_site", json!({"site": id}), "invalid_field", "`version` is required"),
        ("rollback_site", json!({"site": id, "version": 99}), "not_found", "list_versions"),
        ("delete_site", json!({"site": id, "purge": "yes"}), "invalid_field", "true or false"),
        ("create_share_link", json!({"site": id, "max_uses": 0}), "invalid_field", "max_uses"),
        ("revoke_share_link", json!({"token": "x"}), "not_found", "share token"),
        ("resolve_feedback", json!({}), "invalid_field", "`id` or `ids` is required"),
        ("create_upload", json!({"visibility": "public"}), "slug_required", "slug"),
        ("create_upload", json!({"file": "a\nb"}), "invalid_field", "`file`"),
        ("create_upload", json!({"expected_updated_at": 5}), "invalid_field", "`site`"),
    ] {
        let text = client.refused(tool, arguments.clone(), code).await;
        assert!(text.contains(says), "{tool} {arguments}: {text}");
    }
    assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn misspelt_arguments_are_refused_by_every_tool_before_anything_changes() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = node.publish_page("Mine").await;
    let pages = "SELECT COUNT(*) FROM sites";
    for (tool, mut arguments) in calls(&site) {
        let first = arguments.as_object().unwrap().keys().next().cloned();
        let misspelt = match first {
            Some(name) => format!("{name}x"),
            None if tool == "list_sites" => "limitx".to_owned(),
            None => continue,
        };
        arguments[&misspelt] = json!("red");
        let said = client.refused(tool, arguments, "invalid_field").await;
        assert!(said.contains(&format!("`{misspelt}` is not a known field")), "{tool}: {said}");
    }
    // What is like nothing that the tool has may be what another client sends to every tool.
    for (tool, arguments) in [
        ("get_me", json!({"colour": "red"})),
        ("get_site", json!({"site": site["id"], "colour": "red"})),
        ("list_sites", json!({"colour": "red"})),
    ] {
        let given = client.give(tool, arguments).await;
        assert!(given["warnings"][0].as_str().unwrap().contains("`colour`"), "{tool}: {given}");
    }
    assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
    assert_eq!(node.count(pages).await, 1);
    // A protection that belongs to another tool, or is misspelled, says which is meant.
    for (tool, name, says) in [
        ("set_agentation", "visibility", "`visibility`"),
        ("publish_html", "passcode", "did you mean `password`?"),
        ("publish_html", "domain", "did you mean `email_gate_domain`?"),
        ("update_site", "expected_update", "did you mean `expected_updated_at`?"),
    ] {
        let call = json!({"site": site["id"], "agentation": true, "html": page("New"), name: "x"});
        let call = call.as_object().unwrap().iter().filter(|(argument, _)| match tool {
            "set_agentation" => *argument != "html",
            "publish_html" => !["site"].contains(&argument.as_str()),
            _ => *argument != "agentation",
        });
        let call: serde_json::Map<_, _> = call.map(|(name, value)| (name.clone(), value.clone())).collect();
        let said = client.refused(tool, call.into(), "invalid_field").await;
        assert!(said.contains(says), "{tool}: {said}");
    }
    assert_eq!(node.count(pages).await, 1);
}

#[tokio::test]
async fn limits_say_when_and_how_to_go_on() {
    let node = Node::start().await;
    let free = node.account("free").await;
    let client = node.mcp_modern(&free);
    let mut last = Value::Null;
    for n in 0..3 {
        last = client.give("publish_html", json!({"html": page(&n.to_string())})).await;
    }
    let text = client.refused("publish_html", json!({"html": page("4")}), "plan_page_limit").await;
    assert!(text.contains("delete with delete_site"), "{text}");
    node.clock.advance(8 * DAY);
    let update = json!({"site": last["id"], "html": page("5")});
    let text = client.refused("update_site", update, "expired").await;
    assert!(text.contains("set_expiry"), "{text}");
    // It can be restored with a later expiry, whether or not it is already marked as expired.
    for _ in 0..2 {
        let text = client.refused("restore_site", json!({"site": last["id"]}), "expired").await;
        assert!(text.contains("not deleted") && text.contains("set_expiry"), "{text}");
        client.give("list_sites", json!({"state": "expired"})).await;
    }
    let unknown = client.send("tools/call", json!({"name": "publish", "arguments": {}})).await;
    let message = crate::harness::mcp::message_in(&unknown);
    assert_eq!(message["error"]["code"], -32602, "{message}");
}
