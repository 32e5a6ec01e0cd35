//! `/dashboard/apps`: what a person let in, and the end of it.

use crate::harness::oauth::{Person, assert_nothing_granted, authorize_path, let_in, refresh, register};
use crate::harness::{Node, Setup, on_each_database};
use serde_json::json;

async fn grant_id(node: &Node) -> String {
    let ids = node.rows("SELECT id FROM oauth_grants", vec![], |row| Ok(row.text(0)?.to_owned())).await;
    ids[0].clone()
}

#[tokio::test]
async fn revoked_app_is_out_at_once_with_all_it_holds() {
    on_each_database(Setup::new, async |node| {
        let person = Person::new(node, "ada@example.org").await;
        let program = let_in(node, &person, "").await;
        let made = node.post("/api-keys").key(&program.access).json(&json!({"name": "mine"})).send().await;
        let key = made.expect(201).json()["key"].as_str().unwrap().to_owned();
        node.get("/me").key(&key).send().await.expect(200);
        let page = person.look(node, "/dashboard/apps").send().await.expect(200);
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
        let answer = person.send(node, &format!("/dashboard/apps/{id}/revoke"), &[]).await.expect(303);
        assert_eq!(answer.header("location"), "/dashboard/apps?done=app-revoked");
        for dead in [&program.access, &key] {
            node.get("/me").key(dead).send().await.refused(401, "invalid_credential");
        }
        refresh(node, &program.client_id, &program.refresh, &[]).await.refused(400, "invalid_grant");
        let page = person.look(node, "/dashboard/apps?done=app-revoked").send().await.expect(200).text();
        assert!(page.contains("The app no longer has access.") && page.contains("No app is connected."));
    })
    .await;
}

#[tokio::test]
async fn apps_of_others_cannot_be_seen_or_revoked() {
    let node = Node::start().await;
    let (ada, eve) =
        (Person::new(&node, "ada@example.org").await, Person::new(&node, "eve@example.org").await);
    let program = let_in(&node, &ada, "").await;
    assert!(!eve.look(&node, "/dashboard/apps").send().await.expect(200).text().contains("A program"));
    let path = format!("/dashboard/apps/{}/revoke", grant_id(&node).await);
    eve.send(&node, &path, &[]).await.expect(404);
    let bare =
        node.post(&path).cookie(&ada.cookie()).header("origin", &node.base_url()).fields(&[]).send().await;
    assert_eq!(bare.status, 403, "without the form's token");
    let foreign = node.post(&path).cookie(&ada.cookie()).header("origin", "https://evil.example");
    let token = node.app().form_token(&ada.session.id);
    assert_eq!(foreign.fields(&[("form_token", &token)]).send().await.status, 403);
    node.get("/me").key(&program.access).send().await.expect(200);
    let answer = node.get("/dashboard/apps").send().await.expect(303);
    assert_eq!(answer.header("location"), "/login?next=%2Fdashboard%2Fapps");
}

#[tokio::test]
async fn app_that_was_only_looked_at_is_not_listed() {
    let node = Node::start().await;
    let person = Person::new(&node, "ada@example.org").await;
    let client = register(&node, "A program").await;
    let page = person.look(&node, &authorize_path(&client, &[])).send().await.expect(200);
    person.consent(&node, &page, "deny").await.expect(303);
    assert_nothing_granted(&node).await;
    assert!(
        person
            .look(&node, "/dashboard/apps")
            .send()
            .await
            .expect(200)
            .text()
            .contains("No app is connected.")
    );
}
