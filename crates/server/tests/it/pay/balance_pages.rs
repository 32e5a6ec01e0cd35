//! `POST /publish` with a key: the prepaid balance pays, without a 402. Spec §5 rule 5, §8.

use super::prepaid::{Customer, audit, give_real_money, give_sandbox_money, me};
use crate::harness::oauth::let_in;
use crate::harness::{
    Ask, DAY, FacilitatorServer, HARVEST, Node, Purse, Setup, on_each_database, page, site_path,
};
use dropleaf_core::payment::Item;
use serde_json::{Value, json};

fn publish(node: &Node, key: &str, title: &str) -> Ask {
    node.post("/publish").key(key).json(&json!({"html": page(title)}))
}

async fn sites(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM sites").await
}

#[tokio::test]
async fn page_is_bought_from_the_balance_and_belongs_to_the_account() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 120).await;
        let answer = publish(node, &ada.key, "Prepaid").send().await.expect(201);
        assert_eq!(answer.header("cache-control"), "private, no-store");
        assert!(!answer.has("payment-response") && !answer.has("payment-receipt"));
        let site = answer.json();
        assert_eq!((&site["paid_with"], &site["balance_minor"]), (&json!("balance"), &json!(70)));
        assert_eq!((&site["transaction"], &site["expires_at"]), (&Value::Null, &Value::Null));
        assert_eq!(site["sandbox"], true);
        assert!(site.get("claim_token").is_none() && site.get("claim_url").is_none(), "{site}");
        let next = &site["next"]["update_in_place"];
        let bearer = json!([{"scheme": "Bearer", "header": "Authorization: Bearer <api_key>"}]);
        assert_eq!((&next["method"], &next["credentials"]), (&json!("PUT"), &bearer));
        assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.expect(200).text(), page("Prepaid"));
        let put = node.put(&site_path(&site)).key(&ada.key).json(&json!({"html": page("Changed")}));
        assert_eq!(put.send().await.expect(200).json()["version"], 2);
        let me = me(node, &ada.key).await;
        assert_eq!((&me["balance_minor"], &me["counts"]["active_pages"]), (&json!(70), &json!(0)));
        assert_eq!(me["counts"]["publishes_today"], 0);
        node.clock.advance(400 * DAY);
        node.app().sweep().await.unwrap();
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn deleted_and_restored_page_still_counts_against_no_plan() {
    let node = Node::start().await;
    let ada = Customer::new(&node, 50).await;
    let site = publish(&node, &ada.key, "Back").send().await.expect(201).json();
    node.delete(&site_path(&site)).key(&ada.key).send().await.expect(200);
    node.post(&format!("{}/restore", site_path(&site))).key(&ada.key).send().await.expect(200);
    assert_eq!(me(&node, &ada.key).await["counts"]["active_pages"], 0);
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn too_small_a_balance_gets_the_terms_and_buys_nothing() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 49).await;
        for ask in [
            publish(node, &ada.key, "Short"),
            publish(node, &ada.key, "Short").header("idempotency-key", "one"),
            node.post("/publish").key(&ada.key),
        ] {
            let answer = ask.send().await.refused(402, "payment_required");
            assert_eq!(answer.json()["balance_minor"], 49);
            assert!(answer.has("payment-required") && answer.has("www-authenticate"));
            assert_eq!(answer.json()["accepts"].as_array().unwrap().len(), 2);
        }
        let without = node.post("/publish").json(&json!({"html": page("x")})).send().await;
        assert!(without.refused(402, "payment_required").json().get("balance_minor").is_none());
        assert_eq!((sites(node).await, ada.balance(node).await), (0, 49));
        node.app().credit_account("a test", &ada.id, 1, "for a test", None).await.unwrap();
        let bought = publish(node, &ada.key, "Short").header("idempotency-key", "one").send().await;
        assert_eq!(bought.expect(201).json()["balance_minor"], 0);
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn refused_page_costs_nothing() {
    let node = Setup::new().set("limits.publish_bytes", "2000").start().await;
    let ada = Customer::new(&node, 1000).await;
    let ask = || node.post("/publish").key(&ada.key).header("idempotency-key", "page");
    ask().json(&json!({"html": HARVEST})).send().await.refused(422, "phishing_blocked");
    ask().json(&json!({"html": "x".repeat(3000)})).send().await.refused(413, "too_large");
    ask().json(&json!({"html": ""})).send().await.refused(400, "empty_file");
    ask().body("text/plain", "x").send().await.refused(400, "invalid_request");
    assert_eq!((sites(&node).await, ada.balance(&node).await), (0, 1000));
    ask().json(&json!({"html": page("Mended")})).send().await.expect(201);
    assert_eq!(ada.balance(&node).await, 950);
}

