//! Headers that are not proofs: each is refused for its own reason, with a 400 at worst.

use dropleaf_pay::payer::header;
use dropleaf_pay::{Generation, PROOF_BYTES, Proof, Refusal, parse_proof};
use serde_json::json;

use crate::world::{BOTH, evm_proof};

fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

#[test]
fn what_is_not_base64_json_is_refused() {
    let good = header(&evm_proof(Generation::V1));
    let url_safe = base64("{\"a\":\"ÿÿÿ>>>???\"}".as_bytes()).replace('+', "-").replace('/', "_");
    let duplicate = r#"{"x402Version":1,"scheme":"exact","scheme":"exact"}"#;
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(16), "]".repeat(16));
    for (text, refusal) in [
        ("A".repeat(PROOF_BYTES + 4), Refusal::HeaderTooLarge),
        ("%%%".to_owned(), Refusal::NotBase64),
        (format!(" {good}"), Refusal::NotBase64),
        (format!("{good}\n"), Refusal::NotBase64),
        (format!("{good}="), Refusal::NotBase64),
        (base64(b"{}xx").trim_end_matches('=').to_owned(), Refusal::NotBase64),
        ("e30=e30=".to_owned(), Refusal::NotBase64),
        ("e31=".to_owned(), Refusal::NotBase64),
        (url_safe, Refusal::NotBase64),
        (evm_proof(Generation::V1).to_string(), Refusal::NotBase64),
        (base64(b"{\"a\":\"\xff\xfe\"}"), Refusal::NotUtf8),
        (String::new(), Refusal::NotJson),
        (base64(b"hello"), Refusal::NotJson),
        (base64(b"{\"x402Version\":1"), Refusal::NotJson),
        (base64(b"{} {}"), Refusal::NotJson),
        (base64(b"\xef\xbb\xbf{}"), Refusal::NotJson),
        (base64(b"null"), Refusal::NotAnObject),
        (base64(b"[]"), Refusal::NotAnObject),
        (base64(b"\"text\""), Refusal::NotAnObject),
        (base64(b"2"), Refusal::NotAnObject),
        (base64(duplicate.as_bytes()), Refusal::DuplicateMember),
        (base64(deep.as_bytes()), Refusal::TooDeep),
    ] {
        for generation in BOTH {
            assert_eq!(Proof::parse(generation, &text).err(), Some(refusal), "{text:.60}");
        }
        assert!(refusal.is_malformed());
    }
}

#[test]
fn the_generation_must_be_that_of_the_header() {
    for generation in BOTH {
        let other = if generation == Generation::V1 { Generation::V2 } else { Generation::V1 };
        let good = evm_proof(generation);
        assert_eq!(Proof::parse(other, &header(&good)).err(), Some(Refusal::WrongVersion));
        for version in [
            json!(null),
            json!("1"),
            json!("2"),
            json!(0),
            json!(3),
            json!(-1),
            json!(1.5),
            json!(2.0),
            json!([2]),
        ] {
            let mut bad = good.clone();
            bad["x402Version"] = version;
            assert_eq!(Proof::parse(generation, &header(&bad)).err(), Some(Refusal::WrongVersion));
        }
        let mut bad = good;
        bad.as_object_mut().unwrap().remove("x402Version");
        assert_eq!(Proof::parse(generation, &header(&bad)).err(), Some(Refusal::WrongVersion));
    }
}

#[test]
fn two_proofs_are_one_too_many() {
    let (v1, v2) = (header(&evm_proof(Generation::V1)), header(&evm_proof(Generation::V2)));
    assert_eq!(parse_proof(Some(&v2), Some(&v1)), Err(Refusal::TwoProofs));
    assert!(parse_proof(Some(&v2), None).unwrap().is_some());
    assert_eq!(parse_proof(Some(&v1), None), Err(Refusal::WrongVersion));
}
