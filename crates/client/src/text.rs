//! Makes untrusted text safe for a terminal.

use std::fmt::Write as _;

/// The text with every character escaped that could move the cursor, change colours, reverse the line or hide something: control
/// characters, line separators, and characters without a shape of their own. Backslashes stay as they are, because nothing
/// decodes the result again.
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            _ if is_deceptive(character) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(character));
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Control characters, and those of the Unicode category Cf that reorder, join or hide text.
pub(crate) fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_moves_the_cursor_reverses_the_line_or_hides() {
        for (text, safe) in [
            ("a\u{1b}[2Jb\r\n", "a\\u{1b}[2Jb\\r\\n"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
            ("pay\u{200b}pal\u{feff}\u{e0041}", "pay\\u{200b}pal\\u{feff}\\u{e0041}"),
            ("\u{2066}\u{2028}", "\\u{2066}\\u{2028}"),
        ] {
            assert_eq!(visible(text), safe, "{text:?}");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["it's \"quoted\" \\ 100 %", "Größe 東京 🍵", "https://pages.example/p/x/?a=b#c", ""]
        {
            assert_eq!(visible(text), text);
        }
    }
}
