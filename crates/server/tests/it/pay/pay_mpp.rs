//! MPP at the paid endpoints: a challenge in `WWW-Authenticate: Payment`, a credential that answers it, a receipt. From the
//! reservation on it is the same payment as with x402. Spec §4 Payment 1 and 2.

use crate::harness::{
    Answer, Ask, Call, FacilitatorServer, Fault, Node, Purse, Setup, on_each_database, page,
};
use dropleaf_pay::Token;
use dropleaf_pay::mpp::PaymentReceipt;
use dropleaf_pay::payer::{mpp_challenge, mpp_header};
use futures_util::future::join_all;
use serde_json::{Value, json};

const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

fn token() -> Token {
    Token::usdc(8453).unwrap()
}

/// The credential for the challenge of a 402.
#[track_caller]
fn credential(answer: &Answer) -> Value {
    let challenge = mpp_challenge(answer.header("www-authenticate")).expect("a challenge");
    Purse::new().evm.mpp_credential(&challenge, &token()).expect("a credential")
}

/// Sends a request without payment and answers the challenge.
async fn challenged(ask: Ask) -> (Answer, String) {
    let owed = ask.send().await.expect(402);
    let header = mpp_header(&credential(&owed));
    (owed, header)
}

fn publish(node: &Node, html: &str) -> Ask {
    node.post("/publish").header("accept-payment", "evm/charge").json(&json!({ "html": html }))
}

#[track_caller]
fn receipt(answer: &Answer) -> PaymentReceipt {
    assert!(!answer.has("payment-response") && !answer.has("x-payment-response"));
    assert_eq!(answer.header("cache-control"), "private, no-store");
    PaymentReceipt::parse(answer.header("payment-receipt")).expect("a receipt")
}

