//! A live server that accepts cards and no payments with a wallet: what it answers to requests that are not paid, or paid with a
//! wallet.

use super::prepaid::Customer;
use crate::harness::{Answer, Node, Purse, ReservedPort, Setup, page};
use dropleaf_core::payment::Item;
use serde_json::{Value, json};

fn card_only_setup() -> Setup {
    let nowhere = ReservedPort::new();
    let setup = Setup::new().set("payments.mode", "live").set("stripe.secret_key", "sk_test_1");
    setup.set("stripe.api_url", nowhere.url())
}

async fn card_only() -> Node {
    card_only_setup().start().await
}

/// The body of a 402 that names no terms of wallets.
fn asks_for_a_card(answer: Answer, error: &str) -> Value {
    let answer = answer.refused(402, error);
    assert!(!answer.has("payment-required") && !answer.has("www-authenticate"));
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.json();
    assert!(body.get("accepts").is_none() && body.get("x402Version").is_none(), "{body}");
    assert_eq!((&body["pay"]["method"], &body["sandbox"]), (&json!("POST"), &json!(false)));
    assert!(body["pay"]["url"].as_str().unwrap().ends_with("/pay/sessions"), "{body}");
    let rails = body["rails"].as_array().unwrap();
    let names: Vec<_> = rails.iter().map(|rail| rail["protocol"].as_str().unwrap()).collect();
    assert_eq!(names, ["x402", "mpp", "acp", "ap2", "card", "balance"]);
    for rail in rails {
        assert_ne!(rail["live"].as_bool().unwrap(), rail["why"].is_string(), "{rail}");
    }
    assert!(rails[..2].iter().all(|rail| rail["live"] == false), "{body}");
    body
}

fn is_live(body: &Value, protocol: &str) -> bool {
    let rails = body["rails"].as_array().unwrap();
    rails.iter().any(|rail| rail["protocol"] == protocol && rail["live"] == true)
}

/// Whether the menu says that a protocol pays for this.
fn pays_for(body: &Value, protocol: &str, item: &str) -> bool {
    let rails = body["rails"].as_array().unwrap();
    let rail = rails.iter().find(|rail| rail["protocol"] == protocol).unwrap();
    rail["live"] == true && rail["pays_for"].as_array().unwrap().contains(&json!(item))
}

#[tokio::test]
async fn unpaid_requests_are_told_how_to_pay_by_card() {
    let node = card_only().await;
    let key = node.account("free").await;
    let provision = asks_for_a_card(node.post("/provision").send().await, "payment_required");
    assert_eq!(provision["pay"]["body"], json!({"feature": "provision"}));
    assert_eq!((&provision["price"], &provision["amount_minor"]), (&json!("1.00"), &json!(100)));
    assert!(pays_for(&provision, "card", "provision") && pays_for(&provision, "acp", "provision"));
    let created = node.post("/pay/sessions").json(&provision["pay"]["body"]).send().await.expect(201);
    assert_eq!(created.json()["amount"], "1.00");

    let path = "/unlock?feature=make_permanent";
    let unlock = asks_for_a_card(node.post(path).key(&key).send().await, "payment_required");
    assert_eq!(unlock["pay"]["body"], json!({"feature": "make_permanent"}));
    assert_eq!((&unlock["balance_minor"], &unlock["missing_minor"]), (&json!(0), &json!(200)));
    assert!(pays_for(&unlock, "card", "unlock") && !pays_for(&unlock, "acp", "unlock"));
    node.post("/pay/sessions").key(&key).json(&unlock["pay"]["body"]).send().await.expect(201);

    let body = json!({"html": page("Card")});
    for answer in [
        node.get("/publish").send().await,
        node.post("/publish").send().await,
        node.post("/publish").json(&body).send().await,
    ] {
        let publish = asks_for_a_card(answer, "payment_required");
        assert_eq!(publish["pay"]["body"], json!({"feature": "provision", "amount_minor": 150}));
        assert!(
            !pays_for(&publish, "card", "publish")
                && publish["error_description"].to_string().contains("balance")
        );
        node.post("/pay/sessions").json(&publish["pay"]["body"]).send().await.expect(201);
    }
    let with_key = node.post("/publish").key(&key).json(&body).send().await;
    let with_key = asks_for_a_card(with_key, "payment_required");
    assert_eq!(with_key["pay"]["body"], json!({"feature": "topup", "amount_minor": 50}));
    // An MPP client gets no challenge that it could not pay.
    let mpp = node.post("/provision").header("accept-payment", "evm/charge").send().await;
    asks_for_a_card(mpp, "payment_required");
    let domains = node.post("/unlock?feature=custom_domain").key(&key).send().await;
    asks_for_a_card(domains, "payment_required");
}

#[tokio::test]
async fn payments_with_a_wallet_are_not_taken_and_a_balance_is() {
    let node = card_only().await;
    let sandbox = Node::start().await;
    let terms = sandbox.app().listing(Item::Publish).unwrap().terms.clone();
    let proof = Purse::new().header(&terms, 1, node.app().now());
    let body = json!({"html": page("Card")});
    let ask = |proof: &str| node.post("/publish").json(&body).header("payment-signature", proof);
    let refused = asks_for_a_card(ask(&proof).send().await, "rail_not_live");
    assert!(refused["error_description"].to_string().contains("charged nothing"));
    ask("e30").send().await.refused(400, "invalid_payment");
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    let ada = Customer::new(&node, 50).await;
    let site = node.post("/publish").key(&ada.key).json(&body).send().await.expect(201).json();
    assert_eq!((&site["sandbox"], &site["balance_minor"]), (&json!(false), &json!(0)));
}

#[tokio::test]
async fn a_price_below_the_smallest_charge_is_not_charged_to_a_token() {
    let node = card_only_setup().set("payments.prices.provision", "0.49").start().await;
    let token = json!({"acp_shared_payment_token": "spt_1"});
    let menu = node.get("/provision").send().await.expect(200).json();
    let acp = &menu["rails"][2];
    assert_eq!((&acp["protocol"], &acp["live"]), (&json!("acp"), &json!(false)));
    assert!(acp["why"].as_str().unwrap().contains("smallest amount"), "{acp}");
    assert!(is_live(&menu, "card"), "a link charges the minimum and credits the rest");
    let refused = asks_for_a_card(node.post("/provision").json(&token).send().await, "rail_not_live");
    assert!(
        refused["error_description"].to_string().contains("smallest amount") && !is_live(&refused, "acp")
    );
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    let link = node.post("/pay/sessions").send().await.expect(201).json();
    assert_eq!(link["amount"], "0.50");
    let enough = card_only_setup().set("payments.prices.provision", "0.50").start().await;
    assert!(is_live(&enough.get("/provision").send().await.expect(200).json(), "acp"));
}
