//! Amounts of money in a token's smallest unit: integers, never floating point.

use std::fmt;

/// A number of atomic units; with six decimals, 500000 is half a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Amount(u64);

impl Amount {
    pub const fn new(units: u64) -> Self {
        Self(units)
    }

    pub const fn units(self) -> u64 {
        self.0
    }

    /// Parses decimal digits: no sign, leading zero, exponent or white space.
    pub fn parse(text: &str) -> Option<Self> {
        if is_plain_decimal(text) { text.parse().ok().map(Self) } else { None }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether the text is the canonical decimal form of a number.
pub(crate) fn is_plain_decimal(text: &str) -> bool {
    text == "0" || (!text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_read_back() {
        for text in ["0", "1", "500000", "18446744073709551615"] {
            assert_eq!(Amount::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in [
            "",
            "-1",
            "+1",
            "01",
            "00",
            "1.0",
            "1e6",
            "0x7a120",
            " 1",
            "1 ",
            "1_000",
            "٣",
            "18446744073709551616",
        ] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }
}
