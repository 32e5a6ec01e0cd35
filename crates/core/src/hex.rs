//! Hexadecimal text in lower case; reads digits of either case.

use data_encoding::HEXLOWER_PERMISSIVE;

pub fn encode(bytes: &[u8]) -> String {
    HEXLOWER_PERMISSIVE.encode(bytes)
}

pub fn decode(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// Decodes a 32-byte digest; `None` if the text is not one.
pub fn digest(text: &str) -> Option<[u8; 32]> {
    decode(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_reads_back() {
        let bytes = [0xa5; 32];
        assert_eq!(encode(&bytes), "a5".repeat(32));
        assert_eq!((digest(&encode(&bytes)), digest(&"A5".repeat(32))), (Some(bytes), Some(bytes)));
        assert_eq!((digest("a5"), digest("app_1")), (None, None));
    }
}
