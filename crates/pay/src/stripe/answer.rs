//! Reads members of the processor's JSON. Its error messages are written for developers and may repeat what was sent, so only
//! codes are passed on.

use serde_json::Value;

use super::{Currency, Money, ObjectId};
use crate::json::{self, Object};

/// Answers and events are a few kilobytes long; longer ones are not read.
pub(super) const BODY_BYTES: usize = 256 * 1024;

const LONGEST_CODE: usize = 64;

/// Parses a body that is one JSON object.
pub(super) fn object(body: &[u8]) -> Option<Object> {
    if body.len() > BODY_BYTES {
        return None;
    }
    json::object(str::from_utf8(body).ok()?).ok()
}

/// A body that must be an object of this type, by its member `object`.
pub(super) fn is_a(object: &Object, kind: &str) -> bool {
    text(object, "object") == Some(kind)
}

pub(super) fn member<'a>(object: &'a Object, name: &str) -> Option<&'a Object> {
    json::member(object, name).ok()
}

pub(super) fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    json::text(object, name).ok()
}

pub(super) fn units(object: &Object, name: &str) -> Option<u64> {
    object.get(name).and_then(Value::as_u64)
}

pub(super) fn time(object: &Object, name: &str) -> Option<i64> {
    object.get(name).and_then(Value::as_i64)
}

/// An amount in the currency of the object.
pub(super) fn money(object: &Object, name: &str) -> Option<Money> {
    let currency = text(object, "currency").and_then(Currency::parse)?;
    Some(Money { minor_units: units(object, name)?, currency })
}

/// A reference to another object: its id, or the whole object where the account expands it.
pub(super) fn id(object: &Object, name: &str) -> Option<ObjectId> {
    match object.get(name)? {
        Value::String(text) => ObjectId::parse(text),
        Value::Object(expanded) => text(expanded, "id").and_then(ObjectId::parse),
        _ => None,
    }
}

/// A machine-readable code, if it looks like one.
pub(super) fn code(object: &Object, name: &str) -> Option<String> {
    let code = text(object, name)?;
    let clean = (1..=LONGEST_CODE).contains(&code.len())
        && code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    clean.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_bodies_and_other_texts_are_not_read() {
        let filled = |len: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(len - 8)).into_bytes();
        assert!(object(&filled(BODY_BYTES)).is_some());
        assert!(object(&filled(BODY_BYTES + 1)).is_none());
        for body in [&b""[..], b"null", b"[]", b"{", b"\xff", br#"{"a":1,"a":2}"#] {
            assert!(object(body).is_none());
        }
    }

    #[test]
    fn references_are_ids_or_whole_objects() {
        let object = json::into_object(json!({
            "plain": "pi_1", "whole": { "id": "pi_2" }, "none": null, "odd": 7, "bad": "p i", "empty": {},
        }));
        let read = |name| id(&object, name).map(|id| id.to_string());
        assert_eq!((read("plain").as_deref(), read("whole").as_deref()), (Some("pi_1"), Some("pi_2")));
        for name in ["none", "odd", "bad", "empty", "absent"] {
            assert_eq!(read(name), None, "{name}");
        }
    }

    #[test]
    fn codes_are_words_and_never_sentences() {
        let long = "a".repeat(65);
        let object = json::into_object(
            json!({ "a": "card_declined", "b": "No such token: spt_1", "c": "", "d": long }),
        );
        assert_eq!(code(&object, "a").as_deref(), Some("card_declined"));
        for name in ["b", "c", "d", "absent"] {
            assert_eq!(code(&object, name), None, "{name}");
        }
    }
}
