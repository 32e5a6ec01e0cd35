//! `POST /wallet-auth/challenge` and `Authorization: Wallet`: the wallet that paid replaces a page, without key or
//! account. Spec §3 Wallet challenge, §5 rules 3 and 4, §7.

use crate::harness::{Answer, DAY, Form, NOW, Node, Purse, Setup, on_each_database, page, site_path, zip};
use dropleaf_core::payment::Item;
use dropleaf_pay::Generation;
use dropleaf_pay::payer::{self, EvmPayer};
use serde_json::{Value, json};

/// A page paid for by the purse's wallet, as `POST /publish` returns it. The same nonce is the same payment.
pub(crate) async fn paid_page(node: &Node, purse: &Purse, nonce: u8) -> Value {
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let body = json!({"html": page("Paid")});
    let proof = purse.header(&terms, nonce, node.app().now());
    let answer = node.post("/publish").header("payment-signature", &proof).json(&body).send().await;
    answer.expect(201).json()
}

async fn ask(node: &Node, wallet: &str) -> Answer {
    node.post("/wallet-auth/challenge").json(&json!({"wallet": wallet})).send().await
}

pub(crate) async fn challenge(node: &Node, purse: &Purse) -> Value {
    ask(node, &purse.evm.address.to_string()).await.expect(200).json()
}

/// The value of `Authorization`.
pub(crate) fn signed(challenge: &Value, by: &EvmPayer) -> String {
    let signature = by.sign_message(challenge["message"].as_str().unwrap());
    format!("Wallet challenge={},sig={signature}", challenge["challenge"].as_str().unwrap())
}

pub(crate) async fn put(node: &Node, site: &Value, credential: &str, title: &str) -> Answer {
    let body = json!({"html": page(title)});
    node.put(&site_path(site)).header("authorization", credential).json(&body).send().await
}

pub(crate) async fn content(node: &Node, site: &Value) -> String {
    node.get(site["url"].as_str().unwrap()).send().await.expect(200).text()
}

#[tokio::test]
async fn the_wallet_that_paid_replaces_its_page() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let site = paid_page(node, &purse, 1).await;
        let address = purse.evm.address.to_string();
        for (wallet, title) in [(address.clone(), "Second"), (address.to_lowercase(), "Third")] {
            let challenge = ask(node, &wallet).await.expect(200).json();
            assert!(challenge["challenge"].as_str().unwrap().starts_with("WAUTH-"));
            assert_eq!(challenge["expires_at"], NOW + 300);
            let message = challenge["message"].as_str().unwrap();
            assert!(message.contains(challenge["challenge"].as_str().unwrap()), "{message}");
            assert!(message.starts_with(&format!("localhost:{} requests", node.port)), "{message}");
            let updated = put(node, &site, &signed(&challenge, &purse.evm), title).await.expect(200).json();
            assert_eq!((&updated["url"], &updated["expires_at"]), (&site["url"], &Value::Null));
            assert!(content(node, &site).await.contains(title));
        }
        // Nothing that could be reused is stored.
        let kept = node.count("SELECT COUNT(*) FROM wallet_challenges WHERE used_at IS NOT NULL").await;
        assert_eq!(kept, 2);
    })
    .await;
}

#[tokio::test]
async fn the_wallet_replaces_its_page_also_where_nothing_is_sold_any_more() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let folder = node.stop().await;
    let node = Setup::new().set("payments.mode", "off").start_in(folder).await;
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    put(&node, &site, &credential, "Later").await.expect(200);
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    assert!(node.get(&path).send().await.expect(200).text().contains("Later"));
}

#[tokio::test]
async fn a_form_and_an_archive_replace_it_too_and_by_any_of_its_names() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let archive = zip(&[("index.html", &page("Zipped"))]);
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    let path = format!("/sites/{}", site["unlisted_token"].as_str().unwrap());
    let form = Form::file("site.zip", archive);
    node.put(&path).header("authorization", &credential).form(form).send().await.expect(200);
    assert!(content(&node, &site).await.contains("Zipped"));
}

#[tokio::test]
async fn replayed_challenge_is_409() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let (site, other) = (paid_page(node, &purse, 1).await, paid_page(node, &purse, 2).await);
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        put(node, &site, &credential, "Once").await.expect(200);
        put(node, &site, &credential, "Twice").await.refused(409, "challenge_used");
        put(node, &other, &credential, "Elsewhere").await.refused(409, "challenge_used");
        // It stays used after its expiry.
        node.clock.advance(301);
        put(node, &site, &credential, "Later").await.refused(409, "challenge_used");
        assert!(content(node, &site).await.contains("Once"));
        assert!(content(node, &other).await.contains("Paid"));
    })
    .await;
}

#[tokio::test]
async fn of_twenty_requests_with_one_challenge_one_replaces() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let (site, other) = (paid_page(node, &purse, 1).await, paid_page(node, &purse, 2).await);
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        let racers = (0..20).map(|n| {
            let site = if n % 2 == 0 { &site } else { &other };
            let credential = credential.clone();
            async move { put(node, site, &credential, &format!("Racer {n}")).await }
        });
        let answers = futures_util::future::join_all(racers).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        for answer in answers.into_iter().filter(|answer| answer.status != 200) {
            answer.refused(409, "challenge_used");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 3);
    })
    .await;
}

