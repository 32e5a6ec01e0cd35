//! Chains that are not signed as they must be.

use dropleaf_pay::ap2::MandateRefusal as Refusal;
use dropleaf_pay::payer::ChainDraft;
use serde_json::json;

use super::{NOW, key, refused, refused_chains, remove, three_links, verify};

#[test]
fn chains_that_are_not_signed_as_they_must_be_are_refused() {
    refused_chains(&[
        ("an unknown issuer", Refusal::UnknownIssuer, |it| it.links[0].header["kid"] = json!("nobody")),
        ("no issuer", Refusal::UnknownIssuer, |it| remove(&mut it.links[0].header, "kid")),
        ("the agent as issuer", Refusal::InvalidSignature, |it| it.links[0].key = key(2, "agent")),
        ("another issuer's kid", Refusal::InvalidSignature, |it| {
            it.links[0].header["kid"] = json!("another");
        }),
        ("a delegation by a stranger", Refusal::InvalidSignature, |it| it.links[1].key = key(5, "agent")),
        ("a delegation by the issuer", Refusal::InvalidSignature, |it| it.links[1].key = key(1, "agent")),
        ("no algorithm", Refusal::WrongAlgorithm, |it| remove(&mut it.links[1].header, "alg")),
        ("alg none", Refusal::WrongAlgorithm, |it| it.links[0].header["alg"] = json!("none")),
        ("alg HS256", Refusal::WrongAlgorithm, |it| it.links[0].header["alg"] = json!("HS256")),
        ("alg ES384", Refusal::WrongAlgorithm, |it| it.links[1].header["alg"] = json!("ES384")),
        ("alg in small letters", Refusal::WrongAlgorithm, |it| it.links[1].header["alg"] = json!("es256")),
        ("a critical header", Refusal::UnsupportedHeader, |it| it.links[0].header["crit"] = json!(["b64"])),
        ("no cnf", Refusal::KeyMissing, |it| remove(&mut it.links[0].mandate, "cnf")),
        ("cnf by kid", Refusal::KeyMissing, |it| it.links[0].mandate["cnf"] = json!({ "kid": "agent" })),
        ("cnf in the token only", Refusal::KeyMissing, |it| {
            it.links[0].claims["cnf"] = it.links[0].mandate["cnf"].take();
        }),
        ("cnf on another curve", Refusal::InvalidKey, |it| {
            it.links[0].mandate["cnf"]["jwk"]["crv"] = json!("P-384");
        }),
        ("cnf off the curve", Refusal::InvalidKey, |it| {
            it.links[0].mandate["cnf"]["jwk"]["x"] = json!("A".repeat(43));
        }),
        ("cnf with the private key", Refusal::InvalidKey, |it| {
            it.links[0].mandate["cnf"]["jwk"]["d"] = json!("AA");
        }),
        ("cnf in the last link", Refusal::UnexpectedKey, |it| {
            it.links[1].mandate["cnf"] = it.links[0].mandate["cnf"].clone();
        }),
        ("cnf in the last token", Refusal::UnexpectedKey, |it| {
            it.links[1].claims["cnf"] = it.links[0].mandate["cnf"].clone();
        }),
        ("no binding", Refusal::UnboundHop, |it| it.links[1].binding = None),
        ("two bindings", Refusal::UnboundHop, |it| it.links[1].claims["issuer_jwt_hash"] = json!("hash")),
        ("another sd_hash", Refusal::HopMismatch, |it| {
            it.links[1].binding = None;
            it.links[1].claims["sd_hash"] = json!("g3cL_goVSpVYkmihfWLoPZJeV54_vAIYb5NGCKs4GPE");
        }),
        ("another issuer_jwt_hash", Refusal::HopMismatch, |it| {
            it.links[1].binding = None;
            it.links[1].claims["issuer_jwt_hash"] = json!(null);
        }),
        ("a last link that delegates", Refusal::WrongHopType, |it| {
            it.links[1].header["typ"] = json!("kb+sd-jwt+kb");
        }),
        ("a last link without type", Refusal::WrongHopType, |it| remove(&mut it.links[1].header, "typ")),
        ("a delegation as root", Refusal::WrongHopType, |it| it.links[0].header["typ"] = json!("kb+sd-jwt")),
        ("a closed mandate as root", Refusal::WrongMandateType, |it| {
            it.links[0].mandate["vct"] = json!("mandate.payment.1");
        }),
        ("a checkout mandate", Refusal::WrongMandateType, |it| {
            it.links[1].mandate["vct"] = json!("mandate.checkout.1");
        }),
        ("an open mandate at the end", Refusal::WrongMandateType, |it| {
            it.links[1].mandate["vct"] = json!("mandate.payment.open.1");
        }),
        ("no type of mandate", Refusal::WrongMandateType, |it| remove(&mut it.links[0].mandate, "vct")),
    ]);
}

#[test]
fn longer_chains_are_checked_at_every_link() {
    refused(
        three_links,
        ChainDraft::sign,
        &[
            ("a middle link that ends", Refusal::WrongHopType, |it| {
                it.links[1].header["typ"] = json!("kb+sd-jwt");
            }),
            ("a middle link without a key", Refusal::KeyMissing, |it| {
                remove(&mut it.links[1].mandate, "cnf");
            }),
            ("a middle link by a stranger", Refusal::InvalidSignature, |it| {
                it.links[1].key = key(5, "agent");
            }),
            ("a link left out", Refusal::InvalidSignature, |it| drop(it.links.remove(1))),
            ("the agent itself at the end", Refusal::InvalidSignature, |it| {
                it.links[2].key = key(2, "agent");
            }),
            ("a middle link without a time", Refusal::TimesMissing, |it| {
                remove(&mut it.links[1].claims, "iat");
            }),
            ("a middle link that has expired", Refusal::Expired, |it| {
                it.links[1].mandate["exp"] = json!(NOW - 300);
            }),
            ("a stricter middle link", Refusal::AmountNotAllowed, |it| {
                let range = json!({ "type": "payment.amount_range", "currency": "USD", "max": 99 });
                it.links[1].mandate["constraints"] = json!([range]);
            }),
            ("a root that is forgotten", Refusal::AmountNotAllowed, |it| {
                it.links[0].mandate["constraints"][0]["max"] = json!(99);
            }),
        ],
    );
    let mut long = three_links();
    long.links.extend([long.links[1].clone(), long.links[1].clone(), long.links[1].clone()]);
    assert_eq!(verify(&long.sign()), Err(Refusal::TooManyHops));
}
