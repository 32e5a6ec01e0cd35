//! Ids of the processor's objects.

use std::fmt;

use super::token;

const LONGEST: usize = 255;

/// The id of an object at the processor, such as `cs_…` or `pi_…`: letters, digits and underscores, so it is safe in paths and
/// logs. Prefixes are not checked, because the processor does not promise them (a charge is `ch_…` or `py_…`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(String);

impl ObjectId {
    /// A shared payment token is refused: it is a secret, and ids are not.
    pub fn parse(text: &str) -> Option<Self> {
        (is_id(text) && !text.starts_with(token::PREFIX)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the text has the form of an id, secret or not.
pub(super) fn is_id(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_in_a_path() {
        for text in ["cs_test_a1B2", "pi_3", "py_1", "x"] {
            assert_eq!(ObjectId::parse(text).unwrap().as_str(), text);
        }
        let long = "a".repeat(256);
        for text in ["", "cs/../x", "cs_1?x", "cs_1 ", "cs_é", "cs-1", "spt_123", &long] {
            assert_eq!(ObjectId::parse(text), None, "{text}");
        }
    }
}
