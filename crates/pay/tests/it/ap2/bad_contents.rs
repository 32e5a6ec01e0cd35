//! v0.1 mandates that do not pay, and bodies that are no mandates at all.

use dropleaf_pay::ap2::{Issuers, MANDATE_BYTES, Mandate, MandateRefusal as Refusal, MandateRequest};
use dropleaf_pay::payer::ContentsDraft;
use serde_json::json;

use super::{NOW, REQUEST, chain, contents, issuers, key, refused, remove, verify};

#[test]
fn contents_that_do_not_pay_are_refused() {
    refused(
        contents,
        ContentsDraft::sign,
        &[
            ("an unknown issuer", Refusal::UnknownIssuer, |it| it.header["kid"] = json!("nobody")),
            ("a stranger", Refusal::InvalidSignature, |it| it.key = key(5, "issuer")),
            ("alg none", Refusal::WrongAlgorithm, |it| it.header["alg"] = json!("none")),
            ("another audience", Refusal::AudienceMismatch, |it| {
                it.claims["aud"] = json!("https://other.example");
            }),
            ("another nonce", Refusal::NonceMismatch, |it| it.claims["nonce"] = json!("nonce-124")),
            ("expired", Refusal::Expired, |it| it.claims["exp"] = json!(NOW - 300)),
            ("of the future", Refusal::NotYetValid, |it| it.claims["iat"] = json!(NOW + 301)),
            ("no end", Refusal::TimesMissing, |it| remove(&mut it.claims, "exp")),
            ("no beginning", Refusal::TimesMissing, |it| remove(&mut it.claims, "iat")),
            ("other contents", Refusal::ContentsMismatch, |it| {
                it.claims["transaction_data"] = json!(["FloqzabdvAICMPQT2Fe7HgT0iYpU-Tx9dcihrkSFGAE"]);
            }),
            ("no contents signed", Refusal::ContentsMismatch, |it| it.claims["transaction_data"] = json!([])),
            ("a hash alone", Refusal::MalformedMember, |it| it.claims["transaction_data"] = json!("hash")),
            ("another transaction", Refusal::TransactionMismatch, |it| {
                it.contents["payment_details_id"] = json!("prov-0002");
            }),
            ("a response to another transaction", Refusal::TransactionMismatch, |it| {
                it.contents["payment_response"]["request_id"] = json!("prov-0002");
            }),
            ("another merchant", Refusal::PayeeMismatch, |it| {
                it.contents["merchant_agent"] = json!("https://other.example");
            }),
            ("another currency", Refusal::CurrencyMismatch, |it| {
                it.contents["payment_details_total"]["amount"]["currency"] = json!("EUR");
            }),
            ("cents for dollars", Refusal::AmountMismatch, |it| {
                it.contents["payment_details_total"]["amount"]["value"] = json!(100);
            }),
            ("a fraction of a cent", Refusal::AmountMismatch, |it| {
                it.contents["payment_details_total"]["amount"]["value"] = json!(1.000_000_1);
            }),
            ("a price as text", Refusal::AmountMismatch, |it| {
                it.contents["payment_details_total"]["amount"]["value"] = json!("1.00");
            }),
            ("no price", Refusal::MalformedMember, |it| {
                remove(&mut it.contents["payment_details_total"]["amount"], "value");
            }),
            ("another method", Refusal::UnsupportedInstrument, |it| {
                it.contents["payment_response"]["method_name"] = json!("CARD");
            }),
            ("no token", Refusal::MalformedMember, |it| {
                remove(&mut it.contents["payment_response"]["details"], "shared_payment_token");
            }),
            ("no transaction", Refusal::MalformedMember, |it| remove(&mut it.contents, "payment_details_id")),
            ("contents as text", Refusal::MalformedMember, |it| it.contents = json!("contents")),
            ("an enormous number", Refusal::MalformedMember, |it| it.contents["more"] = json!(u64::MAX)),
            ("deep contents", Refusal::TooDeep, |it| {
                it.contents["more"] = (0..17).fold(json!(1), |inner, _| json!([inner]));
            }),
        ],
    );
}

#[test]
fn contents_changed_after_signing_are_refused() {
    let mut body = contents().sign();
    body["payment_mandate_contents"]["payment_details_total"]["label"] = json!("Tip");
    assert_eq!(verify(&body), Err(Refusal::ContentsMismatch));
}

#[test]
fn bodies_that_are_no_mandates_are_refused() {
    let (chain, contents) = (chain().sign(), contents().sign());
    let mut both = chain.clone();
    both["user_authorization"] = contents["user_authorization"].clone();
    let mut half = contents.clone();
    remove(&mut half, "user_authorization");
    for body in
        [json!(null), json!("text"), json!([]), json!({}), json!({ "payment_mandate": 1 }), both, half]
    {
        assert_eq!(verify(&body), Err(Refusal::NotAMandate), "{body}");
    }
    let text = chain["payment_mandate"].as_str().unwrap();
    let jwt = contents["user_authorization"].as_str().unwrap();
    let duplicate = data_encoding::BASE64URL_NOPAD.encode(br#"{"alg":"ES256","alg":"none"}"#);
    let deep =
        data_encoding::BASE64URL_NOPAD.encode(format!("{}1{}", "[".repeat(17), "]".repeat(17)).as_bytes());
    for (chain, refusal) in [
        (String::new(), Refusal::MalformedToken),
        ("~".to_owned(), Refusal::MalformedToken),
        ("~~~".to_owned(), Refusal::MalformedToken),
        ("a.b.c~".to_owned(), Refusal::MalformedToken),
        ("e30.e30~".to_owned(), Refusal::MalformedToken),
        ("W10.e30.AA~".to_owned(), Refusal::MalformedToken),
        (format!("{duplicate}.e30.AA~"), Refusal::DuplicateMember),
        (format!("{deep}.e30.AA~"), Refusal::TooDeep),
        (jwt.to_owned(), Refusal::MalformedToken),
        (format!("{jwt}~"), Refusal::MalformedMember),
        (text.trim_end_matches('~').to_owned(), Refusal::MalformedToken),
        (format!("{text}~"), Refusal::MalformedDisclosure),
        (format!("{text}\n"), Refusal::MalformedToken),
        (format!("~~{text}"), Refusal::MalformedToken),
        (format!("{text}{jwt}"), Refusal::MalformedToken),
        ("~~".repeat(30_000), Refusal::TooManyHops),
        ("~".repeat(MANDATE_BYTES), Refusal::TooLarge),
    ] {
        assert_eq!(verify(&json!({ "payment_mandate": chain })), Err(refusal), "{chain:.60}");
    }
    for refusal in [Refusal::NotAMandate, Refusal::TooLarge, Refusal::MalformedToken, Refusal::TooManyHops] {
        assert!(refusal.is_malformed());
    }
    assert!(!Refusal::AmountMismatch.is_malformed());
}

#[test]
fn nothing_is_accepted_without_issuers_or_with_an_empty_expectation() {
    for body in [chain().sign(), contents().sign()] {
        let mandate = Mandate::parse(&body).unwrap();
        assert_eq!(mandate.verify(&Issuers::default(), &REQUEST, NOW), Err(Refusal::UnknownIssuer));
    }
    let mut draft = chain();
    draft.links[1].claims["nonce"] = json!("");
    let request = MandateRequest { nonce: "", ..REQUEST };
    let mandate = Mandate::parse(&draft.sign()).unwrap();
    assert_eq!(mandate.verify(&issuers(), &request, NOW), Err(Refusal::NonceMismatch));
}
