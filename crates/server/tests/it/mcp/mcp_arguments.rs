//! Arguments as agents send them: pages by their URL, names of other clients, texts in place of numbers; and the short list.

use crate::domains::working;
use crate::harness::mcp_line::{comment, open_page};
use crate::harness::{DAY, DnsServer, HOUR, NOW, Node, Setup, on_each_database, page};
use dropleaf_core::host::HostRole;
use serde_json::{Value, json};

/// Every address of a page on our own hosts.
fn addresses(node: &Node, site: &Value) -> Vec<String> {
    let hosts = &node.app().hosts;
    let token = site["unlisted_token"].as_str().unwrap();
    let shared = hosts.page_url(token);
    vec![
        token.to_owned(),
        site["id"].as_str().unwrap().to_owned(),
        format!("{}/dashboard/pages/{}", node.base_url(), site["id"].as_str().unwrap()),
        format!("{shared}deep/file.html?x=1#part"),
        shared.trim_end_matches('/').to_owned(),
        shared.split_once("://").unwrap().1.to_owned(),
        shared,
    ]
}

#[tokio::test]
async fn page_is_named_by_any_of_its_addresses() {
    on_each_database(Setup::new, async |node| {
        let client = node.mcp_modern(&node.key);
        let site = client.give("publish_html", json!({"html": page("Mine"), "slug": "my-report"})).await;
        let label = node.rows("SELECT host_label FROM sites", vec![], |row| row.string(0)).await.remove(0);
        let hosts = &node.app().hosts;
        let own = hosts.isolated_origin(&label);
        let authority = own.split_once("://").unwrap().1;
        assert!(matches!(hosts.role_of(authority), HostRole::Isolated(_)));
        let mut names = addresses(node, &site);
        names.extend([
            "my-report".to_owned(),
            hosts.slug_url("my-report"),
            format!("{}a/b?c#d", hosts.slug_url("my-report")),
            format!("{own}/a/b#c"),
            format!("{own}/p/{}/", site["unlisted_token"].as_str().unwrap()),
        ]);
        let stranger = node.account("pro").await;
        for name in &names {
            assert_eq!(client.give("get_site", json!({"site": name})).await["id"], site["id"], "{name}");
            node.mcp_modern(&stranger).refused("get_site", json!({"site": name}), "not_found").await;
            node.mcp_modern(&stranger).refused("delete_site", json!({"site": name}), "not_found").await;
        }
        for other in [
            "https://example.org/p/AAAAAAAAAAAAAAAAAAAAAA/".to_owned(),
            hosts.page_url("AAAAAAAAAAAAAAAAAAAAAA"),
            hosts.slug_url("other-report"),
            hosts.isolated_origin("s-other"),
            format!("ftp://{authority}/"),
            node.base_url(),
        ] {
            client.refused("get_site", json!({"site": other}), "not_found").await;
        }
        // A slug that was given up leads nowhere, although it is still held for its page.
        client
            .give("set_visibility", json!({"site": site["id"], "visibility": "public", "slug": "new-name"}))
            .await;
        client.refused("get_site", json!({"site": hosts.slug_url("my-report")}), "not_found").await;
        assert_eq!(
            client.give("get_site", json!({"site": hosts.slug_url("new-name")})).await["id"],
            site["id"]
        );
    })
    .await;
}

#[tokio::test]
async fn page_is_named_by_its_custom_domain_while_it_is_verified() {
    let dns = DnsServer::start().await;
    let node = Setup::new().set("dns.servers", dns.address()).start().await;
    let client = node.mcp_modern(&node.key);
    let (site, _) = working(&node, &dns, &node.key, "reports.customer.example").await;
    let url = node.app().hosts.domain_url("reports.customer.example");
    for name in [url.clone(), format!("{url}deep/page?x#y"), url.replace("reports", "REPORTS")] {
        assert_eq!(client.give("get_site", json!({"site": name})).await["id"], site["id"], "{name}");
    }
    let stranger = node.account("pro").await;
    node.mcp_modern(&stranger).refused("get_site", json!({"site": url}), "not_found").await;
    client.give("delete_custom_domain", json!({"domain": "reports.customer.example"})).await;
    client.refused("get_site", json!({"site": url}), "not_found").await;
}

#[tokio::test]
async fn every_tool_that_takes_a_page_takes_its_url() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = client.give("publish_html", json!({"html": page("Mine")})).await;
    let named = json!({"id": site["url"]});
    for (tool, arguments) in super::mcp_tools_refused::calls(&named) {
        if arguments.get("site").is_none()
            || ["claim_site", "add_custom_domain", "update_custom_domain"].contains(&tool)
        {
            continue;
        }
        if tool == "restore_site" {
            client.give("delete_site", json!({"site": site["url"]})).await;
        }
        client.give(tool, arguments).await;
    }
    let orphan = node.publish_anonymously().await;
    let claim = json!({"site": orphan["url"], "claim_token": orphan["claim_token"]});
    assert_eq!(client.give("claim_site", claim).await["id"], orphan["id"]);
}

