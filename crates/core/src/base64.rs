//! Standard base64 with padding, in canonical form only.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Rejects other alphabets, white space, missing or superfluous padding, and non-zero trailing bits.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_spelling() {
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        for bytes in [&b"a"[..], b"ab", b"abc", b"{}", b"\xff\xfe\xfd"] {
            assert_eq!(decode(&encode(bytes)).as_deref(), Some(bytes));
        }
        for text in
            ["e30", "e30==", "e31=", "e30=e30=", "e3==0=", "====", "=", "e3 0=", "e30=\n", "_-8=", "é"]
        {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
