//! Adding, verifying, changing and deleting custom domains. Spec §2 `CustomDomain`, §3, §4 Custom domains.

use super::{NAME, add, primary_of, publish, read, target, verified, verify, with_dns, working};
use crate::harness::{DnsServer, NOW, on_each_database};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

#[tokio::test]
async fn a_domain_is_added_verified_and_deleted() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let key = node.account("solo").await;
            let site = publish(node, &key).await;
            let domain = add(node, &key, "Reports.CUSTOMER.example.", &site).await;
            let target = target(&domain).to_owned();
            assert!(target.starts_with("d-") && target.ends_with(".localhost") && target.len() == 32, "{target}");
            let expected = json!({
                "hostname": NAME, "unicode": NAME, "site_id": site["id"], "status": "pending", "primary": false,
                "url": format!("http://{NAME}:{}/", node.port), "cname_target": target,
                "records": [
                    {"type": "CNAME", "name": NAME, "value": target},
                    {"type": "TXT", "name": format!("_dropleaf.{NAME}"), "value": target},
                ],
                "certificate": {"state": "external", "expires_at": null, "last_error": null},
                "created_at": NOW, "verified_at": null, "last_checked_at": null, "last_error": null,
                "next_check_at": NOW + 120,
            });
            assert_eq!(domain, expected);
            assert_eq!(read(node, &key, NAME).await, expected);
            let (status, error) = verified(node, &key, NAME).await;
            assert_eq!((status.as_str(), error.as_str()), ("pending", "No record yet. DNS changes can take an hour."));
            dns.cname(NAME, &target);
            node.clock.advance(60);
            let domain = verify(node, &key, NAME).await.expect(200).json();
            assert_eq!((&domain["status"], &domain["last_error"]), (&json!("verified"), &Value::Null));
            for name in ["verified_at", "last_checked_at"] {
                assert_eq!(domain[name], NOW + 60, "{name}");
            }
            assert_eq!(domain["next_check_at"], NOW + 60 + 86_400);
            let list = node.get("/custom-domains").key(&key).send().await.expect(200).json();
            assert_eq!(list, json!({"domains": [domain]}));
            node.delete(&format!("/custom-domains/{NAME}")).key(&key).send().await.expect(200);
            node.delete(&format!("/custom-domains/{NAME}")).key(&key).send().await.refused(404, "not_found");
            let list = node.get("/custom-domains").key(&key).send().await.expect(200).json();
            assert_eq!(list, json!({"domains": []}));
            assert_eq!(add(node, &key, NAME, &site).await["cname_target"], target, "the record still fits");
        },
    )
    .await;
}

#[tokio::test]
async fn chains_txt_records_and_unicode_names_prove_a_domain() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).start().await;
    let site = publish(&node, &node.key).await;
    let chained = add(&node, &node.key, NAME, &site).await;
    dns.cname(NAME, "Alias.customer.example");
    dns.cname("alias.customer.example", &target(&chained).to_uppercase());
    assert_eq!(verified(&node, &node.key, NAME).await.0, "verified");

    let apex = add(&node, &node.key, "customer.example", &site).await;
    assert_eq!(apex["records"][0]["type"], "TXT");
    dns.address_of("customer.example", Ipv4Addr::new(192, 0, 2, 9));
    dns.txt("_dropleaf.customer.example", target(&apex));
    assert_eq!(verified(&node, &node.key, "customer.example").await.0, "verified");

    let unicode = add(&node, &node.key, "berichte.bücher.example", &site).await;
    assert_eq!(unicode["hostname"], "berichte.xn--bcher-kva.example");
    assert_eq!(unicode["unicode"], "berichte.bücher.example");
    dns.cname("berichte.xn--bcher-kva.example", target(&unicode));
    assert_eq!(verified(&node, &node.key, "Berichte.B%C3%BCcher.example").await.0, "verified");
}

