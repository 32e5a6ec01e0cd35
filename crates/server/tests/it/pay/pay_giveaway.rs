//! The sandbox on a public host: no one pays, so the limits for anonymous callers apply.

use crate::harness::{Ask, Node, Purse, Setup, on_each_database, page};
use dropleaf_core::payment::Item;
use serde_json::json;

fn public() -> Setup {
    Setup::new()
        .with_rates()
        .set("base_url", "http://drop.example.org")
        .set("limits.anonymous_per_hour", "2")
        .set("limits.anonymous_per_day", "100")
}

fn pay(node: &Node, item: Item, nonce: u8) -> Ask {
    let terms = node.app().listing(item).unwrap().terms.clone();
    let proof = Purse::new().header(&terms, nonce, node.app().now());
    let url = format!("{}/{}", node.base_url(), item.as_str());
    node.post(&url).header("payment-signature", &proof)
}

async fn publish(node: &Node, nonce: u8) -> crate::harness::Answer {
    pay(node, Item::Publish, nonce).json(&json!({"html": page("Free")})).send().await
}

#[tokio::test]
async fn sales_count_against_the_limits_of_those_without_an_account() {
    on_each_database(public, async |node| {
        let first = publish(node, 1).await.expect(201);
        let again = publish(node, 1).await.expect(201);
        assert_eq!(first.json()["url"], again.json()["url"], "a repeat is not counted");
        let bad = node.post(&format!("{}/publish", node.base_url())).header("x-payment", "e30");
        bad.json(&json!({"html": page("x")})).send().await.refused(400, "invalid_payment");
        pay(node, Item::Provision, 2).send().await.expect(200);
        let refused = publish(node, 3).await.refused(429, "rate_limited");
        assert!(refused.has("retry-after"));
        pay(node, Item::Provision, 4).send().await.refused(429, "rate_limited");
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 2, "the proof was not used");
        assert_eq!(publish(node, 1).await.expect(201).json()["url"], first.json()["url"]);
        node.clock.advance(3600);
        publish(node, 3).await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn a_second_proof_under_the_same_idempotency_key_is_not_counted() {
    let node = public().start().await;
    let body = json!({"html": page("Named")});
    let named = async |nonce| {
        pay(&node, Item::Publish, nonce)
            .header("idempotency-key", "the key of one agent")
            .json(&body)
            .send()
            .await
    };
    let first = named(1).await.expect(201).json();
    // Clients of MPP sign every request again.
    for nonce in 2..5 {
        assert_eq!(named(nonce).await.expect(201).json()["url"], first["url"]);
    }
    publish(&node, 9).await.expect(201);
    publish(&node, 10).await.refused(429, "rate_limited");
}

#[tokio::test]
async fn accounts_are_not_given_away_where_nobody_may_sign_up() {
    let node = public().set("accounts.sign_up", "closed").start().await;
    let url = format!("{}/provision", node.base_url());
    node.post(&url).send().await.refused(403, "forbidden");
    pay(&node, Item::Provision, 1).send().await.refused(403, "forbidden");
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    let menu = node.get(&url).send().await.expect(200).json();
    assert_eq!(menu["rails"][0]["live"], false);
    publish(&node, 2).await.expect(201);
}

#[tokio::test]
async fn on_this_machine_the_sandbox_is_free() {
    let node = Setup::new()
        .with_rates()
        .set("limits.anonymous_per_hour", "1")
        .set("accounts.sign_up", "closed")
        .start()
        .await;
    for nonce in 1..4 {
        publish(&node, nonce).await.expect(201);
    }
    pay(&node, Item::Provision, 9).send().await.expect(200);
}
