//! `POST /provision`: sells an account with an API key. Spec §2 Provision response, §4 Payment, §8.

use crate::harness::{DAY, Form, Node, Purse, Setup, on_each_database, page};
use dropleaf_core::payment::Item;
use dropleaf_pay::{Network, Outcome, Receipt};
use serde_json::{Value, json};

fn proof(node: &Node, purse: &Purse, nonce: u8) -> String {
    let listing = node.app().listing(Item::Provision).unwrap();
    purse.header(&listing.terms, nonce, node.app().now())
}

#[tokio::test]
async fn paid_key_opens_an_account_on_the_free_plan() {
    on_each_database(Setup::new, async |node| {
        for (nonce, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
            let header = proof(node, &purse, nonce);
            let answer =
                node.post("/provision").header(purse.generation.proof_header(), &header).send().await;
            let answer = answer.expect(200);
            let made = answer.json();
            assert_eq!((&made["ok"], &made["protocol"]), (&json!(true), &json!("x402")));
            let key = made["api_key"].as_str().unwrap();
            assert!(key.starts_with("stk_live_"));
            assert!(key.starts_with(made["prefix"].as_str().unwrap()));
            assert!(made["usage"].as_str().unwrap().contains("Authorization: Bearer"));
            assert_eq!((&made["plan"], &made["sandbox"]), (&json!("free"), &json!(true)));
            assert_eq!(answer.header("cache-control"), "private, no-store");
            let receipt = Receipt::parse(answer.header(purse.generation.receipt_header())).unwrap();
            assert_eq!(receipt.network, Network::BASE);
            assert_eq!(
                receipt.outcome,
                Outcome::Settled { transaction: made["transaction"].as_str().unwrap().into() }
            );
            let me = node.get("/me").key(key).send().await.expect(200).json();
            assert_eq!(me["id"], made["account_id"]);
            assert_eq!((&me["email"], &me["plan"]), (&Value::Null, &json!("free")));
        }
        let paid =
            node.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled' AND amount = 1000000").await;
        assert_eq!(paid, 2);
    })
    .await;
}

#[tokio::test]
async fn solana_pays_for_a_key() {
    let node = Node::start().await;
    for (blockhash, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
        let listing = node.app().listing(Item::Provision).unwrap();
        let header = purse.solana_header(&listing.terms, blockhash);
        let ask = node.post("/provision").header(purse.generation.proof_header(), &header);
        let key = ask.send().await.expect(200).json()["api_key"].as_str().unwrap().to_owned();
        node.get("/me").key(&key).send().await.expect(200);
    }
}

#[tokio::test]
async fn provisioned_key_has_three_pages_of_seven_days() {
    let node = Node::start().await;
    let header = proof(&node, &Purse::new(), 1);
    let made = node.post("/provision").header("payment-signature", &header).send().await.expect(200).json();
    let key = made["api_key"].as_str().unwrap();
    for _ in 0..3 {
        let site = node.publish_as(key, Form::file("a.html", page("Free"))).await;
        assert_eq!(site["expires_at"], crate::harness::NOW + 7 * DAY);
    }
    let fourth = node.post("/sites").key(key).form(Form::file("a.html", page("Fourth"))).send().await;
    fourth.refused(402, "plan_page_limit");
}

#[tokio::test]
async fn key_is_shown_again_for_ten_minutes_and_then_no_more() {
    let node = Node::start().await;
    let purse = Purse::new();
    let header = proof(&node, &purse, 1);
    let ask = async || node.post("/provision").header("payment-signature", &header).send().await;
    let first = ask().await.expect(200);
    assert_eq!(ask().await.expect(200).json(), first.json());
    node.clock.advance(601);
    let late = ask().await.refused(409, "payment_used");
    assert_eq!(late.json()["reason"], "no_longer_shown");
    assert!(!late.has("payment-required") && !late.text().contains("stk_live_"));
    assert_eq!(
        node.count(
            "SELECT COUNT(*) FROM api_keys WHERE account_id IN (SELECT id FROM accounts WHERE email IS NULL)"
        )
        .await,
        1
    );
}

#[tokio::test]
async fn body_with_unknown_fields_is_warned_of() {
    let node = Node::start().await;
    let header = proof(&node, &Purse::new(), 1);
    let ask = node.post("/provision").header("payment-signature", &header);
    let made = ask.json(&json!({"colour": "red"})).send().await.expect(200).json();
    assert!(made["warnings"].to_string().contains("`colour`"));
    let listing = node.app().listing(Item::Provision).unwrap();
    let other = Purse::new().header(&listing.terms, 2, node.app().now());
    let ask = node.post("/provision").header("payment-signature", &other);
    ask.json(&json!({"ap2_mandate": {}})).send().await.refused(400, "invalid_field");
    assert_eq!(
        node.count("SELECT COUNT(*) FROM payments").await,
        1,
        "nothing was charged for what was refused"
    );
}
