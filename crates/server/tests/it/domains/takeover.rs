//! A custom domain belongs to the account whose record it has: no other account can take it.

use super::{NAME, add, primary_of, publish, read, target, verified, verify, with_dns, working};
use crate::harness::{Answer, DAY, DnsFault, DnsServer, Node, on_each_database};
use serde_json::{Value, json};

async fn two_accounts(node: &Node) -> (String, String) {
    (node.account("solo").await, node.account("solo").await)
}

async fn status(node: &Node, key: &str) -> Value {
    read(node, key, NAME).await["status"].clone()
}

#[tokio::test]
async fn a_record_of_one_account_is_of_no_use_to_another() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            let (ada, eve) = two_accounts(node).await;
            // Before the owner has verified it: the record is there, and another account is faster.
            let site = publish(node, &ada).await;
            let domain = add(node, &ada, NAME, &site).await;
            dns.cname(NAME, target(&domain));
            let of_eve = add(node, &eve, NAME, &publish(node, &eve).await).await;
            assert_ne!(target(&of_eve), target(&domain));
            let (found, error) = verified(node, &eve, NAME).await;
            assert_eq!(found, "failed");
            assert_eq!(
                error,
                format!("We found a CNAME to {} instead of {}.", target(&domain), target(&of_eve))
            );
            // While it is verified.
            assert_eq!(verified(node, &ada, NAME).await.0, "verified");
            let (found, during) = verified(node, &eve, NAME).await;
            assert_eq!((found.as_str(), &during), ("failed", &error), "nothing shows that somebody has it");
            assert_eq!(status(node, &ada).await, "verified");
            // After it was deleted, while the record is still there.
            node.delete(&format!("/custom-domains/{NAME}")).key(&ada).send().await.expect(200);
            let (found, after) = verified(node, &eve, NAME).await;
            assert_eq!((found.as_str(), &after), ("failed", &error));
            node.clock.advance(120);
            assert_eq!(node.app().check_due_domains(std::future::pending()).await.unwrap(), 1);
            assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains WHERE status = 'verified'").await, 0);
            // The owner can come back.
            add(node, &ada, NAME, &site).await;
            assert_eq!(verified(node, &ada, NAME).await.0, "verified");
        },
    )
    .await;
}

#[tokio::test]
async fn a_name_changes_hands_only_when_the_proof_of_its_owner_is_gone() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            dns.clear(&format!("_dropleaf.{NAME}"));
            let (ada, bob) = two_accounts(node).await;
            let (site, domain) = working(node, &dns, &ada, NAME).await;
            let primary = json!({"primary": true});
            node.patch(&format!("/custom-domains/{NAME}")).key(&ada).json(&primary).send().await.expect(200);
            let of_bob = add(node, &bob, NAME, &publish(node, &bob).await).await;
            // Both have a record: the first keeps the name.
            dns.txt(&format!("_dropleaf.{NAME}"), target(&of_bob));
            verify(node, &bob, NAME).await.refused(409, "domain_taken");
            assert_eq!(
                (status(node, &ada).await, status(node, &bob).await),
                (json!("verified"), json!("pending"))
            );
            // Nobody loses a name because a DNS server is down.
            dns.fails(NAME, DnsFault::ServFail);
            let (found, error) = verified(node, &bob, NAME).await;
            assert!(found == "pending" && error.contains("could not be checked"), "{found} {error}");
            assert_eq!(status(node, &ada).await, "verified");
            // The record of the first is gone: the name was sold, or its owner changed their mind.
            dns.clear(NAME);
            assert_eq!(verified(node, &bob, NAME).await.0, "verified");
            let lost = read(node, &ada, NAME).await;
            assert_eq!((&lost["status"], &lost["verified_at"]), (&json!("failed"), &Value::Null));
            assert!(!lost["last_error"].as_str().unwrap().contains("account has"), "{lost}");
            assert_eq!(primary_of(node, &site).await, None);
            // And back, only with a record.
            assert_eq!(verified(node, &ada, NAME).await.0, "failed");
            dns.cname(NAME, target(&domain));
            verify(node, &ada, NAME).await.refused(409, "domain_taken");
            dns.clear(&format!("_dropleaf.{NAME}"));
            assert_eq!(verified(node, &ada, NAME).await.0, "verified");
            assert_eq!(status(node, &bob).await, "failed");
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(NAME));
        },
    )
    .await;
}

#[tokio::test]
async fn a_lapsed_name_can_be_claimed_only_with_a_record() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let (ada, bob) = two_accounts(node).await;
            working(node, &dns, &ada, NAME).await;
            let of_bob = add(node, &bob, NAME, &publish(node, &bob).await).await;
            dns.clear(NAME);
            for _ in 0..5 {
                node.clock.advance(DAY);
                node.app().check_due_domains(std::future::pending()).await.unwrap();
            }
            assert_eq!(status(node, &ada).await, "failed");
            assert_ne!(verified(node, &bob, NAME).await.0, "verified");
            dns.cname(NAME, target(&of_bob));
            assert_eq!(verified(node, &bob, NAME).await.0, "verified");
            assert_eq!(verified(node, &ada, NAME).await.0, "failed");
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_accounts_that_verify_at_once_one_wins() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            for round in 0..8 {
                let name = format!("n{round}.customer.example");
                let mut keys = Vec::new();
                for _ in 0..4 {
                    let key = node.account("solo").await;
                    let domain = add(node, &key, &name, &publish(node, &key).await).await;
                    dns.txt(&format!("_dropleaf.{name}"), target(&domain));
                    keys.push(key);
                }
                let requests = keys.iter().map(|key| verify(node, key, &name));
                let answers = futures_util::future::join_all(requests).await;
                let won = answers.iter().filter(|answer| answer.status == 200).count();
                assert_eq!(won, 1, "{:?}", answers.iter().map(Answer::text).collect::<Vec<_>>());
                for answer in answers.into_iter().filter(|answer| answer.status != 200) {
                    answer.refused(409, "domain_taken");
                }
                dns.clear(&format!("_dropleaf.{name}"));
            }
            assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains WHERE status = 'verified'").await, 8);
        },
    )
    .await;
}
