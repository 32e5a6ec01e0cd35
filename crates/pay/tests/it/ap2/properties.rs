//! Property tests of mandates: no input makes the crate panic, and nothing that was changed after signing is accepted.

use dropleaf_pay::ap2::{Issuer, Mandate, MandateRequest};
use dropleaf_pay::payer::{ChainDraft, ContentsDraft};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NOW, REQUEST, chain, contents, issuers, key, three_links, verify};
use crate::properties::{any_json, places};

/// Replaces the value at some position of a JSON value.
fn replace(value: &mut Value, at: prop::sample::Index, with: Value) {
    let mut all = Vec::new();
    places(value, "", &mut all);
    *value.pointer_mut(at.get::<String>(&all).as_str()).unwrap() = with;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_body_is_read_or_refused(body in any_json(), text in ".{0,200}", parts in "([A-Za-z0-9_-]{0,12}[.~]{1,2}){0,12}") {
        let _ = verify(&body);
        for text in [text, parts] {
            let chain = json!({ "payment_mandate": text });
            let contents = json!({ "payment_mandate_contents": body, "user_authorization": text });
            prop_assert!(verify(&chain).is_err() && verify(&contents).is_err());
            let _ = Issuer::parse(&text);
        }
    }

    #[test]
    fn a_signed_chain_with_anything_replaced_is_read_or_refused(
        link in any::<prop::sample::Index>(), part in 0..3_usize, at in any::<prop::sample::Index>(), with in any_json(),
    ) {
        let mut draft = three_links();
        let link = &mut draft.links[link.index(3)];
        replace([&mut link.header, &mut link.claims, &mut link.mandate][part], at, with);
        if let Ok(verified) = verify(&draft.sign()) {
            prop_assert_eq!(verified.transaction_id, "prov-0001");
        }
    }

    #[test]
    fn signed_contents_with_anything_replaced_are_read_or_refused(
        part in 0..3_usize, at in any::<prop::sample::Index>(), with in any_json(),
    ) {
        let mut draft = contents();
        replace([&mut draft.header, &mut draft.claims, &mut draft.contents][part], at, with);
        if let Ok(verified) = verify(&draft.sign()) {
            prop_assert_eq!(verified.transaction_id, "prov-0001");
        }
    }

    #[test]
    fn a_chain_with_a_character_changed_is_refused(at in any::<prop::sample::Index>(), with in "[A-Za-z0-9_.~-]") {
        let mut text = chain().chain();
        let at = at.index(text.len());
        prop_assume!(!text[at..].starts_with(&with));
        text.replace_range(at..=at, &with);
        let body = json!({ "payment_mandate": text });
        prop_assert!(verify(&body).is_err());
    }

    #[test]
    fn contents_changed_after_signing_are_refused(at in any::<prop::sample::Index>(), with in any_json()) {
        let good = contents().sign();
        let mut bent = good.clone();
        replace(&mut bent["payment_mandate_contents"], at, with);
        prop_assume!(bent != good);
        prop_assert!(verify(&bent).is_err());
    }

    #[test]
    fn what_is_signed_for_a_request_answers_it_and_no_other(
        names in prop::array::uniform4("[!-~]{1,40}"), amount_minor in 0..1_000_000_000_u64, other in any::<u64>(),
    ) {
        let [audience, nonce, transaction_id, payee_id] = &names;
        let request = MandateRequest { audience, nonce, transaction_id, payee_id, amount_minor, ..REQUEST };
        let signer = key(1, "issuer");
        let chain = ChainDraft::new(&signer, &key(2, "agent"), &request, "spt_1", NOW).sign();
        let contents = ContentsDraft::new(&signer, &request, "spt_1", NOW).sign();
        for body in [chain, contents] {
            let mandate = Mandate::parse(&body).unwrap();
            prop_assert_eq!(mandate.transaction_id(), transaction_id);
            let verified = mandate.verify(&issuers(), &request, NOW).unwrap();
            prop_assert_eq!(&verified.transaction_id, transaction_id);
            let request = MandateRequest { amount_minor: other, ..request };
            prop_assert_eq!(mandate.verify(&issuers(), &request, NOW).is_ok(), other == amount_minor);
        }
    }

    #[test]
    fn times_of_any_size_are_compared(now in any::<i64>(), iat in any::<i64>(), exp in any::<i64>()) {
        let mut draft = chain();
        draft.links[1].claims["iat"] = json!(iat);
        draft.links[1].mandate["exp"] = json!(exp);
        let _ = Mandate::parse(&draft.sign()).unwrap().verify(&issuers(), &REQUEST, now);
    }
}
