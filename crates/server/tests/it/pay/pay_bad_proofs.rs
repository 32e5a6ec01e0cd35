//! Invalid proofs at the paid endpoints, in both x402 versions: each is 402 or 400, nothing is created or stored, and
//! the facilitator is never asked to settle.

use crate::harness::{Call, FacilitatorServer, NOW, Node, Purse, Setup, page};
use crate::pay::pay_bad_evm::{bent, bent_v2, signed_for_something_else};
use crate::pay::pay_bad_solana::bent_solana;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::payment::Item;
use dropleaf_pay::payer;
use dropleaf_pay::{Generation, Offer, PROOF_BYTES, Terms};
use serde_json::{Value, json};

pub(crate) const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOLANA_PAY_TO: &str = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu";
pub(crate) const ELSEWHERE: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

type Headers = Vec<(&'static str, String)>;
pub(crate) type Cases<T> = Vec<(&'static str, T)>;

async fn node(fake: &FacilitatorServer) -> Node {
    let setup = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
    setup.set("payments.evm_pay_to", PAY_TO).set("payments.solana_pay_to", SOLANA_PAY_TO).start().await
}

fn terms(node: &Node, item: Item) -> Terms {
    node.app().listing(item).unwrap().terms.clone()
}

/// Buys a page or a key.
async fn buy(node: &Node, item: Item, headers: &Headers) -> crate::harness::Answer {
    let ask = match item {
        Item::Publish => node.post("/publish").json(&json!({"html": page("Paid for")})),
        _ => node.post("/provision"),
    };
    headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value)).send().await
}

/// What the database holds besides the operator's account and key.
async fn made(node: &Node) -> [i64; 5] {
    [
        node.count("SELECT COUNT(*) FROM sites").await,
        node.count("SELECT COUNT(*) FROM bundles").await,
        node.count("SELECT COUNT(*) FROM payments").await,
        node.count("SELECT COUNT(*) - 1 FROM accounts").await,
        node.count("SELECT COUNT(*) - 1 FROM api_keys").await,
    ]
}

pub(crate) fn evm(terms: &Terms) -> &Offer {
    terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap()
}

pub(crate) fn solana(terms: &Terms) -> &Offer {
    terms.offers().iter().find(|offer| !offer.network().is_evm()).unwrap()
}

/// A proof for our offer around a payload that may pay another.
pub(crate) fn around(terms: &Terms, offer: &Offer, generation: Generation, payload: &Value) -> Value {
    payer::proof(offer, terms.resource(), generation, payload)
}

pub(crate) fn good(terms: &Terms, generation: Generation) -> Value {
    let payload = Purse::new().evm.payload(evm(terms), [7; 32], 0, NOW + 120).unwrap();
    around(terms, evm(terms), generation, &payload)
}

/// Headers that contain no proof.
fn unreadable(terms: &Terms, generation: Generation) -> Cases<Headers> {
    let name = generation.proof_header();
    let good = good(terms, generation);
    let other = if generation == Generation::V1 { Generation::V2 } else { Generation::V1 };
    let text = good.to_string();
    let one = |value: String| vec![(name, value)];
    let encoded = |bytes: &[u8]| one(STANDARD.encode(bytes));
    let url_safe = base64::engine::general_purpose::URL_SAFE.encode("{\"a\":\"ÿÿÿ>>>???\"}");
    let both =
        vec![(name, payer::header(&good)), (other.proof_header(), payer::header(&self::good(terms, other)))];
    vec![
        ("both headers", both),
        ("the same header twice", vec![(name, payer::header(&good)), (name, payer::header(&good))]),
        ("empty", one(String::new())),
        ("garbage", one("%%%".to_owned())),
        ("not encoded", one(text.clone())),
        ("URL-safe base64", one(url_safe)),
        ("without padding", one(STANDARD.encode("{}xx").trim_end_matches('=').to_owned())),
        ("a list of two in one header", one(format!("{0},{0}", payer::header(&good)))),
        ("not UTF-8", encoded(b"{\"a\":\"\xff\xfe\"}")),
        ("not JSON", encoded(b"pay")),
        ("cut short", encoded(&text.as_bytes()[..text.len() - 1])),
        ("null", encoded(b"null")),
        ("a list", encoded(format!("[{text}]").as_bytes())),
        ("a text", encoded(b"\"exact\"")),
        ("deep nesting", encoded(format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000)).as_bytes())),
        ("a duplicate member", encoded(text.replacen('{', "{\"payload\":{},", 1).as_bytes())),
        ("too long", one("A".repeat(PROOF_BYTES + 4))),
        ("the other generation's proof", one(payer::header(&self::good(terms, other)))),
        ("re-wrapped in the other generation's version", {
            let mut proof = self::good(terms, other);
            proof["x402Version"] = json!(generation.number());
            // Members that v1 has at the top level v2 requires in `accepted`, and vice versa.
            one(payer::header(&proof))
        }),
    ]
}

