//! Signatures of Standard Webhooks: HMAC-SHA256 of `id.timestamp.body` under a secret `whsec_…`. While a secret is being
//! replaced, a message carries a signature for each.

use crate::base64;
use crate::minter::Minter;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

pub const SECRET_PREFIX: &str = "whsec_";
/// How far the clock of a receiver may differ from the timestamp of a message.
pub const TOLERANCE_SECONDS: i64 = 300;
const KEY_BYTES: usize = 32;

/// The key of an endpoint. It is printed only on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Secret {
    pub fn new(minter: &Minter) -> Self {
        Self(minter.bytes::<KEY_BYTES>().to_vec())
    }

    /// A stored key; see [`Secret::bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Parses `whsec_…`, with keys of 24 to 64 bytes as the standard says.
    pub fn parse(text: &str) -> Option<Self> {
        let key = base64::decode(text.strip_prefix(SECRET_PREFIX)?)?;
        (24..=64).contains(&key.len()).then_some(Self(key))
    }

    /// The form that the owner gets, once.
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", base64::encode(&self.0))
    }

    fn mac(&self, id: &str, timestamp: i64, body: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .unwrap_or_else(|_| unreachable!("any key length will do"));
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body.as_bytes());
        mac
    }

    fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        format!("v1,{}", base64::encode(&self.mac(id, timestamp, body).finalize().into_bytes()))
    }
}

/// The `webhook-signature` header: one signature for each secret.
pub fn signature_header<'a>(
    secrets: impl IntoIterator<Item = &'a Secret>,
    id: &str,
    timestamp: i64,
    body: &str,
) -> String {
    let all: Vec<String> = secrets.into_iter().map(|secret| secret.sign(id, timestamp, body)).collect();
    all.join(" ")
}

/// Whether one of the signatures is right and the message is not old, in constant time for each signature.
pub fn verify(secret: &Secret, header: &str, id: &str, timestamp: i64, body: &str, now: i64) -> bool {
    let is_recent = now.abs_diff(timestamp) <= TOLERANCE_SECONDS.unsigned_abs();
    let is_right = |signature: &str| {
        let mac = signature.strip_prefix("v1,").and_then(base64::decode);
        mac.is_some_and(|mac| secret.mac(id, timestamp, body).verify_slice(&mac).is_ok())
    };
    is_recent && header.split(' ').any(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The published vector of Standard Webhooks, which its npm package 1.1.1 produces too.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &str = r#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn signatures_match_the_published_vector() {
        let secret = Secret::parse(SECRET).unwrap();
        assert_eq!(signature_header([&secret], ID, AT, BODY), SIGNATURE);
        // Made with the npm package.
        let other = Secret::from_bytes(b"0123456789abcdef0123456789abcdef");
        let expected = "v1,Npn1T5siKqyz6yGJ3SMl4aXaSu8Rhg1jEdslqtz5hIw=";
        let body = r#"{"type":"webhook.test"}"#;
        assert_eq!(signature_header([&other], "evt_1", 1_794_706_860, body), expected);
    }

    #[test]
    fn during_a_rotation_both_secrets_verify() {
        let minter = Minter::seeded(1);
        let (old, new) = (Secret::new(&minter), Secret::new(&minter));
        let header = signature_header([&new, &old], ID, AT, BODY);
        assert_eq!(header.split(' ').count(), 2);
        for secret in [&old, &new] {
            assert!(verify(secret, &header, ID, AT, BODY, AT + 300));
        }
        assert!(!verify(&Secret::new(&minter), &header, ID, AT, BODY, AT));
    }

    #[test]
    fn anything_that_was_changed_does_not_verify() {
        let secret = Secret::parse(SECRET).unwrap();
        assert!(verify(&secret, SIGNATURE, ID, AT, BODY, AT));
        for (header, id, at, body, now) in [
            (SIGNATURE, "msg_x", AT, BODY, AT),
            (SIGNATURE, ID, AT + 1, BODY, AT),
            (SIGNATURE, ID, AT, "{}", AT),
            (SIGNATURE, ID, AT, BODY, AT + 301),
            (SIGNATURE, ID, AT, BODY, AT - 301),
            ("v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", ID, AT, BODY, AT),
            ("v1,AAAA", ID, AT, BODY, AT),
            ("", ID, AT, BODY, AT),
        ] {
            assert!(!verify(&secret, header, id, at, body, now), "{header} {id} {at} {body} {now}");
        }
    }

    #[test]
    fn secrets_have_one_spelling_and_are_not_printed() {
        let secret = Secret::new(&Minter::seeded(2));
        assert_eq!(Secret::parse(&secret.reveal()), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(&secret.reveal()[6..20]));
        for bad in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"] {
            assert_eq!(Secret::parse(bad), None, "{bad}");
        }
    }
}
