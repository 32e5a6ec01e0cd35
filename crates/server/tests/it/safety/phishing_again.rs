//! Content that was accepted is checked again before it is shown again: rollback, restore, a later expiry. Spec §1.9.

use crate::harness::{Database, Form, HARVEST, HOUR, Node, Setup, harvest, page, site_path};
use serde_json::{Value, json};

/// A server restarted with the check enabled, with content published without it.
struct Later {
    node: Node,
    key: String,
}

async fn on_each_database(before: impl AsyncFn(&Node) -> Value, test: impl AsyncFn(&Later, Value)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        let lax = Setup::new().set("safety.phishing_check", "false").database(database.clone()).start().await;
        let site = before(&lax).await;
        let key = lax.key.clone();
        let dir = lax.stop().await;
        let node = Setup::new().database(database.clone()).start_in(dir).await;
        let later = Later { node, key };
        test(&later, site).await;
        later.node.stop().await;
        database.remove().await;
    }
}

/// The path of the page, on whatever port the server listens now.
fn view_path(site: &Value) -> String {
    format!("/p/{}/", site["unlisted_token"].as_str().unwrap())
}

#[tokio::test]
async fn rollback_to_a_page_that_is_refused_now_is_422() {
    let before = async |node: &Node| {
        let site = node.publish(Form::file("page.html", HARVEST)).await;
        let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Mended")}));
        put.send().await.expect(200);
        site
    };
    on_each_database(before, async |Later { node, key }, site| {
        let back = node.post(&format!("{}/rollback", site_path(&site))).key(key).json(&json!({"version": 1}));
        let said = back.send().await.refused(422, "phishing_blocked").json();
        assert_eq!(said["reasons"][0]["file"], "index.html");
        // The same content has the same hash, stored or sent.
        let sent = node.post("/check").form(Form::file("p.html", HARVEST)).send().await.expect(200).json();
        assert_eq!((&said["reasons"], &said["content_hash"]), (&sent["reasons"], &sent["content_hash"]));
        let call = json!({"site": site["id"], "version": 1});
        node.mcp_modern(key).refused("rollback_site", call, "phishing_blocked").await;
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 2);
        let shown = node.get(&view_path(&site)).send().await.expect(200);
        assert_eq!(shown.text(), page("Mended"));
    })
    .await;
}

#[tokio::test]
async fn restore_of_a_page_that_is_refused_now_is_422() {
    let before = async |node: &Node| {
        let site = node.publish(Form::file("page.html", HARVEST)).await;
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        site
    };
    on_each_database(before, async |Later { node, key }, site| {
        let restore = node.post(&format!("{}/restore", site_path(&site))).key(key);
        restore.send().await.refused(422, "phishing_blocked");
        node.mcp_modern(key).refused("restore_site", json!({"site": site["id"]}), "phishing_blocked").await;
        node.get(&view_path(&site)).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn later_expiry_does_not_bring_a_refused_page_back() {
    let before = async |node: &Node| {
        node.publish(Form::file("page.html", HARVEST).field("expires_in_hours", "1")).await
    };
    on_each_database(before, async |Later { node, key }, site| {
        let patch = || node.patch(&site_path(&site)).key(key).json(&json!({"expires_in_hours": 48}));
        // A live page stays live: taking it down is up to the operator.
        patch().send().await.expect(200);
        node.clock.advance(49 * HOUR);
        node.app().sweep().await.unwrap();
        patch().send().await.refused(422, "phishing_blocked");
        node.get(&view_path(&site)).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn dashboard_says_why_a_version_is_not_brought_back() {
    let before = async |node: &Node| {
        let site = node.publish(Form::file("page.html", harvest("x"))).await;
        let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Mended")}));
        put.send().await.expect(200).json()
    };
    on_each_database(before, async |Later { node, .. }, site| {
        let tab = node.operator().await;
        let path = format!("/dashboard/pages/{}/rollback", site["id"].as_str().unwrap());
        let seen = site["updated_at"].to_string();
        let sent = tab.submit(&path, &[("version", "1"), ("updated_at", &seen)]).await.expect(422).text();
        assert!(sent.contains("<ol class=\"reasons\">") && sent.contains("collect.invalid"), "{sent}");
    })
    .await;
}
