//! `POST /publish`: sells a page. The sandbox settles, with every signature checked. Spec §2 Publish response, §3, §4
//! Payment 2 to 5, §8.

use crate::harness::{
    Answer, Ask, Call, DAY, FacilitatorServer, Fault, Node, Purse, Setup, on_each_database, page, site_path,
};
use dropleaf_core::payment::Item;
use dropleaf_pay::{Generation, Network, Outcome, Receipt, Terms};
use serde_json::{Value, json};
use std::sync::Arc;

const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

fn terms(node: &Node) -> Terms {
    node.app().listing(Item::Publish).unwrap().terms.clone()
}

fn pay(node: &Node, purse: &Purse, nonce: u8) -> Ask {
    let proof = purse.header(&terms(node), nonce, node.app().now());
    node.post("/publish").header(purse.generation.proof_header(), &proof)
}

/// The receipt in the header of its version, and none in the other.
#[track_caller]
fn receipt(answer: &Answer, generation: Generation) -> Receipt {
    let other = if generation == Generation::V1 { Generation::V2 } else { Generation::V1 };
    assert!(!answer.has(other.receipt_header()));
    assert_eq!(answer.header("cache-control"), "private, no-store");
    Receipt::parse(answer.header(generation.receipt_header())).expect("a receipt")
}

#[tokio::test]
async fn paid_page_is_there_for_good() {
    on_each_database(Setup::new, async |node| {
        for (nonce, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
            let html = page(&format!("Paid {nonce}"));
            let answer = pay(node, &purse, nonce).json(&json!({"html": html})).send().await.expect(201);
            let site = answer.json();
            let token = site["unlisted_token"].as_str().unwrap();
            assert_eq!(token.len(), 22);
            assert_eq!(site["url"], format!("{}/p/{token}/", node.base_url()));
            assert_eq!(site["expires_at"], Value::Null);
            assert_eq!((&site["version"], &site["sandbox"]), (&json!(1), &json!(true)));
            assert_eq!(site["warnings"], json!([]));
            let claim = site["claim_token"].as_str().unwrap();
            assert!(claim.starts_with("clm_"));
            let claim_url = format!("{}/claim/{}#{claim}", node.base_url(), site["id"].as_str().unwrap());
            assert_eq!(site["claim_url"], claim_url);
            let found = receipt(&answer, purse.generation);
            assert_eq!(found.network, Network::BASE);
            assert_eq!(found.payer.to_string(), purse.evm.address.to_string());
            let Outcome::Settled { transaction } = found.outcome else { panic!("settled") };
            assert_eq!(site["transaction"], transaction);
            assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.expect(200).text(), html);
        }
        let paid =
            node.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled' AND amount = 500000").await;
        assert_eq!(paid, 2);
    })
    .await;
}

