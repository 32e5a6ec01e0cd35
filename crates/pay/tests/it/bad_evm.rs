//! Well-formed proofs for EVM chains that do not pay. Each is a good proof with one change; where the signed content differs, the
//! signature is genuine.

use dropleaf_pay::payer::{EvmPayer, proof};
use dropleaf_pay::{Amount, Asset, EvmAddress, Generation, Network, Offer, Refusal, Token};
use serde_json::{Value, json};

use crate::world::{BOTH, NOW, check, evm_offer, evm_payer, evm_payload, evm_proof, name, resource};

/// Changes a good proof of either version.
type Bend = fn(&mut Value, Generation);

fn refused(cases: &[(&str, Refusal, Bend)]) {
    for generation in BOTH {
        for (what, refusal, bend) in cases {
            let mut proof = evm_proof(generation);
            bend(&mut proof, generation);
            assert_eq!(check(generation, &proof).err(), Some(*refusal), "{what} in {generation:?}");
        }
    }
}

fn authorization<'a>(proof: &'a mut Value, field: &str) -> &'a mut Value {
    &mut proof["payload"]["authorization"][field]
}

/// The object in which a proof names the offer it accepted.
fn said(proof: &mut Value, generation: Generation) -> &mut Value {
    if generation == Generation::V1 { proof } else { &mut proof["accepted"] }
}

#[test]
fn malformed_members_are_refused() {
    refused(&[
        ("no payload", Refusal::InvalidPayload, |p, _| drop(p.as_object_mut().unwrap().remove("payload"))),
        ("payload is null", Refusal::InvalidPayload, |p, _| p["payload"] = json!(null)),
        ("payload is a list", Refusal::InvalidPayload, |p, _| p["payload"] = json!([1])),
        ("empty payload", Refusal::InvalidPayload, |p, _| p["payload"] = json!({})),
        ("a third member", Refusal::InvalidPayload, |p, _| p["payload"]["transaction"] = json!("AA==")),
        ("a seventh field", Refusal::InvalidPayload, |p, _| *authorization(p, "chainId") = json!("1")),
        ("a field missing", Refusal::InvalidPayload, |p, _| {
            drop(p["payload"]["authorization"].as_object_mut().unwrap().remove("nonce"));
        }),
        ("a field renamed", Refusal::InvalidPayload, |p, _| {
            let fields = p["payload"]["authorization"].as_object_mut().unwrap();
            let nonce = fields.remove("nonce").unwrap();
            fields.insert("Nonce".to_owned(), nonce);
        }),
        ("value as a number", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!(500_000)),
        ("value in hex", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!("0x7a120")),
        ("value with a zero before", Refusal::InvalidPayload, |p, _| {
            *authorization(p, "value") = json!("0500000");
        }),
        ("value with an exponent", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!("5e5")),
        ("value with a point", Refusal::InvalidPayload, |p, _| {
            *authorization(p, "value") = json!("500000.0");
        }),
        ("value with a blank", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!(" 500000")),
        ("value with a sign", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!("-500000")),
        ("value is empty", Refusal::InvalidPayload, |p, _| *authorization(p, "value") = json!("")),
        ("value of 2^256", Refusal::InvalidPayload, |p, _| {
            *authorization(p, "value") =
                json!("115792089237316195423570985008687907853269984665640564039457584007913129639936");
        }),
        ("times in hex", Refusal::InvalidPayload, |p, _| *authorization(p, "validAfter") = json!("0x0")),
        ("times as numbers", Refusal::InvalidPayload, |p, _| {
            *authorization(p, "validBefore") = json!(1_767_225_660);
        }),
        ("nonce too short", Refusal::InvalidPayload, |p, _| *authorization(p, "nonce") = json!("0x1111")),
        ("nonce without 0x", Refusal::InvalidPayload, |p, _| {
            *authorization(p, "nonce") = json!("11".repeat(32));
        }),
        ("from too short", Refusal::InvalidPayload, |p, _| *authorization(p, "from") = json!("0xf39Fd6")),
        ("to is a name", Refusal::InvalidPayload, |p, _| *authorization(p, "to") = json!("vitalik.eth")),
        ("signature is no hex", Refusal::InvalidPayload, |p, _| p["payload"]["signature"] = json!("0xzz")),
        ("signature is null", Refusal::InvalidPayload, |p, _| p["payload"]["signature"] = json!(null)),
        ("Permit2", Refusal::MethodNotOffered, |p, _| {
            p["payload"] = json!({ "signature": "0x", "permit2Authorization": {} });
        }),
        ("ERC-7710", Refusal::MethodNotOffered, |p, _| p["payload"] = json!({ "delegationManager": "0x" })),
        ("a transaction of Solana", Refusal::InvalidPayload, |p, _| {
            p["payload"] = json!({ "transaction": "AA==" });
        }),
    ]);
}

