//! `DELETE /sites/{idOrSlug}` and `POST …/restore`. Spec §3.

use crate::harness::{DAY, Form, NOW, Node, Setup, noise, on_each_database, page, site_path};
use serde_json::{Value, json};

fn restore(site: &Value) -> String {
    format!("{}/restore", site_path(site))
}

#[tokio::test]
async fn deleted_page_is_410_to_viewers_and_404_to_the_api() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Doomed").await;
        let url = site["url"].as_str().unwrap();
        node.get(url).send().await.expect(200);
        let answer = node.delete(&site_path(&site)).key(&node.key).send().await.expect(200).json();
        assert_eq!(answer, json!({"ok": true, "restorable_until": NOW + 30 * DAY}));
        node.get(url).header("accept", "application/json").send().await.refused(410, "deleted");
        let path = site_path(&site);
        for ask in [
            node.get(&path),
            node.delete(&path),
            node.patch(&path).json(&json!({"title": "T"})),
            node.put(&path).json(&json!({"html": "<p>"})),
            node.get(&format!("{path}/content")),
            node.get(&format!("{path}/versions")),
            node.post(&format!("{path}/rollback")).json(&json!({"version": 1})),
        ] {
            ask.key(&node.key).send().await.refused(404, "not_found");
        }
        let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(list["sites"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn restored_page_is_as_it_was() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Back")).field("slug", "back-again")).await;
        let url = site["url"].as_str().unwrap();
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        node.get(url).send().await.expect(410);
        node.clock.advance(30 * DAY - 1);
        let back = node.post(&restore(&site)).key(&node.key).send().await.expect(200).json();
        for field in ["id", "slug", "url", "unlisted_token", "title", "version", "byte_size", "visibility"] {
            assert_eq!(back[field], site[field], "{field}");
        }
        assert_eq!(node.get(url).send().await.expect(200).text(), page("Back"));
        let me = node.get("/me").key(&node.key).send().await.expect(200).json();
        assert_eq!(me["counts"]["active_pages"], 1);
    })
    .await;
}

#[tokio::test]
async fn restore_after_30_days_is_refused() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Late").await;
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        node.clock.advance(30 * DAY);
        node.post(&restore(&site)).key(&node.key).send().await.refused(410, "not_restorable");
    })
    .await;
}

#[tokio::test]
async fn restore_of_a_live_page_changes_nothing_and_of_a_strangers_is_404() {
    let node = Node::start().await;
    let site = node.publish_page("Alive").await;
    let answer = node.post(&restore(&site)).key(&node.key).send().await.expect(200).json();
    assert_eq!(answer["updated_at"], site["updated_at"]);
    let stranger = node.account("solo").await;
    node.post(&restore(&site)).key(&stranger).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn restored_page_whose_name_is_gone_becomes_unlisted() {
    let node = Node::start().await;
    let named = || Form::file("a.html", page("Named")).field("slug", "reused");
    let site = node.publish(named()).await;
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    node.publish(named()).await;
    let back = node.post(&restore(&site)).key(&node.key).send().await.expect(200).json();
    assert_eq!((&back["visibility"], &back["slug"]), (&json!("unlisted"), &Value::Null));
    assert!(back["warnings"][0].as_str().unwrap().contains("reused"));
    node.get(&format!("/p/{}/", site["unlisted_token"].as_str().unwrap())).send().await.expect(200);
}

#[tokio::test]
async fn purge_erases_the_bytes_of_every_version_at_once() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Erase me").await;
        let kept = node.publish_page("Keep me").await;
        let large = noise("large", 200_000);
        let put =
            node.put(&site_path(&site)).key(&node.key).form(Form::file("x", &large).field("e2e", "true"));
        put.send().await.expect(200);
        assert_eq!(stored_files(node), 1, "a body over the threshold is a file");
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 3);

        let purge = node.delete(&format!("{}?purge=true", site_path(&site))).key(&node.key);
        let answer = purge.send().await.expect(200).json();
        assert_eq!(answer, json!({"ok": true, "restorable_until": null}));
        assert_eq!(stored_files(node), 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
        node.get(site["url"].as_str().unwrap()).send().await.expect(410);
        node.get(kept["url"].as_str().unwrap()).send().await.expect(200);
        node.post(&restore(&site)).key(&node.key).send().await.refused(410, "not_restorable");
    })
    .await;
}

fn stored_files(node: &Node) -> usize {
    fn count(dir: &std::path::Path) -> usize {
        let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
        entries.map(|entry| entry.unwrap().path()).map(|p| if p.is_dir() { count(&p) } else { 1 }).sum()
    }
    count(&node.data_dir().join("blobs"))
}

#[tokio::test]
async fn purge_keeps_bytes_that_another_page_shares() {
    let node = Node::start().await;
    let first = node.publish_page("Twin").await;
    let second = node.publish_page("Twin").await;
    node.delete(&format!("{}?purge=true", site_path(&first))).key(&node.key).send().await.expect(200);
    assert_eq!(node.get(second["url"].as_str().unwrap()).send().await.expect(200).text(), page("Twin"));
}

#[tokio::test]
async fn deleted_page_can_still_be_purged() {
    let node = Node::start().await;
    let site = node.publish_page("Twice").await;
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    let purge = format!("{}?purge=true", site_path(&site));
    node.delete(&purge).key(&node.key).send().await.expect(200);
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
    node.delete(&purge).key(&node.key).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn delete_needs_the_owner() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    node.delete(&site_path(&site)).key(&stranger).send().await.refused(404, "not_found");
    node.delete(&site_path(&site)).send().await.refused(401, "auth required");
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn restore_counts_against_the_plan() {
    let node = Node::start().await;
    let key = node.account("free").await;
    let site = node.publish_as(&key, Form::file("a.html", page("One"))).await;
    node.delete(&site_path(&site)).key(&key).send().await.expect(200);
    for n in 0..3 {
        node.publish_as(&key, Form::file("a.html", page(&format!("N{n}")))).await;
    }
    node.post(&restore(&site)).key(&key).send().await.refused(402, "plan_page_limit");
}
