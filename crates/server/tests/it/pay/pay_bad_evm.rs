//! EVM proofs with one defect each, for `pay_bad_proofs`.

use crate::harness::{DAY, NOW, Purse};
use crate::pay::pay_bad_proofs::{Cases, ELSEWHERE, PAY_TO, around, evm, good};
use dropleaf_pay::payer::EvmPayer;
use dropleaf_pay::{Amount, Asset, EvmAddress, Generation, Network, Offer, Terms, Token};
use serde_json::{Value, json};

/// The order of the curve: `s` and this minus `s` are both valid signatures.
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

/// The other signature of the same message, with `s` in the upper half.
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

/// Correctly signed, but not for what we require.
pub(crate) fn signed_for_something_else(terms: &Terms, generation: Generation) -> Cases<Value> {
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

/// A valid proof with one defect.
pub(crate) fn bent(terms: &Terms, generation: Generation) -> Cases<Value> {
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

/// Defects that only v2 can have.
pub(crate) fn bent_v2(terms: &Terms, other: &Terms) -> Cases<Value> {
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
        ("made for another endpoint", with("/resource/url", json!(other.resource().url))),
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
