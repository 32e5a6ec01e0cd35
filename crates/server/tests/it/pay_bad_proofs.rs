//! Bad proofs of payment at the paid doors, in both generations: each is 402 or 400, nothing is made, nothing is kept, and
//! the facilitator is never asked to settle. x402.md §7, §10.

use crate::harness::{Call, DAY, FakeFacilitator, NOW, Node, Purse, Setup, page};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::payment::Item;
use dropleaf_pay::payer::{self, Draft, EvmPayer, SolanaPayer};
use dropleaf_pay::{
    Amount, Asset, EvmAddress, Generation, Mint, Network, Offer, PROOF_BYTES, SolanaAddress, Terms, Token,
};
use serde_json::{Value, json};

const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOLANA_PAY_TO: &str = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu";
const ELSEWHERE: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
/// The order of the curve: `s` and this minus `s` sign the same.
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

type Headers = Vec<(&'static str, String)>;
type Cases<T> = Vec<(&'static str, T)>;

async fn node(fake: &FakeFacilitator) -> Node {
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

fn evm(terms: &Terms) -> &Offer {
    terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap()
}

fn solana(terms: &Terms) -> &Offer {
    terms.offers().iter().find(|offer| !offer.network().is_evm()).unwrap()
}

/// A proof for our offer around a payload that may pay another.
fn around(terms: &Terms, offer: &Offer, generation: Generation, payload: &Value) -> Value {
    payer::proof(offer, terms.resource(), generation, payload)
}

fn good(terms: &Terms, generation: Generation) -> Value {
    let payload = Purse::new().evm.payload(evm(terms), [7; 32], 0, NOW + 120).unwrap();
    around(terms, evm(terms), generation, &payload)
}

/// The other signature over the same, with `s` in the upper half.
fn mirrored(signature: &str) -> String {
    let digits = |text: &str| -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap()).collect()
    };
    let mut bytes = digits(&signature[2..]);
    let mut borrow = 0;
    for (at, of_order) in digits(ORDER).into_iter().enumerate().rev() {
        let difference = i32::from(of_order) - i32::from(bytes[32 + at]) - borrow;
        borrow = i32::from(difference < 0);
        bytes[32 + at] = u8::try_from(difference.rem_euclid(256)).unwrap();
    }
    bytes[64] = 55 - bytes[64];
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Truly signed, and not what we ask for.
fn signed_for_something_else(terms: &Terms, generation: Generation) -> Cases<Value> {
    let (ours, purse) = (evm(terms), Purse::new());
    let Asset::Evm { chain_id, token, pay_to } = ours.asset.clone() else { unreachable!() };
    let asset = |chain_id, token: &Token, pay_to| Asset::Evm { chain_id, token: token.clone(), pay_to };
    let paying = |offer: &Offer| purse.evm.payload(offer, [7; 32], 0, NOW + 120).unwrap();
    let amount = |units| paying(&Offer { amount: Amount::new(units), ..ours.clone() });
    let other = |asset| paying(&Offer { asset, ..ours.clone() });
    let window = |after, before| purse.evm.payload(ours, [7; 32], after, before).unwrap();
    let (price, elsewhere) = (ours.amount.units(), EvmAddress::parse(ELSEWHERE).unwrap());
    let mut stolen = paying(ours);
    stolen["authorization"]["from"] = json!(EvmPayer::new(&[5; 32]).unwrap().address.to_string());
    let mut raised = amount(1);
    raised["authorization"]["value"] = json!(price.to_string());
    let cases = vec![
        ("underpaid", amount(price - 1)),
        ("overpaid", amount(price + 1)),
        ("nothing paid", amount(0)),
        ("the price of something else", amount(25_000_000)),
        ("to somebody else", other(asset(chain_id, &token, elsewhere))),
        ("of another token", other(asset(chain_id, &Token { address: elsewhere, ..token.clone() }, pay_to))),
        ("on another chain", other(asset(84532, &token, pay_to))),
        (
            "under the test token's name",
            other(asset(chain_id, &Token { name: "USDC".into(), ..token.clone() }, pay_to)),
        ),
        ("expired", window(0, NOW - 1)),
        ("expiring now", window(0, NOW + 5)),
        ("not yet valid", window(NOW + 60, NOW + 120)),
        ("valid too long", window(0, NOW + DAY)),
        ("valid for ever", window(0, i64::MAX)),
        ("from another wallet", stolen),
        ("raised after it was signed", raised),
    ];
    let wrap = |(what, payload)| (what, around(terms, ours, generation, &payload));
    cases.into_iter().map(wrap).collect()
}

/// One good proof with one thing bent.
fn bent(terms: &Terms, generation: Generation) -> Cases<Value> {
    let good = good(terms, generation);
    let signature = good["payload"]["signature"].as_str().unwrap().to_owned();
    let with = |bend: &dyn Fn(&mut Value)| {
        let mut proof = good.clone();
        bend(&mut proof);
        proof
    };
    let field = |name: &'static str, value: Value| {
        with(&|proof| proof["payload"]["authorization"][name] = value.clone())
    };
    let signed = |text: String| with(&|proof| proof["payload"]["signature"] = json!(text));
    let said = |name: &'static str, value: Value| {
        with(&|proof| match generation {
            Generation::V1 => proof[name] = value.clone(),
            Generation::V2 => proof["accepted"][name] = value.clone(),
        })
    };
    let price = evm(terms).amount.to_string();
    let network = |network: Network| match generation {
        Generation::V1 => json!(network.v1_name().unwrap()),
        Generation::V2 => json!(network.to_string()),
    };
    vec![
        ("other scheme", said("scheme", json!("upto"))),
        ("no scheme", said("scheme", json!(null))),
        ("other network", said("network", network(Network::BASE_SEPOLIA))),
        (
            "network of the other generation",
            said("network", if generation == Generation::V1 { json!("eip155:8453") } else { json!("base") }),
        ),
        ("network of the other family", said("network", network(Network::SOLANA))),
        ("value in hex", field("value", json!(format!("0x{:x}", evm(terms).amount.units())))),
        ("value with a leading zero", field("value", json!(format!("0{price}")))),
        ("value as a number", field("value", json!(evm(terms).amount.units()))),
        ("value with a sign", field("value", json!(format!("-{price}")))),
        ("value with an exponent", field("value", json!("5e5"))),
        ("value with a blank", field("value", json!(format!(" {price}")))),
        (
            "value of 2^256",
            field(
                "value",
                json!("115792089237316195423570985008687907853269984665640564039457584007913129639936"),
            ),
        ),
        ("time in hex", field("validBefore", json!(format!("{:#x}", NOW + 120)))),
        ("time as a number", field("validAfter", json!(0))),
        ("short nonce", field("nonce", json!("0x07"))),
        ("nonce that was not signed", field("nonce", json!(format!("0x{}", "08".repeat(32))))),
        ("recipient that was not signed", field("to", json!(ELSEWHERE))),
        ("a name for an address", field("to", json!("shop.eth"))),
        ("a seventh field", field("chainId", json!("8453"))),
        ("a third member", with(&|proof| proof["payload"]["transaction"] = json!("AA=="))),
        ("no payload", with(&|proof| drop(proof.as_object_mut().unwrap().remove("payload")))),
        ("payload is null", with(&|proof| proof["payload"] = json!(null))),
        (
            "Permit2",
            with(&|proof| {
                proof["payload"] = json!({"signature": signature, "permit2Authorization": {"from": PAY_TO}});
            }),
        ),
        (
            "ERC-7710",
            with(&|proof| {
                proof["payload"] =
                    json!({"delegationManager": PAY_TO, "permissionContext": "0x", "delegator": PAY_TO});
            }),
        ),
        ("zero signature", signed(format!("0x{}", "00".repeat(65)))),
        ("no signature", signed("0x".to_owned())),
        ("64 bytes of signature", signed(signature[..130].to_owned())),
        ("signature with a strange v", signed(format!("{}02", &signature[..130]))),
        ("high s", signed(mirrored(&signature))),
        ("another signature", signed(format!("0x{}1b", "11".repeat(64)))),
        ("a contract's signature", signed(format!("{signature}{}", "00".repeat(32)))),
        ("wrong version", with(&|proof| proof["x402Version"] = json!(3))),
        ("version as text", with(&|proof| proof["x402Version"] = json!(generation.number().to_string()))),
        ("no version", with(&|proof| drop(proof.as_object_mut().unwrap().remove("x402Version")))),
    ]
}

