//! The token of a request that the server sends to itself through its public address. It is signed with the server's secret,
//! valid for minutes and used once, so nobody else can learn how requests arrive. The proof in the response shows that a
//! server with the same secret wrote it.

use crate::secret::{self, Keys};

const ASKS: &str = "self_check";
const ANSWERS: &str = "self_check_answer";
/// Clocks of nodes may differ a little.
const VALID_SECONDS: i64 = 300;
const NONCE_CHARS: usize = 64;

/// The header that carries the token.
pub const TOKEN_HEADER: &str = "dropleaf-self-check";
/// Where the request goes; without a valid token there is nothing at this path.
pub const PATH: &str = "/.well-known/dropleaf-self-check";

/// `nonce` must be random and new.
pub fn issue(keys: &Keys, nonce: &str, now: i64) -> String {
    let mac = keys.mac(ASKS, message(nonce, now).as_bytes());
    format!("{now}.{nonce}.{}", secret::text(&mac))
}

/// The nonce of a valid token.
pub fn verify<'a>(keys: &Keys, token: &'a str, now: i64) -> Option<&'a str> {
    let (at, rest) = token.split_once('.')?;
    let (nonce, mac) = rest.split_once('.')?;
    let at: i64 = at.parse().ok()?;
    let is_plain =
        nonce.len() <= NONCE_CHARS && nonce.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let is_current = now.checked_sub(at).is_some_and(|age| age.abs() <= VALID_SECONDS);
    let is_ours =
        || keys.verify(ASKS, message(nonce, at).as_bytes(), &secret::bytes(mac).unwrap_or_default());
    (is_plain && is_current && is_ours()).then_some(nonce)
}

/// Shows that the response was written with the same secret.
pub fn proof(keys: &Keys, nonce: &str) -> String {
    secret::text(&keys.mac(ANSWERS, nonce.as_bytes()))
}

pub fn is_proof(keys: &Keys, nonce: &str, proof: &str) -> bool {
    secret::bytes(proof).is_some_and(|mac| keys.verify(ANSWERS, nonce.as_bytes(), &mac))
}

fn message(nonce: &str, at: i64) -> String {
    format!("{at}.{nonce}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_minutes_with_the_same_secret_and_untouched() {
        let keys = Keys::new([1; 32]);
        let token = issue(&keys, "abc-1", 1000);
        assert_eq!(verify(&keys, &token, 1000), Some("abc-1"));
        assert_eq!(verify(&keys, &token, 1300), Some("abc-1"));
        assert_eq!(verify(&keys, &token, 700), Some("abc-1"));
        assert_eq!(verify(&keys, &token, 1301), None);
        assert_eq!(verify(&keys, &token, i64::MIN), None);
        assert_eq!(verify(&Keys::new([2; 32]), &token, 1000), None);
        for bad in [
            token.replace("abc", "abd"),
            token.replace("1000", "1001"),
            String::new(),
            "1000.abc-1.".into(),
            "..".into(),
        ] {
            assert_eq!(verify(&keys, &bad, 1000), None, "{bad}");
        }
    }

    #[test]
    fn a_token_does_not_prove_an_answer() {
        let keys = Keys::new([1; 32]);
        let proof = proof(&keys, "abc");
        assert!(is_proof(&keys, "abc", &proof));
        assert!(!is_proof(&keys, "abd", &proof) && !is_proof(&Keys::new([2; 32]), "abc", &proof));
        let token = issue(&keys, "abc", 1000);
        assert!(!is_proof(&keys, "abc", token.rsplit('.').next().unwrap()));
    }
}
