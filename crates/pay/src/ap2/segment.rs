//! One link of a chain: an SD-JWT that contains one mandate. Its place in the chain is checked by [`super::chain`].

use serde_json::Value;

use super::disclosures::{self, fully_disclosed, is_hidden};
use super::json_member::{self, Object};
use super::jwk::PublicKey;
use super::jwt::Jwt;
use super::refusal::MandateRefusal;
use super::{digest, validity};

/// A parsed link, not yet verified.
#[derive(Clone, PartialEq)]
pub(crate) struct Segment {
    pub(crate) jwt: Jwt,
    /// The one disclosed element of `delegate_payload`.
    pub(crate) mandate: Object,
    /// The hash of the token with its disclosures.
    sd_hash: String,
}

impl Segment {
    /// Parses `<token>~<disclosure>~<disclosure>`, without a `~` at the end.
    pub(crate) fn parse(text: &str) -> Result<Self, MandateRefusal> {
        let mut parts = text.split('~');
        let mut jwt = Jwt::parse(parts.next().unwrap_or_default())?;
        let disclosures: Vec<&str> = parts.collect();
        jwt.claims = disclosures::resolve(jwt.claims, &disclosures)?;
        fully_disclosed(&jwt.claims)?;
        let mandate = the_mandate(jwt.claims.remove("delegate_payload"))?;
        fully_disclosed(&mandate)?;
        Ok(Self { jwt, mandate, sd_hash: digest::hash(&format!("{text}~")) })
    }

    /// Whether the token names the link before it, by exactly one of two hashes.
    pub(crate) fn follows(&self, previous: &Self) -> Result<(), MandateRefusal> {
        let claims = &self.jwt.claims;
        let (named, expected) = match (claims.get("sd_hash"), claims.get("issuer_jwt_hash")) {
            (Some(named), None) => (named, &previous.sd_hash),
            (None, Some(named)) => (named, &previous.jwt.hash),
            _ => return Err(MandateRefusal::UnboundHop),
        };
        if named == expected.as_str() { Ok(()) } else { Err(MandateRefusal::HopMismatch) }
    }

    /// The key that must sign the next link.
    pub(crate) fn next_key(&self) -> Result<PublicKey, MandateRefusal> {
        let cnf = json_member::object(&self.mandate, "cnf").map_err(|_| MandateRefusal::KeyMissing)?;
        let jwk = json_member::object(cnf, "jwk").map_err(|_| MandateRefusal::KeyMissing)?;
        PublicKey::read(jwk).map_err(|_| MandateRefusal::InvalidKey)
    }

    /// Whether it names a key for a next link.
    pub(crate) fn has_next_key(&self) -> bool {
        [&self.mandate, &self.jwt.claims].iter().any(|it| it.contains_key("cnf"))
    }

    /// Checks the times of the token and of the mandate in it.
    pub(crate) fn check_times(&self, now: i64) -> Result<(), MandateRefusal> {
        validity::check(&self.jwt.claims, now)?;
        validity::check(&self.mandate, now)
    }

    pub(crate) fn check_type(&self, expected: &str) -> Result<(), MandateRefusal> {
        if json_member::text(&self.mandate, "vct") == Ok(expected) {
            Ok(())
        } else {
            Err(MandateRefusal::WrongMandateType)
        }
    }
}

/// A token may delegate several mandates, of which the holder discloses the one that is used.
fn the_mandate(delegated: Option<Value>) -> Result<Object, MandateRefusal> {
    let Some(Value::Array(elements)) = delegated else { return Err(MandateRefusal::MalformedMember) };
    let mut disclosed = elements.into_iter().filter(|element| !is_hidden(element));
    match (disclosed.next(), disclosed.next()) {
        (Some(Value::Object(mandate)), None) => Ok(mandate),
        _ => Err(MandateRefusal::MandateCount),
    }
}