#[tokio::test]
async fn challenge_older_than_300_seconds_is_410() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let site = paid_page(node, &purse, 1).await;
        let in_time = signed(&challenge(node, &purse).await, &purse.evm);
        let late = signed(&challenge(node, &purse).await, &purse.evm);
        node.clock.advance(299);
        put(node, &site, &in_time, "In time").await.expect(200);
        node.clock.advance(1);
        put(node, &site, &late, "Late").await.refused(410, "challenge_expired");
        node.app().sweep().await.unwrap();
        put(node, &site, &late, "Late").await.refused(410, "challenge_expired");
        assert!(content(node, &site).await.contains("In time"));
        // After a day it is deleted.
        node.clock.advance(DAY);
        node.app().sweep().await.unwrap();
        put(node, &site, &late, "Late").await.refused(401, "invalid_credential");
        assert_eq!(node.count("SELECT COUNT(*) FROM wallet_challenges").await, 0);
    })
    .await;
}

#[tokio::test]
async fn signature_of_another_wallet_or_text_is_403() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let challenge = challenge(&node, &purse).await;
    let text = challenge["challenge"].as_str().unwrap();
    let other = EvmPayer::new(&[5; 32]).unwrap();
    let of = |message: &str| format!("Wallet challenge={text},sig={}", purse.evm.sign_message(message));
    let zeros = format!("Wallet challenge={text},sig=0x{}", "00".repeat(65));
    let message = challenge["message"].as_str().unwrap();
    for bad in [signed(&challenge, &other), of(text), of(&format!("{message}\n")), zeros] {
        put(&node, &site, &bad, "Stolen").await.refused(403, "bad_signature");
    }
    // None of these attempts used it up.
    put(&node, &site, &signed(&challenge, &purse.evm), "Mine").await.expect(200);
}

#[tokio::test]
async fn wallet_without_pages_is_404() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let address = purse.evm.address.to_string();
        ask(node, &address).await.refused(404, "unknown_wallet");
        // A Solana wallet can pay, but not sign a challenge later.
        ask(node, &purse.solana.address.to_string()).await.refused(404, "unknown_wallet");
        let site = paid_page(node, &purse, 1).await;
        ask(node, &address).await.expect(200);
        // A page that was taken down can no longer be replaced.
        node.app().take_down("test", site["id"].as_str().unwrap(), "abuse").await.unwrap();
        ask(node, &address).await.refused(404, "unknown_wallet");
        assert_eq!(node.count("SELECT COUNT(*) FROM wallet_challenges").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_payer_on_solana_has_the_claim_token_alone() {
    let node = Node::start().await;
    let purse = Purse::new();
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let offer = terms.offers().iter().find(|offer| !offer.network().is_evm()).unwrap();
    let payload = purse.solana.payload(&purse.solana.draft(offer, [1; 32], "memo").unwrap());
    let proof = payer::header(&payer::proof(offer, terms.resource(), Generation::V2, &payload));
    let answer = node.post("/publish").header("payment-signature", &proof).json(&json!({"html": page("S")}));
    let site = answer.send().await.expect(201).json();
    assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE wallet IS NOT NULL").await, 0);
    ask(&node, &purse.solana.address.to_string()).await.refused(404, "unknown_wallet");
    let claim = format!("Claim {}", site["claim_token"].as_str().unwrap());
    put(&node, &site, &claim, "By token").await.expect(200);
}

#[tokio::test]
async fn what_is_no_credential_is_401_and_what_is_no_address_400() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let good = signed(&challenge(&node, &purse).await, &purse.evm);
    let unknown = good.replace("challenge=WAUTH-", "challenge=WAUTH-x");
    let cut = good[..good.len() - 2].to_owned();
    let twice = format!("{good},sig=0x00");
    for bad in ["Wallet", "Wallet ", "Wallet x", &unknown, &cut, &twice, &good.replace(',', ";")] {
        put(&node, &site, bad, "x").await.refused(401, "invalid_credential");
    }
    for bad in ["", "x", "0x", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb9226", "vitalik.eth"] {
        ask(&node, bad).await.refused(400, "invalid_field");
    }
    for body in [json!({}), json!({"wallet": 5}), json!({"wallet": null}), json!({"address": "0x"})] {
        node.post("/wallet-auth/challenge").json(&body).send().await.refused(400, "invalid_field");
    }
    let answer = node.get("/wallet-auth/challenge").send().await;
    answer.refused(405, "method_not_allowed");
    put(&node, &site, &good, "Good").await.expect(200);
}

#[tokio::test]
async fn challenges_are_limited_by_network() {
    let setup = || {
        Setup::new()
            .with_rates()
            .set("limits.paid_attempts_per_minute", "3")
            .set("trusted_proxies", "127.0.0.0/8")
    };
    let node = setup().start().await;
    let wallet = Purse::new().evm.address.to_string();
    let from = async |address: &str| {
        let body = json!({"wallet": wallet});
        node.post("/wallet-auth/challenge").from(address).json(&body).send().await
    };
    for _ in 0..3 {
        from("203.0.113.7").await.refused(404, "unknown_wallet");
    }
    assert!(from("203.0.113.7").await.refused(429, "rate_limited").has("retry-after"));
    from("203.0.113.8").await.refused(404, "unknown_wallet");
}
