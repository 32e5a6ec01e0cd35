//! The sandbox verifies our own requests, and refuses with the reason strings of the reference facilitators.

use dropleaf_pay::facilitator::{
    Expected, Reason, ReasonKind, ReplyStatus, SettleAnswer, Supported, VerifyAnswer, build_request,
    read_settle, read_verify,
};
use dropleaf_pay::sandbox::{self, check_request};
use dropleaf_pay::{Checked, Cluster, Generation, Network, SolanaAddress};
use serde_json::{Value, json};

use crate::world::{BOTH, NOW, check, evm_offer, evm_proof, fee_payer, solana_proof, terms};

fn bodies(generation: Generation) -> [(Checked, Value); 2] {
    [evm_proof(generation), solana_proof(generation)].map(|proof| {
        let checked = check(generation, &proof).unwrap();
        let body = serde_json::from_str(&build_request(&checked, &terms())).unwrap();
        (checked, body)
    })
}

fn reason(body: &Value) -> &'static str {
    check_request(body.to_string().as_bytes(), fee_payer(), NOW).unwrap_err().reason
}

#[test]
fn what_we_checked_the_sandbox_settles() {
    for generation in BOTH {
        for (checked, body) in bodies(generation) {
            let transfer = check_request(body.to_string().as_bytes(), fee_payer(), NOW).unwrap();
            assert_eq!((&transfer.key, transfer.from), (&checked.key, checked.payer));
            assert_eq!((transfer.to, transfer.amount), (checked.offer.pay_to(), checked.amount));
            assert_eq!((transfer.asset, transfer.network), (checked.asset, checked.network));
            let expected = Expected::of(&checked);
            let answer = transfer.verify_json().to_string();
            assert_eq!(read_verify(ReplyStatus::Success, answer.as_bytes(), &expected), VerifyAnswer::Valid);
            let answer = transfer.settled_json().to_string();
            let transaction = transfer.transaction();
            assert_eq!(
                read_settle(ReplyStatus::Success, answer.as_bytes(), &expected),
                SettleAnswer::Settled { transaction }
            );
            let again = transfer.already_used().settle_json().to_string();
            let SettleAnswer::Refused(reason) =
                read_settle(ReplyStatus::Success, again.as_bytes(), &expected)
            else {
                panic!("{again}")
            };
            assert_eq!(reason.kind, ReasonKind::NonceUsed);
            let poor = transfer.insufficient_funds();
            assert_eq!(Reason::new(poor.reason).kind, ReasonKind::InsufficientFunds);
            let VerifyAnswer::Refused(reason) =
                read_verify(ReplyStatus::Success, poor.verify_json().to_string().as_bytes(), &expected)
            else {
                panic!("{poor:?}")
            };
            assert_eq!(reason.text, "insufficient_funds");
        }
    }
}

