//! Disclosures in every place they may have, and in those they may not.

use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use super::*;

fn disclosure(content: &Value) -> (String, String) {
    let text = BASE64URL_NOPAD.encode(content.to_string().as_bytes());
    let digest = digest::hash(&text);
    (text, digest)
}

fn resolved(claims: Value, disclosures: &[&str]) -> Result<Value, MandateRefusal> {
    let Value::Object(claims) = claims else { panic!("claims are an object") };
    resolve(claims, disclosures).map(Value::Object)
}

#[test]
fn the_digest_is_that_of_the_characters_of_a_disclosure() {
    // The example of RFC 9901, section 4.2.3.
    let text = "WyJfMjZiYzRMVC1hYzZxMktJNmNCVzVlcyIsICJmYW1pbHlfbmFtZSIsICJNw7ZiaXVzIl0";
    let claims = json!({ "_sd": ["X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0"] });
    let expected = json!({ "family_name": "Möbius" });
    let digest = digest::hash(text);
    assert_eq!(digest, claims["_sd"][0]);
    assert_eq!(resolved(claims, &[text]), Ok(expected));
}

#[test]
fn members_and_elements_are_resolved_at_any_depth() {
    let (inner, inner_digest) = disclosure(&json!(["s1", "city", "Basel"]));
    let (outer, outer_digest) = disclosure(&json!(["s2", { "_sd": [inner_digest], "open": 1 }]));
    let claims = json!({ "_sd_alg": "sha-256", "list": [0, { "...": outer_digest }, { "...": "hidden" }], "_sd": ["other"] });
    let expected =
        json!({ "list": [0, { "open": 1, "city": "Basel" }, { "...": "hidden" }], "_sd": ["other"] });
    let result = resolved(claims, &[&inner, &outer]).unwrap();
    assert_eq!(result, expected);
    assert!(is_hidden(&result["list"][2]) && !is_hidden(&result["list"][1]) && !is_hidden(&json!("text")));
    assert_eq!(fully_disclosed(result.as_object().unwrap()), Err(MandateRefusal::HiddenClaims));
    assert!(fully_disclosed(result["list"][1].as_object().unwrap()).is_ok());
}

#[test]
fn a_disclosure_belongs_to_one_place() {
    let (element, digest) = disclosure(&json!(["salt", 1]));
    let (other, _) = disclosure(&json!(["salt", 2]));
    let here = json!({ "...": digest });
    for (claims, disclosures, refusal) in [
        (json!({}), vec![&element], MandateRefusal::UnreferencedDisclosure),
        (json!({ "list": [here] }), vec![&element, &other], MandateRefusal::UnreferencedDisclosure),
        (json!({ "list": [here] }), vec![&element, &element], MandateRefusal::RepeatedDisclosure),
        (json!({ "list": [here, here] }), vec![&element], MandateRefusal::RepeatedDisclosure),
        (json!({ "list": [here], "more": [here] }), vec![], MandateRefusal::RepeatedDisclosure),
        (json!({ "list": [here], "_sd": [digest] }), vec![&element], MandateRefusal::RepeatedDisclosure),
        (json!({ "_sd": [digest] }), vec![&element], MandateRefusal::MalformedDisclosure),
        (json!({ "member": here }), vec![&element], MandateRefusal::MalformedDisclosure),
    ] {
        let texts: Vec<&str> = disclosures.into_iter().map(String::as_str).collect();
        assert_eq!(resolved(claims.clone(), &texts), Err(refusal), "{claims}");
    }
}

#[test]
fn a_disclosed_member_does_not_replace_one_that_is_there() {
    let (first, first_digest) = disclosure(&json!(["a", "max", 9999]));
    let (second, second_digest) = disclosure(&json!(["b", "max", 1]));
    let beside = json!({ "max": 100, "_sd": [first_digest] });
    assert_eq!(resolved(beside, &[&first]), Err(MandateRefusal::DuplicateMember));
    let both = json!({ "_sd": [first_digest, second_digest] });
    assert_eq!(resolved(both, &[&first, &second]), Err(MandateRefusal::DuplicateMember));
    let as_element = json!({ "list": [{ "...": first_digest }] });
    assert_eq!(resolved(as_element, &[&first]), Err(MandateRefusal::MalformedDisclosure));
}

#[test]
fn what_is_no_disclosure_is_refused() {
    for content in [
        json!("text"),
        json!({}),
        json!([]),
        json!(["salt"]),
        json!([1, 2]),
        json!([1, "name", 2]),
        json!(["salt", 1, 2]),
        json!(["salt", "name", 1, 2]),
        json!(["salt", "_sd", []]),
        json!(["salt", "...", "x"]),
        json!(["salt", "_sd_alg", "sha-256"]),
    ] {
        let (text, digest) = disclosure(&content);
        let claims = json!({ "_sd": [digest] });
        assert_eq!(resolved(claims, &[&text]), Err(MandateRefusal::MalformedDisclosure), "{content}");
    }
    for text in ["", "%", "e30=", "bm90IGpzb24"] {
        assert_eq!(resolved(json!({}), &[text]), Err(MandateRefusal::MalformedDisclosure), "{text}");
    }
}

#[test]
fn digests_in_the_wrong_form_are_refused() {
    for claims in [
        json!({ "_sd": "digest" }),
        json!({ "_sd": [1] }),
        json!({ "list": [{ "...": 1 }] }),
        json!({ "list": [{ "...": "digest", "more": 1 }] }),
        json!({ "...": "digest" }),
    ] {
        assert_eq!(resolved(claims.clone(), &[]), Err(MandateRefusal::MalformedDisclosure), "{claims}");
    }
    for algorithm in [json!("sha-512"), json!("SHA-256"), json!(null), json!(1)] {
        let claims = json!({ "_sd_alg": algorithm });
        assert_eq!(resolved(claims, &[]), Err(MandateRefusal::UnsupportedDigest), "{algorithm}");
    }
}

#[test]
fn disclosures_inside_disclosures_are_followed_to_a_limit() {
    let nested = |levels: usize| {
        let (mut texts, mut value) = (Vec::new(), json!(1));
        for level in 0..levels {
            let (text, digest) = disclosure(&json!([level.to_string(), "a", value]));
            texts.push(text);
            value = json!({ "_sd": [digest] });
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        resolved(value, &texts).map(drop)
    };
    assert_eq!(nested(16), Ok(()));
    assert_eq!(nested(17), Err(MandateRefusal::TooDeep));
    assert_eq!(nested(300), Err(MandateRefusal::TooDeep));
}
