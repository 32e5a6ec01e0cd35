//! Prices in decimal major units, as v0.1 mandates write them: 1, 1.0 and 1.00 are all one dollar. Calculated with decimal
//! digits, never with floating point.

use serde_json::Value;

use super::canonical::number_text;

/// Up to 15 digits, different decimals are different doubles. Beyond that, two prices could be read as the same number.
const LIMIT: u64 = 1_000_000_000_000_000;

/// The number of minor units, such as cents. `None` if it is not a whole number of them.
pub(crate) fn minor_units(price: &Value, currency: &str) -> Option<u64> {
    // The shortest decimal that reads back as the same number is what the signer wrote, without zeros at the end.
    let text = number_text(price.as_number()?)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let missing = minor_digits(currency).checked_sub(fraction.len())?;
    let units = format!("{whole}{fraction}{}", "0".repeat(missing)).parse().ok();
    units.filter(|units| *units < LIMIT)
}

/// The decimals of a currency in ISO 4217.
fn minor_digits(currency: &str) -> usize {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI"
        | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minor(text: &str, currency: &str) -> Option<u64> {
        minor_units(&serde_json::from_str(text).unwrap(), currency)
    }

    #[test]
    fn every_spelling_of_a_price_is_the_same_number_of_minor_units() {
        for text in ["1", "1.0", "1.00", "1e0", "100e-2", "1.000000000"] {
            assert_eq!(minor(text, "USD"), Some(100), "{text}");
        }
        for (text, units) in [
            ("0.1", 10),
            ("0.29", 29),
            ("1.1", 110),
            ("4.35", 435),
            ("1.15", 115),
            ("9999999999999.99", 999_999_999_999_999),
        ] {
            assert_eq!(minor(text, "USD"), Some(units), "{text}");
        }
        assert_eq!(minor("100", "JPY"), Some(100));
        assert_eq!(minor("1.005", "KWD"), Some(1005));
        assert_eq!(minor("0", "USD"), Some(0));
    }

    #[test]
    fn what_is_no_whole_number_of_minor_units_is_none() {
        for text in [
            "1.001",
            "0.30000000000000004",
            "0.999999999",
            "-1",
            "-0.01",
            "1e21",
            "1e-7",
            "\"1.00\"",
            "null",
            "[1]",
        ] {
            assert_eq!(minor(text, "USD"), None, "{text}");
        }
        assert_eq!(minor("1.5", "JPY"), None);
        assert_eq!(minor("10000000000000", "USD"), None);
    }
}
