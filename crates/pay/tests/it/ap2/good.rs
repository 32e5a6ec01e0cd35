//! Mandates that are accepted: the reference vectors, and what else the protocol allows.

use dropleaf_pay::ap2::{
    InstrumentKind, Issuer, Issuers, Mandate, MandateRefusal, MandateRequest, MandateVersion,
};
use dropleaf_pay::payer::{Binding, ChainDraft, LinkDraft, disclosure};
use serde_json::{Value, json};

use super::{NOW, REQUEST, chain, contents, issuers, key, three_links, verify};

const CHAIN: &str = include_str!("../../vectors/ap2_chain.txt");
const CONTENTS: &str = include_str!("../../vectors/ap2_v01_vector.json");

fn vector() -> Value {
    serde_json::from_str(CONTENTS).unwrap()
}

fn vector_issuers() -> Issuers {
    Issuers::new(vec![Issuer::parse(&vector()["jwk"].to_string()).unwrap()]).unwrap()
}

#[test]
fn the_v02_vector_needs_its_checkout_and_is_accepted_with_it() {
    let mandate = Mandate::parse(&json!({ "payment_mandate": CHAIN.trim_end() })).unwrap();
    assert_eq!(mandate.version(), MandateVersion::V02);
    assert_eq!(mandate.transaction_id(), "prov-0001");
    let with = |hash| MandateRequest { open_checkout_hash: hash, ..REQUEST };
    let verified = |hash| mandate.verify(&vector_issuers(), &with(hash), NOW);
    assert_eq!(verified(None), Err(MandateRefusal::CheckoutRequired));
    assert_eq!(verified(Some("other")), Err(MandateRefusal::CheckoutMismatch));
    let verified = verified(Some("ref")).unwrap();
    assert_eq!(verified.transaction_id, "prov-0001");
    assert_eq!(verified.reference, "xVS6VlFG1YZS3lNjNA1wr6vFrBC7Vbjfg_Gy-E5HpkA");
    assert_eq!(verified.issuer_kid, "issuer-1");
    assert_eq!(verified.instrument.kind, InstrumentKind::StripeSharedPaymentToken);
    assert_eq!(verified.instrument.id, "spt_example");
}

#[test]
fn the_v01_vector_is_accepted() {
    let vector = vector();
    let contents: Value = serde_json::from_str(vector["canonical"].as_str().unwrap()).unwrap();
    let body =
        json!({ "payment_mandate_contents": contents, "user_authorization": vector["user_authorization"] });
    let mandate = Mandate::parse(&body).unwrap();
    assert_eq!(mandate.version(), MandateVersion::V01);
    assert_eq!(mandate.transaction_id(), "prov-0001");
    // That the hash of the contents is the vector's follows from acceptance: the token signs it.
    let claims = vector["user_authorization"].as_str().unwrap().split('.').nth(1).unwrap();
    let claims =
        String::from_utf8(data_encoding::BASE64URL_NOPAD.decode(claims.as_bytes()).unwrap()).unwrap();
    assert!(claims.contains(vector["hash"].as_str().unwrap()));
    let request = MandateRequest { nonce: "prov-0001", ..REQUEST };
    let verified = mandate.verify(&vector_issuers(), &request, NOW).unwrap();
    assert_eq!(verified.version, MandateVersion::V01);
    assert_eq!(verified.instrument.id, "spt_example");
    assert_eq!(verified.reference.len(), 43);
}

#[test]
fn signed_drafts_are_accepted() {
    assert_eq!(verify(&chain().sign()).unwrap().version.as_str(), "0.2");
    assert_eq!(verify(&contents().sign()).unwrap().version.as_str(), "0.1");
    assert!(verify(&three_links().sign()).is_ok());
}

#[test]
fn a_closed_mandate_signed_by_the_issuer_itself_is_accepted() {
    let mut draft = chain();
    let leaf = &draft.links[1];
    draft.links =
        vec![LinkDraft::new(&key(1, "issuer"), "dc+sd-jwt", leaf.claims.clone(), leaf.mandate.clone())];
    assert!(verify(&draft.sign()).is_ok());
    draft.links[0].claims["nonce"] = json!(null);
    assert_eq!(verify(&draft.sign()), Err(MandateRefusal::NonceMismatch));
}

