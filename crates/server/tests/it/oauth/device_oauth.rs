//! `POST /oauth/device_authorization` and the device code at `POST /oauth/token`. RFC 8628.

use crate::harness::{Answer, Node, Setup, on_each_database};
use dropleaf_core::session::RECENT_SECONDS;
use serde_json::{Value, json};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const OWN: &str = "dropleaf-cli";

async fn register(node: &Node, grants: Value) -> String {
    let body = json!({
        "client_name": "A television", "grant_types": grants, "token_endpoint_auth_method": "none",
        "redirect_uris": ["http://127.0.0.1/cb"],
    });
    let client = node.post("/oauth/register").json(&body).send().await.expect(201).json();
    client["client_id"].as_str().unwrap().to_owned()
}

async fn begin(node: &Node, fields: &[(&str, &str)]) -> Answer {
    node.post("/oauth/device_authorization").fields(fields).send().await
}

async fn trade(node: &Node, client: &str, begun: &Value) -> Answer {
    let code = begun["device_code"].as_str().unwrap();
    let fields = [("grant_type", GRANT), ("client_id", client), ("device_code", code)];
    node.post("/oauth/token").fields(&fields).send().await
}

/// Answers in the page as a person who signed in `ago` seconds ago; returns the response.
async fn answer(node: &Node, begun: &Value, word: &str, ago: i64) -> Answer {
    let operator = node.operator().await;
    node.clock.advance(ago);
    let code = begun["user_code"].as_str().unwrap();
    operator.submit("/device", &[("user_code", code), ("answer", word)]).await
}

#[tokio::test]
async fn allowed_device_gets_tokens_that_work_and_renew() {
    on_each_database(Setup::new, async |node| {
        let client = register(node, json!([GRANT, "refresh_token"])).await;
        for client in [client.as_str(), OWN] {
            let begun =
                begin(node, &[("client_id", client), ("scope", "sites:read")]).await.expect(200).json();
            assert_eq!(begun["interval"], 5);
            trade(node, client, &begun).await.refused(400, "authorization_pending");
            trade(node, client, &begun).await.refused(400, "slow_down");
            answer(node, &begun, "allow", 0).await.expect(303);
            let given = trade(node, client, &begun).await.expect(200);
            assert_eq!(given.header("cache-control"), "no-store");
            let given = given.json();
            assert_eq!((&given["token_type"], &given["scope"]), (&json!("Bearer"), &json!("sites:read")));
            let access = given["access_token"].as_str().unwrap();
            node.get("/sites").key(access).send().await.expect(200);
            node.post("/api-keys").key(access).send().await.expect(403);
            let refresh = given["refresh_token"].as_str().unwrap();
            let fields = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", refresh)];
            let next = node.post("/oauth/token").fields(&fields).send().await.expect(200).json();
            node.get("/sites").key(next["access_token"].as_str().unwrap()).send().await.expect(200);
            trade(node, client, &begun).await.refused(400, "invalid_grant");
        }
    })
    .await;
}