/// What v2 alone can get wrong.
fn bent_v2(terms: &Terms, other: &Terms) -> Cases<Value> {
    let good = good(terms, Generation::V2);
    let with = |name: &str, value: Value| {
        let mut proof = good.clone();
        *proof.pointer_mut(name).unwrap() = value;
        proof
    };
    let added = |within: &str, name: &str, value: Value| {
        let mut proof = good.clone();
        let place = if within.is_empty() { &mut proof } else { proof.pointer_mut(within).unwrap() };
        place[name] = value;
        proof
    };
    vec![
        ("accepted for less", with("/accepted/amount", json!("1"))),
        ("accepted with a number", with("/accepted/amount", json!(evm(terms).amount.units()))),
        ("accepted another token", with("/accepted/asset", json!(ELSEWHERE))),
        ("accepted another recipient", with("/accepted/payTo", json!(ELSEWHERE))),
        ("accepted another time", with("/accepted/maxTimeoutSeconds", json!(86_400))),
        ("accepted another domain", with("/accepted/extra", json!({"name": "USDC", "version": "2"}))),
        ("accepted nothing", with("/accepted", json!(null))),
        ("accepted a list", with("/accepted", json!([]))),
        ("accepted Permit2", added("/accepted/extra", "assetTransferMethod", json!("permit2"))),
        ("made out for another endpoint", with("/resource/url", json!(other.resource().url))),
        ("made out for nothing", with("/resource", json!({}))),
        ("extensions are a list", added("", "extensions", json!([]))),
        (
            "a bad identifier",
            added(
                "",
                "extensions",
                json!({"payment-identifier": {"info": {"required": false, "id": "short"}}}),
            ),
        ),
        ("accepted another item's offer", {
            let mut proof = good.clone();
            proof["accepted"] = evm(other).v2_json();
            proof
        }),
    ]
}

