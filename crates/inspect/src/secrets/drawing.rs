//! Recognizes digits that are not numbers of cards or persons: coordinates of drawings, and parts of encoded data.
//! One such number in many thousand passes a card's checksum by chance.

use std::ops::Range;

/// How many bytes around a number are examined.
const AROUND: usize = 256;
/// This many base64 characters next to a number make it part of encoded data.
const ENCODED: usize = 16;
/// This many commands or fractions before a number make it part of a drawing.
const DRAWN: usize = 4;
/// Attributes, and properties of objects in scripts, that hold coordinates.
const NAMES: [&str; 11] = [
    "d",
    "path",
    "points",
    "viewbox",
    "transform",
    "gradienttransform",
    "patterntransform",
    "keytimes",
    "keysplines",
    "coords",
    "stroke-dasharray",
];

/// Transform functions.
const FUNCTIONS: [&str; 7] = ["matrix", "matrix3d", "translate", "rotate", "scale", "skewX", "skewY"];

/// Whether the number at this range is part of a drawing or of encoded data.
pub(super) fn is_no_number(bytes: &[u8], number: Range<usize>) -> bool {
    is_encoded(bytes, &number) || is_drawn(bytes, number.start)
}

fn is_encoded(bytes: &[u8], number: &Range<usize>) -> bool {
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let before = bytes[..number.start].iter().rev().take(AROUND).take_while(is_base64).count();
    let after = bytes[number.end..].iter().take(AROUND).take_while(is_base64).count();
    before + after >= ENCODED
}

fn is_drawn(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(AROUND)..at];
    let numbers = before
        .iter()
        .rev()
        .take_while(|byte| is_path(**byte) && !byte.is_ascii_alphabetic() && **byte != b'(')
        .count();
    let call = before[..before.len() - numbers].strip_suffix(b"(");
    if call.is_some_and(|call| FUNCTIONS.iter().any(|name| call.ends_with(name.as_bytes()))) {
        return true;
    }
    let count = before.iter().rev().take_while(|byte| is_path(**byte)).count();
    let (outside, inside) = before.split_at(before.len() - count);
    match outside.split_last() {
        Some((b'"' | b'\'' | b'`', outside)) => begins_path(inside) || is_named(outside),
        Some(_) => false,
        // The opening quote is out of range: only the characters before the number can tell.
        None => {
            let marks = |is_mark: fn(&u8) -> bool| inside.iter().filter(|byte| is_mark(byte)).count();
            count == AROUND && marks(u8::is_ascii_alphabetic).max(marks(|byte| *byte == b'.')) >= DRAWN
        }
    }
}

fn is_path(byte: u8) -> bool {
    byte.is_ascii_digit()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'.' | b',' | b'-' | b'+' | b'e' | b'(' | b')')
        || matches!(
            byte.to_ascii_lowercase(),
            b'm' | b'l' | b'h' | b'v' | b'c' | b's' | b'q' | b't' | b'a' | b'z'
        )
}

/// Every path begins with a moveto command.
fn begins_path(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start(), [b'M' | b'm', next, ..] if !next.is_ascii_alphabetic())
}

/// Whether `viewBox=`, `points:` or the like precedes the quote.
fn is_named(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let Some((b'=' | b':', before)) = before.split_last() else { return false };
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    NAMES.iter().any(|name| {
        let Some(start) = before.len().checked_sub(name.len()) else { return false };
        before[start..].eq_ignore_ascii_case(name.as_bytes())
            && !before[..start]
                .last()
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

#[cfg(test)]
mod tests {
    use crate::secrets::find;

    const CARD: &str = "4556 7375 8689 9855";

    fn is_found(text: &str) -> bool {
        !find("a.html", text).is_empty()
    }

    #[test]
    fn coordinates_are_no_cards() {
        let long = "10.5 20.25 L 3.5 4.75 C ".repeat(40);
        for text in [
            format!("<path d=\"M 10 {CARD} Z\"/>"),
            format!("<path d='m1.5,2 L {CARD}'/>"),
            format!("<polygon points=\"0,0 {CARD}\"/>"),
            format!("<svg viewBox=\"{CARD}\">"),
            format!("<g transform=\"matrix(1 0 0 {CARD})\">"),
            format!("icons = {{ home: \"M12 2, {CARD} z\" }}"),
            format!("{{\"path\": \"{CARD}\"}}"),
            format!("<path d=\"M{long} {CARD}\"/>"),
        ] {
            assert!(!is_found(&text), "{text}");
        }
    }

    #[test]
    fn cards_beside_drawings_are_found() {
        let list = format!("{CARD}\n").repeat(30);
        for text in [
            format!("<text x=\"1\">{CARD}</text>"),
            format!("<path d=\"M1 2\"/> {CARD}"),
            format!("data-card=\"{CARD}\""),
            format!("{{\"card\": \"{CARD}\"}}"),
            format!("<input value=\"{CARD}\">"),
            format!("paid=\"{CARD}\""),
            list,
        ] {
            assert!(is_found(&text), "{text}");
        }
    }

    #[test]
    fn encoded_bytes_are_no_cards() {
        let card = CARD.replace(' ', "");
        assert!(!is_found(&format!(
            "src='data:image/png;base64,iVBORw0KGgoAAAANSUhEUg+{card}+AAAABJRU5ErkJggg=='"
        )));
        assert!(is_found(&format!("number+{card}")));
        assert!(is_found(&format!("card={card}")));
    }
}
