//! Proofs that pay: what is derived from them, and that one payment has one key.

use std::time::Duration;

use dropleaf_pay::payer::{Draft, EvmPayer, header, proof};
use dropleaf_pay::{
    Address, Amount, Asset, Generation, Identifier, Network, Offer, Proof, Refusal, Terms, parse_proof,
};
use serde_json::{Value, json};

use crate::world::{
    BOTH, NOW, check, check_at, evm_offer, evm_payer, evm_payload, evm_proof, resource, solana_offer,
    solana_payer, solana_proof, terms,
};

const KEY: &str = "eip155:8453|0x833589fcd6edb6e08f4c7c32d4f71b54bda02913|0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266|0x1111111111111111111111111111111111111111111111111111111111111111";

#[test]
fn the_test_wallet_signs_the_reference_vector() {
    let payload = evm_payload(&evm_offer());
    let signature = "0xe3deba35625c0c338d389497956a10996804afe7c8173987f17b024b2b562baf7432f9d660457e8c123edac739f6bc07e6633db5d08e3ddef75f02a45c090efa1c";
    assert_eq!(payload["signature"], signature);
    let hello = "0xf16ea9a3478698f695fd1401bfe27e9e4a7e8e3da94aa72b021125e31fa899cc573c48ea3fe1d4ab61a9db10c19032026e3ed2dbccba5a178235ac27f94504311c";
    assert_eq!(evm_payer().sign_message("hello"), hello);
    assert_eq!(
        EvmPayer::new(&[0x11; 32]).unwrap().address.to_string(),
        "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
    );
}

#[test]
fn the_test_wallet_makes_the_reference_transaction() {
    let vector = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHkZirG3uz7HzU5ih4uO+NqgtUxfHPuPyIh+3MdRWnkEExVhF5snNUk6fB3jiHMgN3ES/BMlDA/VB3UP4vg74BgAIBBAjtSSjGKNHCxurpAziQWZVhKVknOlxj+TY2wUYUrIc30YqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29cK8kCOGhpAsJh82TGFPHsq0/z4F9YGhwIBT/HU9NN52yMROnTi0H5KqQzBEA7ECRFt9yPict9kQwtNUtP/np+EwMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAAxvp6877brTo9ZfNqq8l0MbG75MLS9uDkfKYCA0UvXWEFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpruutSnlvzC4V3ExgYbRe2bNz8mrfx5jKfS2MxYGCcY4EBAAFAiBOAAAEAAkDAQAAAAAAAAAHBAIFAwEKDCChBwAAAAAABgYAIDE1M2Q5ZDAxMGEyNDZmOTFkMGFhNGNjMWE3M2Y5YjRkAA==";
    let blockhash = [
        0xae, 0xeb, 0xad, 0x4a, 0x79, 0x6f, 0xcc, 0x2e, 0x15, 0xdc, 0x4c, 0x60, 0x61, 0xb4, 0x5e, 0xd9, 0xb3,
        0x73, 0xf2, 0x6a, 0xdf, 0xc7, 0x98, 0xca, 0x7d, 0x2d, 0x8c, 0xc5, 0x81, 0x82, 0x71, 0x8e,
    ];
    let draft = solana_payer().draft(&solana_offer(), blockhash, "153d9d010a246f91d0aa4cc1a73f9b4d").unwrap();
    assert_eq!(solana_payer().payload(&draft), json!({ "transaction": vector }));
}

#[test]
fn a_good_evm_proof_is_checked_in_both_generations() {
    for generation in BOTH {
        let checked = check(generation, &evm_proof(generation)).unwrap();
        assert_eq!(checked.key.as_str(), KEY);
        assert_eq!(checked.payer, Address::Evm(evm_payer().address));
        assert!(checked.payer_is_eoa && checked.has_wallet_credential());
        assert_eq!((checked.network, checked.amount), (Network::BASE, Amount::new(500_000)));
        assert_eq!(checked.asset, evm_offer().token());
        assert_eq!(checked.offer, evm_offer());
        assert_eq!(checked.valid_until, 1_767_225_660);
        assert_eq!((checked.generation, checked.payment_identifier), (generation, None));
    }
}