/// Transactions that do not pay, or do more than pay.
fn bent_solana(terms: &Terms, generation: Generation) -> Cases<Value> {
    let (ours, payer) = (solana(terms), SolanaPayer::new(&[1; 32]));
    let Asset::Solana { cluster, mint, pay_to } = ours.asset.clone() else { unreachable!() };
    let fee_payer = mint.fee_payer;
    let draft = |offer: &Offer| payer.draft(offer, [7; 32], "memo").unwrap();
    let paying = |offer: &Offer| payer.payload(&draft(offer));
    let other = |mint: Mint, pay_to| {
        paying(&Offer { asset: Asset::Solana { cluster, mint, pay_to }, ..ours.clone() })
    };
    let amount = |units| paying(&Offer { amount: Amount::new(units), ..ours.clone() });
    let drawn = |bend: &dyn Fn(&mut Draft)| {
        let mut draft = draft(ours);
        bend(&mut draft);
        payer.payload(&draft)
    };
    let bytes = |bend: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = STANDARD.decode(paying(ours)["transaction"].as_str().unwrap()).unwrap();
        bend(&mut bytes);
        json!({"transaction": STANDARD.encode(bytes)})
    };
    let price = ours.amount.units();
    let cases = vec![
        ("underpaid", amount(price - 1)),
        ("overpaid", amount(price + 1)),
        ("another mint", other(Mint { address: SolanaAddress([6; 32]), ..mint.clone() }, pay_to)),
        ("other decimals", other(Mint { decimals: Some(9), ..mint.clone() }, pay_to)),
        ("to somebody else", other(mint.clone(), SolanaPayer::new(&[4; 32]).address)),
        ("to the wallet, not its account", drawn(&|draft| draft.calls[2].accounts[2] = pay_to)),
        ("another fee payer", drawn(&|draft| draft.fee_payer = SolanaAddress([9; 32]))),
        ("fee payer as authority", drawn(&|draft| draft.calls[2].accounts[3] = fee_payer)),
        ("fee payer as source", drawn(&|draft| draft.calls[2].accounts[0] = fee_payer)),
        (
            "fee payer moving funds",
            drawn(&|draft| {
                let mut more = draft.calls[2].clone();
                more.accounts[0] = fee_payer;
                draft.calls.push(more);
            }),
        ),
        ("a second transfer", drawn(&|draft| draft.calls.push(draft.calls[2].clone()))),
        ("no transfer", drawn(&|draft| drop(draft.calls.remove(2)))),
        ("an unchecked transfer", drawn(&|draft| draft.calls[2].data[0] = 3)),
        ("no compute limit", drawn(&|draft| drop(draft.calls.remove(0)))),
        ("too dear", drawn(&|draft| draft.calls[1].data[1..].copy_from_slice(&5_000_001_u64.to_le_bytes()))),
        ("a third signer", drawn(&|draft| draft.more_signers.push(SolanaAddress([8; 32])))),
        ("address tables", bytes(&|bytes| *bytes.last_mut().unwrap() = 1)),
        ("no signature of the payer", bytes(&|bytes| bytes[65..129].fill(0))),
        ("another signature", bytes(&|bytes| bytes[70] ^= 1)),
        ("changed after it was signed", bytes(&|bytes| bytes[135] ^= 1)),
        ("cut short", bytes(&|bytes| bytes.truncate(200))),
        ("with a byte more", bytes(&|bytes| bytes.push(0))),
        ("no transaction", json!({"transaction": ""})),
        ("a transaction in hex", json!({"transaction": "0x00"})),
        (
            "an authorization of the other family",
            Purse::new().evm.payload(evm(terms), [7; 32], 0, NOW + 120).unwrap(),
        ),
    ];
    let wrap = |(what, payload)| (what, around(terms, ours, generation, &payload));
    cases.into_iter().map(wrap).collect()
}