#[tokio::test]
async fn of_many_questions_at_once_one_gets_the_tokens() {
    on_each_database(Setup::new, async |node| {
        let begun = begin(node, &[("client_id", OWN)]).await.expect(200).json();
        answer(node, &begun, "allow", 0).await.expect(303);
        let answers = futures_util::future::join_all((0..8).map(|_| trade(node, OWN, &begun))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert_eq!(node.count("SELECT count(*) FROM oauth_grants").await, 1);
        assert_eq!(node.count("SELECT count(*) FROM oauth_tokens").await, 2);
    })
    .await;
}

#[tokio::test]
async fn denied_and_expired_devices_get_nothing() {
    let node = Node::start().await;
    let denied = begin(&node, &[("client_id", OWN)]).await.expect(200).json();
    answer(&node, &denied, "deny", 0).await.expect(303);
    trade(&node, OWN, &denied).await.refused(400, "access_denied");
    let expired = begin(&node, &[("client_id", OWN)]).await.expect(200).json();
    answer(&node, &expired, "allow", 0).await.expect(303);
    node.clock.advance(600);
    trade(&node, OWN, &expired).await.refused(400, "expired_token");
    assert_eq!(node.count("SELECT count(*) FROM oauth_grants").await, 0);
}

#[tokio::test]
async fn device_code_belongs_to_one_client_and_one_kind() {
    let node = Node::start().await;
    let client = register(&node, json!([GRANT])).await;
    let begun = begin(&node, &[("client_id", &client)]).await.expect(200).json();
    answer(&node, &begun, "allow", 0).await.expect(303);
    trade(&node, OWN, &begun).await.refused(400, "invalid_grant");
    let body = json!({"device_code": begun["device_code"]});
    node.post("/device/token").json(&body).send().await.refused(400, "invalid_grant");
    let key = node.post("/device/code").send().await.expect(200).json();
    answer(&node, &key, "allow", 0).await.expect(303);
    trade(&node, OWN, &key).await.refused(400, "invalid_grant");
    trade(&node, &client, &begun).await.expect(200);
}

#[tokio::test]
async fn who_may_not_ask_is_told_why() {
    let node = Node::start().await;
    let codes_only = register(&node, json!(["authorization_code"])).await;
    begin(&node, &[("client_id", &codes_only)]).await.refused(400, "unauthorized_client");
    begin(&node, &[("client_id", "client_aaaaaaaaaaaaaaaaaaaa")]).await.refused(401, "invalid_client");
    begin(&node, &[]).await.refused(401, "invalid_client");
    begin(&node, &[("client_id", OWN), ("client_secret", "x")]).await.refused(401, "invalid_client");
    begin(&node, &[("client_id", OWN), ("scope", "sites:admin")]).await.refused(400, "invalid_scope");
    begin(&node, &[("client_id", OWN), ("resource", "https://evil.example")])
        .await
        .refused(400, "invalid_target");
    let fields = [("grant_type", GRANT), ("client_id", OWN)];
    node.post("/oauth/token").fields(&fields).send().await.refused(400, "invalid_request");
    // The command line has no redirect address.
    let asked = format!("/oauth/authorize?client_id={OWN}&response_type=code&redirect_uri=http://127.0.0.1/");
    node.get(&asked).browser().send().await.expect(400);
}

#[tokio::test]
async fn key_is_allowed_only_after_a_recent_sign_in() {
    let node = Node::start().await;
    let tokens = begin(&node, &[("client_id", OWN)]).await.expect(200).json();
    let done = answer(&node, &tokens, "allow", RECENT_SECONDS).await;
    assert_eq!(done.status, 400, "the code has expired meanwhile");
    let operator = node.operator().await;
    node.clock.advance(RECENT_SECONDS);
    let key = node.post("/device/code").send().await.expect(200).json();
    let tokens = begin(&node, &[("client_id", OWN)]).await.expect(200).json();
    for (begun, location) in [(&key, "/login?again=1&next=%2Fdevice"), (&tokens, "/device?ended=allowed")] {
        let code = begun["user_code"].as_str().unwrap();
        let sent = operator.submit("/device", &[("user_code", code), ("answer", "allow")]).await.expect(303);
        assert!(sent.header("location").starts_with(location), "{}", sent.header("location"));
    }
    let code = key["user_code"].as_str().unwrap();
    let looked = operator.get(&format!("/device?user_code={code}")).await.expect(303);
    assert!(looked.header("location").starts_with("/login?again=1&"));
    let body = json!({"device_code": key["device_code"]});
    node.post("/device/token").json(&body).send().await.refused(400, "authorization_pending");
}

#[tokio::test]
async fn metadata_names_the_endpoint_and_the_grant() {
    let node = Node::start().await;
    let document = node.get("/.well-known/oauth-authorization-server").send().await.expect(200).json();
    let at = format!("{}/oauth/device_authorization", node.base_url());
    assert_eq!(document["device_authorization_endpoint"], at);
    assert!(document["grant_types_supported"].as_array().unwrap().contains(&json!(GRANT)));
}
