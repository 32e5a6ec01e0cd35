//! `POST /provision` with a key: a further account, paid from the prepaid balance of the caller. Spec §5 rule 5.

use super::prepaid::{Customer, audit, me};
use crate::harness::{Ask, Node, Setup, on_each_database};
use serde_json::{Value, json};

fn provision(node: &Node, key: &str) -> Ask {
    node.post("/provision").key(key)
}

/// Accounts that were bought.
async fn bought(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM accounts WHERE email IS NULL").await
}

#[tokio::test]
async fn account_and_key_are_bought_from_the_balance() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 250).await;
        let answer = provision(node, &ada.key).send().await.expect(200);
        assert_eq!(answer.header("cache-control"), "private, no-store");
        let made = answer.json();
        assert_eq!((&made["ok"], &made["protocol"]), (&json!(true), &json!("balance")));
        assert_eq!((&made["balance_minor"], &made["transaction"]), (&json!(150), &Value::Null));
        assert_eq!((&made["plan"], &made["sandbox"]), (&json!("free"), &json!(true)));
        let key = made["api_key"].as_str().unwrap();
        assert!(key.starts_with(made["prefix"].as_str().unwrap()));
        let new = me(node, key).await;
        assert_eq!((&new["id"], &new["balance_minor"]), (&made["account_id"], &json!(0)));
        assert_ne!(new["id"], ada.id);
        let second =
            provision(node, &ada.key).json(&json!({"colour": "red"})).send().await.expect(200).json();
        assert!(second["warnings"].to_string().contains("`colour`"));
        assert_ne!(second["account_id"], made["account_id"], "without an idempotency key it is another one");
        let owed = provision(node, &ada.key).send().await.refused(402, "payment_required");
        assert_eq!(owed.json()["balance_minor"], 50);
        assert_eq!(bought(node).await, 2);
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn lost_key_is_shown_again_for_ten_minutes_and_never_charged_twice() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 1000).await;
        let ask = || provision(node, &ada.key).header("idempotency-key", "my agent");
        let first = ask().send().await.expect(200);
        node.clock.advance(599);
        assert_eq!(ask().send().await.expect(200).body, first.body);
        node.clock.advance(2);
        let late = ask().send().await.refused(409, "payment_used");
        assert_eq!(late.json()["reason"], "no_longer_shown");
        assert!(!late.text().contains("stk_live_") && !late.has("payment-required"));
        assert_eq!((bought(node).await, ada.balance(node).await), (1, 900));
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn payment_in_the_body_is_not_paid_from_the_balance_instead() {
    let node = Node::start().await;
    let ada = Customer::new(&node, 1000).await;
    for body in [json!({"acp_shared_payment_token": "spt_1"}), json!({"ap2_mandate": {}})] {
        let answer = provision(&node, &ada.key).json(&body).send().await;
        assert!((400..500).contains(&answer.status), "{}", answer.text());
    }
    assert_eq!((bought(&node).await, ada.balance(&node).await), (0, 1000));
}

#[tokio::test]
async fn public_sandbox_applies_its_limits_to_balances_too() {
    let public = |sign_up: &str| {
        Setup::new()
            .with_rates()
            .set("base_url", "http://drop.example.org")
            .set("limits.anonymous_per_hour", "1")
            .set("accounts.sign_up", sign_up)
    };
    let node = public("open").start().await;
    let ada = Customer::new(&node, 1000).await;
    let url = |node: &Node| format!("{}/provision", node.base_url());
    node.post(&url(&node)).key(&ada.key).send().await.expect(200);
    node.post(&url(&node)).key(&ada.key).send().await.refused(429, "rate_limited");
    assert_eq!(node.app().get_account(&ada.id).await.unwrap().sandbox_balance_minor, 900);
    let closed = public("closed").start().await;
    closed.post(&url(&closed)).key(&closed.key).send().await.refused(403, "forbidden");
}
