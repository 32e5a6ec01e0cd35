//! Property tests: no untrusted input makes the crate panic, and no altered proof passes as signed by the payer.

use dropleaf_pay::facilitator::{Expected, Reason, ReplyStatus, Supported, read_settle, read_verify};
use dropleaf_pay::payer::header;
use dropleaf_pay::wallet::{self, Credential};
use dropleaf_pay::{
    Address, Amount, EvmAddress, Generation, Network, Proof, Receipt, SolanaAddress, sandbox,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{BOTH, NOW, check, evm_payer, evm_proof, fee_payer, solana_proof, terms};

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
        Just(json!("exact")),
        Just(json!("base")),
        Just(json!("eip155:8453")),
        Just(json!("500000")),
        Just(json!("0x")),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// Every position in a JSON value, as a JSON pointer.
pub(crate) fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    if let Value::Object(members) = value {
        for (name, inner) in members {
            places(inner, &format!("{at}/{name}"), found);
        }
    }
}

fn take(generation: Generation, text: &str) {
    if let Ok(proof) = Proof::parse(generation, text) {
        let _ = proof.recognise(&terms());
        let _ = proof.check(&terms(), NOW);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_header_is_read_or_refused(text in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for generation in BOTH {
            take(generation, &text);
            take(generation, &data_encoding::BASE64.encode(&bytes));
        }
    }

    #[test]
    fn a_proof_with_any_member_replaced_is_read_or_refused(at in any::<prop::sample::Index>(), with in any_json()) {
        for generation in BOTH {
            for good in [evm_proof(generation), solana_proof(generation)] {
                let mut all = Vec::new();
                places(&good, "", &mut all);
                let mut bent = good;
                *bent.pointer_mut(at.get::<String>(&all).as_str()).unwrap() = with.clone();
                take(generation, &header(&bent));
            }
        }
    }

    #[test]
    fn any_bytes_as_a_transaction_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..1300)) {
        let mut proof = solana_proof(Generation::V2);
        proof["payload"]["transaction"] = json!(data_encoding::BASE64.encode(&bytes));
        prop_assert!(check(Generation::V2, &proof).is_err());
    }

    #[test]
    fn a_transaction_with_a_byte_changed_is_refused(at in 64..1000_usize, with in 1..=255_u8) {
        let mut proof = solana_proof(Generation::V1);
        let text = proof["payload"]["transaction"].as_str().unwrap();
        let mut bytes = data_encoding::BASE64.decode(text.as_bytes()).unwrap();
        // The first 65 bytes are a count and the fee payer's slot, which we do not check.
        let at = 65 + at % (bytes.len() - 65);
        bytes[at] ^= with;
        proof["payload"]["transaction"] = json!(data_encoding::BASE64.encode(&bytes));
        prop_assert!(check(Generation::V1, &proof).is_err());
    }

    #[test]
    fn a_changed_authorization_is_never_the_payers_own(at in 0..65_usize, with in 1..=255_u8, nonce in any::<[u8; 32]>()) {
        let mut proof = evm_proof(Generation::V1);
        let text = proof["payload"]["signature"].as_str().unwrap();
        let mut bytes = data_encoding::HEXLOWER.decode(&text.as_bytes()[2..]).unwrap();
        bytes[at] ^= with;
        // 0 and 1 are other forms of 27 and 28.
        prop_assume!(bytes[64] != 1 || at != 64);
        proof["payload"]["signature"] = json!(format!("0x{}", data_encoding::HEXLOWER.encode(&bytes)));
        prop_assert!(!check(Generation::V1, &proof).is_ok_and(|checked| checked.payer_is_eoa));
        let mut proof = evm_proof(Generation::V1);
        proof["payload"]["authorization"]["nonce"] = json!(format!("0x{}", data_encoding::HEXLOWER.encode(&nonce)));
        prop_assert!(!check(Generation::V1, &proof).unwrap().payer_is_eoa);
    }

    #[test]
    fn any_answer_of_a_facilitator_is_read(status in 0..1000_u16, value in any_json(), bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let expected = Expected::of(&check(Generation::V2, &evm_proof(Generation::V2)).unwrap());
        let settle = json!({ "success": value, "transaction": value, "network": value, "errorReason": value });
        for body in [value.to_string().into_bytes(), settle.to_string().into_bytes(), bytes] {
            let _ = read_verify(ReplyStatus::from_http(status), &body, &expected);
            let _ = read_settle(ReplyStatus::from_http(status), &body, &expected);
            let _ = Supported::read(ReplyStatus::from_http(status), &body);
            let _ = sandbox::check_request(&body, fee_payer(), NOW);
        }
    }

    #[test]
    fn any_text_is_read_or_none(text in ".{0,150}", moment in any::<i64>()) {
        let _ = (Network::parse(&text), Network::parse_v1(&text), Amount::parse(&text), Receipt::parse(&text));
        let _ = Credential::parse(&text).map(|it| it.signer(&text));
        let _ = Credential::parse(&format!("challenge={text},sig={text}"));
        let _ = wallet::message(&text, &text, moment);
        let reason = Reason::new(&text);
        prop_assert!(reason.text.is_ascii() && !reason.text.is_empty());
    }

    #[test]
    fn addresses_and_amounts_read_back(evm in any::<[u8; 20]>(), solana in any::<[u8; 32]>(), units in any::<u64>()) {
        let evm = Address::Evm(EvmAddress(evm));
        let solana = Address::Solana(SolanaAddress(solana));
        prop_assert_eq!(Address::parse(&evm.to_string()), Some(evm));
        prop_assert_eq!(Address::parse(&solana.to_string()), Some(solana));
        prop_assert_eq!(Amount::parse(&units.to_string()), Some(Amount::new(units)));
    }

    #[test]
    fn whatever_a_wallet_signs_is_recovered(message in ".{0,100}") {
        let text = format!("challenge=WAUTH-x,sig={}", evm_payer().sign_message(&message));
        prop_assert_eq!(Credential::parse(&text).unwrap().signer(&message), Ok(evm_payer().address));
    }
}
