//! 256-bit unsigned integers as used by contracts, parsed from canonical decimal text.

use std::fmt;

use crate::amount::is_plain_decimal;

/// A number up to 2^256 - 1, with the text it was parsed from.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    text: String,
    word: [u8; 32],
}

impl Decimal {
    /// Rejects hexadecimal, signs, white space and leading zeros, which other parsers could interpret differently.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // 2^256 has 78 digits.
        if text.len() > 78 || !is_plain_decimal(text) {
            return None;
        }
        let mut word = [0_u8; 32];
        for digit in text.bytes() {
            let mut carry = u16::from(digit - b'0');
            for byte in word.iter_mut().rev() {
                let [high, low] = (u16::from(*byte) * 10 + carry).to_be_bytes();
                *byte = low;
                carry = high.into();
            }
            if carry != 0 {
                return None;
            }
        }
        Some(Self { text: text.to_owned(), word })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn word(&self) -> &[u8; 32] {
        &self.word
    }

    /// The number as epoch seconds, or `i64::MAX` where it does not fit.
    pub(crate) fn seconds(&self) -> i64 {
        self.text.parse().unwrap_or(i64::MAX)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_big_endian_words() {
        let mut word = [0; 32];
        assert_eq!(Decimal::parse("0").unwrap().word(), &word);
        word[29..].copy_from_slice(&[0x07, 0xa1, 0x20]);
        assert_eq!(Decimal::parse("500000").unwrap().word(), &word);
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(Decimal::parse(most).unwrap().word(), &[0xff; 32]);
        assert_eq!(Decimal::parse(most).unwrap().seconds(), i64::MAX);
        assert_eq!(Decimal::parse("1767225600").unwrap().seconds(), 1_767_225_600);
    }

    #[test]
    fn what_is_too_large_or_written_otherwise_is_refused() {
        let above = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        let long = "9".repeat(79);
        for text in [above, &long, "", "00", "01", "-1", "+1", "1.0", "1e3", "0x7a120", " 1", "1n"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