#[tokio::test]
async fn other_records_fail_with_an_explanation_and_can_be_corrected() {
    let dns = DnsServer::start().await;
    on_each_database(
        // The resolver answers for names below localhost itself.
        || with_dns(&dns).set("site_host", "pages.example"),
        async |node| {
            let site = publish(node, &node.key).await;
            let domain = add(node, &node.key, NAME, &site).await;
            dns.clear(NAME);
            dns.cname(NAME, "old-host.example");
            let (status, error) = verified(node, &node.key, NAME).await;
            let expected = format!("We found a CNAME to old-host.example instead of {}.", target(&domain));
            assert_eq!((status.as_str(), error), ("failed", expected));
            let read = read(node, &node.key, NAME).await;
            assert!(read["next_check_at"].is_i64(), "an old record may still be cached: {read}");
            for (ip, says) in [
                (Ipv4Addr::new(104, 21, 5, 6), "proxied by Cloudflare"),
                (Ipv4Addr::new(192, 0, 2, 7), "192.0.2.7"),
            ] {
                dns.clear(NAME);
                dns.address_of(NAME, ip);
                let (status, error) = verified(node, &node.key, NAME).await;
                assert!(status == "failed" && error.contains(says), "{error}");
            }
            // As a provider that replaces CNAME records by addresses.
            dns.clear(target(&domain));
            dns.address_of(target(&domain), Ipv4Addr::new(192, 0, 2, 7));
            let (_, error) = verified(node, &node.key, NAME).await;
            assert!(error.contains("replaces it by addresses"), "{error}");
            dns.clear(NAME);
            dns.cname(NAME, target(&domain));
            assert_eq!(verified(node, &node.key, NAME).await, ("verified".into(), String::new()));
            dns.clear(target(&domain));
        },
    )
    .await;
}

#[tokio::test]
async fn the_primary_domain_of_a_site_is_the_last_one_chosen_that_works() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            let (site, _) = working(node, &dns, &node.key, NAME).await;
            let at = format!("/custom-domains/{NAME}");
            let patch = async |path: &str, change: Value| {
                node.patch(path).key(&node.key).json(&change).send().await.expect(200).json()
            };
            assert_eq!(primary_of(node, &site).await, None);
            assert_eq!(patch(&at, json!({"primary": true})).await["primary"], true);
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(NAME));
            // A second one takes its place when it works, not before.
            let other = "www.customer.example";
            dns.clear(other);
            let body = json!({"hostname": other, "site_id": site["id"], "primary": true});
            let second =
                node.post("/custom-domains").key(&node.key).json(&body).send().await.expect(201).json();
            verify(node, &node.key, other).await.expect(200);
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(NAME));
            dns.cname(other, target(&second));
            verify(node, &node.key, other).await.expect(200);
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(other));
            assert_eq!(read(node, &node.key, NAME).await["primary"], false);
            // With the domain it moves to another site.
            let elsewhere = publish(node, &node.key).await;
            let moved =
                patch(&format!("/custom-domains/{other}"), json!({"site_id": elsewhere["id"], "colour": 1}))
                    .await;
            assert_eq!(moved["site_id"], elsewhere["id"]);
            assert_eq!(moved["warnings"], json!(["The unknown field `colour` was ignored."]));
            assert_eq!(primary_of(node, &site).await, None);
            assert_eq!(primary_of(node, &elsewhere).await.as_deref(), Some(other));
            node.delete(&format!("/custom-domains/{other}")).key(&node.key).send().await.expect(200);
            assert_eq!(primary_of(node, &elsewhere).await, None);
        },
    )
    .await;
}

#[tokio::test]
async fn a_repeated_request_adds_one_domain() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            let site = publish(node, &node.key).await;
            let ask = |name: &str| {
                let body = json!({"hostname": name, "site_id": site["id"]});
                node.post("/custom-domains").key(&node.key).header("idempotency-key", "once").json(&body)
            };
            let first = ask(NAME).send().await.expect(201).text();
            node.clock.advance(5);
            assert_eq!(ask(NAME).send().await.expect(201).text(), first);
            ask("www.customer.example").send().await.refused(422, "idempotency_mismatch");
            assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains").await, 1);
        },
    )
    .await;
}

#[tokio::test]
async fn domains_outlive_the_content_of_their_site() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            let (site, _) = working(node, &dns, &node.key, NAME).await;
            let path = format!("/sites/{}", site["id"].as_str().unwrap());
            let revision = "SELECT COALESCE(MAX(value), 0) FROM revisions WHERE name = 'domains'";
            let before = node.count(revision).await;
            node.delete(&path).key(&node.key).send().await.expect(200);
            assert_eq!(read(node, &node.key, NAME).await["status"], "verified", "it can be restored");
            node.post(&format!("{path}/restore")).key(&node.key).send().await.expect(200);
            assert_eq!(node.count(revision).await, before);
            // Its viewers are told that it is gone, and its owner can show another site there.
            node.delete(&format!("{path}?purge=true")).key(&node.key).send().await.expect(200);
            let gone = node.get(&node.app().hosts.domain_url(NAME)).header("accept", "application/json");
            gone.send().await.refused(410, "deleted");
            assert_eq!(read(node, &node.key, NAME).await["status"], "verified");
            let next = publish(node, &node.key).await;
            let request = node.patch(&format!("/custom-domains/{NAME}")).key(&node.key);
            request.json(&json!({"site_id": next["id"]})).send().await.expect(200);
            node.get(&node.app().hosts.domain_url(NAME)).send().await.expect(200);
        },
    )
    .await;
}
