//! Reads members of a mandate's JSON. A member of the wrong kind is refused; which values are acceptable is left to the caller.

use serde_json::{Map, Value};

use super::refusal::MandateRefusal;
use crate::json;
use crate::refusal::Refusal;

pub(crate) type Object = Map<String, Value>;

/// Parses JSON from a token. `otherwise` is the refusal of text that is not JSON.
pub(crate) fn parse(bytes: &[u8], otherwise: MandateRefusal) -> Result<Value, MandateRefusal> {
    let text = str::from_utf8(bytes).map_err(|_| otherwise)?;
    json::value(text).map_err(|fault| match fault {
        Refusal::TooDeep => MandateRefusal::TooDeep,
        Refusal::DuplicateMember => MandateRefusal::DuplicateMember,
        _ => otherwise,
    })
}

/// A member that may be absent. Null counts as absent, because some serializers write it for fields without a value.
pub(crate) fn optional<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// A member that must be a string with at least one character, so that an empty claim never equals an empty expectation.
pub(crate) fn text<'a>(object: &'a Object, name: &str) -> Result<&'a str, MandateRefusal> {
    let text = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or(MandateRefusal::MalformedMember)
}

/// A member that must be an object.
pub(crate) fn object<'a>(object: &'a Object, name: &str) -> Result<&'a Object, MandateRefusal> {
    object.get(name).and_then(Value::as_object).ok_or(MandateRefusal::MalformedMember)
}

/// A member that must be an array.
pub(crate) fn array<'a>(object: &'a Object, name: &str) -> Result<&'a [Value], MandateRefusal> {
    object.get(name).and_then(Value::as_array).map(Vec::as_slice).ok_or(MandateRefusal::MalformedMember)
}

/// A member that must be a whole number, not negative; 100.0 is not one.
pub(crate) fn whole_number(object: &Object, name: &str) -> Result<u64, MandateRefusal> {
    object.get(name).and_then(Value::as_u64).ok_or(MandateRefusal::MalformedMember)
}
