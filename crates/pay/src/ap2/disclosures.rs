//! Selective disclosure (RFC 9901): puts disclosed values in the place of their digests. Digests without a disclosure stay where
//! they are, so that readers can tell a hidden claim from an absent one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::digest;
use super::json_member::{self, Object};
use super::refusal::MandateRefusal;

/// The member that lists the digests of an object's hidden members.
const DIGESTS: &str = "_sd";
/// The only member of an array element that stands for a hidden one.
const ELEMENT: &str = "...";
const ALGORITHM: &str = "_sd_alg";

/// Nesting after resolution: disclosures may contain digests of other disclosures.
const DEPTH: usize = 16;

/// Whether an array element is hidden.
pub(crate) fn is_hidden(element: &Value) -> bool {
    element.get(ELEMENT).is_some()
}

/// Refuses an object with hidden members. The holder of a mandate chooses what to disclose, so what is hidden could be the very
/// limit that the user set.
pub(crate) fn fully_disclosed(object: &Object) -> Result<&Object, MandateRefusal> {
    if object.contains_key(DIGESTS) { Err(MandateRefusal::HiddenClaims) } else { Ok(object) }
}

/// Resolves the claims of a token. Each disclosure must belong to exactly one place.
pub(crate) fn resolve(mut claims: Object, disclosures: &[&str]) -> Result<Object, MandateRefusal> {
    match claims.remove(ALGORITHM) {
        None => {}
        Some(Value::String(name)) if name == "sha-256" => {}
        Some(_) => return Err(MandateRefusal::UnsupportedDigest),
    }
    let mut resolver = Resolver { unused: BTreeMap::new(), seen: BTreeSet::new() };
    for text in disclosures {
        if resolver.unused.insert(digest::hash(text), Disclosure::parse(text)?).is_some() {
            return Err(MandateRefusal::RepeatedDisclosure);
        }
    }
    let claims = resolver.object(claims, 0)?;
    if resolver.unused.is_empty() { Ok(claims) } else { Err(MandateRefusal::UnreferencedDisclosure) }
}

/// A disclosed member, or a disclosed array element, which has no name.
struct Disclosure {
    name: Option<String>,
    value: Value,
}

impl Disclosure {
    fn parse(text: &str) -> Result<Self, MandateRefusal> {
        let bytes = digest::decode(text).ok_or(MandateRefusal::MalformedDisclosure)?;
        let Value::Array(parts) = json_member::parse(&bytes, MandateRefusal::MalformedDisclosure)? else {
            return Err(MandateRefusal::MalformedDisclosure);
        };
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Value::String(_salt)), Some(value), None, None) => Ok(Self { name: None, value }),
            (Some(Value::String(_salt)), Some(Value::String(name)), Some(value), None) => {
                let is_reserved = [DIGESTS, ELEMENT, ALGORITHM].contains(&name.as_str());
                if is_reserved {
                    Err(MandateRefusal::MalformedDisclosure)
                } else {
                    Ok(Self { name: Some(name), value })
                }
            }
            _ => Err(MandateRefusal::MalformedDisclosure),
        }
    }
}

struct Resolver {
    unused: BTreeMap<String, Disclosure>,
    seen: BTreeSet<String>,
}

impl Resolver {
    fn value(&mut self, value: Value, depth: usize) -> Result<Value, MandateRefusal> {
        if depth > DEPTH {
            return Err(MandateRefusal::TooDeep);
        }
        match value {
            Value::Object(object) => self.object(object, depth).map(Value::Object),
            Value::Array(elements) => {
                let resolved = elements.into_iter().map(|element| self.element(element, depth + 1));
                resolved.collect::<Result<_, _>>().map(Value::Array)
            }
            plain => Ok(plain),
        }
    }

    fn object(&mut self, mut object: Object, depth: usize) -> Result<Object, MandateRefusal> {
        // Stands for an array element, so it has no meaning in an object.
        if object.contains_key(ELEMENT) {
            return Err(MandateRefusal::MalformedDisclosure);
        }
        let digests = match object.remove(DIGESTS) {
            None => Vec::new(),
            Some(Value::Array(digests)) => digests,
            Some(_) => return Err(MandateRefusal::MalformedDisclosure),
        };
        let mut resolved = Object::new();
        for (name, value) in object {
            resolved.insert(name, self.value(value, depth + 1)?);
        }
        let mut hidden = Vec::new();
        for digest in digests {
            match self.take(&digest)? {
                None => hidden.push(digest),
                Some(Disclosure { name: Some(name), value }) => {
                    let value = self.value(value, depth + 1)?;
                    if resolved.insert(name, value).is_some() {
                        return Err(MandateRefusal::DuplicateMember);
                    }
                }
                Some(Disclosure { name: None, .. }) => return Err(MandateRefusal::MalformedDisclosure),
            }
        }
        if !hidden.is_empty() {
            resolved.insert(DIGESTS.to_owned(), Value::Array(hidden));
        }
        Ok(resolved)
    }

    fn element(&mut self, element: Value, depth: usize) -> Result<Value, MandateRefusal> {
        let Some(digest) = element.get(ELEMENT) else { return self.value(element, depth) };
        if element.as_object().is_none_or(|object| object.len() != 1) {
            return Err(MandateRefusal::MalformedDisclosure);
        }
        match self.take(digest)? {
            None => Ok(element),
            Some(Disclosure { name: None, value }) => self.value(value, depth),
            Some(Disclosure { name: Some(_), .. }) => Err(MandateRefusal::MalformedDisclosure),
        }
    }

    /// The disclosure with this digest, unless it is hidden. A digest may occur only once, disclosed or not.
    fn take(&mut self, digest: &Value) -> Result<Option<Disclosure>, MandateRefusal> {
        let digest = digest.as_str().ok_or(MandateRefusal::MalformedDisclosure)?;
        if !self.seen.insert(digest.to_owned()) {
            return Err(MandateRefusal::RepeatedDisclosure);
        }
        Ok(self.unused.remove(digest))
    }
}

#[cfg(test)]
#[path = "disclosures_tests.rs"]
mod tests;
