//! Amounts of money as card processors count them: integers in the smallest unit of a currency.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in the smallest unit of its currency, such as cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    pub minor_units: u64,
    pub currency: Currency,
}

impl Money {
    pub const fn usd_cents(minor_units: u64) -> Self {
        Self { minor_units, currency: Currency::USD }
    }
}

/// A currency code of ISO 4217, in lower case as the processor writes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    pub const USD: Self = Self(*b"usd");

    /// Parses three lower-case letters.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 3] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_lowercase).then_some(Self(letters))
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or("")
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for Currency {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a currency")
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_three_lower_case_letters() {
        assert_eq!(Currency::parse("usd"), Some(Currency::USD));
        assert_eq!(Currency::parse("eur").unwrap().as_str(), "eur");
        for text in ["", "us", "usdc", "USD", "us1", "€", "u d"] {
            assert_eq!(Currency::parse(text), None, "{text}");
        }
    }
}