#[tokio::test]
async fn bad_proofs_are_refused_and_never_settled() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    let mut tried = 0;
    for generation in [Generation::V1, Generation::V2] {
        for (item, other) in [(Item::Publish, Item::Provision), (Item::Provision, Item::Publish)] {
            let (terms, other) = (terms(&node, item), terms(&node, other));
            let mut proofs = signed_for_something_else(&terms, generation);
            proofs.extend(bent(&terms, generation));
            proofs.extend(bent_solana(&terms, generation));
            // A payment for one item does not pay for the other.
            proofs.push(("paid for the other endpoint", good(&other, generation)));
            if generation == Generation::V2 {
                proofs.extend(bent_v2(&terms, &other));
            }
            let name = generation.proof_header();
            let mut cases: Cases<Headers> =
                proofs.into_iter().map(|(what, proof)| (what, vec![(name, payer::header(&proof))])).collect();
            cases.extend(unreadable(&terms, generation));
            for (what, headers) in cases {
                let what = format!("{what} at {item:?} in {generation:?}");
                let answer = buy(&node, item, &headers).await;
                let body = answer.json();
                match answer.status {
                    400 => {
                        assert_eq!(body["error"], "invalid_payment", "{what}");
                        assert!(!answer.has("payment-required"), "{what}");
                    }
                    402 => {
                        assert_eq!(body["error"], "payment_refused", "{what}");
                        assert!(answer.has("payment-required") && body["accepts"].is_array(), "{what}");
                    }
                    status => panic!("{what} is {status}: {body}"),
                }
                assert!(body["reason"].is_string() && body["error_description"].is_string(), "{what}");
                assert_eq!(answer.header("cache-control"), "no-store", "{what}");
                assert!(!answer.has("payment-response") && !answer.has("x-payment-response"), "{what}");
                assert_eq!(fake.calls(Call::Settle), 0, "{what} was to be settled");
                tried += 1;
            }
        }
    }
    assert!(tried > 4 * 60, "{tried}");
    assert_eq!(made(&node).await, [0; 5], "nothing is made and nothing is kept");
    // The proofs they were derived from are valid.
    for (item, generation) in [(Item::Publish, Generation::V1), (Item::Provision, Generation::V2)] {
        let mut proof = good(&terms(&node, item), generation);
        let nonce = [u8::try_from(generation.number()).unwrap(); 32];
        let terms = terms(&node, item);
        proof["payload"] = Purse::new().evm.payload(evm(&terms), nonce, 0, NOW + 120).unwrap();
        let status = buy(&node, item, &vec![(generation.proof_header(), payer::header(&proof))]).await.status;
        assert!(matches!(status, 200 | 201), "{status}");
    }
    assert_eq!(made(&node).await, [1, 1, 2, 1, 1]);
}

#[tokio::test]
async fn a_payment_buys_once_however_it_is_wrapped() {
    let fake = FacilitatorServer::start().await;
    let node = node(&fake).await;
    let terms = terms(&node, Item::Publish);
    let wrapped =
        |generation: Generation| vec![(generation.proof_header(), payer::header(&good(&terms, generation)))];
    let first = buy(&node, Item::Publish, &wrapped(Generation::V1)).await.expect(201).json();
    // The same request gets the same response, in either version.
    for generation in [Generation::V1, Generation::V2] {
        let again = buy(&node, Item::Publish, &wrapped(generation)).await.expect(201).json();
        assert_eq!(again["id"], first["id"]);
        // It does not pay for another page.
        let (name, value) = wrapped(generation).remove(0);
        let other = node.post("/publish").header(name, &value).json(&json!({"html": page("Another")}));
        other.send().await.refused(409, "payment_used");
        // Nor for a key; v2 itself names what it is for.
        let key = buy(&node, Item::Provision, &wrapped(generation)).await;
        assert_eq!(key.status, if generation == Generation::V1 { 409 } else { 402 }, "{}", key.text());
    }
    // The same signature in another spelling is the same payment.
    let mut spelled = good(&terms, Generation::V2);
    let nonce = &mut spelled["payload"]["authorization"]["nonce"];
    *nonce = json!(nonce.as_str().unwrap().to_uppercase().replacen("0X", "0x", 1));
    let from = &mut spelled["payload"]["authorization"]["from"];
    *from = json!(from.as_str().unwrap().to_lowercase());
    let headers = vec![("payment-signature", payer::header(&spelled))];
    assert_eq!(buy(&node, Item::Publish, &headers).await.expect(201).json()["id"], first["id"]);
    assert_eq!((fake.calls(Call::Settle), fake.moved()), (1, 500_000));
    assert_eq!(made(&node).await, [1, 1, 1, 0, 0]);
}
