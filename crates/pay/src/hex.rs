//! Hexadecimal text with the prefix `0x`, as EVM tools write bytes. Accepts digits of either case.

use dropleaf_core::hex;

/// Parses exactly `N` bytes.
pub(crate) fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    // Check the length first, so that long input is not decoded in vain.
    if text.len() != 2 + 2 * N {
        return None;
    }
    bytes(text)?.try_into().ok()
}

/// Parses any number of bytes.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    hex::decode(text.strip_prefix("0x")?)
}

pub(crate) fn show(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_back_in_either_case() {
        assert_eq!(parse::<3>("0x01aBFf"), Some([1, 0xab, 0xff]));
        assert_eq!(show(&[1, 0xab, 0xff]), "0x01abff");
        assert_eq!(bytes("0x"), Some(vec![]));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "0", "0x0", "01abff", "0X01abff", "0x01abf", "0x01abfg", "0x 1abff", " 0x01abff", "0x01abé"]
        {
            assert_eq!(parse::<3>(text), None, "{text}");
        }
    }
}
