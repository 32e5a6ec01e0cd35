//! Every refusal of the endpoints of custom domains.

use super::{NAME, add, publish, try_add, verify, with_dns, working};
use crate::harness::{DnsServer, Node, Setup, on_each_database};
use serde_json::{Value, json};

#[tokio::test]
async fn names_that_cannot_be_custom_domains_are_400() {
    let node = Setup::new()
        .set("base_url", "https://api.dropleaf.example")
        .set("site_url", "https://pages.dropleaf.example")
        .start()
        .await;
    let host = "api.dropleaf.example";
    let key = &node.key;
    let form = crate::harness::Form::file("a.html", crate::harness::page("x"));
    let site = node.post("/sites").host(host).key(key).form(form).send().await.expect(201).json();
    // 254 characters, one too many; the second one only in ASCII.
    let too_long = format!("ab.{}com", "a.".repeat(124));
    assert_eq!(too_long.len(), 254);
    let too_long_in_ascii = format!("{}example", "bücher.".repeat(18));
    for bad in [
        "",
        "customer",
        "com",
        "co.uk",
        "github.io",
        "localhost",
        "192.0.2.1",
        "2001:db8::1",
        "0x7f000001",
        "*.customer.example",
        "a_b.customer.example",
        "a..customer.example",
        "https://customer.example",
        "customer.example:443",
        "аррӏе.example",
        "pаypal.example",
        "printer.local",
        "api.dropleaf.example",
        "x.api.dropleaf.example",
        "pages.dropleaf.example",
        "d-x.pages.dropleaf.example",
        &too_long,
        &too_long_in_ascii,
    ] {
        let new_domain = json!({"hostname": bad, "site_id": site["id"]});
        let refused = node.post("/custom-domains").host(host).key(key).json(&new_domain).send().await;
        let refused = refused.refused(400, "invalid_field");
        assert!(refused.text().contains("`hostname`"), "{bad}: {}", refused.text());
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains").await, 0);
}

#[tokio::test]
async fn malformed_bodies_are_400_and_protections_are_not_ignored() {
    let node = Node::start().await;
    let site = publish(&node, &node.key).await;
    for bad in [
        json!({}),
        json!({"hostname": NAME}),
        json!({"site_id": site["id"]}),
        json!({"hostname": 1, "site_id": site["id"]}),
        json!({"hostname": NAME, "site_id": null}),
        json!({"hostname": NAME, "site_id": site["id"], "primary": "yes"}),
        json!({"hostname": NAME, "site_id": site["id"], "primary": null}),
        json!({"hostname": NAME, "site_id": site["id"], "password": "hunter2"}),
    ] {
        let answer = node.post("/custom-domains").key(&node.key).json(&bad).send().await;
        answer.refused(400, "invalid_field");
    }
    add(&node, &node.key, NAME, &site).await;
    for bad in [json!({"primary": null}), json!({"site_id": 5}), json!({"password": "x"})] {
        let answer = node.patch(&format!("/custom-domains/{NAME}")).key(&node.key).json(&bad).send().await;
        answer.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn a_name_is_added_once_and_only_for_a_site_of_the_account() {
    on_each_database(Setup::new, async |node| {
        let (ada, bob) = (node.account("solo").await, node.account("solo").await);
        let site = publish(node, &ada).await;
        try_add(node, &bob, NAME, &site).await.refused(404, "not_found");
        let missing = json!({"id": "site_aaaaaaaaaaaaaaaaaaaa"});
        try_add(node, &ada, NAME, &missing).await.refused(404, "not_found");
        add(node, &ada, NAME, &site).await;
        try_add(node, &ada, NAME, &site).await.refused(409, "domain_exists");
        try_add(node, &ada, &NAME.to_uppercase(), &site).await.refused(409, "domain_exists");
        let of_bob = publish(node, &bob).await;
        let change = json!({"site_id": of_bob["id"]});
        let answer = node.patch(&format!("/custom-domains/{NAME}")).key(&ada).json(&change).send().await;
        answer.refused(404, "not_found");
        // A deleted site shows nothing.
        node.delete(&crate::harness::site_path(&site)).key(&ada).send().await.expect(200);
        try_add(node, &ada, "www.customer.example", &site).await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn an_account_has_a_limited_number_of_domains() {
    on_each_database(
        || Setup::new().set("limits.custom_domains", "2"),
        async |node| {
            let site = publish(node, &node.key).await;
            for number in 0..2 {
                add(node, &node.key, &format!("n{number}.customer.example"), &site).await;
            }
            // Of several requests at once none gets past the limit either.
            node.delete("/custom-domains/n1.customer.example").key(&node.key).send().await.expect(200);
            let names: Vec<String> = (2..6).map(|number| format!("n{number}.customer.example")).collect();
            let requests = names.iter().map(|name| try_add(node, &node.key, name, &site));
            let answers = futures_util::future::join_all(requests).await;
            assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
            for answer in answers.into_iter().filter(|answer| answer.status != 201) {
                assert!(answer.refused(409, "too_many").text().contains("at most 2"));
            }
            let other = node.account("solo").await;
            add(node, &other, NAME, &publish(node, &other).await).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_domain_of_another_account_is_not_found() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            let (ada, bob) = (node.account("solo").await, node.account("solo").await);
            working(node, &dns, &ada, NAME).await;
            let questions = dns.questions(NAME);
            for name in [NAME, "unknown.customer.example", "not_a_name", "%00", "x"] {
                let path = format!("/custom-domains/{name}");
                let not_found = |status: u16| assert!(matches!(status, 400 | 404), "{name}: {status}");
                not_found(node.get(&path).key(&bob).send().await.status);
                not_found(node.patch(&path).key(&bob).json(&json!({"primary": true})).send().await.status);
                not_found(node.delete(&path).key(&bob).send().await.status);
                not_found(verify(node, &bob, name).await.status);
            }
            assert_eq!(dns.questions(NAME), questions, "nothing is looked up for others");
            assert_eq!(super::read(node, &ada, NAME).await["status"], "verified");
        },
    )
    .await;
}

#[tokio::test]
async fn requests_without_a_credential_or_of_a_suspended_account_are_refused() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).start().await;
    for path in ["/custom-domains", "/custom-domains/reports.customer.example"] {
        node.get(path).send().await.refused(401, "auth required");
    }
    let person = node.newcomer("ada@example.org").await;
    let key = crate::moderation::suspension::key_of(&node, &person).await;
    let (site, domain) = working(&node, &dns, &key, NAME).await;
    node.app().suspend_account("op", &person.account.id, "spam").await.unwrap();
    let list = node.get("/custom-domains").key(&key).send().await.expect(200).json();
    assert_eq!(list, json!({"domains": [domain]}), "it can be read");
    try_add(&node, &key, "www.customer.example", &site).await.refused(403, "account_suspended");
    verify(&node, &key, NAME).await.refused(403, "account_suspended");
    let path = format!("/custom-domains/{NAME}");
    node.patch(&path)
        .key(&key)
        .json(&json!({"primary": true}))
        .send()
        .await
        .refused(403, "account_suspended");
    // Nothing is verified in the background either, but it can be deleted.
    let pending = "www.customer.example";
    node.app().lift_suspension("op", &person.account.id, "well").await.unwrap();
    let added = add(&node, &key, pending, &site).await;
    dns.cname(pending, super::target(&added));
    node.app().suspend_account("op", &person.account.id, "spam").await.unwrap();
    node.clock.advance(120);
    assert_eq!(node.app().check_due_domains(std::future::pending()).await.unwrap(), 1);
    let shown = super::read(&node, &key, pending).await;
    assert!(shown["status"] == "pending" && shown["next_check_at"].is_i64(), "{shown}");
    for name in [NAME, pending] {
        node.delete(&format!("/custom-domains/{name}")).key(&key).send().await.expect(200);
    }
}

#[tokio::test]
async fn checks_on_request_are_limited_per_account() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns).set("limits.domain_checks_per_hour", "2"),
        async |node| {
            let (ada, bob) = (node.account("solo").await, node.account("solo").await);
            for key in [&ada, &bob] {
                add(node, key, NAME, &publish(node, key).await).await;
            }
            for _ in 0..2 {
                verify(node, &ada, NAME).await.expect(200);
            }
            let questions = dns.questions(NAME);
            let refused = verify(node, &ada, NAME).await.refused(429, "rate_limited");
            assert!(refused.has("retry-after"));
            assert_eq!(dns.questions(NAME), questions);
            verify(node, &bob, NAME).await.expect(200);
            node.clock.advance(3600);
            verify(node, &ada, NAME).await.expect(200);
        },
    )
    .await;
}

#[tokio::test]
async fn tools_do_the_same_as_the_endpoints() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).start().await;
    let site = publish(&node, &node.key).await;
    let mcp = node.mcp_modern(&node.key);
    let new_domain = json!({"hostname": NAME, "site": site["id"], "idempotency_key": "one"});
    let made = mcp.give("add_custom_domain", new_domain.clone()).await;
    assert_eq!(mcp.give("add_custom_domain", new_domain).await["cname_target"], made["cname_target"]);
    dns.cname(NAME, super::target(&made));
    let one = json!({"hostname": NAME});
    assert_eq!(mcp.give("verify_custom_domain", one.clone()).await["status"], "verified");
    let changed = mcp.give("update_custom_domain", json!({"hostname": NAME, "primary": true})).await;
    assert_eq!(changed["primary"], true);
    let list = mcp.give("list_custom_domains", json!({})).await;
    assert_eq!(list["domains"].as_array().map(Vec::len), Some(1));
    assert_eq!(mcp.give("delete_custom_domain", one.clone()).await["ok"], true);
    let refused = mcp.call("delete_custom_domain", one).await;
    assert_eq!(refused["isError"], Value::Bool(true));
}
