//! The OpenAPI document: served, complete, and correct about credentials.

use crate::harness::{Ask, Form, Node, page};
use serde_json::{Value, json};

/// Every operation: its method, its path with names filled in, its description.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let filled = path
            .replace("{idOrSlug}", "site_aaaaaaaaaaaaaaaaaaaa")
            .replace("{version}", "1")
            .replace("{deliveryId}", "evt_aaaaaaaaaaaaaaaaaaaa")
            .replace("{path}", "css/style.css")
            .replace("{tokenId}", "share_aaaaaaaaaaaaaaaaaaaa")
            .replace("{id}", "key_aaaaaaaaaaaaaaaaaaaa")
            .replace("{ticket}", "upl_aaaaaaaaaaaaaaaaaaaa")
            .replace("{filename}", "a.html")
            .replace("{hostname}", "reports.customer.example")
            .replace("{code}", "aaaaaaaaaaaaaaaaaaaaaa")
            .replace("{version}", "1")
            .replace("{deliveryId}", "evt_aaaaaaaaaaaaaaaaaaaa")
            .replace("{token}", "aaaaaaaa");
        assert!(!filled.contains('{'), "{path} has a parameter this test does not know");
        for (method, operation) in item.as_object().unwrap() {
            all.push((method.to_uppercase(), filled.clone(), operation.clone()));
        }
    }
    all
}

fn ask(node: &Node, method: &str, path: &str) -> Ask {
    node.ask(method.parse().unwrap(), path)
}

async fn document(node: &Node) -> Value {
    node.get("/openapi.json").send().await.expect(200).json()
}

/// Every value of this field, wherever it is.
fn values<'a>(document: &'a Value, field: &str, found: &mut Vec<&'a str>) {
    match document {
        Value::Object(map) => {
            found.extend(map.get(field).and_then(Value::as_str));
            map.values().for_each(|value| values(value, field, found));
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, field, found)),
        _ => {}
    }
}

#[tokio::test]
async fn rules_in_examples_are_rules_of_the_check() {
    let node = Node::start().await;
    let document = document(&node).await;
    let mut rules = Vec::new();
    values(&document, "rule", &mut rules);
    let known = include_str!("../../../../inspect/phishing/weights.toml");
    assert!(!rules.is_empty());
    for rule in rules {
        assert!(known.contains(&format!("\n[{rule}]\n")), "no rule is called {rule}");
    }
}

#[tokio::test]
async fn every_protected_operation_is_401_without_a_good_credential() {
    let node = Node::start().await;
    let document = document(&node).await;
    let unknown = dropleaf_core::Minter::seeded(0).api_key();
    let mut protected = 0;
    for (method, path, operation) in operations(&document) {
        let security =
            operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path} says nothing"));
        let open = security.iter().any(|way| way.as_object().unwrap().is_empty());
        if !open {
            protected += 1;
            let answer = ask(&node, &method, &path).send().await;
            assert_eq!(answer.status, 401, "{method} {path}");
            assert_eq!(answer.json()["error"], "auth required", "{method} {path}");
        }
        // A payment is the credential, and others are ignored, unless an account may pay from its balance.
        let takes_key = security.iter().any(|way| way.get("api_key").is_some());
        let is_paid = operation["tags"] == json!(["Payments"]) && !takes_key;
        if open && (is_paid || path == "/wallet-auth/challenge") {
            let answer = ask(&node, &method, &path).key("nonsense").send().await;
            assert!(matches!(answer.status, 200 | 400 | 402 | 404), "{method} {path}: {}", answer.status);
            continue;
        }
        // Documents are open to everyone, and OAuth identifies programs differently.
        if ["Documents", "OAuth"].iter().any(|tag| operation["tags"][0] == *tag) {
            let answer = ask(&node, &method, &path).key("nonsense").send().await;
            let refused = answer.status == 401 && answer.json()["error"] != "invalid_client";
            assert!(!refused, "{method} {path}: {}", answer.text());
            continue;
        }
        // An upload address is its own credential, and others are ignored.
        if path.starts_with("/uploads/") {
            ask(&node, &method, &path).key(&node.key).send().await.refused(403, "invalid_upload_address");
            continue;
        }
        // So is the token of an appeal.
        if path.starts_with("/appeals/") {
            ask(&node, &method, &path).key(&node.key).send().await.refused(404, "not_found");
            continue;
        }
        for key in [unknown.as_str(), "stk_live_nonsense", ""] {
            // Without a key, the terms.
            if key.is_empty() && ["/publish", "/provision"].contains(&path.as_str()) {
                continue;
            }
            let answer = ask(&node, &method, &path).key(key).send().await;
            assert_eq!(answer.status, 401, "{method} {path} with {key:?}");
            assert_eq!(answer.json()["error"], "invalid_credential", "{method} {path}");
        }
        let cookie = format!("session={0}; stk={0}", node.key);
        let answer = ask(&node, &method, &path).header("cookie", &cookie).send().await;
        assert!(open || answer.status == 401, "{method} {path} believed a cookie");
    }
    assert!(protected >= 14, "{protected} operations ask for a credential");
}

