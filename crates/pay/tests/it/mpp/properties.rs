//! Property tests: no header makes the crate panic, whatever is issued can be paid, and no changed credential buys anything
//! else.

use dropleaf_pay::mpp::{
    CHALLENGE_BYTES, Credential, CredentialField, Issuer, NewChallenge, PaidRequest, PaymentReceipt,
    has_payment_scheme,
};
use dropleaf_pay::payer::{EvmPayer, mpp_challenge, mpp_header};
use dropleaf_pay::{Address, Amount, Offer, Terms, Token};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::attempt::{Attempt, NOW, issuer, offer, vector};
use crate::properties::{any_json, places};
use crate::world::resource;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_header_is_read_or_refused(text in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let encoded = data_encoding::BASE64URL_NOPAD.encode(&bytes);
        for header in [text.clone(), format!("Payment {text}"), format!("Payment {encoded}")] {
            let _ = has_payment_scheme(&header);
            let attempt = Attempt { header: Some(header), ..Attempt::good() };
            prop_assert!(attempt.judge().is_err());
        }
        let _ = (PaymentReceipt::parse(&text), PaymentReceipt::parse(&encoded), mpp_challenge(&text));
    }

    #[test]
    fn a_credential_with_any_member_replaced_buys_nothing_else(at in any::<prop::sample::Index>(), with in any_json()) {
        let good = Attempt::good();
        let key = good.judge().unwrap().key;
        let mut all = Vec::new();
        places(&good.credential, "", &mut all);
        let mut attempt = good;
        *attempt.credential.pointer_mut(at.get::<String>(&all).as_str()).unwrap() = with;
        if let Ok(checked) = attempt.judge() {
            prop_assert!(checked.payer_is_eoa && checked.key == key);
        }
    }

    #[test]
    fn a_credential_with_any_byte_changed_buys_nothing_else(at in any::<prop::sample::Index>(), with in any::<u8>()) {
        let good = Attempt::good();
        let key = good.judge().unwrap().key;
        let mut bytes = good.credential.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        let header = Some(format!("Payment {}", data_encoding::BASE64URL_NOPAD.encode(&bytes)));
        if let Ok(checked) = (Attempt { header, ..good }).judge() {
            prop_assert!(checked.payer_is_eoa && checked.key == key);
        }
    }

    #[test]
    fn whatever_is_issued_can_be_paid(
        route in ".{0,100}",
        body in prop::collection::vec(any::<u8>(), 0..50),
        random in any::<[u8; 16]>(),
        units in any::<u64>(),
        left in 10..=900_i64,
        in_other_field in any::<bool>(),
        description in prop::option::of("[ -~]{0,100}"),
        secret in prop::collection::vec(any::<u8>(), 32..100),
        key in 1..=u64::MAX,
    ) {
        let offer = Offer { amount: Amount::new(units), ..offer() };
        let terms = Terms::new(resource(), vec![offer.clone()]).unwrap();
        let issuer = Issuer::new("api.pages.test", &secret, &[]).unwrap();
        let field = if in_other_field { CredentialField::PaymentAuthorization } else { CredentialField::Authorization };
        let request = PaidRequest::new(&route, &body);
        let description = description.as_deref();
        let new = NewChallenge { offer: &offer, request, field, random, expires_at: NOW + left, description };
        let challenge = issuer.issue(&new).unwrap();
        prop_assert!(challenge.www_authenticate.len() <= CHALLENGE_BYTES);
        prop_assert!(challenge.www_authenticate.bytes().all(|byte| (b' '..=b'~').contains(&byte)));

        let parameters = mpp_challenge(&challenge.www_authenticate).unwrap();
        prop_assert_eq!(&parameters["id"], &json!(challenge.id));
        prop_assert_eq!(parameters.get("description").and_then(Value::as_str), description);
        let mut secret_key = [0; 32];
        secret_key[24..].copy_from_slice(&key.to_be_bytes());
        let payer = EvmPayer::new(&secret_key).unwrap();
        let header = mpp_header(&payer.mpp_credential(&parameters, &Token::usdc(8453).unwrap()).unwrap());
        let answered = issuer.verify(Credential::parse(field, &header).unwrap()).unwrap();
        answered.check_request(&request, &terms).unwrap();
        let checked = answered.proof(&terms).unwrap().check(&terms, NOW).unwrap();
        prop_assert_eq!((checked.payer, checked.amount), (Address::Evm(payer.address), Amount::new(units)));
    }

    #[test]
    fn no_text_breaks_out_of_a_challenge(text in ".{0,60}") {
        let ours = offer();
        let new = NewChallenge {
            offer: &ours,
            request: PaidRequest::new(&text, text.as_bytes()),
            field: CredentialField::Authorization,
            random: [0; 16],
            expires_at: NOW,
            description: Some(&text),
        };
        let named = Issuer::new(&text, vector("secret").as_bytes(), &[]);
        for issuer in [Ok(issuer()), named].into_iter().flatten() {
            if let Ok(challenge) = issuer.issue(&new) {
                let parameters = mpp_challenge(&challenge.www_authenticate).unwrap();
                prop_assert_eq!(&parameters["description"], &json!(text));
            }
        }
    }

    #[test]
    fn receipts_read_back(reference in ".{0,80}", challenge_id in ".{0,60}", chain_id in any::<u64>(), settled_at in 0..4_000_000_000_i64) {
        let receipt = PaymentReceipt { reference, challenge_id, chain_id, settled_at };
        prop_assert_eq!(PaymentReceipt::parse(&receipt.header()), Some(receipt));
    }
}