/// Headers that hold no proof at all.
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
        ("a member twice", encoded(text.replacen('{', "{\"payload\":{},", 1).as_bytes())),
        ("too long", one("A".repeat(PROOF_BYTES + 4))),
        ("the other generation's proof", one(payer::header(&self::good(terms, other)))),
        ("re-wrapped in the other generation's version", {
            let mut proof = self::good(terms, other);
            proof["x402Version"] = json!(generation.number());
            // What v1 says at the top v2 wants in `accepted`, and the other way round.
            one(payer::header(&proof))
        }),
    ]
}

#[tokio::test]
async fn bad_proofs_are_refused_and_never_settled() {
    let fake = FakeFacilitator::start().await;
    let node = node(&fake).await;
    let mut tried = 0;
    for generation in [Generation::V1, Generation::V2] {
        for (item, other) in [(Item::Publish, Item::Provision), (Item::Provision, Item::Publish)] {
            let (terms, other) = (terms(&node, item), terms(&node, other));
            let mut proofs = signed_for_something_else(&terms, generation);
            proofs.extend(bent(&terms, generation));
            proofs.extend(bent_solana(&terms, generation));
            // Money for the one item is no money for the other.
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
    // The good ones they were bent from are good.
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
    let fake = FakeFacilitator::start().await;
    let node = node(&fake).await;
    let terms = terms(&node, Item::Publish);
    let wrapped =
        |generation: Generation| vec![(generation.proof_header(), payer::header(&good(&terms, generation)))];
    let first = buy(&node, Item::Publish, &wrapped(Generation::V1)).await.expect(201).json();
    // The same request again is the same answer, in either generation.
    for generation in [Generation::V1, Generation::V2] {
        let again = buy(&node, Item::Publish, &wrapped(generation)).await.expect(201).json();
        assert_eq!(again["id"], first["id"]);
        // Another page is not paid for by it.
        let (name, value) = wrapped(generation).remove(0);
        let other = node.post("/publish").header(name, &value).json(&json!({"html": page("Another")}));
        other.send().await.refused(409, "payment_used");
        // Nor is a key; v2 says itself that it was made out for something else.
        let key = buy(&node, Item::Provision, &wrapped(generation)).await;
        assert_eq!(key.status, if generation == Generation::V1 { 409 } else { 402 }, "{}", key.text());
    }
    // The same signature with another spelling is the same payment.
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