#[tokio::test]
async fn document_is_openapi_3_1_and_version_1_0_0() {
    let node = Node::start().await;
    let document = document(&node).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["info"]["version"], "1.0.0");
    assert_eq!(document["servers"], json!([{"url": node.base_url()}]));
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(!path.starts_with("/v1"), "paths carry no version: {path}");
    }
}

#[tokio::test]
async fn every_operation_has_a_name_a_summary_and_its_errors() {
    let node = Node::start().await;
    let mut names = std::collections::HashSet::new();
    for (method, path, operation) in operations(&document(&node).await) {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(names.insert(name), "{method} {path}");
        assert!(operation["summary"].is_string() || operation["description"].is_string(), "{method} {path}");
        let responses = operation["responses"].as_object().unwrap();
        // The terms are a 402, also for GET.
        let good = |status: &String| status.starts_with('2') || (method == "GET" && path == "/publish");
        assert!(responses.keys().any(good), "{method} {path}");
        let on_every_host = ["/healthz", "/readyz"].contains(&path.as_str());
        assert_eq!(responses.contains_key("421"), !on_every_host, "{method} {path}");
        for (status, response) in
            responses.iter().filter(|(status, _)| ["421", "500"].contains(&status.as_str()))
        {
            let example = &response["content"]["application/json"]["example"]["error"];
            assert!(example.is_string(), "{method} {path} {status}");
        }
    }
}

#[tokio::test]
async fn operations_declare_the_errors_that_they_can_meet_and_no_others() {
    let node = Node::start().await;
    for (method, path, operation) in operations(&document(&node).await) {
        let has = |status: &str| operation["responses"].get(status).is_some();
        let tag = |name: &str| operation["tags"].as_array().unwrap().iter().any(|tag| tag == name);
        let keyed = operation["security"].as_array().unwrap().iter().any(|way| way.get("api_key").is_some());
        let body = operation.get("requestBody").is_some();
        let told = format!("{method} {path}");
        if keyed {
            assert!(has("401") && has("429"), "{told}");
            // Every credential may read; MCP refuses browsers of other origins.
            assert_eq!(has("403"), method != "GET" || tag("MCP"), "{told}");
        }
        assert_eq!(has("413"), body, "{told}: only a body can be too large");
        let settles = ["/publish", "/provision", "/unlock"].contains(&path.as_str());
        // The processor is asked about refunds when it reports one.
        let asks_processor = path == "/webhooks/stripe";
        assert_eq!(has("502"), settles && method == "POST" || path == "/publish" || asks_processor, "{told}");
        if method == "GET" && !tag("Payments") && !tag("MCP") {
            for status in ["402", "405", "409", "410", "422", "507"] {
                assert!(!has(status), "{told} cannot meet {status}");
            }
        }
        assert!(!has("405") || tag("MCP"), "{told} is there");
        if tag("Documents") {
            // 404 is how a proxy is told that a name may have no certificate.
            assert_eq!(has("404"), path == "/tls/allow", "{told}");
            assert!(!has("401") && !has("403") && !has("429"), "{told}");
        }
        assert!(has("404") || !path.contains("aaaa"), "{told} names something that may not be there");
    }
}

