//! A lifetime in hours as JSON bodies send it: a number, or a text such as `never`. Null means the same as `never` and is the
//! caller's to interpret.

use dropleaf_core::expiry::Lifetime;
use dropleaf_core::{Error, Result};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde_json::Number;
use std::fmt;

const EXPECTED: &str = "a number of hours, null or \"never\"";

/// The value of `expires_in_hours`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum Hours {
    Number(Number),
    Text(String),
}

impl Hours {
    /// The lifetime, if the only text accepted is `never`.
    pub(in crate::http) fn lifetime(self) -> Result<Lifetime> {
        match self {
            Self::Text(text) if text == "never" => Ok(Lifetime::Never),
            Self::Number(number) => Lifetime::from_hours(number.as_f64().unwrap_or(f64::NAN)),
            Self::Text(_) => Err(Error::field("expires_in_hours", format!("must be {EXPECTED}"))),
        }
    }

    /// As a form sends it.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

struct HoursVisitor;

impl Visitor<'_> for HoursVisitor {
    type Value = Hours;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Hours, E> {
        Ok(Hours::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Hours, E> {
        let number = Number::from_f64(number);
        number.map(Hours::Number).ok_or_else(|| E::custom(format_args!("must be {EXPECTED}")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Hours, E> {
        Ok(Hours::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HoursVisitor)
    }
}
