//! Requests to facilitators, and how their responses are interpreted.

use dropleaf_pay::facilitator::{
    Expected, ReasonKind, ReplyStatus, SettleAnswer, VerifyAnswer, build_request, read_settle, read_verify,
};
use dropleaf_pay::{Bazaar, Generation, Network, Proof, payer::header};
use serde_json::{Value, json};

use crate::world::{BOTH, NOW, check, evm_proof, solana_proof, terms};

const HASH: &str = "0xabababababababababababababababababababababababababababababababab";
const PAYER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

fn expected() -> Expected {
    Expected::of(&check(Generation::V2, &evm_proof(Generation::V2)).unwrap())
}

#[test]
fn requests_hold_our_offer_and_nothing_else_of_the_clients() {
    for generation in BOTH {
        let mut proof = evm_proof(generation);
        proof["tracking"] = json!("anything");
        if generation == Generation::V2 {
            proof["accepted"]["extra"]["more"] = json!(1);
            proof["resource"]["url"] = json!("https://elsewhere.test/x");
            proof["extensions"] = json!({ "other": {}, "bazaar": { "info": "forged" } });
        }
        let mut terms = terms();
        terms.bazaar = Some(Bazaar { method: "POST", body: None, query: None, output: json!({}) });
        let checked = Proof::parse(generation, &header(&proof)).unwrap().check(&terms, NOW).unwrap();
        let text = build_request(&checked, &terms);
        assert_eq!(text, build_request(&checked, &terms));
        for foreign in ["anything", "more", "elsewhere", "other", "forged"] {
            assert!(!text.contains(foreign), "{foreign}");
        }
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body["x402Version"], generation.number());
        assert_eq!(body["paymentPayload"]["x402Version"], generation.number());
        assert_eq!(body["paymentPayload"]["payload"], evm_proof(generation)["payload"]);
        match generation {
            Generation::V1 => {
                assert_eq!(body["paymentRequirements"], terms.body()["accepts"][0]);
                assert_eq!(body["paymentPayload"]["network"], "base");
            }
            Generation::V2 => {
                assert_eq!(body["paymentRequirements"], terms.accepts_v2()[0]);
                assert_eq!(body["paymentPayload"]["accepted"], terms.accepts_v2()[0]);
                assert_eq!(body["paymentPayload"]["extensions"], Value::Object(terms.extensions(true)));
            }
        }
    }
}

