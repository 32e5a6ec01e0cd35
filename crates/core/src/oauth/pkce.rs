//! Proof Key for Code Exchange (RFC 7636), with `S256` only.

use crate::secret;

/// Whether the text has the form of a challenge: a SHA-256 hash in base64url.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && secret::bytes(text).is_some_and(|hash| hash.len() == 32)
}

/// Whether the verifier is well formed and matches the challenge.
pub fn is_proved(verifier: &str, challenge: &str) -> bool {
    let unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(unreserved)
        && secret::text(&secret::hash(verifier)) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_rfc_holds() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_challenge(challenge));
        assert!(is_proved("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge));
        assert!(!is_proved("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl", challenge));
    }

    #[test]
    fn what_is_too_short_or_strange_proves_nothing() {
        let short = "a".repeat(42);
        assert!(!is_proved(&short, &secret::text(&secret::hash(&short))));
        let strange = format!("{}!", "a".repeat(43));
        assert!(!is_proved(&strange, &secret::text(&secret::hash(&strange))));
        let long = "a".repeat(129);
        assert!(!is_proved(&long, &secret::text(&secret::hash(&long))));
        for bad in ["", "plain", &"=".repeat(43), &"a".repeat(44), &"+".repeat(43)] {
            assert!(!is_challenge(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_verifier_proves_its_own_challenge_and_no_other(a in "[A-Za-z0-9._~-]{43,128}", b in "[A-Za-z0-9._~-]{43,128}") {
            let challenge = secret::text(&secret::hash(&a));
            prop_assert!(is_challenge(&challenge));
            prop_assert!(is_proved(&a, &challenge));
            prop_assert_eq!(is_proved(&b, &challenge), a == b);
        }
    }
}
