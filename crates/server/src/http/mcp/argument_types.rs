//! Turns texts in the arguments of a tool call into the types that the tool's schema asks for, where only one reading is
//! possible. Anything else stays as it was sent, and the tool refuses it: a protection must never be guessed.

use crate::http::extract::check_values;
use dropleaf_core::{Error, Result, iso};
use serde_json::{Number, Value};

/// Turns a text into the type that the schema asks for, if only one reading is possible.
pub(super) fn coerce(name: &str, schema: Option<&Value>, value: &mut Value) -> Result<()> {
    let Some(schema) = schema else { return Ok(()) };
    let takes = |kind: &str| branches(schema).any(|branch| branch["type"] == kind);
    match value {
        Value::String(text) if !takes_text(schema, text) => {
            let text = text.trim();
            if takes("boolean") {
                if let Ok(flag) = text.to_ascii_lowercase().parse::<bool>() {
                    *value = flag.into();
                }
            } else if takes("integer") {
                if let Ok(number) = text.parse::<i64>() {
                    *value = number.into();
                } else if is_time(name) {
                    let why = "must be a time: epoch seconds, or ISO 8601 such as 2026-11-15T01:41:00Z";
                    *value = iso::parse_timestamp(text).ok_or_else(|| Error::field(name, why))?.into();
                }
            } else if takes("number") {
                if let Some(number) = decimal(text) {
                    *value = Value::Number(number);
                }
            } else if takes("array")
                && let Some(list) = list(text)?
            {
                *value = list;
            }
        }
        Value::Number(number) if takes("integer") && !number.is_i64() => {
            if let Some(whole) = whole(number) {
                *value = whole.into();
            }
        }
        _ => {}
    }
    Ok(())
}

/// The schema, or the alternatives that it consists of.
fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let alternatives = schema["anyOf"].as_array();
    let alone = alternatives.is_none().then_some(schema);
    alternatives.into_iter().flatten().chain(alone)
}

/// Whether the schema takes this text as it is.
fn takes_text(schema: &Value, text: &str) -> bool {
    branches(schema).any(|branch| {
        branch["type"] == "string"
            && branch["enum"].as_array().is_none_or(|words| words.iter().any(|word| word == text))
    })
}

/// Whether an integer argument is a time.
fn is_time(name: &str) -> bool {
    name == "before" || name.ends_with("_at")
}

/// A number in digits with at most one point; no sign, exponent or word such as `inf`.
fn decimal(text: &str) -> Option<Number> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    match text.parse::<i64>() {
        Ok(number) => Some(number.into()),
        Err(_) => Number::from_f64(text.parse().ok()?),
    }
}

/// The integer that a number such as `3.0` is.
fn whole(number: &Number) -> Option<i64> {
    let text = number.to_string();
    text.strip_suffix(".0")?.parse().ok()
}

/// A list that was sent as JSON text, with the limits of a message.
fn list(text: &str) -> Result<Option<Value>> {
    if !text.starts_with('[') {
        return Ok(None);
    }
    check_values(text.as_bytes())?;
    Ok(serde_json::from_str(text).ok().filter(Value::is_array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::Code;
    use serde_json::json;

    fn properties() -> Value {
        json!({
            "site": {"type": "string"}, "password": {"type": "string"}, "burn_after_read": {"type": "boolean"},
            "limit": {"type": "integer"}, "expires_at": {"type": "integer"},
            "expires_in_hours": {"anyOf": [{"type": "number"}, {"type": "string", "enum": ["never"]}, {"type": "null"}]},
            "edits": {"type": "array", "items": {"type": "object"}},
        })
    }

    fn coerced(sent: &Value) -> Result<Value> {
        let mut done = sent.clone();
        for (name, value) in done.as_object_mut().unwrap() {
            coerce(name, properties().get(name), value)?;
        }
        Ok(done)
    }

    #[test]
    fn texts_become_what_the_schema_asks_for_if_there_is_no_doubt() {
        let sent = json!({
            "burn_after_read": "True", "limit": "3", "expires_at": "2026-11-15T01:41:00Z", "expires_in_hours": "24",
        });
        let done = coerced(&sent).unwrap();
        let expected = json!({
            "burn_after_read": true, "limit": 3, "expires_at": 1_794_706_860, "expires_in_hours": 24,
        });
        assert_eq!(done, expected);
        assert_eq!(coerced(&json!({"limit": 3.0})).unwrap(), json!({"limit": 3}));
        assert_eq!(coerced(&json!({"expires_in_hours": "1.5"})).unwrap()["expires_in_hours"], 1.5);
        // Left to the tool, which refuses them.
        for same in [
            json!({"burn_after_read": "maybe"}),
            json!({"burn_after_read": "1"}),
            json!({"burn_after_read": 1}),
            json!({"limit": "three"}),
            json!({"limit": 3.5}),
            json!({"expires_in_hours": "soon"}),
            json!({"expires_in_hours": "-1"}),
            json!({"expires_in_hours": "never"}),
            json!({"expires_in_hours": null}),
            json!({"password": 1234}),
            json!({"password": "true"}),
            json!({"site": "3"}),
        ] {
            assert_eq!(coerced(&same).unwrap(), same);
        }
        for time in ["tomorrow", "2026-11-15T01:41:00", "2026-02-30"] {
            let error = coerced(&json!({"expires_at": time})).unwrap_err();
            assert!(error.detail.contains("must be a time"), "{}", error.detail);
        }
    }

    #[test]
    fn list_may_be_text_but_not_a_bomb() {
        assert_eq!(coerced(&json!({"edits": " [{\"a\": 1}]"})).unwrap(), json!({"edits": [{"a": 1}]}));
        for same in [json!({"edits": "a"}), json!({"edits": "{\"a\": 1}"}), json!({"edits": "[1"})] {
            assert_eq!(coerced(&same).unwrap(), same);
        }
        let many = format!("[{}0]", "0,".repeat(1_000_000));
        assert_eq!(coerced(&json!({ "edits": many })).unwrap_err().code, Code::TooLarge);
    }
}
