//! Custom domains are part of a plan, or of the unlock `custom_domain`. Spec §8.

use super::{NAME, add, publish, read, target, try_add, verified, verify, with_dns};
use crate::harness::{DAY, DnsServer, Setup, on_each_database};
use serde_json::json;

#[tokio::test]
async fn a_plan_without_custom_domains_is_402_and_names_the_unlock() {
    for mode in ["sandbox", "off"] {
        let node = Setup::new().set("payments.mode", mode).start().await;
        let key = node.account("free").await;
        let site = publish(&node, &key).await;
        let refused = try_add(&node, &key, NAME, &site).await.refused(402, "plan_domain_limit");
        let body = refused.json();
        if mode == "sandbox" {
            assert_eq!(body["unlock"], "custom_domain");
            assert_eq!(body["unlock_url"], format!("{}/unlock?feature=custom_domain", node.base_url()));
        } else {
            assert!(body.get("unlock").is_none() && !refused.text().contains("/unlock"), "{body}");
        }
        let paid = node.account("solo").await;
        add(&node, &paid, NAME, &publish(&node, &paid).await).await;
    }
}

#[tokio::test]
async fn the_unlock_lifts_the_limit_while_it_lasts() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let person = node.newcomer_on("free").await;
            let key = crate::moderation::suspension::key_of(node, &person).await;
            node.app().credit_account("test", &person.account.id, 1000, "test", None).await.unwrap();
            let permanent = "UPDATE accounts SET permanent_since = 1 WHERE id = $1";
            node.exec(permanent, vec![person.account.id.as_str().into()]).await;
            node.clock.advance(1);
            let site = publish(node, &key).await;
            node.post("/unlock?feature=custom_domain").key(&key).send().await.expect(200);
            let domain = add(node, &key, NAME, &site).await;
            dns.cname(NAME, target(&domain));
            assert_eq!(verified(node, &key, NAME).await.0, "verified");
            let check = async || node.app().check_due_domains(std::future::pending()).await.unwrap();
            for _ in 0..29 {
                node.clock.advance(DAY);
                check().await;
            }
            assert_eq!(read(node, &key, NAME).await["last_error"], json!(null));
            // The unlock ends: the name works for three more days.
            for day in 0..3 {
                node.clock.advance(DAY);
                assert_eq!(check().await, 1);
                let shown = read(node, &key, NAME).await;
                assert_eq!(shown["status"], "verified", "day {day}");
                assert!(shown["last_error"].as_str().unwrap().contains("plan"), "{shown}");
            }
            verify(node, &key, NAME).await.refused(402, "plan_domain_limit");
            try_add(node, &key, "www.customer.example", &site).await.refused(402, "plan_domain_limit");
            node.clock.advance(DAY);
            check().await;
            assert_eq!(read(node, &key, NAME).await["status"], "failed");
            // Bought again, the record is enough, and it is checked at once.
            node.clock.advance(30 * DAY);
            check().await;
            assert_eq!(read(node, &key, NAME).await["next_check_at"], json!(null));
            node.post("/unlock?feature=custom_domain").key(&key).send().await.expect(200);
            assert_eq!(check().await, 1);
            assert_eq!(read(node, &key, NAME).await["status"], "verified");
        },
    )
    .await;
}