#[test]
fn verification_is_a_boolean_from_an_answer_that_fits() {
    let read = |status, body: Value| {
        read_verify(ReplyStatus::from_http(status), body.to_string().as_bytes(), &expected())
    };
    assert_eq!(read(200, json!({ "isValid": true, "payer": PAYER })), VerifyAnswer::Valid);
    assert_eq!(read(200, json!({ "isValid": true, "payer": PAYER.to_lowercase() })), VerifyAnswer::Valid);
    assert_eq!(read(200, json!({ "isValid": true })), VerifyAnswer::Valid);
    for status in [200, 400, 402, 422] {
        let answer =
            read(status, json!({ "isValid": false, "invalidReason": "insufficient_funds", "payer": "" }));
        assert!(
            matches!(answer, VerifyAnswer::Refused(reason) if reason.kind == ReasonKind::InsufficientFunds)
        );
    }
    for (status, body) in [
        (200, json!({ "isValid": "true" })),
        (200, json!({ "isValid": 1 })),
        (200, json!({ "valid": true })),
        (200, json!([true])),
        (200, json!({ "isValid": true, "payer": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" })),
        (200, json!({ "isValid": true, "payer": 7 })),
        (200, json!({ "isValid": false, "invalidReason": "unexpected_verify_error" })),
        (302, json!({ "isValid": true })),
        (400, json!({ "isValid": true })),
        (500, json!({ "isValid": true })),
        (500, json!({ "isValid": false, "invalidReason": "insufficient_funds" })),
    ] {
        assert!(matches!(read(status, body.clone()), VerifyAnswer::Fault(_)), "{status} {body}");
    }
    for body in [&b""[..], b"<html>", b"{", b"\xff", br#"{"isValid":true,"isValid":true}"#] {
        assert!(matches!(read_verify(ReplyStatus::Success, body, &expected()), VerifyAnswer::Fault(_)));
    }
}

#[test]
fn a_settlement_counts_only_if_everything_fits() {
    let good = json!({ "success": true, "transaction": HASH, "network": "eip155:8453", "payer": PAYER });
    let read = |status, body: &Value| {
        read_settle(ReplyStatus::from_http(status), body.to_string().as_bytes(), &expected())
    };
    let settled = SettleAnswer::Settled { transaction: HASH.to_owned() };
    assert_eq!(read(200, &good), settled);
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    assert_eq!(read(200, &with("network", json!("base"))), settled);
    assert_eq!(read(200, &with("payer", json!(null))), settled);
    assert_eq!(read(200, &with("amount", json!("500000"))), settled);
    for body in [
        with("success", json!("true")),
        with("success", json!(null)),
        with("transaction", json!("")),
        with("transaction", json!(null)),
        with("transaction", json!("<b>")),
        with("transaction", json!("a".repeat(129))),
        with("network", json!("base-sepolia")),
        with("network", json!("eip155:1")),
        with("network", json!(null)),
        with("payer", json!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")),
        with("amount", json!("1")),
        json!({}),
    ] {
        assert!(matches!(read(200, &body), SettleAnswer::Unknown { .. }), "{body}");
    }
    for status in [100, 201, 302, 400, 500, 502, 504] {
        assert!(matches!(read(status, &good), SettleAnswer::Unknown { .. }), "{status}");
    }
}

#[test]
fn only_a_clear_no_is_a_refusal() {
    let read = |status, reason: Value, transaction: &str| {
        let body =
            json!({ "success": false, "errorReason": reason, "transaction": transaction, "network": "base" });
        read_settle(ReplyStatus::from_http(status), body.to_string().as_bytes(), &expected())
    };
    let kind = |answer| match answer {
        SettleAnswer::Refused(reason) => Some(reason.kind),
        _ => None,
    };
    assert_eq!(
        kind(read(200, json!("invalid_exact_evm_nonce_already_used"), "")),
        Some(ReasonKind::NonceUsed)
    );
    assert_eq!(kind(read(402, json!("insufficient_funds"), "")), Some(ReasonKind::InsufficientFunds));
    for reason in ["invalid_exact_evm_transaction_failed", "invalid_transaction_state", "execution_reverted"]
    {
        let answer = read(400, json!(reason), HASH);
        let reverted = matches!(&answer, SettleAnswer::Reverted { transaction, .. } if transaction == HASH);
        assert!(reverted, "somebody else may have submitted it first: {answer:?}");
    }
    assert_eq!(
        kind(read(200, json!("settle_exact_svm_block_height_exceeded"), "")),
        Some(ReasonKind::Expired)
    );
    for reason in [
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_exact_evm_payload_authorization_valid_before",
        "invalid_exact_evm_network_mismatch",
        "invalid_exact_svm_payload_transaction_instructions_length",
        "fee_payer_not_managed_by_facilitator",
        "unsupported_scheme",
        "invalid_payload",
        "duplicate_settlement",
    ] {
        assert!(kind(read(200, json!(reason), "")).is_some(), "{reason}");
    }
    let pending = SettleAnswer::Pending { transaction: Some(HASH.to_owned()) };
    assert_eq!(read(200, json!("settlement_pending"), HASH), pending);
    assert_eq!(read(200, json!("settlement_pending"), ""), SettleAnswer::Pending { transaction: None });
    for (status, reason, transaction) in [
        (500, json!("insufficient_funds"), ""),
        (200, json!("unexpected_settle_error"), ""),
        (200, json!("settle_exact_svm_transaction_confirmation_timed_out"), ""),
        (200, json!("something_new"), HASH),
        (200, json!("something_new"), ""),
        // Reported by the reference facilitators when sending threw an error, which can happen after the transaction was sent.
        (200, json!("invalid_exact_evm_transaction_failed"), ""),
        (402, json!("invalid_exact_svm_transaction_failed"), ""),
        (200, json!("smart_wallet_deployment_failed"), ""),
        (200, json!("internal_error"), ""),
        (200, json!("invalid_exact_evm_transfer_event_mismatch"), ""),
        (200, json!("invalid_exact_evm_nonce_already_used"), HASH),
        (200, json!("insufficient_funds"), HASH),
        (200, json!(null), ""),
        (200, json!("RPC https://key@rpc.test failed"), ""),
    ] {
        assert!(
            matches!(read(status, reason.clone(), transaction), SettleAnswer::Unknown { .. }),
            "{reason}"
        );
    }
}

#[test]
fn on_solana_the_fee_payer_may_be_called_the_payer() {
    let checked = check(Generation::V2, &solana_proof(Generation::V2)).unwrap();
    let expected = Expected::of(&checked);
    assert_eq!(expected.network, Network::SOLANA);
    for (payer, fits) in [
        ("AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9", true),
        ("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse", true),
        ("9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu", false),
        ("nonsense", false),
    ] {
        let body = json!({ "success": true, "transaction": "5x", "network": "solana", "payer": payer });
        let answer = read_settle(ReplyStatus::Success, body.to_string().as_bytes(), &expected);
        assert_eq!(matches!(answer, SettleAnswer::Settled { .. }), fits, "{payer}");
    }
    // Only its fee payer can submit it, so a failed transaction there hides no other.
    let failed = json!({
        "success": false, "errorReason": "invalid_exact_svm_transaction_failed", "transaction": "5x", "network": "solana",
    });
    let answer = read_settle(ReplyStatus::Success, failed.to_string().as_bytes(), &expected);
    assert!(matches!(answer, SettleAnswer::Refused(_)), "{answer:?}");
}
