//! Bearer tokens on the API: every operation requires its scope, and refusals say how to get access. Spec §5 rules 1
//! and 2.

use crate::harness::oauth::{LetIn, let_in, refresh};
use crate::harness::{Form, Node, Setup, on_each_database, page};
use dropleaf_app::GrantedClient;
use dropleaf_core::scope::Scopes;
use serde_json::Value;

/// Every operation: its method, its path with names filled in, and its scopes.
fn operations(document: &Value) -> Vec<(String, String, Vec<String>)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let filled = path
            .replace("{idOrSlug}", "site_aaaaaaaaaaaaaaaaaaaa")
            .replace("{tokenId}", "share_aaaaaaaaaaaaaaaaaaaa")
            .replace("{id}", "key_aaaaaaaaaaaaaaaaaaaa");
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array().unwrap();
            // An upload address is its own credential, and so is a payment; a challenge only prepares one.
            let pays = operation["tags"][0] == "Payments" && security.contains(&serde_json::json!({}));
            // The token of an appeal is its own credential too; a check needs none.
            if path == "/appeals/{token}"
                || path == "/check"
                || path.starts_with("/uploads/")
                || path == "/wallet-auth/challenge"
                || pays
            {
                continue;
            }
            if !security.iter().any(|way| way.get("api_key").is_some() || way.get("oauth2").is_some()) {
                continue;
            }
            let scopes = security.iter().filter_map(|way| way.get("oauth2")?.as_array()).flatten();
            let scopes = scopes.map(|scope| scope.as_str().unwrap().to_owned()).collect();
            all.push((method.to_uppercase(), filled.clone(), scopes));
        }
    }
    all
}

#[tokio::test]
async fn every_operation_takes_a_token_with_its_scope_and_refuses_one_without() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let read = let_in(&person, "sites:read").await;
    let write = let_in(&person, "sites:write").await;
    let document = node.get("/openapi.json").send().await.expect(200).json();
    let metadata = format!("{}/.well-known/oauth-protected-resource", node.base_url());
    let (mut reads, mut writes) = (0, 0);
    for (method, path, scopes) in operations(&document) {
        // The scope of a message depends on the tool it calls.
        if path == "/mcp" {
            assert!(scopes.is_empty());
            continue;
        }
        assert_eq!(scopes.len(), 1, "{method} {path} names one scope");
        let scope = scopes[0].as_str();
        let ask = |program: &LetIn| node.ask(method.parse().unwrap(), &path).key(&program.access);
        let is_taken = async |program: &LetIn| {
            let taken = ask(program).send().await;
            assert!(taken.status != 401 && taken.status != 403, "{method} {path}: {}", taken.status);
        };
        // Write scope includes read scope.
        is_taken(&write).await;
        if scope == "sites:read" {
            is_taken(&read).await;
            reads += 1;
            continue;
        }
        assert_eq!(scope, "sites:write", "{method} {path}");
        writes += 1;
        let refused = ask(&read).send().await.refused(403, "insufficient_scope");
        assert_eq!(refused.json()["scope"], scope);
        assert_eq!(
            refused.header("www-authenticate"),
            format!(
                "Bearer error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\", \
                 error_description=\"The credential lacks the scope {scope}.\""
            ),
            "{method} {path}"
        );
    }
    assert!(reads >= 6 && writes >= 9, "{reads} reads, {writes} writes");
}

#[tokio::test]
async fn refusals_say_how_to_get_in() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let program = let_in(&person, "").await;
    let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource\"", node.base_url());
    let scope = "scope=\"sites:read sites:write\"";
    let bare = node.get("/sites").send().await.refused(401, "auth required");
    assert_eq!(bare.header("www-authenticate"), format!("Bearer {metadata}, {scope}"));
    let unknown = format!("oat_{}", "a".repeat(43));
    for bad in [
        "oat_",
        unknown.as_str(),
        "stk_live_x",
        "nonsense",
        &program.refresh,
        &format!("{}x", program.access),
    ] {
        let answer = node.get("/sites").key(bad).send().await.refused(401, "invalid_credential");
        assert_eq!(
            answer.header("www-authenticate"),
            format!("Bearer error=\"invalid_token\", {metadata}, {scope}")
        );
        assert!(!answer.text().contains(bad));
    }
    for target in [format!("/sites?access_token={}", program.access), format!("/me?token={}", program.access)]
    {
        node.get(&target).send().await.refused(401, "auth required");
    }
    let cookie = format!("__Host-session={0}; session={0}", program.access);
    node.get("/me").cookie(&cookie).send().await.refused(401, "auth required");
    let session = node.get("/me").cookie(&person.cookie()).send().await;
    session.refused(401, "auth required");
}

#[tokio::test]
async fn program_publishes_reads_and_changes_in_the_persons_name() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "").await;
        let site = node.publish_as(&program.access, Form::file("a.html", page("By a program"))).await;
        let list = node.get("/sites").key(&program.access).send().await.expect(200).json();
        assert_eq!(list["sites"][0]["id"], site["id"]);
        node.delete(&crate::harness::site_path(&site)).key(&program.access).send().await.expect(200);
        node.get(&crate::harness::site_path(&site)).key(&node.key).send().await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn token_for_another_service_is_refused() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = GrantedClient { id: "client_x", name: "A program" };
    for (resource, status) in [
        (node.base_url(), 200),
        (format!("{}/mcp", node.base_url()), 200),
        ("https://other.example".to_owned(), 401),
        (format!("{}.evil.example", node.base_url()), 401),
    ] {
        let tokens =
            node.app().grant_access(client, &person.account.id, Scopes::ALL, &resource).await.unwrap();
        assert_eq!(node.get("/me").key(&tokens.access_token).send().await.status, status, "{resource}");
    }
}

#[tokio::test]
async fn tokens_of_one_grant_are_counted_together() {
    let setup = Setup::new().with_rates().set("limits.key_per_minute", "3");
    let node = setup.start().await;
    let person = node.newcomer("ada@example.org").await;
    let program = let_in(&person, "").await;
    let next = refresh(&node, &program.client_id, &program.refresh, &[]).await.expect(200);
    let next = next.json()["access_token"].as_str().unwrap().to_owned();
    for access in [&program.access, &next, &program.access] {
        node.get("/me").key(access).send().await.expect(200);
    }
    let answer = node.get("/me").key(&next).send().await.refused(429, "rate_limited");
    assert!(answer.has("retry-after"));
    let other = let_in(&person, "").await;
    node.get("/me").key(&other.access).send().await.expect(200);
}

#[tokio::test]
async fn scope_to_write_includes_the_one_to_read() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let writer = let_in(&person, "sites:write").await;
        let site = node.publish_as(&writer.access, Form::file("a.html", page("By a program"))).await;
        for path in ["/sites".to_owned(), crate::harness::site_path(&site), "/me".to_owned()] {
            node.get(&path).key(&writer.access).send().await.expect(200);
        }
        // Fewer scopes than granted may be requested, but not more.
        let less = refresh(node, &writer.client_id, &writer.refresh, &[("scope", "sites:read")]).await;
        let less = less.expect(200).json();
        assert_eq!(less["scope"], "sites:read");
        let access = less["access_token"].as_str().unwrap();
        node.get("/sites").key(access).send().await.expect(200);
        node.delete(&crate::harness::site_path(&site))
            .key(access)
            .send()
            .await
            .refused(403, "insufficient_scope");
        let again = refresh(node, &writer.client_id, less["refresh_token"].as_str().unwrap(), &[]).await;
        assert_eq!(again.expect(200).json()["scope"], "sites:write", "as it was granted");
    })
    .await;
}
