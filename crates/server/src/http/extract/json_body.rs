//! Limits the length of JSON bodies and their number of values, and parses objects.

use dropleaf_core::{Code, Error, Result};
use serde_json::{Map, Value};

/// JSON can take six bytes for one byte of text: `\u0041`.
const BYTES_PER_BYTE: u64 = 6;
/// Allowance for everything except the longest string.
const FRAME_BYTES: u64 = 64 * 1024;
/// A body up to this length may hold any number of values.
const SHORT_BYTES: usize = 256 * 1024;
/// Maximum number of values in a longer body; a string is one value, however long. A parsed value takes many times the
/// memory that it takes in the body.
const MOST_VALUES: usize = 10_000;

/// Length limit of a JSON body.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct JsonLimit {
    /// As sent, in bytes.
    pub raw: u64,
    /// With every escape counted as the bytes it decodes to.
    pub decoded: u64,
}

impl JsonLimit {
    /// For a body with a string of this many bytes, however it is escaped. The length of the decoded string is checked
    /// after parsing.
    pub(in crate::http) const fn of_text(bytes: u64) -> Self {
        Self {
            raw: bytes.saturating_mul(BYTES_PER_BYTE).saturating_add(FRAME_BYTES),
            decoded: bytes.saturating_add(FRAME_BYTES),
        }
    }

    /// The same limit, raised by `bytes`.
    pub(in crate::http) const fn plus(self, bytes: u64) -> Self {
        Self { raw: self.raw.saturating_add(bytes), decoded: self.decoded.saturating_add(bytes) }
    }

    /// Peak memory of a body of maximum length while it is parsed: the body itself and the values decoded from it.
    pub(in crate::http) const fn memory(self) -> u64 {
        self.raw.saturating_add(self.decoded)
    }
}

/// Parses a JSON object. An empty body counts as an empty object.
pub(in crate::http) fn json_object(bytes: &[u8]) -> Result<Map<String, Value>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    check_values(bytes)?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Error::new(Code::InvalidRequest, "The body must be a JSON object.")),
        Err(error) => Err(Error::new(Code::InvalidRequest, format!("The body is not valid JSON: {error}."))),
    }
}

/// Refuses a long body with too many values, before it is parsed.
pub(in crate::http) fn check_values(bytes: &[u8]) -> Result<()> {
    if bytes.len() <= SHORT_BYTES || values(bytes) <= MOST_VALUES {
        return Ok(());
    }
    let detail = format!("A body over {SHORT_BYTES} bytes can contain at most {MOST_VALUES} JSON values.");
    Err(Error::new(Code::TooLarge, detail))
}

/// An upper bound for the number of values and names: all but the first follow one of these characters.
fn values(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut escaped) = (1, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b':' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_one_value_whatever_is_in_it() {
        assert_eq!(values(br#"{"html": "a,b:[{\",\\"}"#), 3);
        assert_eq!(values(b"[1,2,[3],{}]"), 7);
    }

    #[test]
    fn a_long_body_is_one_text_and_not_many_values() {
        let text = json!({"html": ",".repeat(300_000)}).to_string();
        assert!(json_object(text.as_bytes()).is_ok());
        let many = json!({"html": "x", "more": vec![0; 200_000]}).to_string();
        assert_eq!(json_object(many.as_bytes()).unwrap_err().code, Code::TooLarge);
        let short = json!({"html": vec![0; 100_000]}).to_string();
        assert!(json_object(short.as_bytes()).is_ok(), "short enough to be taken apart");
    }

    #[test]
    fn every_text_fits_however_it_is_escaped() {
        let escaped = |text: &str| {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            format!("{{\"html\":\"{}\"}}", units.collect::<String>())
        };
        for text in ["a".repeat(100_000), "é".repeat(50_000), "漢".repeat(33_000), "😀".repeat(25_000)] {
            let body = escaped(&text);
            assert!(body.len() as u64 <= JsonLimit::of_text(text.len() as u64).raw);
            assert_eq!(json_object(body.as_bytes()).unwrap()["html"], text.as_str());
        }
    }

    #[test]
    fn what_is_no_object_is_refused_and_nothing_is_an_empty_one() {
        assert!(json_object(b" \n").unwrap().is_empty());
        for bad in ["7", "[]", "{", "\"x\"", "null"] {
            assert_eq!(json_object(bad.as_bytes()).unwrap_err().code, Code::InvalidRequest, "{bad}");
        }
    }
}