#[tokio::test]
async fn paid_page_outlives_everything_that_is_free() {
    let node = Node::start().await;
    let site =
        pay(&node, &Purse::new(), 1).json(&json!({"html": page("Lasting")})).send().await.expect(201).json();
    node.clock.advance(400 * DAY);
    node.app().sweep().await.unwrap();
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn solana_pays_too_and_updates_with_the_claim_token() {
    let node = Node::start().await;
    for (blockhash, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
        let proof = purse.solana_header(&terms(&node), blockhash);
        let ask = node.post("/publish").header(purse.generation.proof_header(), &proof);
        let answer = ask.json(&json!({"html": page("From Solana")})).send().await.expect(201);
        assert_eq!(receipt(&answer, purse.generation).network, Network::SOLANA);
        let site = answer.json();
        let ways = site["next"]["update_in_place"]["credentials"].as_array().unwrap().clone();
        assert_eq!(ways.len(), 1, "a Solana payer has no wallet credential");
        assert_eq!(ways[0]["scheme"], "Claim");
        let put = node.put(&site_path(&site)).claim(site["claim_token"].as_str().unwrap());
        let updated = put.json(&json!({"html": page("Changed")})).send().await.expect(200).json();
        assert_eq!((&updated["url"], &updated["version"]), (&site["url"], &json!(2)));
    }
}

#[tokio::test]
async fn answer_tells_how_to_update_in_place() {
    let node = Node::start().await;
    let site =
        pay(&node, &Purse::new(), 1).json(&json!({"html": page("Next")})).send().await.expect(201).json();
    let next = &site["next"]["update_in_place"];
    assert_eq!(
        (&next["method"], &next["url"]),
        (&json!("PUT"), &json!(format!("{}{}", node.base_url(), site_path(&site))))
    );
    let expected = json!([
        {"scheme": "Claim", "header": "Authorization: Claim <claim_token>"},
        {
            "scheme": "Wallet", "header": "Authorization: Wallet challenge=<challenge>,sig=<signature>",
            "challenge_url": format!("{}/wallet-auth/challenge", node.base_url()),
        },
    ]);
    assert_eq!(next["credentials"], expected);
}

#[tokio::test]
async fn raw_html_is_the_same_request_as_json() {
    let node = Node::start().await;
    let purse = Purse::new();
    let html = page("Either way");
    let first = pay(&node, &purse, 1).body("text/html", html.clone()).send().await.expect(201);
    let again = pay(&node, &purse, 1).json(&json!({"html": html})).send().await.expect(201);
    assert_eq!(again.json(), first.json(), "the same proof gets the same answer");
    assert_eq!(again.header("payment-response"), first.header("payment-response"));
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    let other = pay(&node, &purse, 1).json(&json!({"html": page("Another")})).send().await;
    let other = other.refused(409, "payment_used");
    assert!(!other.has("payment-required") && other.text().contains("sign a new payment"));
    assert_eq!(other.json()["reason"], "other_request");
}

#[tokio::test]
async fn file_name_and_unknown_fields_are_taken_with_grace() {
    let node = Node::start().await;
    let body = json!({"html": "<p>no title", "filename": "quarterly.html", "colour": "red"});
    let site = pay(&node, &Purse::new(), 1).json(&body).send().await.expect(201).json();
    assert_eq!(site["title"], "quarterly");
    assert!(site["warnings"].to_string().contains("`colour`"));
}

#[tokio::test]
async fn refused_page_costs_nothing_even_with_a_good_proof() {
    let node = Setup::new().set("limits.publish_bytes", "1000").start().await;
    let purse = Purse::new();
    for (body, status, code) in [
        (json!({"html": " "}), 400, "empty_file"),
        (json!({"html": "x".repeat(1001)}), 413, "too_large"),
        (json!({}), 400, "empty_file"),
    ] {
        let answer = pay(&node, &purse, 1).json(&body).send().await.refused(status, code);
        assert!(!answer.has("payment-required") && !answer.has("payment-response"));
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_transfers").await, 0);
    pay(&node, &purse, 1).json(&json!({"html": page("Good")})).send().await.expect(201);
}

#[tokio::test]
async fn payment_that_is_not_good_is_402_with_the_terms_and_the_reason() {
    let node = Node::start().await;
    let late = Purse::new().header(&terms(&node), 1, node.app().now() - 10_000);
    let ask = node.post("/publish").header("payment-signature", &late).json(&json!({"html": page("Late")}));
    let answer = ask.send().await.refused(402, "payment_refused");
    assert_eq!(answer.json()["reason"], "expired");
    assert_eq!(answer.json()["x402Version"], 1);
    assert_eq!(answer.json()["accepts"].as_array().unwrap().len(), 2);
    let header =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, answer.header("payment-required"));
    let told: Value = serde_json::from_slice(&header.unwrap()).unwrap();
    assert_eq!((&told["x402Version"], &told["error"]), (&json!(2), &json!("expired")));
    assert!(!answer.has("payment-response"), "nobody was asked to settle it");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_transfers").await, 0);
}

#[tokio::test]
async fn payment_for_one_endpoint_buys_nothing_at_another() {
    let node = Node::start().await;
    let proof = Purse::new().header(&terms(&node), 1, node.app().now());
    let answer = node.post("/provision").header("payment-signature", &proof).send().await;
    answer.refused(402, "payment_refused");
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
}

#[tokio::test]
async fn copies_of_one_proof_make_one_page() {
    let node = Arc::new(Node::start().await);
    let asks = (0..20).map(|_| pay(&node, &Purse::new(), 7).json(&json!({"html": page("Once")})).send());
    let answers = futures_util::future::join_all(asks).await;
    let first = answers[0].clone().expect(201).json();
    for answer in answers {
        assert_eq!(answer.expect(201).json(), first);
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_transfers").await, 1);
}

#[tokio::test]
async fn client_that_hangs_up_finds_its_page_there() {
    let fake = FacilitatorServer::start().await;
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", fake.url())
        .set("payments.evm_pay_to", PAY_TO)
        .start()
        .await;
    fake.next(Call::Settle, [Fault::DoesAndWaits]);
    let (purse, body) = (Purse::new(), json!({"html": page("Hung up")}));
    let ask = pay(&node, &purse, 1).json(&body);
    let mut client = tokio::task::JoinSet::new();
    client.spawn(ask.send());
    assert_eq!(fake.stalled().await, Call::Settle);
    // Dropped with its connection, after the money has moved and before the page exists.
    client.shutdown().await;
    fake.let_go();
    let answer = pay(&node, &purse, 1).json(&body).send().await.expect(201);
    node.get(answer.json()["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    assert_eq!((fake.calls(Call::Settle), fake.ledger().len()), (1, 1));
}

#[tokio::test]
async fn agents_host_sells_the_same() {
    let node = Setup::new().set("agents_url", "http://agents.example.org").start().await;
    let proof = Purse::new().header(&terms(&node), 1, node.app().now());
    let ask = node.post("/").host("agents.example.org").header("payment-signature", &proof);
    let site = ask.json(&json!({"html": page("On the host for agents")})).send().await.expect(201).json();
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn sales_are_counted_in_the_service_record() {
    let node = Node::start().await;
    let record =
        async || node.get("/.well-known/x402-service").send().await.expect(200).json()["settlements"].clone();
    assert_eq!(record().await["total"], 0);
    pay(&node, &Purse::new(), 1).json(&json!({"html": page("One")})).send().await.expect(201);
    let proof = Purse::new().solana_header(&terms(&node), 1);
    let ask = node.post("/publish").header("payment-signature", &proof);
    ask.json(&json!({"html": page("Two")})).send().await.expect(201);
    assert_eq!(record().await["total"], 0, "counted once a minute");
    node.clock.advance(60);
    let expected = json!({
        "total": 2, "by_item": {"publish": 2},
        "by_network": {"eip155:8453": 1, "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": 1},
    });
    assert_eq!(record().await, expected);
}

#[tokio::test]
async fn paid_pages_take_nothing_from_anonymous_quotas_or_plans() {
    let node = Setup::new().with_rates().set("limits.anonymous_per_hour", "1").start().await;
    for nonce in 1..=3 {
        pay(&node, &Purse::new(), nonce).json(&json!({"html": page("Many")})).send().await.expect(201);
    }
    node.publish_anonymously().await;
}

#[tokio::test]
async fn an_idempotency_key_that_is_too_long_is_refused_before_anything_is_paid() {
    let node = Node::start().await;
    for bad in ["", &"x".repeat(256)] {
        let ask = pay(&node, &Purse::new(), 1).header("idempotency-key", bad);
        ask.json(&json!({"html": page("Named")})).send().await.refused(400, "invalid_field");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
}