#[tokio::test]
async fn same_idempotency_key_is_charged_once() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 1000).await;
        let ask = |title: &str| publish(node, &ada.key, title).header("idempotency-key", "page one");
        let first = ask("One").send().await.expect(201);
        let again = ask("One").send().await.expect(201);
        assert_eq!((first.body, again.header("cache-control")), (again.body.clone(), "private, no-store"));
        ask("Other").send().await.refused(422, "idempotency_mismatch");
        assert_eq!((sites(node).await, ada.balance(node).await), (1, 950));
        let copies = (0..8).map(|_| publish(node, &ada.key, "Two").header("idempotency-key", "two").send());
        for answer in futures_util::future::join_all(copies).await {
            assert!(matches!(answer.status, 201 | 409), "{}", answer.text());
        }
        assert_eq!((sites(node).await, ada.balance(node).await), (2, 900));
        publish(node, &ada.key, "One").send().await.expect(201);
        assert_eq!((sites(node).await, ada.balance(node).await), (3, 850), "without it, it is another page");
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn proof_pays_even_beside_a_key_and_the_balance_is_left_alone() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 1000).await;
        let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
        let proof = Purse::new().header(&terms, 1, node.app().now());
        let ask = || publish(node, &ada.key, "Both").header("payment-signature", &proof);
        let site = ask().send().await.expect(201).json();
        assert_eq!((&site["paid_with"], site.get("balance_minor")), (&json!("x402"), None));
        assert!(site["claim_token"].is_string(), "the payment is the credential, so the page has no account");
        assert_eq!(ask().send().await.expect(201).json(), site);
        ask().header("x-payment", "e30").send().await.refused(400, "invalid_payment");
        assert_eq!((sites(node).await, ada.balance(node).await), (1, 1000));
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn buying_needs_a_valid_key_the_scope_and_an_active_account() {
    let node = Node::start().await;
    let ask = |key: &str| publish(&node, key, "Who");
    ask("stk_live_nothing").send().await.refused(401, "invalid_credential");
    let person = node.newcomer("ada@example.org").await;
    node.app().credit_account("a test", &person.account.id, 1000, "for a test", None).await.unwrap();
    let (read, write) = (let_in(&person, "sites:read").await, let_in(&person, "sites:write").await);
    ask(&read.access).send().await.refused(403, "insufficient_scope");
    assert_eq!(ask(&write.access).send().await.expect(201).json()["balance_minor"], 950);
    let ada = Customer::new(&node, 1000).await;
    node.app().suspend_account("operator", &ada.id, "spam").await.unwrap();
    ask(&ada.key).send().await.refused(403, "account_suspended");
    assert_eq!((sites(&node).await, ada.balance(&node).await), (1, 1000));
}

#[tokio::test]
async fn real_money_is_not_spent_in_sandbox_mode() {
    on_each_database(Setup::new, async |node| {
        let ada = Customer::new(node, 0).await;
        give_real_money(node, &ada.id, 100_000).await;
        give_sandbox_money(node, &ada.id, 70).await;
        assert_eq!(ada.balance(node).await, 70);
        let site = publish(node, &ada.key, "Sandbox").send().await.expect(201).json();
        assert_eq!((&site["sandbox"], &site["balance_minor"]), (&json!(true), &json!(20)));
        for (path, missing) in [("/publish", 30), ("/provision", 80), ("/unlock?feature=make_permanent", 180)]
        {
            let owed = node.post(path).key(&ada.key).send().await.refused(402, "payment_required");
            let body = owed.json();
            assert_eq!((&body["balance_minor"], &body["missing_minor"]), (&json!(20), &json!(missing)));
            let why = body["error_description"].as_str().unwrap();
            assert!(why.contains("real credit of $1000.00 is not spent in sandbox mode"), "{path}: {why}");
        }
        let account = node.app().get_account(&ada.id).await.unwrap();
        assert_eq!((account.balance_minor, account.sandbox_balance_minor), (100_000, 20));
        let listed = node.get("/me/transactions").key(&ada.key).send().await.expect(200).json();
        let amounts = listed["transactions"].as_array().unwrap().iter().map(|it| it["amount_minor"].as_i64());
        assert_eq!(amounts.flatten().sum::<i64>(), 20, "the movements explain the balance");
        // What the operator gives is sandbox money too.
        node.app().credit_account("a test", &ada.id, 30, "for a test", None).await.unwrap();
        publish(node, &ada.key, "Given").send().await.expect(201);
        let account = node.app().get_account(&ada.id).await.unwrap();
        assert_eq!((account.balance_minor, account.sandbox_balance_minor), (100_000, 0));
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn sandbox_money_buys_nothing_in_live_mode() {
    let fake = FacilitatorServer::start().await;
    let live = || {
        Setup::new()
            .set("payments.mode", "live")
            .set("payments.facilitator_url", fake.url())
            .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
    };
    on_each_database(live, async |node| {
        let ada = Customer::new(node, 0).await;
        give_sandbox_money(node, &ada.id, 100_000).await;
        assert_eq!(ada.balance(node).await, 0);
        let body = json!({"html": page("Live")});
        for path in ["/publish", "/provision", "/unlock?feature=make_permanent"] {
            let owed = node.post(path).key(&ada.key).json(&body).send().await;
            assert_eq!(owed.refused(402, "payment_required").json()["balance_minor"], 0, "{path}");
        }
        let listed = node.get("/me/transactions").key(&ada.key).send().await.expect(200).json();
        assert_eq!((&listed["transactions"], &listed["balance_minor"]), (&json!([]), &json!(0)));
        node.app().credit_account("a test", &ada.id, 50, "real money", None).await.unwrap();
        let site = publish(node, &ada.key, "Live").send().await.expect(201).json();
        assert_eq!((&site["sandbox"], &site["balance_minor"]), (&json!(false), &json!(0)));
        audit(node).await;
    })
    .await;
}

#[tokio::test]
async fn pages_of_other_origins_get_the_terms_and_spend_nothing() {
    let fake = FacilitatorServer::start().await;
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", fake.url())
        .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .start()
        .await;
    let ada = Customer::new(&node, 1000).await;
    let ask = publish(&node, &ada.key, "Foreign").header("origin", "https://elsewhere.example");
    ask.send().await.refused(402, "payment_required");
    assert_eq!(ada.balance(&node).await, 1000);
}
