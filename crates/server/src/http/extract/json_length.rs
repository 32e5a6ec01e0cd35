//! Computes the decoded length of a JSON body while it arrives, so that a body that is too long is refused before all
//! of it is in memory. Validity is left to the parser.

/// The length of the bytes so far, with every escape counted as the UTF-8 bytes it decodes to.
#[derive(Debug, Default)]
pub(super) struct DecodedLength {
    bytes: u64,
    escape: Escape,
}

/// How much of an escape sequence has arrived.
#[derive(Debug, Default, Clone, Copy)]
enum Escape {
    #[default]
    None,
    /// The backslash.
    Begun,
    /// `\u` and fewer than four digits.
    Unicode { digits: u8, unit: u16 },
}

impl DecodedLength {
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn add(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let Some((&first, behind)) = rest.split_first() {
            match self.escape {
                Escape::None => {
                    let plain = rest.iter().position(|byte| *byte == b'\\');
                    self.bytes += plain.unwrap_or(rest.len()) as u64;
                    let Some(at) = plain else { return };
                    self.escape = Escape::Begun;
                    rest = &rest[at + 1..];
                    continue;
                }
                Escape::Begun if first == b'u' => self.escape = Escape::Unicode { digits: 0, unit: 0 },
                Escape::Begun => {
                    self.bytes += 1;
                    self.escape = Escape::None;
                }
                Escape::Unicode { digits, unit } => {
                    let digit = char::from(first).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
                    let unit = (unit << 4) | digit.unwrap_or_default();
                    self.escape = if digits == 3 {
                        self.bytes += utf8_bytes(unit);
                        Escape::None
                    } else {
                        Escape::Unicode { digits: digits + 1, unit }
                    };
                }
            }
            rest = behind;
        }
    }
}

/// The length of a UTF-16 code unit in UTF-8. The two units of a surrogate pair share four bytes.
const fn utf8_bytes(unit: u16) -> u64 {
    match unit {
        0..=0x7f => 1,
        0x80..=0x7ff | 0xd800..=0xdfff => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(json: &str, step: usize) -> u64 {
        let mut length = DecodedLength::default();
        json.as_bytes().chunks(step).for_each(|piece| length.add(piece));
        length.bytes()
    }

    #[test]
    fn escapes_count_as_what_they_stand_for_however_they_are_cut() {
        for (json, bytes) in [
            ("", 0),
            ("plain", 5),
            (r#"\n\t\\\"\/"#, 5),
            (r"a\\u0041", 7),
            (r"\u0041\u007F", 2),
            (r"\u00e9\u07ff", 4),
            (r"\u6f22\uFFFF", 6),
            (r"\ud83d\uDE00", 4),
            (r"\ud83d\ude00é漢😀\u0000x", 15),
        ] {
            for step in 1..=json.len().max(1) {
                assert_eq!(length(json, step), bytes, "{json} in pieces of {step}");
            }
        }
    }

    #[test]
    fn the_length_is_that_of_the_decoded_text() {
        let text = "a\"\\\n\u{1}é漢😀".repeat(50);
        let plain = serde_json::to_string(&text).unwrap();
        let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let units = units.concat();
        for json in [plain, format!("\"{units}\"")] {
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            assert_eq!(length(&json, 7), text.len() as u64 + 2, "the text and its quotes");
        }
    }

    #[test]
    fn broken_escapes_are_counted_and_left_to_the_parser() {
        assert_eq!(length(r"\uZZZZ", 2), 1);
        assert_eq!(length(r"\u00", 2), 0);
        assert_eq!(length("\\", 1), 0);
    }
}
