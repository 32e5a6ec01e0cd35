//! Parses integers in untrusted text. Unlike `str::parse`, rejects a leading plus sign, which none of the formats parsed here
//! allow: otherwise a number could be written in two ways where exactly one is expected.

use std::str::FromStr;

/// Parses a number of ASCII digits only. `None` also when it does not fit the type.
pub fn unsigned<T: FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Parses a number of ASCII digits with an optional minus sign.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_and_a_plus_sign_is_not_part_of_one() {
        assert_eq!(unsigned::<u16>("80"), Some(80));
        assert_eq!(unsigned::<u16>("0080"), Some(80));
        assert_eq!(integer("-80"), Some(-80));
        assert_eq!(integer(&i64::MIN.to_string()), Some(i64::MIN));
        for bad in ["", "+80", "-80", " 80", "80 ", "8_0", "0x50", "٨٠", "65536", "8.0"] {
            assert_eq!(unsigned::<u16>(bad), None, "{bad:?}");
        }
        for bad in ["", "-", "+80", "--80", "-+80", " 80", "8.0", "9223372036854775808"] {
            assert_eq!(integer(bad), None, "{bad:?}");
        }
    }
}