#[tokio::test]
async fn page_is_paid_with_mpp_once_however_often_it_is_sent() {
    on_each_database(Setup::new, async |node| {
        let html = page("Paid by MPP");
        let (owed, header) = challenged(publish(node, &html)).await;
        assert!(owed.has("payment-required"), "the terms of x402 are there too");
        let answer = publish(node, &html).header("authorization", &header).send().await.expect(201);
        let site = answer.json();
        let receipt = receipt(&answer);
        assert_eq!(site["transaction"], receipt.reference);
        assert_eq!((receipt.chain_id, receipt.settled_at), (8453, node.app().now()));
        let challenge = mpp_challenge(owed.header("www-authenticate")).unwrap();
        assert_eq!(challenge["id"], receipt.challenge_id);
        assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.expect(200).text(), html);

        // Long after the challenge has expired.
        node.clock.advance(3600);
        let again = publish(node, &html).header("authorization", &header).send().await.expect(201);
        assert_eq!(again.json()["url"], site["url"]);
        let other = publish(node, &page("Another")).header("authorization", &header).send().await;
        assert_eq!(other.expect(409).json()["error"], "payment_used");
        let paid = "SELECT COUNT(*) FROM payments WHERE protocol = 'mpp' AND state = 'fulfilled' AND amount = 500000";
        assert_eq!(node.count(paid).await, 1);
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}

#[tokio::test]
async fn raw_html_is_bound_to_its_bytes_too() {
    let node = Node::start().await;
    let ask = || node.post("/publish").body("text/html", page("Raw"));
    let (_, header) = challenged(ask()).await;
    ask().header("authorization", &header).send().await.expect(201);
}

#[tokio::test]
async fn a_challenge_that_was_asked_for_without_a_page_pays_for_any_page_once() {
    let node = Node::start().await;
    for ask in [node.get("/publish"), node.post("/publish")] {
        let (_, header) = challenged(ask).await;
        publish(&node, &page("Later")).header("authorization", &header).send().await.expect(201);
        let other = publish(&node, &page("Another")).header("authorization", &header).send().await;
        other.refused(409, "payment_used");
    }
}

#[tokio::test]
async fn key_is_paid_with_mpp() {
    let node = Node::start().await;
    for body in [None, Some(json!({}))] {
        let ask = || match &body {
            Some(body) => node.post("/provision").json(body),
            None => node.post("/provision"),
        };
        let (_, header) = challenged(ask()).await;
        let answer = ask().header("authorization", &header).send().await.expect(200);
        let made = answer.json();
        assert_eq!((&made["ok"], &made["protocol"]), (&json!(true), &json!("mpp")));
        assert_eq!(receipt(&answer).reference, made["transaction"].as_str().unwrap());
        node.get("/me").key(made["api_key"].as_str().unwrap()).send().await.expect(200);
    }
}

#[tokio::test]
async fn either_nonce_that_clients_derive_from_a_challenge_pays() {
    let node = Node::start().await;
    let html = page("Another nonce");
    let owed = publish(&node, &html).send().await.expect(402);
    let challenge = mpp_challenge(owed.header("www-authenticate")).unwrap();
    let credential = Purse::new().evm.mpp_credential_with_array_nonce(&challenge, &token()).unwrap();
    let answer = publish(&node, &html).header("authorization", &mpp_header(&credential)).send().await;
    receipt(&answer.expect(201));
}

#[tokio::test]
async fn unlock_is_paid_in_a_field_of_its_own_beside_the_key() {
    let node = Node::start().await;
    let ask = || node.post("/unlock?feature=higher_limits").key(&node.key);
    let (owed, header) = challenged(ask()).await;
    let challenge = mpp_challenge(owed.header("www-authenticate")).unwrap();
    assert_eq!(challenge["header"], "Payment-Authorization");
    assert_eq!(owed.json()["balance_minor"], 0);
    let answer = ask().header("payment-authorization", &header).send().await.expect(200);
    assert_eq!(answer.json()["paid_with"], "mpp");
    receipt(&answer);
    // A challenge for one unlock does not buy another.
    let (_, header) = challenged(ask()).await;
    let other = node.post("/unlock?feature=make_permanent").key(&node.key);
    let refused = other.header("payment-authorization", &header).send().await.expect(402);
    assert_eq!(refused.json()["reason"], "other_route");
}

#[tokio::test]
async fn errors_are_problems_with_a_new_challenge_for_clients_of_mpp() {
    let node = Node::start().await;
    let html = page("Problems");
    let owed = publish(&node, &html).send().await.expect(402);
    assert_eq!(owed.header("content-type"), "application/problem+json");
    let body = owed.json();
    assert_eq!(body["type"], "https://paymentauth.org/problems/payment-required");
    assert_eq!((&body["status"], &body["x402Version"]), (&json!(402), &json!(1)));
    assert_eq!(body["challengeId"], mpp_challenge(owed.header("www-authenticate")).unwrap()["id"]);
    let plain = node.post("/publish").json(&json!({ "html": html })).send().await.expect(402);
    assert_eq!(plain.header("content-type"), "application/json");
    assert!(plain.has("www-authenticate"), "everyone is told that MPP is accepted");

    let (first, header) = challenged(publish(&node, &html)).await;
    let other = publish(&node, &page("Another page")).header("authorization", &header).send().await;
    let refused = other.expect(402);
    assert_eq!(refused.json()["type"], "https://paymentauth.org/problems/verification-failed");
    assert_eq!(refused.json()["reason"], "other_body");
    let id = |answer: &Answer| mpp_challenge(answer.header("www-authenticate")).unwrap()["id"].clone();
    assert_ne!(id(&refused), id(&first));
    assert!(!refused.has("payment-receipt"));
}

#[tokio::test]
async fn a_page_that_is_refused_costs_nothing() {
    let node = Node::start().await;
    let (_, header) = challenged(publish(&node, &page("Fine"))).await;
    let empty =
        node.post("/publish").header("authorization", &header).json(&json!({"html": ""})).send().await;
    empty.expect(400);
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
}

#[tokio::test]
async fn bad_credentials_create_and_charge_nothing() {
    let node = Node::start().await;
    let html = page("Bad credentials");
    let owed = publish(&node, &html).send().await.expect(402);
    let good = credential(&owed);
    let changed = |path: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(path).expect(path) = value;
        bad
    };
    let nobody = "0x0000000000000000000000000000000000000001";
    let cases = [
        (changed("/challenge/id", json!("x")), "unknown_challenge"),
        (changed("/challenge/realm", json!("elsewhere.test")), "unknown_challenge"),
        (changed("/challenge/expires", json!("2999-01-01T00:00:00Z")), "unknown_challenge"),
        (changed("/challenge/digest", json!("sha-256=:x:")), "unknown_challenge"),
        (changed("/challenge/opaque", json!("e30")), "unknown_challenge"),
        (changed("/challenge/request", json!("e30")), "unknown_challenge"),
        (changed("/challenge", json!({})), "invalid_member"),
        (changed("/payload/type", json!("transaction")), "unsupported_type"),
        (changed("/payload/from", json!(nobody)), "source_mismatch"),
        (changed("/payload/to", json!(nobody)), "recipient_mismatch"),
        (changed("/payload/value", json!("1")), "amount_mismatch"),
        (changed("/payload/nonce", json!(format!("0x{}", "00".repeat(32)))), "nonce_mismatch"),
        (changed("/payload/validBefore", json!("1")), "expiry_mismatch"),
        (changed("/payload/signature", json!("0x00")), "invalid_signature"),
        (changed("/source", json!(format!("did:pkh:eip155:8453:{nobody}"))), "source_mismatch"),
    ];
    for (bad, reason) in cases {
        let answer =
            publish(&node, &html).header("authorization", &mpp_header(&bad)).send().await.expect(402);
        assert_eq!(answer.json()["reason"], reason, "{bad}");
        assert!(answer.has("www-authenticate"), "{reason}");
    }
    for unsupported in
        [changed("/challenge/method", json!("tempo")), changed("/challenge/intent", json!("session"))]
    {
        let answer = publish(&node, &html).header("authorization", &mpp_header(&unsupported)).send().await;
        assert_eq!(answer.expect(400).json()["reason"], "unsupported_method");
    }
    let twice = publish(&node, &html).header("authorization", &mpp_header(&good));
    let twice = twice.header("payment-authorization", &mpp_header(&good)).send().await.expect(400);
    assert_eq!(twice.json()["reason"], "two_credentials");
    let other_field = publish(&node, &html).header("payment-authorization", &mpp_header(&good)).send().await;
    assert_eq!(other_field.expect(402).json()["reason"], "wrong_field");
    node.clock.advance(600);
    let late = publish(&node, &html).header("authorization", &mpp_header(&good)).send().await.expect(402);
    assert_eq!(late.json()["type"], "https://paymentauth.org/problems/payment-expired");
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
}

