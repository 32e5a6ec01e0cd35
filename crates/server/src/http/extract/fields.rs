//! Reads a JSON object field by field: a known field of the wrong type is an error; an unknown one is a warning, or an
//! error if it looks like a protection.

use dropleaf_core::expiry::Lifetime;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Error, Result, lookalike};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(in crate::http) struct Fields(Map<String, Value>);

impl Fields {
    pub(in crate::http) const fn new(map: Map<String, Value>) -> Self {
        Self(map)
    }

    fn take<T>(&mut self, name: &str, what: &str, read: impl FnOnce(Value) -> Option<T>) -> Result<Field<T>> {
        match self.0.remove(name) {
            None => Ok(Field::Absent),
            Some(Value::Null) => Ok(Field::Null),
            Some(value) => {
                read(value).map(Field::Value).ok_or_else(|| Error::field(name, format!("must be {what}")))
            }
        }
    }

    pub(in crate::http) fn text(&mut self, name: &str) -> Result<Field<String>> {
        self.take(name, "a string", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    /// A field with several names. Values under two of them must be equal.
    pub(in crate::http) fn text_of(&mut self, names: &[&str]) -> Result<Field<String>> {
        let mut found = Field::Absent;
        for name in names {
            let sent = self.text(name)?;
            if found.is_absent() {
                found = sent;
            } else if !sent.is_absent() && sent != found {
                let others = names.iter().filter(|other| *other != name).copied().collect::<Vec<_>>();
                let why = format!("conflicts with `{}`: send only one of them", others.join("` and `"));
                return Err(Error::field(name, why));
            }
        }
        Ok(found)
    }

    pub(in crate::http) fn int(&mut self, name: &str) -> Result<Field<i64>> {
        self.take(name, "an integer", |value| value.as_i64())
    }

    /// An optional integer; null counts as absent.
    pub(in crate::http) fn optional_int(&mut self, name: &str) -> Result<Option<i64>> {
        match self.int(name)? {
            Field::Value(n) => Ok(Some(n)),
            Field::Absent | Field::Null => Ok(None),
        }
    }

    pub(in crate::http) fn required_int(&mut self, name: &str) -> Result<i64> {
        self.optional_int(name)?.ok_or_else(|| Error::field(name, "is required"))
    }

    /// A number of hours, or `never`. Decisions §2.3.
    pub(in crate::http) fn hours(&mut self, name: &str) -> Result<Field<Lifetime>> {
        let sent = self.take(name, "a number of hours, null or \"never\"", |value| match value {
            Value::String(text) if text == "never" => Some(Ok(Lifetime::Never)),
            other => other.as_f64().map(Lifetime::from_hours),
        })?;
        Ok(match sent {
            Field::Value(lifetime) => Field::Value(lifetime?),
            Field::Null => Field::Null,
            Field::Absent => Field::Absent,
        })
    }

    /// The upload options as form fields, so that the same rules parse them.
    pub(in crate::http) fn upload_options(&mut self) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        for name in [
            "slug",
            "public_slug",
            "password",
            "visibility",
            "email_gate_domain",
            "allowed_email_domain",
            "title",
            "pii_check",
        ] {
            found.extend(self.optional_text(name)?.map(|text| (name.to_owned(), text)));
        }
        for name in ["burn_after_read", "csp_strict", "agentation", "spa", "e2e"] {
            found.extend(self.flag(name)?.map(|flag| (name.to_owned(), flag.to_string())));
        }
        let name = "expires_in_hours";
        let hours = self.take(name, "a number of hours, null or \"never\"", |value| match value {
            Value::String(text) => Some(text),
            Value::Number(hours) => Some(hours.to_string()),
            _ => None,
        })?;
        found.extend(match hours {
            Field::Value(hours) => Some((name.to_owned(), hours)),
            Field::Null => Some((name.to_owned(), "never".to_owned())),
            Field::Absent => None,
        });
        Ok(found)
    }

    /// Moves these fields into a new `Fields`.
    pub(in crate::http) fn split(&mut self, names: &[&str]) -> Self {
        Self(names.iter().filter_map(|name| self.0.remove_entry(*name)).collect())
    }

    pub(in crate::http) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// An optional boolean; null is an error.
    pub(in crate::http) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name, "true or false", |value| value.as_bool())? {
            Field::Value(flag) => Ok(Some(flag)),
            Field::Absent => Ok(None),
            Field::Null => Err(Error::field(name, "must be true or false")),
        }
    }

    /// An optional string; null is an error.
    pub(in crate::http) fn optional_text(&mut self, name: &str) -> Result<Option<String>> {
        match self.text(name)? {
            Field::Value(text) => Ok(Some(text)),
            Field::Absent => Ok(None),
            Field::Null => Err(Error::field(name, "must be a string")),
        }
    }

    pub(in crate::http) fn required_text(&mut self, name: &str) -> Result<String> {
        self.optional_text(name)?.ok_or_else(|| Error::field(name, "is required"))
    }

    /// A warning for each remaining field, for a request that changes a page. A field that looks like a protection is
    /// refused, so call this before anything is changed. `taken` are the fields that the request accepts.
    pub(in crate::http) fn unknown(&self, taken: &[&str]) -> Result<Vec<String>> {
        lookalike::unknown_fields(self.0.keys().map(String::as_str), taken)
    }

    /// A warning for each remaining field, for a request that sets no protections.
    pub(in crate::http) fn warnings(self) -> Vec<String> {
        let shown = |name: String| name.chars().filter(|c| !c.is_control()).take(60).collect::<String>();
        self.0
            .into_iter()
            .take(32)
            .map(|(name, _)| format!("The unknown field `{}` was ignored.", shown(name)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        match serde_json::from_str(text).unwrap() {
            Value::Object(map) => Fields::new(map),
            _ => panic!("an object"),
        }
    }

    #[test]
    fn a_field_is_absent_null_or_a_value() {
        let mut f = fields(r#"{"a": null, "b": "x", "c": 5, "d": true}"#);
        assert_eq!(f.text("a").unwrap(), Field::Null);
        assert_eq!(f.text("b").unwrap(), Field::Value("x".into()));
        assert_eq!(f.text("z").unwrap(), Field::Absent);
        assert_eq!(f.int("c").unwrap(), Field::Value(5));
        assert_eq!(f.flag("d").unwrap(), Some(true));
        assert!(f.warnings().is_empty());
    }

    #[test]
    fn two_names_of_one_thing_must_agree() {
        let names = ["slug", "public_slug"];
        let same = fields(r#"{"slug": "a", "public_slug": "a"}"#).text_of(&names).unwrap();
        assert_eq!(same, Field::Value("a".into()));
        for bad in [r#"{"slug": "a", "public_slug": "b"}"#, r#"{"slug": null, "public_slug": "b"}"#] {
            assert!(fields(bad).text_of(&names).is_err(), "{bad}");
        }
    }

    #[test]
    fn wrong_types_are_errors_and_unknown_names_are_warnings() {
        let mut f = fields(r#"{"a": 1, "b": "x", "more": 1}"#);
        assert!(f.text("a").is_err());
        assert!(f.int("b").is_err());
        assert_eq!(f.unknown(&["password"]).unwrap().len(), 1);
        assert_eq!(f.warnings().len(), 1);
        let error = fields(r#"{"Passcode": null}"#).unknown(&["password"]).unwrap_err();
        assert!(error.detail.contains("did you mean `password`?"), "{}", error.detail);
    }
}