#[test]
fn a_good_solana_proof_is_checked_in_both_generations() {
    let [v1, v2] = BOTH.map(|generation| check(generation, &solana_proof(generation)).unwrap());
    assert_eq!(v1.key, v2.key);
    assert!(v1.key.as_str().starts_with("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp|"));
    assert_eq!(v1.payer, Address::Solana(solana_payer().address));
    assert!(v1.payer_is_eoa && !v1.has_wallet_credential());
    assert!(v1.valid_until > NOW);
}

#[test]
fn legacy_transactions_and_other_signatures_of_one_message_are_understood() {
    let payer = solana_payer();
    let mut draft = payer.draft(&solana_offer(), [7; 32], "memo").unwrap();
    let send = |draft: &Draft| {
        check(Generation::V2, &proof(&solana_offer(), &resource(), Generation::V2, &payer.payload(draft)))
    };
    let key = send(&draft).unwrap().key;
    draft.legacy = true;
    assert_ne!(send(&draft).unwrap().key, key, "another message is another payment");
}

#[test]
fn spellings_of_one_payment_have_one_key() {
    let mut proof = evm_proof(Generation::V2);
    let lower = |text: &str| json!(text.to_lowercase());
    proof["accepted"]["asset"] = lower(proof["accepted"]["asset"].as_str().unwrap());
    proof["accepted"]["payTo"] = lower(proof["accepted"]["payTo"].as_str().unwrap());
    let authorization = &mut proof["payload"]["authorization"];
    authorization["from"] = lower(authorization["from"].as_str().unwrap());
    authorization["to"] = lower(authorization["to"].as_str().unwrap());
    assert_eq!(check(Generation::V2, &proof).unwrap().key.as_str(), KEY);
    proof["accepted"]["extra"]["assetTransferMethod"] = json!("eip3009");
    proof["accepted"]["extra"]["more"] = json!({ "a": 1 });
    proof["accepted"]["outputSchema"] = json!(null);
    assert_eq!(check(Generation::V2, &proof).unwrap().key.as_str(), KEY);
}

#[test]
fn windows_end_where_they_should() {
    let good = evm_proof(Generation::V1);
    for (now, result) in [
        (1_767_225_599, Some(Refusal::NotYetValid)),
        (1_767_225_600, None),
        (1_767_225_650, None),
        (1_767_225_651, Some(Refusal::Expired)),
        (i64::MAX, Some(Refusal::Expired)),
        (i64::MIN, Some(Refusal::NotYetValid)),
    ] {
        assert_eq!(check_at(Generation::V1, &good, now).err(), result, "{now}");
    }
    let ending = |end| {
        proof(
            &evm_offer(),
            &resource(),
            Generation::V1,
            &evm_payer().payload(&evm_offer(), [1; 32], 0, end).unwrap(),
        )
    };
    assert!(check(Generation::V1, &ending(NOW + 660)).is_ok());
    assert_eq!(check(Generation::V1, &ending(NOW + 661)).err(), Some(Refusal::ValidTooLong));
}

#[test]
fn signatures_of_contract_wallets_are_left_to_the_facilitator() {
    for generation in BOTH {
        let mut proof = evm_proof(generation);
        let signature = proof["payload"]["signature"].as_str().unwrap().to_owned();
        proof["payload"]["signature"] = json!(format!("{signature}{}", "6492".repeat(16)));
        let checked = check(generation, &proof).unwrap();
        assert!(!checked.payer_is_eoa && !checked.has_wallet_credential());
        assert_eq!(checked.key.as_str(), KEY);
        let other = EvmPayer::new(&[9; 32]).unwrap().payload(&evm_offer(), [0x11; 32], 0, NOW + 60).unwrap();
        proof["payload"]["signature"] = other["signature"].clone();
        assert!(!check(generation, &proof).unwrap().payer_is_eoa);
    }
}

