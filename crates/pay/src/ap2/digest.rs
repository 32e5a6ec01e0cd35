//! Base64url without padding, and SHA-256 in that form, as JOSE and SD-JWT use them.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

/// Rejects padding, white space and non-zero trailing bits, so that a token has one spelling.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

/// The SHA-256 of a text.
pub(crate) fn hash(text: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_spelling_is_decoded() {
        assert_eq!(decode("_-8").as_deref(), Some(&[0xff, 0xef][..]));
        for text in ["_-8=", "_-9", "/+8", "_-8 ", "_-8\n", "A", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn the_hash_is_that_of_the_characters() {
        assert_eq!(hash("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    }
}
