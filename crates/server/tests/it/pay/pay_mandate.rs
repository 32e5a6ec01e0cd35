//! Mandates (AP2) in the body of `/provision`: the terms, and one key for each mandate, its transaction and its token.

use crate::harness::{Answer, MandateOffer, Node, Setup, on_each_database};
use dropleaf_pay::payer::MandateKey;
use futures_util::future::join_all;
use serde_json::{Value, json};

async fn accounts(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM accounts").await
}

async fn charges(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM sandbox_objects WHERE kind = 'payment' AND json LIKE '%\"succeeded\"%'")
        .await
}

fn rail<'a>(menu: &'a Value, name: &str) -> &'a Value {
    menu["rails"].as_array().unwrap().iter().find(|rail| rail["protocol"] == name).unwrap()
}

#[tokio::test]
async fn terms_name_a_new_transaction_each_time_and_store_nothing() {
    let node = Node::start().await;
    let menu = node.get("/provision").send().await.expect(200);
    assert_eq!(menu.header("cache-control"), "no-store");
    let menu = menu.json();
    assert_eq!(rail(&menu, "ap2")["live"], true);
    let base = node.base_url();
    for terms in [&menu["ap2"], &node.mandate_offer().await.terms] {
        assert_eq!((&terms["aud"], &terms["payee"]["id"]), (&json!(base), &json!(base)));
        assert_eq!(terms["payee"]["name"], "localhost");
        assert_eq!(terms["amount"], json!({"amount": 100, "currency": "USD"}));
        assert_eq!(terms["expires_at"], node.app().now() + 600);
        assert_eq!(terms["instruments"], json!(["stripe_spt"]));
        assert_ne!(terms["nonce"], terms["transaction_id"]);
    }
    let (one, two) = (node.mandate_offer().await.terms, node.mandate_offer().await.terms);
    assert!(one["transaction_id"] != two["transaction_id"] && one["nonce"] != two["nonce"]);
    assert!(node.post("/publish").send().await.expect(402).json()["ap2"].is_null(), "only for a key");
    for table in ["SELECT COUNT(*) FROM idempotency", "SELECT COUNT(*) FROM payments"] {
        assert_eq!(node.count(table).await, 0);
    }
}