#[test]
fn a_payment_is_recognised_after_its_time_and_after_the_price_has_changed() {
    let dearer = Terms::new(resource(), vec![Offer { amount: Amount::new(700_000), ..evm_offer() }]).unwrap();
    for generation in BOTH {
        let proof = Proof::parse(generation, &header(&evm_proof(generation))).unwrap();
        let recognised = proof.recognise(&dearer).unwrap();
        assert_eq!(recognised.key.as_str(), KEY);
        assert!(recognised.payer_is_eoa);
        assert!(proof.check(&dearer, NOW).is_err());
    }
}

#[test]
fn nobody_is_recognised_by_a_nonce_alone() {
    let mut proof = evm_proof(Generation::V1);
    proof["payload"]["signature"] = json!(format!("0x{}", "00".repeat(65)));
    let proof = Proof::parse(Generation::V1, &header(&proof)).unwrap();
    assert_eq!(proof.recognise(&terms()), Err(Refusal::InvalidSignature));
}

#[test]
fn identifiers_come_with_the_proof() {
    let mut terms = terms();
    terms.identifier = Identifier::Required;
    let mut sent = evm_proof(Generation::V2);
    let parse = |sent: &Value| Proof::parse(Generation::V2, &header(sent)).unwrap();
    assert_eq!(parse(&sent).check(&terms, NOW).err(), Some(Refusal::PaymentIdentifierMissing));
    sent["extensions"] =
        json!({ "payment-identifier": { "info": { "required": true, "id": "pay_0123456789abcdef" } } });
    let checked = parse(&sent).check(&terms, NOW).unwrap();
    assert_eq!(checked.payment_identifier.as_deref(), Some("pay_0123456789abcdef"));
    let v1 = Proof::parse(Generation::V1, &header(&evm_proof(Generation::V1))).unwrap();
    assert_eq!(v1.check(&terms, NOW).unwrap().payment_identifier, None);
}

#[test]
fn no_header_is_no_proof_and_proofs_stay_out_of_logs() {
    assert_eq!(parse_proof(None, None), Ok(None));
    let text = header(&evm_proof(Generation::V1));
    let proof = parse_proof(None, Some(&text)).unwrap().unwrap();
    assert_eq!(proof.generation(), Generation::V1);
    let shown = format!("{proof:?} {:?}", proof.check(&terms(), NOW).unwrap());
    assert!(!shown.contains("e3deba35"), "{shown}");
}

#[test]
fn a_memo_that_is_asked_for_must_be_there() {
    let mut offer = solana_offer();
    if let Asset::Solana { mint, .. } = &mut offer.asset {
        mint.memo = Some("order 7".to_owned());
    }
    let terms = Terms::new(resource(), vec![offer.clone()]).unwrap();
    let send = |memo: &str, twice: bool| {
        let mut draft = solana_payer().draft(&offer, [7; 32], memo).unwrap();
        if twice {
            draft.calls.push(draft.calls[3].clone());
        }
        let sent = proof(&offer, &resource(), Generation::V2, &solana_payer().payload(&draft));
        Proof::parse(Generation::V2, &header(&sent)).unwrap().check(&terms, NOW).err()
    };
    assert_eq!(send("order 7", false), None);
    assert_eq!(send("order 8", false), Some(Refusal::MemoMismatch));
    assert_eq!(send("order 7", true), Some(Refusal::MemoCount));
}

/// The CPU time of this thread so far. Unlike wall-clock time, it is independent of other processes.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn a_proof_is_checked_in_well_under_a_millisecond() {
    let terms = terms();
    for sent in [evm_proof(Generation::V2), solana_proof(Generation::V2)] {
        let text = header(&sent);
        let start = processor_time();
        for _ in 0..50 {
            assert!(Proof::parse(Generation::V2, &text).unwrap().check(&terms, NOW).is_ok());
        }
        let each = processor_time().saturating_sub(start) / 50;
        println!("{each:?}");
        // Generous, because this is not an optimized build.
        assert!(each < Duration::from_millis(5), "{each:?}");
    }
}
