//! One signed token in compact form (RFC 7515, RFC 7519). Whose key must have signed it is left to the caller.

use serde_json::Value;

use super::digest;
use super::json_member::{self, Object};
use super::jwk::{ALGORITHM, PublicKey};
use super::refusal::MandateRefusal;

/// A well-formed token that names ES256, not yet verified.
#[derive(Clone, PartialEq)]
pub(crate) struct Jwt {
    header: Object,
    pub(crate) claims: Object,
    signed: String,
    signature: Vec<u8>,
    /// The hash of the whole token, signature included.
    pub(crate) hash: String,
}

impl Jwt {
    pub(crate) fn parse(text: &str) -> Result<Self, MandateRefusal> {
        let (signed, signature) = text.rsplit_once('.').ok_or(MandateRefusal::MalformedToken)?;
        let (header, claims) = signed.split_once('.').ok_or(MandateRefusal::MalformedToken)?;
        let header = read_object(header)?;
        if header.get("alg").and_then(Value::as_str) != Some(ALGORITHM) {
            return Err(MandateRefusal::WrongAlgorithm);
        }
        // Extensions that must be understood, and none is.
        if header.contains_key("crit") {
            return Err(MandateRefusal::UnsupportedHeader);
        }
        Ok(Self {
            header,
            claims: read_object(claims)?,
            signed: signed.to_owned(),
            signature: digest::decode(signature).ok_or(MandateRefusal::MalformedToken)?,
            hash: digest::hash(text),
        })
    }

    /// The media type in the header.
    pub(crate) fn typ(&self) -> Option<&str> {
        self.header.get("typ").and_then(Value::as_str)
    }

    /// The id of the signing key in the header.
    pub(crate) fn kid(&self) -> Option<&str> {
        self.header.get("kid").and_then(Value::as_str)
    }

    pub(crate) fn verify(&self, key: &PublicKey) -> Result<(), MandateRefusal> {
        if key.verifies(&self.signed, &self.signature) {
            Ok(())
        } else {
            Err(MandateRefusal::InvalidSignature)
        }
    }

    /// Whether the token was made for this verifier and this request. An `aud` with several audiences is refused, because each
    /// of them could present the token to the others.
    pub(crate) fn check_recipient(&self, audience: &str, nonce: &str) -> Result<(), MandateRefusal> {
        if json_member::text(&self.claims, "aud") != Ok(audience) {
            return Err(MandateRefusal::AudienceMismatch);
        }
        if json_member::text(&self.claims, "nonce") != Ok(nonce) {
            return Err(MandateRefusal::NonceMismatch);
        }
        Ok(())
    }
}

fn read_object(part: &str) -> Result<Object, MandateRefusal> {
    let bytes = digest::decode(part).ok_or(MandateRefusal::MalformedToken)?;
    match json_member::parse(&bytes, MandateRefusal::MalformedToken)? {
        Value::Object(object) => Ok(object),
        _ => Err(MandateRefusal::MalformedToken),
    }
}