#[test]
fn what_was_not_offered_is_refused() {
    refused(&[
        ("no scheme", Refusal::InvalidPayload, |p, g| said(p, g)["scheme"] = json!(null)),
        ("other scheme", Refusal::SchemeNotOffered, |p, g| said(p, g)["scheme"] = json!("upto")),
        ("scheme in capitals", Refusal::SchemeNotOffered, |p, g| said(p, g)["scheme"] = json!("Exact")),
        ("no network", Refusal::InvalidPayload, |p, g| {
            drop(said(p, g).as_object_mut().unwrap().remove("network"));
        }),
        ("other network", Refusal::NetworkNotOffered, |p, g| {
            said(p, g)["network"] = json!(name(Network::BASE_SEPOLIA, g));
        }),
        ("no network at all", Refusal::NetworkNotOffered, |p, g| said(p, g)["network"] = json!("")),
        ("the other generation's name", Refusal::NetworkNotOffered, |p, g| {
            said(p, g)["network"] = json!(if g == Generation::V1 { "eip155:8453" } else { "base" });
        }),
        ("a network of the other family", Refusal::InvalidPayload, |p, g| {
            said(p, g)["network"] = json!(name(Network::SOLANA, g));
            if g == Generation::V2 {
                p["accepted"] = crate::world::solana_offer().v2_json();
            }
        }),
    ]);
}

#[test]
fn signatures_that_cannot_be_are_refused() {
    refused(&[
        ("no bytes", Refusal::InvalidSignature, |p, _| p["payload"]["signature"] = json!("0x")),
        ("zeros", Refusal::InvalidSignature, |p, _| {
            p["payload"]["signature"] = json!(format!("0x{}", "00".repeat(65)));
        }),
        ("64 bytes", Refusal::InvalidSignature, |p, _| {
            p["payload"]["signature"] = json!(format!("0x{}", "11".repeat(64)));
        }),
        ("v of 2", Refusal::InvalidSignature, |p, _| {
            let text = p["payload"]["signature"].as_str().unwrap().trim_end_matches("1c").to_owned();
            p["payload"]["signature"] = json!(format!("{text}02"));
        }),
        ("the mirror image", Refusal::InvalidSignature, |p, _| {
            // n - s of the reference signature, and the other parity.
            p["payload"]["signature"] = json!(
                "0xe3deba35625c0c338d389497956a10996804afe7c8173987f17b024b2b562baf8bcd06299fba8173edc12538c60943f6d44b9f30deba625cc8735be8742d32471b"
            );
        }),
    ]);
}

/// A genuine signature over something other than our offer, inside a proof that claims our offer.
fn signed_for(generation: Generation, offer: &Offer) -> Value {
    proof(&evm_offer(), &resource(), generation, &evm_payload(offer))
}

#[test]
fn what_is_truly_signed_but_does_not_pay_is_refused() {
    let other = EvmAddress::parse("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC").unwrap();
    let pay_to = |pay_to| Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to };
    for generation in BOTH {
        let refusal = |offer: &Offer| check(generation, &signed_for(generation, offer)).err();
        for units in [0, 1, 499_999, 500_001, 5_000_000, u64::MAX] {
            let offer = Offer { amount: Amount::new(units), ..evm_offer() };
            assert_eq!(refusal(&offer), Some(Refusal::AmountMismatch), "{units}");
        }
        assert_eq!(refusal(&Offer { asset: pay_to(other), ..evm_offer() }), Some(Refusal::RecipientMismatch));
        let window = |after, before| {
            let payload = evm_payer().payload(&evm_offer(), [3; 32], after, before).unwrap();
            check(generation, &proof(&evm_offer(), &resource(), generation, &payload)).err()
        };
        assert_eq!(window(0, NOW - 1), Some(Refusal::Expired));
        assert_eq!(window(0, NOW + 9), Some(Refusal::Expired));
        assert_eq!(window(NOW + 1, NOW + 60), Some(Refusal::NotYetValid));
        assert_eq!(window(0, NOW + 86_400), Some(Refusal::ValidTooLong));
        assert_eq!(window(0, i64::MAX), Some(Refusal::ValidTooLong));
    }
}

