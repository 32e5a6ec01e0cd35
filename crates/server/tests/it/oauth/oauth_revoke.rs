//! `POST /oauth/revoke`: a program revokes its tokens. Spec §4, RFC 7009.

use crate::harness::oauth::{LetIn, let_in, refresh};
use crate::harness::{Answer, Database, Node, Setup, on_each_database};
use serde_json::json;

async fn revoke(node: &Node, client_id: &str, token: &str, hint: &str) -> Answer {
    let fields = [("client_id", client_id), ("token", token), ("token_type_hint", hint)];
    node.post("/oauth/revoke").fields(&fields).send().await
}

async fn status(node: &Node, access: &str) -> u16 {
    node.get("/me").key(access).send().await.status
}

#[tokio::test]
async fn access_token_goes_alone_and_refresh_token_with_its_grant() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "").await;
        assert_eq!(status(node, &program.access).await, 200);
        let answer = revoke(node, &program.client_id, &program.access, "refresh_token").await.expect(200);
        assert!(answer.body.is_empty());
        assert_eq!(status(node, &program.access).await, 401, "at once");
        let next = refresh(node, &program.client_id, &program.refresh, &[]).await.expect(200).json();
        let (access, token) =
            (next["access_token"].as_str().unwrap(), next["refresh_token"].as_str().unwrap());
        assert_eq!(status(node, access).await, 200);
        revoke(node, &program.client_id, token, "").await.expect(200);
        assert_eq!(status(node, access).await, 401);
        refresh(node, &program.client_id, token, &[]).await.refused(400, "invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn unknown_tokens_and_those_of_others_are_200_and_nothing_happens() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let (mine, other) = (let_in(&person, "").await, let_in(&person, "").await);
    for token in [&other.access, &other.refresh, "oat_unknown", "made up", &node.key] {
        revoke(&node, &mine.client_id, token, "").await.expect(200);
    }
    assert_eq!(status(&node, &other.access).await, 200);
    assert_eq!(status(&node, &node.key).await, 200);
    refresh(&node, &other.client_id, &other.refresh, &[]).await.expect(200);
}

#[tokio::test]
async fn request_without_token_or_client_is_refused() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let LetIn { client_id, access, .. } = let_in(&person, "").await;
    let ask = async |fields: &[(&str, &str)]| node.post("/oauth/revoke").fields(fields).send().await;
    ask(&[("client_id", &client_id)]).await.refused(400, "invalid_request");
    ask(&[("token", &access)]).await.refused(401, "invalid_client");
    ask(&[("token", &access), ("client_id", "client_aaaaaaaaaaaaaaaaaaaa")])
        .await
        .refused(401, "invalid_client");
    node.get(&format!("/oauth/revoke?token={access}&client_id={client_id}")).send().await.expect(405);
    assert_eq!(status(&node, &access).await, 200);
}

#[tokio::test]
async fn key_that_a_program_made_ends_with_its_grant() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "sites:write").await;
        let made = node.post("/api-keys").key(&program.access).json(&json!({"name": "mine"})).send().await;
        let key = made.expect(201).json()["key"].as_str().unwrap().to_owned();
        // It has the scopes of its creator: write includes read.
        node.get("/sites").key(&key).send().await.expect(200);
        let more = node.post("/api-keys").key(&key).send().await.expect(201).json();
        let more = more["key"].as_str().unwrap().to_owned();
        revoke(node, &program.client_id, &program.refresh, "").await.expect(200);
        for key in [key, more] {
            node.post("/api-keys").key(&key).send().await.refused(401, "invalid_credential");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM api_keys WHERE grant_id IS NOT NULL").await, 0);
    })
    .await;
}

#[tokio::test]
async fn other_nodes_hear_of_it() {
    let database = Database::postgres().await;
    let secret = "ab".repeat(32);
    let setup = || {
        Setup::new()
            .database(database.clone())
            .set("secret_key", secret.clone())
            .set("base_url", "http://localhost:9")
    };
    let (one, two) = (setup().start().await, setup().start().await);
    let person = one.newcomer("ada@example.org").await;
    let granted = one
        .app()
        .grant_access(
            dropleaf_app::GrantedClient { id: "client_x", name: "A program" },
            &person.account.id,
            dropleaf_core::scope::Scopes::ALL,
            "http://localhost:9",
        )
        .await
        .unwrap();
    let at = |node: &Node| node.get("/me").host("localhost:9").key(&granted.access_token);
    assert_eq!(at(&two).send().await.status, 200);
    let grants = one.app().list_grants(&person.account).await.unwrap();
    one.app().revoke_grant(&person.account, &grants[0].id).await.unwrap();
    assert_eq!(at(&one).send().await.status, 401);
    // Another node's cache lives for less than a second.
    two.clock.advance(1);
    assert_eq!(at(&two).send().await.status, 401);
    one.stop().await;
    two.stop().await;
    database.remove().await;
}