#[test]
fn the_sandbox_has_no_contract_wallets() {
    for generation in BOTH {
        let [(_, good), _] = bodies(generation);
        let word = if generation == Generation::V1 {
            "invalid_exact_evm_payload_signature"
        } else {
            "invalid_exact_evm_signature"
        };
        let signature = good["paymentPayload"]["payload"]["signature"].as_str().unwrap().to_owned();
        for bent in
            [format!("{signature}00"), format!("0x{}", "00".repeat(65)), signature.replace("1c", "1b")]
        {
            let mut body = good.clone();
            body["paymentPayload"]["payload"]["signature"] = json!(bent);
            assert_eq!(reason(&body), word);
        }
        let mut body = good.clone();
        body["paymentRequirements"]["extra"]["name"] = json!("USDC");
        assert_eq!(reason(&body), word);
        let refused = check_request(body.to_string().as_bytes(), fee_payer(), NOW).unwrap_err();
        assert_eq!(refused.payer.unwrap().to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        assert_eq!(refused.settle_json()["network"], body["paymentRequirements"]["network"]);
    }
}

#[test]
fn what_does_not_fit_the_requirements_is_refused() {
    let cases: [(&str, &str, Value, &str); 9] = [
        ("", "x402Version", json!(3), "invalid_x402_version"),
        ("", "paymentRequirements", json!(null), "invalid_payment_requirements"),
        ("", "paymentPayload", json!(null), "invalid_payload"),
        ("paymentPayload", "x402Version", json!(1), "invalid_x402_version"),
        ("paymentPayload", "payload", json!({}), "invalid_payload"),
        ("paymentRequirements", "amount", json!("500001"), "invalid_exact_evm_authorization_value"),
        ("paymentRequirements", "amount", json!("0x7a120"), "invalid_payment_requirements"),
        (
            "paymentRequirements",
            "payTo",
            json!("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"),
            "invalid_exact_evm_recipient_mismatch",
        ),
        ("paymentRequirements", "network", json!("eip155:1"), "invalid_network"),
    ];
    let [(_, good), _] = bodies(Generation::V2);
    for (within, name, value, word) in cases {
        let mut body = good.clone();
        let place = if within.is_empty() { &mut body } else { &mut body[within] };
        place[name] = value;
        assert_eq!(reason(&body), word, "{within}.{name}");
    }
    let mut undomained = good.clone();
    undomained["paymentRequirements"]["extra"] = json!({});
    assert_eq!(reason(&undomained), "invalid_exact_evm_missing_eip712_domain");
    let mut scheme = good.clone();
    scheme["paymentPayload"]["accepted"]["scheme"] = json!("upto");
    assert_eq!(reason(&scheme), "unsupported_scheme");
    let late = check_request(good.to_string().as_bytes(), fee_payer(), 1_767_225_655).unwrap_err();
    assert_eq!(late.reason, "invalid_exact_evm_payload_authorization_valid_before");
    assert!(check_request(good.to_string().as_bytes(), fee_payer(), 1_767_225_654).is_ok());
    let early = check_request(good.to_string().as_bytes(), fee_payer(), 1_767_225_599).unwrap_err();
    assert_eq!(early.reason, "invalid_exact_evm_payload_authorization_valid_after");
    for garbage in [&b""[..], b"null", b"\xff", b"{}"] {
        assert!(check_request(garbage, fee_payer(), NOW).is_err());
    }
    assert_eq!(evm_offer().network(), Network::BASE);
}

#[test]
fn what_was_settled_is_known_again_when_its_time_is_over() {
    for generation in BOTH {
        let [(checked, body), _] = bodies(generation);
        let body = body.to_string();
        let request = sandbox::parse_request(body.as_bytes(), fee_payer()).unwrap();
        assert_eq!(request.transfer.key, checked.key);
        assert!(!format!("{request:?}").contains("signature"));
        let in_time = request.clone().check_time(NOW).unwrap();
        assert_eq!(check_request(body.as_bytes(), fee_payer(), NOW), Ok(in_time));
        assert!(request.check_time(NOW + 3600).unwrap_err().reason.ends_with("valid_before"));
    }
}

#[test]
fn solana_is_judged_by_the_same_rules() {
    let [_, (_, good)] = bodies(Generation::V2);
    let elsewhere = check_request(good.to_string().as_bytes(), SolanaAddress([1; 32]), NOW).unwrap_err();
    assert_eq!(elsewhere.reason, "fee_payer_not_managed_by_facilitator");
    let bend = |name: &str, value: Value| {
        let mut body = good.clone();
        body["paymentRequirements"][name] = value;
        reason(&body)
    };
    assert_eq!(bend("amount", json!("1")), "invalid_exact_svm_payload_amount_mismatch");
    let wallet = json!("AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9");
    assert_eq!(bend("payTo", wallet.clone()), "invalid_exact_svm_payload_recipient_mismatch");
    assert_eq!(bend("asset", wallet), "invalid_exact_svm_payload_mint_mismatch");
    let extra = json!({ "feePayer": fee_payer().to_string(), "memo": "x" });
    assert_eq!(bend("extra", extra), "invalid_exact_svm_payload_memo_mismatch");
}

#[test]
fn what_the_sandbox_supports_is_read_back() {
    let fee_payer = sandbox::fee_payer(Cluster::Mainnet);
    let json = sandbox::supported_json(&[Network::BASE, Network::SOLANA, Network::Evm(42161)], fee_payer);
    let supported = Supported::read(ReplyStatus::Success, json.to_string().as_bytes()).unwrap();
    for generation in BOTH {
        assert!(supported.kind(generation, Network::BASE).is_some());
    }
    assert_eq!(supported.fee_payer(Network::SOLANA), Some(fee_payer));
    assert!(supported.kind(Generation::V1, Network::Evm(42161)).is_none());
    assert!(supported.kind(Generation::V2, Network::Evm(42161)).is_some());
}
