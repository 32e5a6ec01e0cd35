//! Parses untrusted JSON, with a limit on nesting and without duplicate members, which two parsers could interpret differently.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

pub(crate) type Object = Map<String, Value>;

const DEPTH: usize = 16;

/// Parses text that must be one JSON object.
pub(crate) fn object(text: &str) -> Result<Object, Refusal> {
    match value(text)? {
        Value::Object(object) => Ok(object),
        _ => Err(Refusal::NotAnObject),
    }
}

/// Parses text that must be one JSON value of any kind.
pub(crate) fn value(text: &str) -> Result<Value, Refusal> {
    let fault = Cell::new(Refusal::NotJson);
    let mut reader = serde_json::Deserializer::from_str(text);
    let node = Node { depth: 0, fault: &fault };
    let value = node.deserialize(&mut reader).map_err(|_| fault.get())?;
    reader.end().map_err(|_| Refusal::NotJson)?;
    Ok(value)
}

/// A value at some depth. The cause of an error is returned through `fault`, because serde's error type cannot carry it.
#[derive(Clone, Copy)]
struct Node<'a> {
    depth: usize,
    fault: &'a Cell<Refusal>,
}

impl Node<'_> {
    fn below<E: Error>(self) -> Result<Self, E> {
        if self.depth >= DEPTH {
            self.fault.set(Refusal::TooDeep);
            return Err(E::custom("too deep"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(below)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let value = access.next_value_seed(below)?;
            if members.insert(name, value).is_some() {
                self.fault.set(Refusal::DuplicateMember);
                return Err(A::Error::custom("duplicate member"));
            }
        }
        Ok(Value::Object(members))
    }
}

/// A member that must be a string.
pub(crate) fn text<'a>(object: &'a Object, name: &str) -> Result<&'a str, Refusal> {
    object.get(name).and_then(Value::as_str).ok_or(Refusal::InvalidPayload)
}

/// A member that must be an object.
pub(crate) fn member<'a>(object: &'a Object, name: &str) -> Result<&'a Object, Refusal> {
    object.get(name).and_then(Value::as_object).ok_or(Refusal::InvalidPayload)
}

/// An object from `json!({…})`.
pub(crate) fn into_object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_whole() {
        let text = r#"{"a":[1,-2,0.5,null,true,"x"],"b":{"c":{}}}"#;
        assert_eq!(Value::Object(object(text).unwrap()).to_string(), text);
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        for (text, refusal) in [
            ("", Refusal::NotJson),
            ("{", Refusal::NotJson),
            ("{} {}", Refusal::NotJson),
            ("{\"a\":1e999}", Refusal::NotJson),
            ("null", Refusal::NotAnObject),
            ("[{}]", Refusal::NotAnObject),
            ("\"text\"", Refusal::NotAnObject),
            (r#"{"a":1,"a":1}"#, Refusal::DuplicateMember),
            (r#"{"a":{"b":1,"\u0062":2}}"#, Refusal::DuplicateMember),
        ] {
            assert_eq!(object(text), Err(refusal), "{text}");
        }
    }

    #[test]
    fn sixteen_levels_are_read_and_seventeen_are_not() {
        let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        assert!(object(&nested(16)).is_ok());
        assert_eq!(object(&nested(17)), Err(Refusal::TooDeep));
        assert_eq!(object(&nested(5000)), Err(Refusal::TooDeep));
        assert_eq!(object(&format!("{{\"a\":{}", "[".repeat(100_000))), Err(Refusal::TooDeep));
    }
}
