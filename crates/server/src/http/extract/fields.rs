//! Parses a JSON object into the struct that describes it, so that the names and types of its fields are written once.
//! A known field of the wrong type is an error; an unknown one is a warning, or an error if it looks like a protection.
//!
//! The type of a field says whether it may be left out or null:
//!
//! | Type | absent | null |
//! |---|---|---|
//! | `T` | "is required" | refused |
//! | `Option<T>` | `None` | refused |
//! | `Field<T>`, with [`nullable`] | `Absent` | `Null` |
//!
//! Aliases are fields of their own that [`agreed`] joins; `#[serde(alias)]` does not work, because each name is asked for.

use super::struct_fields::{FieldVisitor, NULLABLE, StructFields};
use dropleaf_core::site_change::Field;
use dropleaf_core::{Error, Result, lookalike};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::{Map, Value};

/// The fields of a JSON object. Structs take theirs; what no struct has taken is unknown.
#[derive(Debug)]
pub(in crate::http) struct Fields {
    rest: Map<String, Value>,
    /// The names of all structs that took their fields.
    known: Vec<&'static str>,
}

impl Fields {
    pub(in crate::http) const fn new(map: Map<String, Value>) -> Self {
        Self { rest: map, known: Vec::new() }
    }

    /// The text fields of a form. The first of several with the same name counts.
    pub(in crate::http) fn of_form(fields: Vec<(String, String)>) -> Self {
        Self::new(fields.into_iter().rev().map(|(name, text)| (name, Value::String(text))).collect())
    }

    /// Takes the fields of `T`. Several structs can share one object.
    pub(in crate::http) fn take<T: DeserializeOwned>(&mut self) -> Result<T> {
        T::deserialize(StructFields { object: &mut self.rest, known: &mut self.known }).map_err(Error::from)
    }

    /// Takes a list of at most `most` objects; an absent one is empty.
    pub(in crate::http) fn take_list(&mut self, name: &'static str, most: usize) -> Result<Vec<Self>> {
        self.known.push(name);
        let bad = || Error::field(name, "must be a list of objects");
        let items = match self.rest.remove(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(bad()),
        };
        if items.len() > most {
            return Err(Error::field(name, format!("has more than {most} entries")));
        }
        let object = |item| match item {
            Value::Object(map) => Ok(Self::new(map)),
            _ => Err(bad()),
        };
        items.into_iter().map(object).collect()
    }

    /// What has not been taken, as JSON, for the hash of a request.
    pub(in crate::http) fn to_text(&self) -> String {
        serde_json::to_string(&self.rest).unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> &[&'static str] {
        &self.known
    }

    /// A warning for each unknown field, for a request that changes a page. A field that looks like a protection is
    /// refused, so call this before anything is changed.
    pub(in crate::http) fn unknown(&self) -> Result<Vec<String>> {
        lookalike::unknown_fields(self.rest.keys().map(String::as_str), &self.known)
    }

    /// A warning for each unknown field, for a request that sets no protections.
    pub(in crate::http) fn warnings(self) -> Vec<String> {
        let shown = |name: String| name.chars().filter(|c| !c.is_control()).take(60).collect::<String>();
        self.rest
            .into_iter()
            .take(32)
            .map(|(name, _)| format!("The unknown field `{}` was ignored.", shown(name)))
            .collect()
    }
}

/// For `#[serde(deserialize_with = "nullable")]`: a field for which absent and null differ, or may both be sent.
pub(in crate::http) fn nullable<'de, D, T>(deserializer: D) -> std::result::Result<Field<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_newtype_struct(NULLABLE, FieldVisitor::new())
}

