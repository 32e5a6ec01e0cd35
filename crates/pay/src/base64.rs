//! Standard base64 with padding, in canonical form only.

use data_encoding::BASE64;

/// Rejects other alphabets, white space, missing or superfluous padding, and non-zero trailing bits.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    // The library accepts a concatenation of padded texts; no client sends that.
    let end = text.len().saturating_sub(2);
    if text.bytes().take(end).any(|byte| byte == b'=') {
        return None;
    }
    BASE64.decode(text.as_bytes()).ok()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
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
