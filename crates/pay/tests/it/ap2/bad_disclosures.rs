//! Chains that hide what they must disclose, or disclose it in the wrong form.

use dropleaf_pay::ap2::MandateRefusal as Refusal;
use dropleaf_pay::payer::disclosure;
use serde_json::json;

use super::{NOW, refused_chains};

#[test]
fn what_is_hidden_or_disclosed_wrongly_is_refused() {
    refused_chains(&[
        ("a hidden constraint", Refusal::HiddenClaims, |it| {
            let (_, digest) =
                disclosure(&json!(["salt", { "type": "payment.amount_range", "currency": "USD", "max": 1 }]));
            it.links[0].mandate["constraints"].as_array_mut().unwrap().push(json!({ "...": digest }));
        }),
        ("a hidden part of a constraint", Refusal::HiddenClaims, |it| {
            it.links[0].mandate["constraints"][0]["_sd"] = json!(["digest"]);
        }),
        ("a hidden part of an open mandate", Refusal::HiddenClaims, |it| {
            it.links[0].mandate["_sd"] = json!(["digest"]);
        }),
        ("a hidden part of a closed mandate", Refusal::HiddenClaims, |it| {
            it.links[1].mandate["_sd"] = json!(["digest"]);
        }),
        ("a hidden claim", Refusal::HiddenClaims, |it| it.links[0].claims["_sd"] = json!(["digest"])),
        ("a disclosed limit", Refusal::AmountNotAllowed, |it| {
            let (text, digest) =
                disclosure(&json!(["salt", { "type": "payment.amount_range", "currency": "USD", "max": 1 }]));
            it.links[0].mandate["constraints"].as_array_mut().unwrap().push(json!({ "...": digest }));
            it.links[0].disclosures.push(text);
        }),
        ("a disclosure of nothing", Refusal::UnreferencedDisclosure, |it| {
            it.links[1].disclosures.push(disclosure(&json!(["salt", "exp", NOW])).0);
        }),
        ("a disclosure of another link", Refusal::UnreferencedDisclosure, |it| {
            let ours = it.links[0].disclosures.remove(0);
            it.links[1].disclosures.push(ours);
        }),
        ("a disclosure twice", Refusal::RepeatedDisclosure, |it| {
            let ours = it.links[0].disclosures[0].clone();
            it.links[0].disclosures.push(ours);
        }),
        ("a digest twice", Refusal::RepeatedDisclosure, |it| {
            let allowed = it.links[0].mandate["constraints"][1]["allowed"].as_array_mut().unwrap();
            allowed.push(allowed[0].clone());
        }),
        ("no disclosure", Refusal::MalformedDisclosure, |it| it.links[1].disclosures.push("e30".to_owned())),
        ("a disclosure cut off its token", Refusal::MandateCount, |it| {
            it.links[1].disclosures.insert(0, String::new());
        }),
        ("another digest algorithm", Refusal::UnsupportedDigest, |it| {
            it.links[0].claims["_sd_alg"] = json!("sha-512");
        }),
        // Three disclosures are there already.
        ("129 disclosures", Refusal::TooManyDisclosures, |it| {
            it.links[0].disclosures.extend((0..126).map(|at| disclosure(&json!(["salt", at])).0));
        }),
        ("128 disclosures", Refusal::UnreferencedDisclosure, |it| {
            it.links[0].disclosures.extend((0..125).map(|at| disclosure(&json!(["salt", at])).0));
        }),
        ("no mandate", Refusal::MandateCount, |it| it.links[1].claims["delegate_payload"] = json!([])),
        ("a hidden mandate", Refusal::MandateCount, |it| {
            it.links[1].claims["delegate_payload"] = json!([{ "...": "digest" }]);
        }),
        ("two mandates", Refusal::MandateCount, |it| {
            let mandate = it.links[1].mandate.clone();
            it.links[1].claims["delegate_payload"] = json!([mandate, mandate]);
        }),
        ("a mandate as text", Refusal::MandateCount, |it| {
            it.links[1].claims["delegate_payload"] = json!(["digest"]);
        }),
        ("a mandate by itself", Refusal::MalformedMember, |it| {
            it.links[1].claims["delegate_payload"] = it.links[1].mandate.clone();
        }),
    ]);
}