#[tokio::test]
async fn answers_have_every_field_the_document_requires() {
    let node = Node::start().await;
    let document = document(&node).await;
    let required = |schema: &str| -> Vec<String> {
        let names = document["components"]["schemas"][schema]["required"].as_array().unwrap();
        names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let site = node.publish_page("Described").await;
    let me = node.get("/me").key(&node.key).send().await.json();
    let key = node.post("/api-keys").key(&node.key).send().await.json();
    let list = node.get("/sites").key(&node.key).send().await.json();
    let shares = format!("/sites/{}/share-tokens", site["id"].as_str().unwrap());
    let share = node.post(&shares).key(&node.key).send().await.json();
    for (schema, answer) in [
        ("SiteJson", site),
        ("MeJson", me),
        ("ApiKeyJson", key),
        ("SiteListJson", list),
        ("ShareTokenJson", share),
    ] {
        for name in required(schema) {
            assert!(answer.get(&name).is_some(), "{schema} lacks {name}");
        }
    }
}

#[tokio::test]
async fn reference_for_people_names_every_operation() {
    let node = Node::start().await;
    let docs = node.get("/docs").browser().send().await.expect(200).text();
    for path in document(&node).await["paths"].as_object().unwrap().keys() {
        let head = path.split('{').next().unwrap();
        assert!(docs.contains(head), "{path} is missing");
    }
}

#[tokio::test]
async fn unprotected_operations_are_publishing_and_paying_alone() {
    let node = Node::start().await;
    let open: Vec<_> = operations(&document(&node).await)
        .into_iter()
        .filter(|(_, _, operation)| operation["security"].as_array().unwrap().contains(&json!({})))
        .filter(|(_, _, operation)| !["Documents", "OAuth"].iter().any(|tag| operation["tags"][0] == *tag))
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    let uploads = ["POST /uploads/upl_aaaaaaaaaaaaaaaaaaaa", "PUT /uploads/upl_aaaaaaaaaaaaaaaaaaaa/a.html"];
    let (paid, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|operation| {
        ["/publish", "/provision", "/unlock", "/wallet-auth", "/pay/sessions", "/webhooks/stripe"]
            .iter()
            .any(|path| operation.contains(path))
    });
    // A check needs no credential.
    let strangers = ["POST /appeals", "GET /appeals/aaaaaaaa", "POST /check", "POST /sites"];
    assert_eq!(open, [&strangers, uploads.as_slice()].concat(), "their address is the credential");
    assert!(!paid.contains(&"POST /unlock".to_owned()), "{paid:?}");
    node.post("/sites").form(Form::file("a.html", page("Open"))).send().await.expect(201);
}

#[tokio::test]
async fn codes_of_paying_stand_only_where_something_is_paid_or_signed() {
    let node = Node::start().await;
    let document = document(&node).await;
    for (method, path, operation) in operations(&document) {
        let paying = method == "POST" && ["/publish", "/provision", "/unlock"].contains(&path.as_str());
        let said = |status: &str| operation["responses"][status]["description"].as_str().unwrap_or_default();
        let failed = &operation["responses"]["500"]["content"]["application/json"]["example"];
        assert_eq!(failed["error"], "internal", "{method} {path}");
        assert_eq!(said("500").contains("`paid_not_saved`"), paying, "{method} {path}");
        assert_eq!(said("409").contains("`payment_used`"), paying, "{method} {path}");
        let edits = path.contains("/files/") || (method == "PATCH" && path.ends_with("/content"));
        let signed = path.starts_with("/sites/site_") && (method == "PUT" || edits);
        assert_eq!(said("403").contains("`bad_signature`"), signed, "{method} {path}");
        let asking = path == "/wallet-auth/challenge";
        assert_eq!(said("404").contains("`unknown_wallet`"), asking, "{method} {path}");
    }
}
