//! JSON objects in base64url without padding, as MPP puts them into header fields.

use dropleaf_core::secret;
use serde::Serialize;

use super::credential_error::CredentialError;
use crate::json::{self, Object};

/// Encodes a struct with its members in the order of its fields, independent of the map order that `serde_json` was built
/// with. If the fields are sorted by name, the JSON is in canonical form (RFC 8785), which clients reproduce.
pub(super) fn encode(value: &impl Serialize) -> String {
    // Strings and integers always serialize.
    secret::text(&serde_json::to_vec(value).unwrap_or_default())
}

/// Decodes one object. Other alphabets, padding, duplicate members and deep nesting are errors.
pub(super) fn decode(text: &str) -> Result<Object, CredentialError> {
    let bytes = secret::bytes(text).ok_or(CredentialError::NotBase64Url)?;
    let text = str::from_utf8(&bytes).map_err(|_| CredentialError::InvalidJson)?;
    json::object(text).map_err(|_| CredentialError::InvalidJson)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_spelling_of_an_object_is_read() {
        #[derive(Serialize)]
        struct Pair {
            b: &'static str,
            a: u8,
        }
        let text = encode(&Pair { b: "é\"\n", a: 1 });
        assert_eq!(secret::bytes(&text).unwrap(), "{\"b\":\"é\\\"\\n\",\"a\":1}".as_bytes());
        assert_eq!(decode(&text).unwrap().len(), 2);
        for bad in ["e30=", "e30 ", "e31", "e3+", "e"] {
            assert_eq!(decode(bad), Err(CredentialError::NotBase64Url), "{bad}");
        }
        for bad in [&b""[..], b"[]", b"{}{}", b"{\"a\":\xff}", b"{\"a\":1,\"a\":1}"] {
            assert_eq!(decode(&secret::text(bad)), Err(CredentialError::InvalidJson));
        }
    }
}
