//! `GET …/versions` and `POST …/rollback`.

use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn replace(node: &Node, site: &Value, title: &str) {
    let put = node.put(&site_path(site)).key(&node.key).json(&json!({"html": page(title)}));
    put.send().await.expect(200);
}

async fn versions(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("{}/versions", site_path(site));
    let answer = node.get(&path).key(&node.key).send().await.expect(200).json();
    answer["versions"].as_array().unwrap().clone()
}

async fn rollback(node: &Node, site: &Value, body: Value) -> crate::harness::Answer {
    node.post(&format!("{}/rollback", site_path(site))).key(&node.key).json(&body).send().await
}

#[tokio::test]
async fn every_replacement_is_a_version_and_20_are_kept() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("V1").await;
        for n in 2..=25 {
            replace(node, &site, &format!("V{n}")).await;
        }
        let list = versions(node, &site).await;
        let numbers: Vec<_> = list.iter().map(|v| v["version"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (6..=25).rev().collect::<Vec<_>>());
        assert_eq!(list[0]["current"], true);
        assert_eq!(list[0]["title"], "V25");
        assert_eq!((&list[1]["current"], &list[1]["files"]), (&json!(false), &json!(1)));
        rollback(node, &site, json!({"version": 5})).await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn rollback_makes_a_new_version_with_the_old_content() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Old").await;
        replace(node, &site, "New").await;
        let url = site["url"].as_str().unwrap();
        assert_eq!(node.get(url).send().await.text(), page("New"));
        let back = rollback(node, &site, json!({"version": 1})).await.expect(200).json();
        assert_eq!((&back["version"], &back["title"]), (&json!(3), &json!("Old")));
        assert_eq!(node.get(url).send().await.text(), page("Old"));
        let list = versions(node, &site).await;
        assert_eq!(list.len(), 3);
        assert_eq!((&list[0]["restored_from"], &list[1]["restored_from"]), (&json!(1), &Value::Null));
    })
    .await;
}

#[tokio::test]
async fn rollback_to_the_newest_changes_nothing() {
    let node = Node::start().await;
    let site = node.publish_page("Only").await;
    let back = rollback(&node, &site, json!({"version": 1})).await.expect(200).json();
    assert_eq!(back["version"], 1);
    assert_eq!(back["warnings"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn rollback_needs_a_version_that_exists() {
    let node = Node::start().await;
    let site = node.publish_page("Only").await;
    rollback(&node, &site, json!({"version": 9})).await.refused(404, "not_found");
    for body in [json!({}), json!({"version": "1"}), json!({"version": null}), json!({"version": 1.5})] {
        rollback(&node, &site, body).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn rollback_restores_the_kind_of_content() {
    let node = Node::start().await;
    let site = node.publish(Form::file("x", noise("x", 64)).field("e2e", "true")).await;
    replace(&node, &site, "Plain").await;
    assert_eq!(node.read_site(&site).await["e2e"], false);
    let back = rollback(&node, &site, json!({"version": 1})).await.expect(200).json();
    assert_eq!(back["e2e"], true);
    assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.expect(200).body, noise("x", 64));
}

#[tokio::test]
async fn versions_belong_to_the_owner() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    let path = site_path(&site);
    node.get(&format!("{path}/versions")).key(&stranger).send().await.refused(404, "not_found");
    let back = node.post(&format!("{path}/rollback")).key(&stranger).json(&json!({"version": 1}));
    back.send().await.refused(404, "not_found");
    node.get(&format!("{path}/versions")).send().await.refused(401, "auth required");
}