#[test]
fn what_the_protocol_leaves_open_is_accepted() {
    type Change = fn(&mut ChainDraft);
    let changes: [(&str, Change); 13] = [
        ("issuer_jwt_hash", |it| it.links[1].binding = Some(Binding::IssuerJwtHash)),
        ("no kid in a delegation", |it| drop(it.links[1].header.as_object_mut().unwrap().remove("kid"))),
        ("no _sd_alg", |it| it.links[0].claims = json!({})),
        ("a mandate in the open", |it| {
            it.links[1].claims["delegate_payload"] = json!([it.links[1].mandate.clone()]);
        }),
        ("another mandate, hidden", |it| {
            it.links[1].claims["delegate_payload"] =
                json!([{ "...": "digest" }, it.links[1].mandate.clone()]);
        }),
        ("a disclosed member", |it| {
            let (text, digest) = disclosure(&json!(["salt", "exp", NOW + 60]));
            it.links[1].mandate.as_object_mut().unwrap().remove("exp");
            it.links[1].mandate["_sd"] = json!([digest]);
            it.links[1].disclosures.push(text);
        }),
        ("expiry in the token", |it| {
            it.links[1].mandate.as_object_mut().unwrap().remove("exp");
            it.links[1].claims["exp"] = json!(NOW + 60);
        }),
        ("hidden alternatives", |it| {
            let allowed = it.links[0].mandate["constraints"][1]["allowed"].as_array_mut().unwrap();
            allowed.extend([json!({ "...": "digest" }), json!({ "id": "host-2" }), json!("text")]);
        }),
        ("an allowed instrument", |it| {
            let allowed = json!([{ "id": "spt_other", "type": "stripe_spt" }, { "id": "spt_example", "type": "stripe_spt" }]);
            let constraint = json!({ "type": "payment.allowed_payment_instruments", "allowed": allowed });
            it.links[0].mandate["constraints"][0] = constraint;
        }),
        ("a period", |it| {
            it.links[0].mandate["constraints"][0] = json!({
                "type": "payment.execution_date", "not_before": "2026-11-15", "not_after": "2026-11-15T23:59:59+00:00",
            });
        }),
        ("today", |it| it.links[1].mandate["execution_date"] = json!("2026-11-15")),
        ("a range without a minimum", |it| it.links[0].mandate["constraints"][0]["min"] = json!(null)),
        ("fixed properties", |it| {
            for name in ["payee", "payment_amount", "payment_instrument", "transaction_id"] {
                it.links[0].mandate[name] = it.links[1].mandate[name].clone();
            }
        }),
    ];
    for (what, change) in changes {
        let mut draft = chain();
        change(&mut draft);
        assert_eq!(verify(&draft.sign()).err(), None, "{what}");
    }
}

#[test]
fn one_dollar_may_be_written_in_several_ways() {
    for price in ["1", "1.0", "1.00", "1e0"] {
        let mut draft = contents();
        draft.contents["payment_details_total"]["amount"]["value"] = serde_json::from_str(price).unwrap();
        assert_eq!(verify(&draft.sign()).err(), None, "{price}");
    }
    let mut by_id = contents();
    by_id.contents["merchant_agent"] = json!("host-1");
    assert_eq!(verify(&by_id.sign()).err(), None);
}

#[test]
fn both_halves_of_the_range_of_s_are_accepted_and_give_different_references() {
    let chain = chain().chain();
    let (before, leaf) = chain.rsplit_once("~~").unwrap();
    let (token, rest) = leaf.split_once('~').unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let bytes = data_encoding::BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
    let signature = p256::ecdsa::Signature::from_slice(&bytes).unwrap();
    let (r, s) = signature.split_scalars();
    let mirrored = p256::ecdsa::Signature::from_scalars(r, -s).unwrap();
    let mirrored = data_encoding::BASE64URL_NOPAD.encode(&mirrored.to_bytes());
    let other = json!({ "payment_mandate": format!("{before}~~{signed}.{mirrored}~{rest}") });
    let (first, second) = (verify(&json!({ "payment_mandate": chain })).unwrap(), verify(&other).unwrap());
    assert_ne!(first.reference, second.reference);
    assert_eq!(first.transaction_id, second.transaction_id);
}

#[test]
fn what_is_printed_contains_no_token() {
    for body in [chain().sign(), contents().sign()] {
        let mandate = Mandate::parse(&body).unwrap();
        let verified = mandate.verify(&issuers(), &REQUEST, NOW).unwrap();
        let printed = format!("{mandate:?} {verified:?}");
        assert!(!printed.contains("spt_") && !printed.contains("eyJ"), "{printed}");
    }
}
