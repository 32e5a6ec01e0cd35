//! Writes out characters that hide or reorder text, so that the reader of a source sees what it contains.

use std::fmt::Write as _;

/// A line of source as it can be shown: nothing in it is invisible, and nothing reorders the text around it.
pub fn visible(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if hides(c) {
            // Writing into a String cannot fail.
            let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn hides(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
            | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff9..=0xfffb
            | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_written_out_and_the_rest_stays() {
        assert_eq!(visible("Pay\u{200b}Pal\u{202e}\u{1b}[2J"), "Pay⟨U+200B⟩Pal⟨U+202E⟩⟨U+001B⟩[2J");
        for plain in ["<p class=\"a\">\tčeština 漢字 😀</p>", ""] {
            assert_eq!(visible(plain), plain);
        }
    }
}
