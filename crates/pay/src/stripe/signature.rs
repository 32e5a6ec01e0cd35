//! Signs webhooks and verifies their signatures: `Stripe-Signature: t=<seconds>,v1=<hex>,…`, an HMAC-SHA256 over the time and
//! the raw body. Recognising events that were already received is left to the caller.

use dropleaf_core::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::amount::is_plain_decimal;

/// How far the time of a signature may be from ours.
pub const TOLERANCE_SECONDS: u64 = 300;

/// A header holds one signature per secret in use, about 70 bytes each.
const HEADER_BYTES: usize = 2048;

/// Why a webhook was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignatureFault {
    /// The header is not a time and at least one `v1` signature.
    Malformed,
    /// No signature was made with one of our secrets.
    NoMatch,
    /// The signature is valid but too old or too far in the future.
    OutsideTolerance,
}

/// Verifies the signature of a raw body. While a secret is being replaced, the old and the new one are accepted.
pub fn verify_signature(header: &str, secrets: &[&str], body: &[u8], now: i64) -> Result<(), SignatureFault> {
    let (time, signatures) = parse(header).ok_or(SignatureFault::Malformed)?;
    // Anyone can sign with an empty secret, which is what a missing setting looks like.
    let mut secrets = secrets.iter().filter(|secret| !secret.trim().is_empty());
    let is_signed = secrets.any(|secret| {
        let mac = keyed(secret, time, body);
        signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok())
    });
    if !is_signed {
        return Err(SignatureFault::NoMatch);
    }
    let signed_at: i64 = time.parse().map_err(|_| SignatureFault::Malformed)?;
    if signed_at.abs_diff(now) > TOLERANCE_SECONDS {
        return Err(SignatureFault::OutsideTolerance);
    }
    Ok(())
}

/// The header `Stripe-Signature` for a body that is sent now.
pub fn sign(secret: &str, now: i64, body: &[u8]) -> String {
    let mac = keyed(secret, &now.to_string(), body).finalize().into_bytes();
    format!("t={now},v1={}", hex::encode(&mac))
}

/// The time as it was signed, and the `v1` signatures; other schemes are skipped.
fn parse(header: &str) -> Option<(&str, Vec<[u8; 32]>)> {
    if header.len() > HEADER_BYTES {
        return None;
    }
    let mut time = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=')? {
            ("t", value) if time.is_none() && is_plain_decimal(value) => time = Some(value),
            // Two times, or one that is not a number, leave open what was signed.
            ("t", _) => return None,
            ("v1", value) => signatures.extend(hex::digest(value)),
            _ => {}
        }
    }
    let time = time?;
    (!signatures.is_empty()).then_some((time, signatures))
}

fn keyed(secret: &str, time: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .unwrap_or_else(|_| unreachable!("any key length will do"));
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "whsec_test_secret";
    const BODY: &[u8] = br#"{"id":"evt_1","object":"event","type":"checkout.session.completed"}"#;
    const HEADER: &str = "t=1767225600,v1=006f546f500cf895dfa769439cf8127ca7cae350da4ced8d7f9823f53296d1aa";
    const NOW: i64 = 1_767_225_600;

    #[test]
    fn the_official_vector_is_made_and_accepted() {
        assert_eq!(sign(SECRET, NOW, BODY), HEADER);
        assert_eq!(verify_signature(HEADER, &[SECRET], BODY, NOW), Ok(()));
    }

    #[test]
    fn any_signature_by_any_of_our_secrets_will_do() {
        let other = sign("whsec_old", NOW, BODY);
        let (_, old) = other.split_once(',').unwrap();
        let both = format!("{HEADER},{old},v0={}", "0".repeat(64));
        for secrets in [&[SECRET][..], &["whsec_old"], &["whsec_new", SECRET], &["", "whsec_old"]] {
            assert_eq!(verify_signature(&both, secrets, BODY, NOW), Ok(()), "{secrets:?}");
        }
        assert_eq!(verify_signature(&both, &["whsec_new"], BODY, NOW), Err(SignatureFault::NoMatch));
        let spaced = HEADER.replace(',', ", ");
        assert_eq!(verify_signature(&spaced, &[SECRET], BODY, NOW), Ok(()));
    }

    #[test]
    fn without_a_secret_nothing_is_accepted() {
        let forged = sign("", NOW, BODY);
        let blank = sign("  ", NOW, BODY);
        assert_eq!(verify_signature(&forged, &[""], BODY, NOW), Err(SignatureFault::NoMatch));
        assert_eq!(verify_signature(&blank, &["  "], BODY, NOW), Err(SignatureFault::NoMatch));
        assert_eq!(verify_signature(&forged, &[], BODY, NOW), Err(SignatureFault::NoMatch));
    }

    #[test]
    fn five_minutes_of_difference_are_accepted_in_either_direction() {
        for (now, expected) in [
            (NOW + 300, Ok(())),
            (NOW - 300, Ok(())),
            (NOW + 301, Err(SignatureFault::OutsideTolerance)),
            (NOW - 301, Err(SignatureFault::OutsideTolerance)),
            (i64::MAX, Err(SignatureFault::OutsideTolerance)),
            (i64::MIN, Err(SignatureFault::OutsideTolerance)),
        ] {
            assert_eq!(verify_signature(HEADER, &[SECRET], BODY, now), expected, "{now}");
        }
    }

    #[test]
    fn another_body_time_or_scheme_does_not_match() {
        let later = HEADER.replace("1767225600", "1767225601");
        assert_eq!(verify_signature(&later, &[SECRET], BODY, NOW), Err(SignatureFault::NoMatch));
        assert_eq!(verify_signature(HEADER, &[SECRET], b"{}", NOW), Err(SignatureFault::NoMatch));
        for header in [
            "",
            "t=1767225600",
            "v1=00",
            &HEADER.replace("v1", "v0"),
            &HEADER.replace("t=", "t=0"),
            &HEADER.replace("t=", "t=+"),
            &HEADER.replace("t=1767225600", "t=x"),
            &format!("t=1,{HEADER}"),
            &HEADER.replace("aa", ""),
            &format!("{HEADER},{}", "x".repeat(HEADER_BYTES)),
        ] {
            assert_eq!(
                verify_signature(header, &[SECRET], BODY, NOW),
                Err(SignatureFault::Malformed),
                "{header}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_signed_is_accepted_and_a_changed_byte_is_not(
            secret in "[!-~]{1,40}", body in prop::collection::vec(any::<u8>(), 1..200),
            now in 0..i64::MAX, at in any::<prop::sample::Index>(), with in 1..=255_u8,
        ) {
            let header = sign(&secret, now, &body);
            prop_assert_eq!(verify_signature(&header, &[&secret], &body, now), Ok(()));
            let mut bent = body;
            let at = at.index(bent.len());
            bent[at] ^= with;
            prop_assert_eq!(verify_signature(&header, &[&secret], &bent, now), Err(SignatureFault::NoMatch));
        }

        #[test]
        fn any_header_is_read_or_refused(header in ".{0,300}", now in any::<i64>()) {
            prop_assert!(verify_signature(&header, &[SECRET], BODY, now).is_err());
            let header = format!("t={now},v1={header}");
            prop_assert!(verify_signature(&header, &[SECRET], BODY, now).is_err());
        }
    }
}
