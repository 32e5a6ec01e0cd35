//! Credentials that are accepted although something about them is unusual, and payments that are found again.

use dropleaf_pay::mpp::{Credential, CredentialError, CredentialField, Issuer};
use dropleaf_pay::{Amount, Asset, EvmAddress, Network, Offer, Token};
use serde_json::json;

use super::attempt::{Attempt, EXPIRES, NOW, offer, payer, vector};

/// Changes a good attempt.
type Change = fn(&mut Attempt);

#[test]
fn other_spellings_of_the_same_credential_are_accepted() {
    let key = Attempt::good().judge().unwrap().key;
    let cases: [(&str, Change); 9] = [
        ("scheme in other case", |a| a.header = Some(a.header().replacen("Payment", "pAYMENT", 1))),
        ("several spaces", |a| a.header = Some(a.header().replacen(' ', "   ", 1))),
        ("no source", |a| a.remove("", "source")),
        ("source in lower case", |a| {
            a.credential["source"] = json!(a.credential["source"].as_str().unwrap().to_lowercase());
        }),
        ("addresses in lower case", |a| {
            for name in ["from", "to"] {
                *a.payload(name) = json!(a.payload(name).as_str().unwrap().to_lowercase());
            }
        }),
        ("description of the challenge", |a| *a.echo("description") = json!("A page")),
        // The draft says to ignore what is unknown.
        ("unknown members", |a| {
            *a.echo("more") = json!({ "amount": "1" });
            a.credential["more"] = json!([1]);
        }),
        ("v of 0 instead of 27", |a| {
            let text = a.payload("signature").as_str().unwrap().strip_suffix("1b").unwrap().to_owned();
            *a.payload("signature") = json!(format!("{text}00"));
        }),
        ("the last moment", |a| a.now = EXPIRES - 10),
    ];
    for (what, change) in cases {
        let mut attempt = Attempt::good();
        change(&mut attempt);
        assert_eq!(attempt.judge().map(|it| it.key).as_ref(), Ok(&key), "{what}");
    }
}

#[test]
fn a_request_without_a_body_is_paid_in_the_other_field() {
    let mut attempt = Attempt {
        route: "POST /unlock?feature=permanent",
        body: "",
        field: CredentialField::PaymentAuthorization,
        ..Attempt::good()
    };
    attempt.answer_anew();
    assert!(attempt.judge().unwrap().payer_is_eoa);
    assert_eq!(CredentialField::PaymentAuthorization.name(), "payment-authorization");
}

#[test]
fn challenges_of_a_former_secret_are_accepted() {
    let former = vector("secret").as_bytes();
    let rotated = Issuer::new(vector("realm"), &[7; 32], &[&[8; 32], former]).unwrap();
    let attempt = Attempt { issuer: rotated.clone(), ..Attempt::good() };
    assert!(attempt.judge().is_ok());
    let mut attempt = Attempt { issuer: rotated, ..Attempt::good() };
    attempt.answer_anew();
    assert!(attempt.judge().is_ok());
    assert!(Attempt { issuer: super::attempt::issuer(), ..attempt }.judge().is_err());
}

/// What the terms may have become since the payment.
fn later_offers() -> [Offer; 4] {
    let Asset::Evm { chain_id, token, pay_to } = offer().asset else { unreachable!() };
    let other = EvmAddress([9; 20]);
    let asset = |chain_id, token, pay_to| Offer { asset: Asset::Evm { chain_id, token, pay_to }, ..offer() };
    [
        Offer { amount: Amount::new(700_000), max_timeout_seconds: 60, ..offer() },
        asset(chain_id, token.clone(), other),
        asset(chain_id, Token { address: other, ..token }, pay_to),
        asset(84532, Token::usdc(84532).unwrap(), pay_to),
    ]
}

#[test]
fn a_payment_is_recognised_after_the_terms_have_changed() {
    let key = Attempt::good().judge().unwrap().key;
    for offer in later_offers() {
        let attempt = Attempt { offer, now: EXPIRES + 1000, route: "POST /other", ..Attempt::good() };
        let terms = attempt.terms();
        let credential = Credential::parse(attempt.field, &attempt.header()).unwrap();
        let proof = attempt.issuer.verify(credential).unwrap().proof(&terms).unwrap();
        let recognised = proof.recognise_beside(&terms).or_else(|| proof.recognise(&terms).ok()).unwrap();
        assert_eq!((recognised.key, recognised.payer_is_eoa), (key.clone(), true));
        // A proof that was only recognised buys nothing, even if the terms are not compared with the challenge.
        assert!(proof.check(&terms, NOW).is_err());
    }
}

#[test]
fn a_payment_is_recognised_after_the_host_has_changed_but_a_new_one_is_refused() {
    let moved = Issuer::new("moved.example.com", vector("secret").as_bytes(), &[]).unwrap();
    let attempt = Attempt { issuer: moved, ..Attempt::good() };
    let credential = Credential::parse(attempt.field, &attempt.header()).unwrap();
    let proof = attempt.issuer.verify(credential).unwrap().proof(&attempt.terms()).unwrap();
    let key = Attempt::good().judge().unwrap().key;
    assert_eq!(proof.recognise(&attempt.terms()).unwrap().key, key);
    assert_eq!(attempt.judge().unwrap_err(), CredentialError::UnknownChallenge);
}

#[test]
fn a_challenge_without_a_digest_leaves_the_body_open() {
    let mut attempt = Attempt { body: "", ..Attempt::good() };
    attempt.answer_anew();
    attempt.body = "{}";
    assert!(attempt.judge().is_ok());
}

#[test]
fn what_the_receipt_needs_is_at_hand() {
    let attempt = Attempt::good();
    let credential = Credential::parse(attempt.field, &attempt.header()).unwrap();
    let answered = attempt.issuer.verify(credential).unwrap();
    assert_eq!(answered.id(), vector("id"));
    assert_eq!(Network::Evm(answered.chain_id()), Network::BASE);
}

#[test]
fn credentials_stay_out_of_logs() {
    let attempt = Attempt::good();
    let credential = Credential::parse(attempt.field, &attempt.header()).unwrap();
    let answered = attempt.issuer.verify(credential.clone()).unwrap();
    let shown = format!("{credential:?} {answered:?}");
    let payer = payer().address.to_string();
    for hidden in [&vector("signature")[..20], vector("nonce"), vector("id"), &payer] {
        assert!(!shown.contains(hidden), "{shown}");
    }
}
