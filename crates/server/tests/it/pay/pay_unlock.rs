//! `/unlock`: the catalogue, who may buy, and the prepaid balance, which is used first. Spec §4 Payment, §5 rules 1 and
//! 5.

use crate::harness::oauth::let_in;
use crate::harness::{FacilitatorServer, Node, Purse, Setup, on_each_database};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::{Outcome, Receipt};
use serde_json::{Value, json};

async fn credit(node: &Node, key: &str, cents: i64) {
    let me = node.get("/me").key(key).send().await.expect(200).json();
    node.app().credit_account("a test", me["id"].as_str().unwrap(), cents, "for a test", None).await.unwrap();
}

#[tokio::test]
async fn catalogue_lists_every_unlock_with_its_price() {
    let node = Node::start().await;
    let catalogue = node.get("/unlock").send().await.expect(200).json();
    let unlocks = catalogue["unlocks"].as_array().unwrap();
    let expected = [
        ("make_permanent", "2.00", "2000000", 200, Value::Null),
        ("custom_domain", "5.00", "5000000", 500, json!(30)),
        ("higher_limits", "25.00", "25000000", 2500, json!(30)),
    ];
    assert_eq!(unlocks.len(), expected.len());
    for (unlock, (sku, price, amount, minor, days)) in unlocks.iter().zip(expected) {
        assert_eq!(unlock["sku"], sku);
        assert_eq!(unlock["price"], price);
        assert_eq!(unlock["amount"], amount);
        assert_eq!(unlock["amount_minor"], minor);
        assert_eq!(unlock["currency"], "USD");
        assert_eq!(unlock["period_days"], days);
        assert_eq!((&unlock["available"], &unlock["networks"]), (&json!(true), &json!(["eip155:8453"])));
        assert!(unlock["title"].is_string() && unlock["description"].is_string());
    }
}

#[tokio::test]
async fn custom_domains_are_sold_for_money() {
    let fake = FacilitatorServer::start().await;
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", fake.url())
        .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .start()
        .await;
    let catalogue = node.get("/unlock").send().await.expect(200).json();
    let listed = &catalogue["unlocks"][1];
    assert_eq!((&listed["sku"], &listed["available"]), (&json!("custom_domain"), &json!(true)));
    assert_eq!(listed["networks"].as_array().unwrap().len(), 1);
    let path = "/unlock?feature=custom_domain";
    node.post(path).key(&node.key).send().await.refused(402, "payment_required");
    credit(&node, &node.key, 10_000).await;
    node.post(path).key(&node.key).send().await.expect(200);
    let me = node.get("/me").key(&node.key).send().await.expect(200).json();
    assert_eq!(me["balance_minor"], 9500);
    assert_eq!(me["unlocks"][0]["sku"], "custom_domain");
    let document = node.get("/openapi.json").send().await.expect(200).json();
    let prices = &document["paths"]["/unlock"]["post"]["x-payment-info"]["prices"];
    assert_eq!(*prices, json!({"make_permanent": "2.00", "custom_domain": "5.00", "higher_limits": "25.00"}));
}

#[tokio::test]
async fn without_an_evm_network_unlocks_are_for_the_balance_alone() {
    let fake = FacilitatorServer::start().await;
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", fake.url())
        .set("payments.solana_pay_to", "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu")
        .start()
        .await;
    node.get("/publish").send().await.refused(402, "payment_required");
    let path = "/unlock?feature=make_permanent";
    let answer = node.post(path).key(&node.key).send().await.refused(409, "not_on_sale");
    assert!(answer.text().contains("balance"), "{}", answer.text());
    let catalogue = node.get("/unlock").send().await.expect(200).json();
    assert_eq!((&catalogue["sandbox"], &catalogue["unlocks"][0]["networks"]), (&json!(false), &json!([])));
    assert_eq!(catalogue["unlocks"][0]["available"], true);
    let document = node.get("/openapi.json").send().await.expect(200).json();
    assert!(document["paths"]["/publish"]["post"]["x-payment-info"].is_object());
    assert!(document["paths"]["/unlock"]["post"].get("x-payment-info").is_none());
    let record = node.get("/.well-known/x402-service").send().await.expect(200).json();
    assert_eq!(record["offers"].as_array().unwrap().len(), 2);
    credit(&node, &node.key, 200).await;
    let unlocked = node.post(path).key(&node.key).send().await.expect(200);
    assert_eq!(
        (&unlocked.json()["paid_with"], &unlocked.json()["sandbox"]),
        (&json!("balance"), &json!(false))
    );
}

#[tokio::test]
async fn a_proof_counts_as_an_attempt_of_its_network() {
    let node = Setup::new().with_rates().set("limits.paid_attempts_per_minute", "2").start().await;
    let path = "/unlock?feature=make_permanent";
    for _ in 0..2 {
        let bad = node.post(path).key(&node.key).header("x-payment", "e30");
        bad.send().await.refused(400, "invalid_payment");
    }
    let third = node.post(path).key(&node.key).header("x-payment", "e30");
    third.send().await.refused(429, "rate_limited");
    node.post(path).key(&node.key).send().await.refused(402, "payment_required");
}

