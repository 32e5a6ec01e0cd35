//! Challenges that are issued, and those that cannot be.

use dropleaf_pay::mpp::{
    CHALLENGE_BYTES, Challenge, ChallengeFault, CredentialField, Issuer, IssuerFault, NewChallenge,
    PaidRequest,
};
use dropleaf_pay::payer::mpp_challenge;
use dropleaf_pay::{Amount, Offer};

use super::attempt::{EXPIRES, issuer, offer};
use crate::world::solana_offer;

fn new(offer: &Offer) -> NewChallenge<'_> {
    NewChallenge {
        offer,
        request: PaidRequest::new("POST /publish", b"body"),
        field: CredentialField::Authorization,
        random: [1; 16],
        expires_at: EXPIRES,
        description: None,
    }
}

#[test]
fn everything_that_is_bound_changes_the_id() {
    let ours = offer();
    let dearer = Offer { amount: Amount::new(500_001), ..offer() };
    let changed = [
        new(&ours),
        new(&dearer),
        NewChallenge { request: PaidRequest::new("POST /provision", b"body"), ..new(&ours) },
        NewChallenge { request: PaidRequest::new("POST /publish", b"other"), ..new(&ours) },
        NewChallenge { request: PaidRequest::new("POST /publish", b""), ..new(&ours) },
        NewChallenge { field: CredentialField::PaymentAuthorization, ..new(&ours) },
        NewChallenge { random: [2; 16], ..new(&ours) },
        NewChallenge { expires_at: EXPIRES + 1, ..new(&ours) },
    ];
    let mut ids: Vec<String> = changed.iter().map(|new| issuer().issue(new).unwrap().id).collect();
    let other_secret = Issuer::new("api.host.example", &[7; 32], &[]).unwrap();
    ids.push(other_secret.issue(&new(&ours)).unwrap().id);
    let other_realm = Issuer::new("other.example", super::attempt::vector("secret").as_bytes(), &[]).unwrap();
    ids.push(other_realm.issue(&new(&ours)).unwrap().id);
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());

    let described = NewChallenge { description: Some("A page"), ..new(&ours) };
    assert_eq!(issuer().issue(&described).unwrap().id, ids[0], "the description is only for people");
}

#[test]
fn a_challenge_without_a_body_has_no_digest_and_may_name_a_header() {
    let ours = offer();
    let issue =
        |new: &NewChallenge<'_>| mpp_challenge(&issuer().issue(new).unwrap().www_authenticate).unwrap();
    assert!(issue(&new(&ours)).contains_key("digest") && !issue(&new(&ours)).contains_key("header"));
    let bare = NewChallenge {
        request: PaidRequest::new("POST /unlock?feature=a", b""),
        field: CredentialField::PaymentAuthorization,
        ..new(&ours)
    };
    let parameters = issue(&bare);
    assert!(!parameters.contains_key("digest"));
    assert_eq!(parameters["header"], "Payment-Authorization");
}

#[test]
fn quotes_are_escaped_and_line_breaks_refused() {
    let ours = offer();
    let describe = |text| issuer().issue(&NewChallenge { description: Some(text), ..new(&ours) });
    let odd = r#"Say "hi", id="x" \ and \" more"#;
    let Challenge { www_authenticate, .. } = describe(odd).unwrap();
    assert_eq!(mpp_challenge(&www_authenticate).unwrap()["description"], odd);
    for text in ["a\r\nSet-Cookie: b=c", "a\nb", "a\tb", "a\0", "é", "\u{7f}"] {
        assert_eq!(describe(text), Err(ChallengeFault::InvalidDescription), "{text:?}");
    }
    assert_eq!(describe(&"x".repeat(CHALLENGE_BYTES)), Err(ChallengeFault::TooLarge));
}

#[test]
fn what_cannot_be_settled_is_not_offered() {
    let (ours, solana) = (offer(), solana_offer());
    assert_eq!(issuer().issue(&new(&solana)), Err(ChallengeFault::OfferNotSupported));
    let only_v1 = Offer { v2: false, ..offer() };
    assert_eq!(issuer().issue(&new(&only_v1)), Err(ChallengeFault::OfferNotSupported));
    for expires_at in [i64::MIN, -1, 253_402_300_800, i64::MAX] {
        let fault = issuer().issue(&NewChallenge { expires_at, ..new(&ours) });
        assert_eq!(fault, Err(ChallengeFault::InvalidExpiry));
    }
    let long = "x".repeat(CHALLENGE_BYTES);
    let request = PaidRequest::new(&long, b"");
    assert_eq!(issuer().issue(&NewChallenge { request, ..new(&ours) }), Err(ChallengeFault::TooLarge));
}

#[test]
fn an_issuer_needs_a_realm_and_long_secrets() {
    for realm in ["", "a|b", "a\r\nb", "é", &"x".repeat(256)] {
        assert_eq!(Issuer::new(realm, &[7; 32], &[]).err(), Some(IssuerFault::InvalidRealm), "{realm}");
    }
    assert_eq!(Issuer::new("a", &[7; 31], &[]).err(), Some(IssuerFault::ShortSecret));
    assert_eq!(Issuer::new("a", &[7; 32], &[&[7; 31]]).err(), Some(IssuerFault::ShortSecret));
    let issuer = Issuer::new("a", b"0123456789abcdef0123456789abcdef", &[]).unwrap();
    assert_eq!(format!("{issuer:?}"), "Issuer { realm: \"a\", .. }");
}
