//! The worked example: everything we write has the same bytes, and what its client sent is accepted.

use dropleaf_pay::mpp::{BodyDigest, CredentialField, NewChallenge, PaidRequest};
use dropleaf_pay::payer::{mpp_challenge, mpp_header};
use dropleaf_pay::{Address, Token, facilitator, sandbox};
use serde_json::{Value, json};

use super::attempt::{Attempt, EXPIRES, NOW, ROUTE, issuer, offer, payer, vector};

fn decoded(text: &str) -> String {
    String::from_utf8(data_encoding::BASE64URL_NOPAD.decode(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn the_challenge_is_issued_byte_for_byte() {
    let challenge = issuer()
        .issue(&NewChallenge {
            offer: &offer(),
            request: PaidRequest::new(ROUTE, vector("body").as_bytes()),
            field: CredentialField::Authorization,
            random: [0; 16],
            expires_at: EXPIRES,
            description: None,
        })
        .unwrap();
    assert_eq!(challenge.id, vector("id"));
    assert_eq!(challenge.www_authenticate, vector("www_authenticate"));
    let parameters = mpp_challenge(&challenge.www_authenticate).unwrap();
    for name in ["request", "opaque", "expires", "digest", "realm"] {
        assert_eq!(parameters[name], vector(name), "{name}");
    }
    assert_eq!(decoded(vector("request")), vector("reqJson"));
    assert_eq!(decoded(vector("opaque")), vector("opaqueJson"));
    assert_eq!(BodyDigest::of(vector("body").as_bytes()).to_string(), vector("digest"));
}

#[test]
fn the_test_wallet_answers_as_the_client_did() {
    let parameters = mpp_challenge(vector("www_authenticate")).unwrap();
    let credential = payer().mpp_credential(&parameters, &Token::usdc(8453).unwrap()).unwrap();
    assert_eq!(credential["payload"]["nonce"], vector("nonce"));
    assert_eq!(credential["payload"]["signature"], vector("signature"));
    assert_eq!(credential["payload"]["from"], vector("payer"));
    assert_eq!(credential, Attempt::good().credential);
    let attempt = Attempt { header: Some(mpp_header(&credential)), ..Attempt::good() };
    assert!(attempt.judge().is_ok());
}

#[test]
fn the_credential_is_accepted_and_settles_as_x402() {
    let attempt = Attempt { header: Some(vector("authorization").to_owned()), ..Attempt::good() };
    let checked = attempt.judge().unwrap();
    assert_eq!(checked.payer.to_string(), vector("payer"));
    assert!(checked.payer_is_eoa);
    assert_eq!((checked.offer.clone(), checked.valid_until), (offer(), EXPIRES));
    assert!(checked.key.as_str().ends_with(vector("nonce")));

    let body = facilitator::build_request(&checked, &attempt.terms());
    let sent: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(sent["paymentPayload"]["accepted"], offer().v2_json());
    assert_eq!(sent["paymentRequirements"], offer().v2_json());
    let authorization = json!({
        "from": vector("payer"), "to": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "value": "500000",
        "validAfter": "0", "validBefore": "1893456000", "nonce": vector("nonce"),
    });
    let payload = json!({ "signature": vector("signature"), "authorization": authorization });
    assert_eq!(sent["paymentPayload"]["payload"], payload);
    let fee_payer = crate::world::fee_payer();
    let transfer = sandbox::check_request(body.as_bytes(), fee_payer, NOW).unwrap();
    assert_eq!(transfer.key, checked.key);
    assert_eq!(checked.payer, Address::parse(vector("payer")).unwrap());
}