#[tokio::test]
async fn both_versions_buy_one_key_and_the_same_one_again() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        let chain = node.mandate_offer().await.chain("spt_test_visa_1").sign();
        let contents = node.mandate_offer().await.contents("spt_test_visa_2").sign();
        for mandate in [&chain, &contents] {
            let answer = node.provision_by_mandate(mandate).await.expect(200);
            assert_eq!(answer.header("cache-control"), "private, no-store");
            let bought = answer.json();
            assert_eq!((&bought["protocol"], &bought["sandbox"]), (&json!("ap2"), &json!(true)));
            assert!(bought["transaction"].as_str().unwrap().starts_with("pi_"));
            let again = node.provision_by_mandate(mandate).await.expect(200).json();
            assert_eq!(again, bought);
            let me = node.get("/me").key(bought["api_key"].as_str().unwrap()).send().await.expect(200).json();
            assert_eq!((&me["plan"], &me["balance_minor"]), (&json!("free"), &json!(0)));
        }
        assert_eq!((accounts(node).await, charges(node).await), (before + 2, 2));
        assert_eq!(node.count("SELECT COUNT(*) FROM payments WHERE ask IS NOT NULL").await, 0, "erased");
        let revenue = node.count("SELECT COUNT(*) FROM payments WHERE protocol = 'ap2'").await;
        assert_eq!(revenue, 2);
        node.clock.advance(601);
        let late = node.provision_by_mandate(&chain).await.refused(409, "payment_used").json();
        assert_eq!(late["reason"], "no_longer_shown");
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn twenty_copies_at_once_are_one_charge_and_one_key() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        let offer = node.mandate_offer().await;
        for mandate in [
            offer.chain("spt_test_visa_1").sign(),
            node.mandate_offer().await.contents("spt_test_visa_2").sign(),
        ] {
            let sent = join_all((0..20).map(|_| node.provision_by_mandate(&mandate))).await;
            let keys: Vec<_> = sent.iter().filter(|answer| answer.status == 200).map(Answer::json).collect();
            assert!(!keys.is_empty() && keys.iter().all(|key| *key == keys[0]));
            for answer in sent.iter().filter(|answer| answer.status != 200) {
                assert_eq!((answer.status, &answer.json()["error"]), (409, &json!("payment_in_flight")));
            }
        }
        assert_eq!((accounts(node).await, charges(node).await), (before + 2, 2));
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn transaction_mandate_and_token_are_used_once() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        let offer = node.mandate_offer().await;
        let mandate = offer.chain("spt_test_visa_1").sign();
        node.provision_by_mandate(&mandate).await.expect(200);
        // Another mandate for the same transaction, with another token and with the same one.
        for token in ["spt_test_visa_2", "spt_test_visa_1"] {
            let answer = node.provision_by_mandate(&offer.contents(token).sign()).await;
            assert_eq!(answer.refused(409, "payment_used").json()["reason"], "other_request", "{token}");
        }
        // The same token for another transaction, and without a mandate.
        let other = node.mandate_offer().await.chain("spt_test_visa_1").sign();
        let answer = node.provision_by_mandate(&other).await.refused(409, "payment_used");
        assert!(!answer.has("payment-required"));
        let alone = json!({"acp_shared_payment_token": "spt_test_visa_1"});
        node.post("/provision").json(&alone).send().await.refused(409, "payment_used");
        // A token that was charged without a mandate.
        let alone = json!({"acp_shared_payment_token": "spt_test_visa_3"});
        node.post("/provision").json(&alone).send().await.expect(200);
        let other = node.mandate_offer().await.chain("spt_test_visa_3").sign();
        node.provision_by_mandate(&other).await.refused(409, "payment_used");
        assert_eq!((accounts(node).await, charges(node).await), (before + 2, 2));
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn declined_mandate_costs_nothing_and_names_a_new_transaction() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        for (card, reason) in [
            ("chargeDeclined", "generic_decline"),
            ("chargeDeclinedInsufficientFunds", "insufficient_funds"),
            ("authenticationRequired", "payment_action_required"),
        ] {
            let offer = node.mandate_offer().await;
            let mandate = offer.chain(&format!("spt_test_{card}_1")).sign();
            for _ in 0..2 {
                let answer = node.provision_by_mandate(&mandate).await.expect(402);
                let body = answer.json();
                assert_eq!((&body["error"], &body["reason"]), (&json!("payment_refused"), &json!(reason)));
                assert!(body["error_description"].as_str().unwrap().contains("Nothing was charged"));
                assert_ne!(body["ap2"]["transaction_id"], offer.terms["transaction_id"]);
                assert!(body["accepts"].is_array() && answer.has("payment-required"));
            }
        }
        assert_eq!((accounts(node).await, charges(node).await), (before, 0));
        assert_eq!(node.count("SELECT COUNT(*) FROM ledger_txns").await, 0);
        // The terms of a refusal can be paid with another card.
        let declined = node.mandate_offer().await.chain("spt_test_chargeDeclined_2").sign();
        let terms = node.provision_by_mandate(&declined).await.expect(402).json()["ap2"].clone();
        let offer = MandateOffer { terms, now: node.app().now() };
        node.provision_by_mandate(&offer.chain("spt_test_visa_9").sign()).await.expect(200);
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn payment_that_takes_time_is_unknown_and_never_refused() {
    on_each_database(Setup::new, async |node| {
        let mandate = node.mandate_offer().await.chain("spt_test_stalled_1").sign();
        for _ in 0..2 {
            node.provision_by_mandate(&mandate).await.refused(502, "settlement_unknown");
        }
        // Also when the mandate has expired.
        node.clock.advance(2 * 86_400);
        node.provision_by_mandate(&mandate).await.refused(502, "settlement_unknown");
        assert_eq!(node.count("SELECT COUNT(*) FROM payments WHERE state = 'unknown'").await, 1);
        let listed = node.app().list_payments(None, 10).await.unwrap();
        assert_eq!(listed[0].rail.as_str(), "ap2", "the operator sees it");
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn restarted_server_accepts_its_transactions_and_repeats_its_answers() {
    let node = Node::start().await;
    let open = node.mandate_offer().await.chain("spt_test_visa_1").sign();
    let paid = node.mandate_offer().await.chain("spt_test_visa_2").sign();
    let bought = node.provision_by_mandate(&paid).await.expect(200).json();
    let (dir, port) = node.stop_for_restart().await;
    let node = Setup::new().port(port).start_in(dir).await;
    assert_eq!(node.provision_by_mandate(&paid).await.expect(200).json(), bought);
    node.provision_by_mandate(&open).await.expect(200);
    assert_eq!(charges(&node).await, 2);
}

#[tokio::test]
async fn configured_issuers_and_names_are_those_that_count() {
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("issuers.json");
    let bank = MandateKey::new(&[7; 32], "bank").unwrap();
    std::fs::write(&file, json!({"keys": [bank.jwk()]}).to_string()).unwrap();
    let setup = Setup::new()
        .set("ap2.issuers_file", file.display().to_string())
        .set("ap2.merchant_id", "urn:shop:7")
        .set("ap2.payee_name", "The shop");
    let node = setup.start().await;
    let offer = node.mandate_offer().await;
    assert_eq!(offer.terms["aud"], "urn:shop:7");
    assert_eq!(offer.terms["payee"], json!({"id": "urn:shop:7", "name": "The shop"}));
    let mut by_bank = offer.chain("spt_test_visa_1");
    by_bank.links[0].key = bank;
    by_bank.links[0].header["kid"] = json!("bank");
    node.provision_by_mandate(&by_bank.sign()).await.expect(200);
    // The sandbox trusts its own issuer too.
    let by_sandbox = node.mandate_offer().await.chain("spt_test_visa_2").sign();
    node.provision_by_mandate(&by_sandbox).await.expect(200);
}

#[tokio::test]
async fn server_without_issuers_or_processor_says_that_mandates_are_not_live() {
    let sandbox = Node::start().await;
    let mandate = sandbox.mandate_offer().await.chain("spt_test_visa_1").sign();
    let live = || {
        Setup::new()
            .set("payments.mode", "live")
            .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
            .set("payments.facilitator_url", "http://127.0.0.1:9")
    };
    for (setup, why) in [
        (live(), "No card processor is configured."),
        (live().set("stripe.secret_key", "sk_live_x"), "No issuer of mandates is trusted."),
    ] {
        let node = setup.start().await;
        let menu = node.get("/provision").send().await.expect(200).json();
        assert_eq!((&rail(&menu, "ap2")["live"], &rail(&menu, "ap2")["why"]), (&json!(false), &json!(why)));
        assert!(menu["ap2"].is_null());
        for body in [&mandate, &json!({}), &json!(null), &json!("x")] {
            let answer = node.provision_by_mandate(body).await.refused(402, "rail_not_live");
            assert!(answer.has("payment-required") && answer.json()["ap2"].is_null());
            assert!(answer.text().contains("Nothing was charged"));
        }
        let answer = node.provision_by_mandate(&mandate).await;
        assert!(answer.text().contains(why), "{}", answer.text());
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    }
    // A server that accepts cards alone has no terms to repeat.
    let setup = Setup::new().set("payments.mode", "live").set("stripe.secret_key", "sk_live_x");
    let cards = setup.start().await;
    for body in [&mandate, &json!({})] {
        cards.provision_by_mandate(body).await.refused(402, "rail_not_live");
    }
}