/// The value of a field with an alias. If both are sent, they must be equal.
pub(in crate::http) fn agreed<T: PartialEq>(
    (name, value): (&str, Field<T>),
    (alias, other): (&str, Field<T>),
) -> Result<Field<T>> {
    if value.is_absent() {
        return Ok(other);
    }
    if !other.is_absent() && other != value {
        return Err(Error::field(alias, format!("conflicts with `{name}`: send only one of them")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    struct Body {
        #[serde(deserialize_with = "nullable")]
        a: Field<String>,
        #[serde(deserialize_with = "nullable")]
        b: Field<String>,
        #[serde(deserialize_with = "nullable")]
        c: Field<i64>,
        d: Option<bool>,
        #[serde(deserialize_with = "nullable")]
        z: Field<String>,
    }

    #[derive(Debug, Deserialize)]
    struct Required {
        text: String,
        number: i64,
        flag: bool,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it can be parsed matters")]
    struct Protected {
        password: Option<String>,
    }

    fn fields(text: &str) -> Fields {
        match serde_json::from_str(text).unwrap() {
            Value::Object(map) => Fields::new(map),
            _ => panic!("an object"),
        }
    }

    #[test]
    fn a_field_is_absent_null_or_a_value() {
        let mut f = fields(r#"{"a": null, "b": "x", "c": 5, "d": true}"#);
        let body: Body = f.take().unwrap();
        assert_eq!(body.a, Field::Null);
        assert_eq!(body.b, Field::Value("x".into()));
        assert_eq!(body.z, Field::Absent);
        assert_eq!(body.c, Field::Value(5));
        assert_eq!(body.d, Some(true));
        assert!(f.warnings().is_empty());
        let empty: Body = fields("{}").take().unwrap();
        assert_eq!((empty.c, empty.d), (Field::Absent, None));
    }

    #[test]
    fn two_names_of_one_thing_must_agree() {
        let value = |text: &str| Field::Value(text.to_owned());
        let agree = |slug, public| agreed(("slug", slug), ("public_slug", public));
        assert_eq!(agree(value("a"), value("a")).unwrap(), value("a"));
        assert_eq!(agree(Field::Absent, value("a")).unwrap(), value("a"));
        assert_eq!(agree(Field::Null, Field::Absent).unwrap(), Field::Null);
        for (slug, public) in [(value("a"), value("b")), (Field::Null, value("b"))] {
            let error = agree(slug, public).unwrap_err();
            assert!(error.detail.contains("`public_slug` conflicts with `slug`"), "{}", error.detail);
        }
    }

    #[test]
    fn wrong_types_are_errors_and_unknown_names_are_warnings() {
        let detail = |text: &str| fields(text).take::<Body>().unwrap_err().detail;
        assert_eq!(detail(r#"{"a": 1, "b": "x", "more": 1}"#), "`a` must be a string.");
        assert_eq!(detail(r#"{"a": ["x"]}"#), "`a` must be a string.");
        for bad in [r#""x""#, "1.5", "1e30", "{}", "true"] {
            assert_eq!(detail(&format!(r#"{{"c": {bad}}}"#)), "`c` must be an integer.");
        }
        for bad in [r#""true""#, "1", "null", "[]"] {
            assert_eq!(detail(&format!(r#"{{"d": {bad}}}"#)), "`d` must be true or false.");
        }
        let mut f = fields(r#"{"password": "x", "more": 1}"#);
        f.take::<Protected>().unwrap();
        assert_eq!(f.unknown().unwrap().len(), 1);
        assert_eq!(f.warnings().len(), 1);
        let mut f = fields(r#"{"Passcode": null}"#);
        f.take::<Protected>().unwrap();
        let error = f.unknown().unwrap_err();
        assert!(error.detail.contains("did you mean `password`?"), "{}", error.detail);
        let error = fields(r#"{"password": null}"#).take::<Protected>().unwrap_err();
        assert_eq!(error.detail, "`password` must be a string.");
    }

    #[test]
    fn a_field_that_is_not_optional_is_required() {
        let detail = |text: &str| fields(text).take::<Required>().unwrap_err().detail;
        assert_eq!(detail("{}"), "`text` is required.");
        assert_eq!(detail(r#"{"text": null}"#), "`text` must be a string.");
        assert_eq!(detail(r#"{"text": ""}"#), "`number` is required.");
        assert_eq!(detail(r#"{"text": "", "number": null}"#), "`number` is required.");
        assert_eq!(detail(r#"{"text": "", "number": 1, "flag": null}"#), "`flag` must be true or false.");
        let all: Required = fields(r#"{"text": "t", "number": -1, "flag": false}"#).take().unwrap();
        assert_eq!((all.text.as_str(), all.number, all.flag), ("t", -1, false));
    }
}
