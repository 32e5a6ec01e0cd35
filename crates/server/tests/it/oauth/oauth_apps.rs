//! `/dashboard/apps`: the programs a person authorized, and revoking their access.

use crate::harness::oauth::{assert_nothing_granted, authorize_path, let_in, refresh, register};
use crate::harness::{Node, Setup, on_each_database};
use serde_json::json;

async fn grant_id(node: &Node) -> String {
    let ids = node.rows("SELECT id FROM oauth_grants", vec![], |row| Ok(row.text(0)?.to_owned())).await;
    ids[0].clone()
}

#[tokio::test]
async fn revoked_app_is_out_at_once_with_all_it_holds() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "").await;
        let made = node.post("/api-keys").key(&program.access).json(&json!({"name": "mine"})).send().await;
        let key = made.expect(201).json()["key"].as_str().unwrap().to_owned();
        node.get("/me").key(&key).send().await.expect(200);
        let page = person.get("/dashboard/apps").await.expect(200);
        assert_eq!(page.header("x-frame-options"), "DENY");
        let id = grant_id(node).await;
        for shown in [
            "A program",
            "See your pages",
            "Publish, change",
            "last used",
            &format!("/dashboard/apps/{id}/revoke"),
        ] {
            assert!(page.text().contains(shown), "{shown}");
        }
        let answer = person.submit(&format!("/dashboard/apps/{id}/revoke"), &[]).await.expect(303);
        assert_eq!(answer.header("location"), "/dashboard/apps?done=app-revoked#outcome");
        for dead in [&program.access, &key] {
            node.get("/me").key(dead).send().await.refused(401, "invalid_credential");
        }
        refresh(node, &program.client_id, &program.refresh, &[]).await.refused(400, "invalid_grant");
        let page = person.get("/dashboard/apps?done=app-revoked").await.expect(200).text();
        assert!(page.contains("Access revoked.") && page.contains("No connected apps."));
    })
    .await;
}

#[tokio::test]
async fn apps_of_others_cannot_be_seen_or_revoked() {
    let node = Node::start().await;
    let (ada, eve) = (node.newcomer("ada@example.org").await, node.newcomer("eve@example.org").await);
    let program = let_in(&ada, "").await;
    assert!(!eve.get("/dashboard/apps").await.expect(200).text().contains("A program"));
    let path = format!("/dashboard/apps/{}/revoke", grant_id(&node).await);
    eve.submit(&path, &[]).await.expect(404);
    ada.cannot_be_imitated(&path, &[]).await;
    node.get("/me").key(&program.access).send().await.expect(200);
    let answer = node.get("/dashboard/apps").send().await.expect(303);
    assert_eq!(answer.header("location"), "/login?next=%2Fdashboard%2Fapps");
}

#[tokio::test]
async fn app_that_was_only_looked_at_is_not_listed() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let page = person.get(&authorize_path(&client, &[])).await.expect(200);
    person.consent(&page, "deny").await.expect(303);
    assert_nothing_granted(&node).await;
    assert!(person.get("/dashboard/apps").await.expect(200).text().contains("No connected apps."));
}