/// Another chain, token, name or signer changes the recovered address. That cannot be told from a contract wallet's signature
/// here, so the proof goes to the facilitator as one, without a wallet credential.
#[test]
fn signatures_for_another_domain_are_not_the_payers_own() {
    let token = Token::usdc(8453).unwrap();
    let Asset::Evm { pay_to, .. } = evm_offer().asset else { unreachable!() };
    let asset = |chain_id, token: &Token| Asset::Evm { chain_id, token: token.clone(), pay_to };
    for generation in BOTH {
        for asset in [
            asset(1, &token),
            asset(8453, &Token { address: pay_to, ..token.clone() }),
            asset(8453, &Token { name: "USDC".to_owned(), ..token.clone() }),
            asset(8453, &Token { version: "1".to_owned(), ..token.clone() }),
        ] {
            let checked =
                check(generation, &signed_for(generation, &Offer { asset, ..evm_offer() })).unwrap();
            assert!(!checked.payer_is_eoa);
        }
        let mut stolen = evm_proof(generation);
        *authorization(&mut stolen, "from") = json!(EvmPayer::new(&[5; 32]).unwrap().address.to_string());
        assert!(!check(generation, &stolen).unwrap().payer_is_eoa);
    }
}

#[test]
fn what_v2_accepted_must_be_our_offer() {
    let cases: [(&str, Value); 12] = [
        ("amount", json!("499999")),
        ("amount", json!("0500000")),
        ("amount", json!(500_000)),
        ("asset", json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e")),
        ("asset", json!(null)),
        ("payTo", json!("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")),
        ("payTo", json!(7)),
        ("maxTimeoutSeconds", json!(61)),
        ("maxTimeoutSeconds", json!("60")),
        ("extra", json!({ "name": "USDC", "version": "2" })),
        ("extra", json!({ "name": "USD Coin" })),
        ("extra", json!(null)),
    ];
    for (field, value) in cases {
        let mut proof = evm_proof(Generation::V2);
        proof["accepted"][field] = value.clone();
        assert_eq!(check(Generation::V2, &proof).err(), Some(Refusal::OfferMismatch), "{field} {value}");
    }
    let mut permit2 = evm_proof(Generation::V2);
    permit2["accepted"]["extra"]["assetTransferMethod"] = json!("permit2");
    assert_eq!(check(Generation::V2, &permit2).err(), Some(Refusal::MethodNotOffered));
    for accepted in [json!(null), json!([]), json!("exact")] {
        let mut proof = evm_proof(Generation::V2);
        proof["accepted"] = accepted;
        assert_eq!(check(Generation::V2, &proof).err(), Some(Refusal::InvalidPayload));
    }
}

#[test]
fn proofs_for_another_endpoint_are_refused() {
    let mut proof = evm_proof(Generation::V2);
    for (url, refusal) in [
        ("https://api.pages.test/provision", Some(Refusal::OtherResource)),
        ("http://API.pages.test/unlock?feature=x", Some(Refusal::OtherResource)),
        ("https://api.pages.test/publish/more", Some(Refusal::OtherResource)),
        ("https://api.pages.test", Some(Refusal::OtherResource)),
        ("https://api.pages.test/publish", None),
        ("http://api.pages.test/publish/?a=b#c", None),
        ("https://proxy.test/pages/publish", None),
        ("", None),
    ] {
        proof["resource"] = json!({ "url": url });
        assert_eq!(check(Generation::V2, &proof).err(), refusal, "{url}");
    }
    for resource in [json!("https://api.pages.test/publish"), json!({}), json!({ "url": 7 })] {
        proof["resource"] = resource;
        assert_eq!(check(Generation::V2, &proof).err(), Some(Refusal::InvalidPayload));
    }
    proof["resource"] = json!(null);
    assert!(check(Generation::V2, &proof).is_ok());
    proof["extensions"] = json!([]);
    assert_eq!(check(Generation::V2, &proof).err(), Some(Refusal::InvalidPayload));
}