#[tokio::test]
async fn names_of_other_clients_are_understood() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = client.give("publish_html", json!({"content": page("Mine"), "public_slug": "mine"})).await;
    assert_eq!((&site["title"], &site["slug"]), (&json!("Mine"), &json!("mine")));
    let id = &site["id"];
    let text = client.give("update_site", json!({"id_or_slug": "mine", "content": "# Notes\n\nText"})).await;
    assert_eq!(text["title"], "Notes");
    let on = client.give("set_agentation", json!({"id_or_slug": id, "enabled": "true"})).await;
    assert_eq!(on["agentation"], true);
    let gated = client.give("set_email_gate", json!({"site": id, "domain": "example.org"})).await;
    assert_eq!(gated["email_gate"]["domain"], "example.org");
    client.give("set_email_gate", json!({"site": id, "domain": null})).await;
    assert_eq!(client.give("set_live", json!({"id_or_slug": id, "enabled": true})).await["live"], true);
    let edit = json!({"id_or_slug": id, "edits": [{"old_string": "Text", "new_string": "Words", "replace_all": "true"}]});
    assert_eq!(client.give("edit_site", edit).await["version"], 3);
    let read = client.give("read_site", json!({"id_or_slug": id, "max_bytes": "1000"})).await;
    assert_eq!(read["text"], "# Notes\n\nWords");
    let open = open_page(&node, &node.key, "Open").await;
    comment(&node, &open, "Say by when.").await;
    let list = client.give("list_feedback", json!({"site_id": open["id"]})).await;
    client.give("resolve_feedback", json!({"feedback_id": list["feedback"][0]["id"]})).await;
    let link = client.give("create_share_link", json!({"id_or_slug": id, "label": "for Ann"})).await;
    assert_eq!(link["note"], "for Ann");
    client.give("revoke_share_link", json!({"share_link_id": link["id"]})).await;
    let named = json!({"domain": "reports.customer.example", "id_or_slug": id});
    client.give("add_custom_domain", named.clone()).await;
    client.give("update_custom_domain", named).await;
    for tool in ["verify_custom_domain", "delete_custom_domain"] {
        client.give(tool, json!({"domain": "reports.customer.example"})).await;
    }
    let other = node.publish_page("Other").await;
    let both = json!({"site": id, "id_or_slug": other["id"]});
    let said = client.refused("delete_site", both, "invalid_field").await;
    assert!(said.contains("`id_or_slug` conflicts with `site`"), "{said}");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE state = 'live'").await, 3);
}

#[tokio::test]
async fn texts_stand_for_numbers_times_and_flags_but_never_for_a_guess() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let arguments =
        json!({"html": page("Mine"), "csp_strict": "true", "agentation": "False", "expires_in_hours": "24"});
    let site = client.give("publish_html", arguments).await;
    let id = &site["id"];
    assert_eq!((&site["csp_strict"], &site["agentation"]), (&json!(true), &json!(false)));
    assert_eq!(site["expires_at"], NOW + DAY);
    let until = dropleaf_core::iso::format(NOW + 9 * HOUR);
    let changed = client.give("set_expiry", json!({"site": id, "expires_at": until})).await;
    assert_eq!(changed["expires_at"], NOW + 9 * HOUR);
    let seen = changed["updated_at"].to_string();
    client.give("update_site", json!({"site": id, "html": page("New"), "expected_updated_at": seen})).await;
    assert_eq!(client.give("rollback_site", json!({"site": id, "version": "1"})).await["version"], 3);
    assert_eq!(client.give("list_sites", json!({"limit": "1"})).await["sites"].as_array().unwrap().len(), 1);
    let count = node.count("SELECT COUNT(*) FROM sites").await;
    for (name, value) in [
        ("burn_after_read", json!("maybe")),
        ("burn_after_read", json!("yes")),
        ("burn_after_read", json!(1)),
        ("csp_strict", json!("on")),
        ("expires_in_hours", json!("soon")),
        ("password", json!(1234)),
        ("password", json!("")),
    ] {
        let arguments = json!({"html": page("Open"), name: value});
        client.refused("publish_html", arguments, "invalid_field").await;
    }
    for time in ["tomorrow", "2030-01-01T10:00"] {
        let said =
            client.refused("set_expiry", json!({"site": id, "expires_at": time}), "invalid_field").await;
        assert!(said.contains("must be a time"), "{said}");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, count, "nothing was published unprotected");
}

#[tokio::test]
async fn list_is_short_and_can_be_searched() {
    on_each_database(Setup::new, async |node| {
        let client = node.mcp_modern(&node.key);
        let report = open_page(node, &node.key, "Weekly Report").await;
        comment(node, &report, "Say by when.").await;
        for n in 0..3 {
            node.publish_page(&format!("Other {n}")).await;
        }
        let list = client.give("list_sites", json!({"query": "report WEEKLY"})).await;
        assert_eq!(list["has_more"], false);
        assert_eq!(
            list["sites"],
            json!([{
                "id": report["id"], "title": "Weekly Report", "url": report["url"], "state": "live",
                "updated_at": report["updated_at"], "view_count": 0, "open_feedback": 1,
            }])
        );
        let by_token = client.give("list_sites", json!({"query": report["unlisted_token"]})).await;
        assert_eq!(by_token["sites"][0]["id"], report["id"]);
        let first = client.give("list_sites", json!({"query": "other", "limit": 2})).await;
        assert_eq!((first["sites"].as_array().unwrap().len(), &first["has_more"]), (2, &json!(true)));
        let next = json!({
            "query": "other", "limit": 2, "before": first["next_before"], "before_id": first["next_before_id"],
        });
        let rest = client.give("list_sites", next).await;
        assert_eq!((rest["sites"].as_array().unwrap().len(), &rest["has_more"]), (1, &json!(false)));
        assert_eq!(client.give("list_sites", json!({"query": "100%_"})).await["sites"], json!([]));
        client.give("set_expiry", json!({"site": report["id"], "expires_in_hours": 1})).await;
        node.clock.advance(2 * HOUR);
        assert_eq!(client.give("list_sites", json!({"query": "report"})).await["sites"], json!([]));
        let expired = client.give("list_sites", json!({"query": "report", "state": "expired"})).await;
        assert_eq!(expired["sites"][0]["state"], "expired");
        let stranger = node.mcp_modern(&node.account("pro").await).give("list_sites", json!({"query": "report"})).await;
        assert_eq!(stranger["sites"], json!([]));
    })
    .await;
}
