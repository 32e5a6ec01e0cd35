//! The digest of a request body in the form of `Content-Digest` (RFC 9530), which ties a payment to what it pays for.

use std::fmt;

use dropleaf_core::base64;
use sha2::{Digest, Sha256};

/// The SHA-256 of a request body, displayed as `sha-256=:…:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyDigest([u8; 32]);

impl BodyDigest {
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

impl fmt::Display for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha-256=:{}:", base64::encode(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The first is the example of RFC 9530.
    #[test]
    fn digests_are_written_as_structured_fields() {
        for (body, text) in [
            ("{\"hello\": \"world\"}\n", "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"),
            ("", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
        ] {
            assert_eq!(BodyDigest::of(body.as_bytes()).to_string(), text);
        }
    }
}