#[tokio::test]
async fn buying_needs_a_key_or_the_scope_and_a_sku_of_the_catalogue() {
    let node = Node::start().await;
    let path = "/unlock?feature=make_permanent";
    node.post(path).send().await.refused(401, "auth required");
    node.post(path).header("x-payment", "e30=").send().await.refused(401, "auth required");
    let person = node.newcomer("ada@example.org").await;
    let (read, write) = (let_in(&person, "sites:read").await, let_in(&person, "sites:write").await);
    node.post(path).key(&read.access).send().await.refused(403, "insufficient_scope");
    node.post(path).key(&write.access).send().await.refused(402, "payment_required");
    for bad in ["/unlock", "/unlock?feature=", "/unlock?feature=topup", "/unlock?feature=publish"] {
        let answer = node.post(bad).key(&node.key).send().await.refused(400, "invalid_field");
        assert!(!answer.has("payment-required"));
    }
}

#[tokio::test]
async fn terms_show_the_balance_and_the_evm_network_alone() {
    let node = Node::start().await;
    let key = node.account("free").await;
    credit(&node, &key, 199).await;
    let answer = node.post("/unlock?feature=make_permanent").key(&key).send().await;
    let answer = answer.refused(402, "payment_required");
    assert_eq!(answer.json()["balance_minor"], 199);
    assert_eq!(answer.json()["accepts"].as_array().unwrap().len(), 1);
    let terms: Value =
        serde_json::from_slice(&STANDARD.decode(answer.header("payment-required")).unwrap()).unwrap();
    assert_eq!(terms["accepts"].as_array().unwrap().len(), 1);
    assert_eq!(terms["accepts"][0]["network"], "eip155:8453");
    assert_eq!(terms["accepts"][0]["amount"], "2000000");
    let url = format!("{}/unlock?feature=make_permanent", node.base_url());
    assert_eq!(terms["resource"]["url"], url);
    let bad = node.post("/unlock?feature=make_permanent").key(&key).header("x-payment", "e30");
    bad.send().await.refused(400, "invalid_payment");
}

#[tokio::test]
async fn balance_that_suffices_is_drawn_without_a_402() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        credit(node, &key, 3000).await;
        let path = "/unlock?feature=higher_limits";
        let ask = || node.post(path).key(&key).header("idempotency-key", "one");
        let first = ask().send().await.expect(200);
        let unlocked = first.json();
        assert_eq!((&unlocked["ok"], &unlocked["sku"]), (&json!(true), &json!("higher_limits")));
        assert_eq!((&unlocked["paid_with"], &unlocked["balance_minor"]), (&json!("balance"), &json!(500)));
        assert_eq!(unlocked["sandbox"], true);
        assert_eq!(first.header("cache-control"), "private, no-store");
        assert_eq!(unlocked["active_until"], crate::harness::NOW + 30 * 86_400);
        assert_eq!(ask().send().await.expect(200).body, first.body, "the same request is charged once");
        let me = node.get("/me").key(&key).send().await.expect(200).json();
        assert_eq!(me["balance_minor"], 500);
        assert_eq!(me["limits"]["active_pages"], 100);
        let again = node.post(path).key(&key).send().await.refused(402, "payment_required");
        assert_eq!(again.json()["balance_minor"], 500, "without its key it is another request");
        let permanent = node.post("/unlock?feature=make_permanent").key(&key).send().await.expect(200).json();
        assert_eq!((&permanent["active_until"], &permanent["balance_minor"]), (&Value::Null, &json!(300)));
        let twice = node.post("/unlock?feature=make_permanent").key(&key).send().await.expect(200).json();
        assert_eq!((&twice["paid_with"], &twice["balance_minor"]), (&json!("nothing"), &json!(300)));
    })
    .await;
}

#[tokio::test]
async fn unlock_is_paid_for_with_x402_and_leaves_the_balance_alone() {
    on_each_database(Setup::new, async |node| {
        for (nonce, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
            let key = node.account("free").await;
            credit(node, &key, 10_000).await;
            let listing = node.app().listing(Item::Unlock(Sku::HigherLimits)).unwrap();
            let proof = purse.header(&listing.terms, nonce, node.app().now());
            let ask = || {
                let ask = node.post("/unlock?feature=higher_limits").key(&key);
                ask.header(purse.generation.proof_header(), &proof)
            };
            let answer = ask().send().await.expect(200);
            let unlocked = answer.json();
            assert_eq!(
                (&unlocked["paid_with"], &unlocked["balance_minor"]),
                (&json!("x402"), &json!(10_000))
            );
            assert_eq!(unlocked["active_until"], crate::harness::NOW + 30 * 86_400);
            let receipt = Receipt::parse(answer.header(purse.generation.receipt_header())).unwrap();
            let settled =
                Outcome::Settled { transaction: unlocked["transaction"].as_str().unwrap().to_owned() };
            assert_eq!(receipt.outcome, settled);
            assert_eq!(ask().send().await.expect(200).json(), unlocked, "the same proof, the same answer");
            let me = node.get("/me").key(&key).send().await.expect(200).json();
            assert_eq!((&me["balance_minor"], &me["limits"]["active_pages"]), (&json!(10_000), &json!(100)));
            let other = node.account("free").await;
            let stolen = node.post("/unlock?feature=higher_limits").key(&other);
            let stolen = stolen.header(purse.generation.proof_header(), &proof).send().await;
            stolen.refused(409, "payment_used");
        }
    })
    .await;
}