#[tokio::test]
async fn twenty_copies_at_once_are_one_payment() {
    let node = Node::start().await;
    let html = page("At once");
    let (_, header) = challenged(publish(&node, &html)).await;
    let all = join_all((0..20).map(|_| publish(&node, &html).header("authorization", &header).send())).await;
    let urls: Vec<Value> = all.into_iter().map(|answer| answer.expect(201).json()["url"].clone()).collect();
    assert!(urls.iter().all(|url| *url == urls[0]));
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 1);
}

#[tokio::test]
async fn an_unknown_outcome_is_never_a_challenge_to_pay_again() {
    let fake = FacilitatorServer::start().await;
    let live = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
    let node = live.set("payments.evm_pay_to", PAY_TO).start().await;
    let html = page("Unclear");
    let (_, header) = challenged(publish(&node, &html)).await;
    fake.next(Call::Settle, [Fault::says(500, "{}"), Fault::says(500, "{}")]);
    let lost = publish(&node, &html).header("authorization", &header).send().await.expect(502);
    assert_eq!(lost.json()["error"], "settlement_unknown");
    assert!(!lost.has("www-authenticate") && !lost.has("payment-required"));
    let found = publish(&node, &html).header("authorization", &header).send().await.expect(201);
    receipt(&found);
    assert_eq!(node.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled'").await, 1);
}
