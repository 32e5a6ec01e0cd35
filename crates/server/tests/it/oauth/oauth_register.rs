//! `POST /oauth/register`: RFC 7591, open to everyone and therefore restrictive. Spec §4.

use crate::harness::oauth::{CALLBACK, let_in};
use crate::harness::{DAY, NOW, Node, Setup, on_each_database};
use serde_json::{Value, json};

async fn register(node: &Node, body: Value) -> crate::harness::Answer {
    node.post("/oauth/register").json(&body).send().await
}

#[tokio::test]
async fn public_client_is_registered_with_what_it_said() {
    on_each_database(Setup::new, async |node| {
        let answer = register(
            node,
            json!({
                "client_name": "Editor", "redirect_uris": [CALLBACK, "cursor://a.b/cb"],
                "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"], "application_type": "native", "client_uri": "https://editor.example",
                "logo_uri": "https://editor.example/logo.png", "software_id": "x", "unheard_of": {"a": 1},
            }),
        )
        .await
        .expect(201);
        assert_eq!(answer.header("cache-control"), "no-store");
        let made = answer.json();
        assert!(made["client_id"].as_str().unwrap().starts_with("client_"));
        let told = json!({
            "client_id": made["client_id"], "client_id_issued_at": NOW, "client_name": "Editor",
            "client_uri": "https://editor.example", "redirect_uris": [CALLBACK, "cursor://a.b/cb"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none", "scope": "sites:read sites:write", "application_type": "native",
        });
        assert_eq!(made, told, "no secret, and nothing that nobody asked for");
    })
    .await;
}

#[tokio::test]
async fn client_that_keeps_secrets_gets_one_that_is_stored_as_a_hash() {
    let node = Node::start().await;
    let made = register(&node, json!({"redirect_uris": ["https://app.example/cb"]})).await.expect(201).json();
    assert_eq!(made["token_endpoint_auth_method"], "client_secret_basic", "the default of the RFC");
    assert_eq!(made["client_secret_expires_at"], 0);
    let secret = made["client_secret"].as_str().unwrap();
    assert!(secret.len() > 43);
    let stored = node.rows("SELECT secret_hash FROM oauth_clients", vec![], |row| row.hash(0)).await;
    assert_eq!(stored, [dropleaf_core::secret::hash(secret)]);
}

#[tokio::test]
async fn bad_metadata_is_400_by_its_name_and_registers_nothing() {
    let node = Node::start().await;
    let (uri, metadata) = ("invalid_redirect_uri", "invalid_client_metadata");
    for (body, code) in [
        (json!({}), uri),
        (json!({"redirect_uris": []}), uri),
        (json!({"redirect_uris": "https://a.example"}), uri),
        (json!({"redirect_uris": [5]}), uri),
        (json!({"redirect_uris": ["http://app.example/cb"]}), uri),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), uri),
        (json!({"redirect_uris": ["https://u:p@app.example/cb"]}), uri),
        (json!({"redirect_uris": ["https://*.app.example/cb"]}), uri),
        (json!({"redirect_uris": ["https://app.example/cb#x"]}), uri),
        (json!({"redirect_uris": ["data:text/html,x"]}), uri),
        (json!({"redirect_uris": [CALLBACK], "client_name": 7}), metadata),
        (json!({"redirect_uris": [CALLBACK], "client_name": "x".repeat(101)}), metadata),
        (json!({"redirect_uris": [CALLBACK], "client_name": "a\u{0}b"}), metadata),
        (json!({"redirect_uris": [CALLBACK], "grant_types": ["password"]}), metadata),
        (json!({"redirect_uris": [CALLBACK], "grant_types": "authorization_code"}), metadata),
        (json!({"redirect_uris": [CALLBACK], "response_types": ["token"]}), metadata),
        (json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "private_key_jwt"}), metadata),
        (json!([]), metadata),
        (json!("x"), metadata),
    ] {
        register(&node, body).await.refused(400, code);
    }
    for body in ["", "{", "\u{0}", "null"] {
        let ask = node.post("/oauth/register").body("application/json", body);
        ask.send().await.refused(400, metadata);
    }
    let large = json!({"redirect_uris": [CALLBACK], "contacts": ["x".repeat(20_000)]});
    register(&node, large).await.refused(413, "too_large");
    node.get("/oauth/register").send().await.expect(405);
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_clients").await, 0);
}

#[tokio::test]
async fn network_may_register_20_a_day() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let body = json!({"redirect_uris": [CALLBACK]});
            for _ in 0..20 {
                register(node, body.clone()).await.expect(201);
            }
            let answer = register(node, body.clone()).await.refused(429, "rate_limited");
            assert_eq!(answer.header("retry-after"), DAY.to_string());
            node.clock.advance(DAY);
            register(node, body).await.expect(201);
        },
    )
    .await;
}

#[tokio::test]
async fn client_nobody_let_in_is_forgotten_after_a_day() {
    on_each_database(Setup::new, async |node| {
        register(node, json!({"redirect_uris": [CALLBACK]})).await.expect(201);
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "").await;
        node.clock.advance(DAY - 1);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_clients").await, 2);
        node.clock.advance(1);
        node.app().sweep().await.unwrap();
        let left = node.rows("SELECT id FROM oauth_clients", vec![], |row| Ok(row.text(0)?.to_owned())).await;
        assert_eq!(left, [program.client_id]);
    })
    .await;
}

#[tokio::test]
async fn addresses_of_this_server_are_no_addresses_of_programs() {
    let node = Node::start().await;
    let base = node.base_url();
    let port = base.rsplit(':').next().unwrap().to_owned();
    for uri in [
        format!("{base}/cb"),
        format!("http://127.0.0.1:{port}/p/x/"),
        format!("http://[::1]:{port}/cb"),
        format!("https://localhost:{port}/cb"),
        format!("https://s-abc.localhost:{port}/cb"),
    ] {
        let body = json!({"redirect_uris": ["https://app.example/cb", uri]});
        register(&node, body).await.refused(400, "invalid_redirect_uri");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_clients").await, 0);
    let body = json!({"redirect_uris": ["http://localhost/cb", "http://localhost:1/cb"]});
    register(&node, body).await.expect(201);
    let public = Setup::new().set("base_url", "https://drop.example.org");
    let public = public.set("site_url", "https://pages.example.net").start().await;
    for uri in ["https://drop.example.org:8443/cb", "https://a-page.pages.example.net/cb"] {
        let ask =
            public.post("/oauth/register").host("drop.example.org").json(&json!({"redirect_uris": [uri]}));
        ask.send().await.refused(400, "invalid_redirect_uri");
    }
}

#[tokio::test]
async fn oldest_clients_that_nobody_let_in_make_room_and_others_stay() {
    on_each_database(
        || Setup::new().set("oauth.unused_clients", "3"),
        async |node| {
            let person = node.newcomer("ada@example.org").await;
            let used = let_in(&person, "sites:read").await.client_id;
            let mut made = Vec::new();
            for number in 0..5 {
                node.clock.advance(1);
                let body = json!({"client_name": format!("App {number}"), "redirect_uris": [CALLBACK]});
                let client = register(node, body).await.expect(201).json();
                made.push(client["client_id"].as_str().unwrap().to_owned());
            }
            let sql = "SELECT id FROM oauth_clients ORDER BY created_at, id";
            let left = node.rows(sql, vec![], |row| row.text(0).map(str::to_owned)).await;
            let expected: Vec<_> = [used].into_iter().chain(made.into_iter().skip(2)).collect();
            assert_eq!(left, expected);
        },
    )
    .await;
}
