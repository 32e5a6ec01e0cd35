//! A P-256 public key as a JSON Web Key (RFC 7517), and verification of ES256 signatures with it.

use std::fmt;

use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use serde_json::Value;

use super::digest;
use super::json_member::Object;

/// The only signature algorithm that is accepted. It is fixed here and never taken from a token or key.
pub(crate) const ALGORITHM: &str = "ES256";

/// A point on the curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PublicKey(VerifyingKey);

/// What is wrong with a key, or with a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwkFault {
    NotJson,
    PrivateKey,
    WrongType,
    WrongUse,
    InvalidCoordinate,
    NotOnCurve,
    KidMissing,
    KidRepeated,
}

impl PublicKey {
    /// Reads a key that may verify ES256 signatures.
    pub(crate) fn read(jwk: &Object) -> Result<Self, JwkFault> {
        let text = |name| jwk.get(name).and_then(Value::as_str);
        if jwk.contains_key("d") {
            return Err(JwkFault::PrivateKey);
        }
        if text("kty") != Some("EC") || text("crv") != Some("P-256") {
            return Err(JwkFault::WrongType);
        }
        let may_verify = |operations: &Value| {
            operations.as_array().is_some_and(|names| names.iter().any(|name| name == "verify"))
        };
        if jwk.get("alg").is_some_and(|name| name != ALGORITHM)
            || jwk.get("use").is_some_and(|name| name != "sig")
            || jwk.get("key_ops").is_some_and(|operations| !may_verify(operations))
        {
            return Err(JwkFault::WrongUse);
        }
        let coordinate = |name| {
            let bytes = text(name).and_then(digest::decode).filter(|bytes| bytes.len() == 32);
            bytes.ok_or(JwkFault::InvalidCoordinate)
        };
        // 4 introduces the uncompressed form of a point.
        let point = [vec![4], coordinate("x")?, coordinate("y")?].concat();
        VerifyingKey::from_sec1_bytes(&point).map(Self).map_err(|_| JwkFault::NotOnCurve)
    }

    /// Whether `r || s` signs the message. Both halves of the range of `s` are accepted, because JOSE libraries do not normalize
    /// it: anyone can turn a valid signature into a second one, so a token's hash alone does not make it single-use.
    pub(crate) fn verifies(&self, message: &str, signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|it| self.0.verify(message.as_bytes(), &it).is_ok())
    }
}

impl JwkFault {
    /// The message for the operator who configures the key.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NotJson => "The key is not a JSON object without duplicate members.",
            Self::PrivateKey => "The key contains the private member d. Configure only the public key.",
            Self::WrongType => "The key must have kty EC and crv P-256.",
            Self::WrongUse => "The key is not meant for ES256 signatures: check alg, use and key_ops.",
            Self::InvalidCoordinate => "x and y must be 32 bytes each, as base64url without padding.",
            Self::NotOnCurve => "x and y are not a point on P-256.",
            Self::KidMissing => "The key must have a kid, by which mandates name it.",
            Self::KidRepeated => "Two keys have the same kid.",
        }
    }
}

impl fmt::Display for JwkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for JwkFault {}
