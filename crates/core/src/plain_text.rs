//! Cleans plain text from untrusted input.

use crate::{Error, Result};

/// Cleans a text and checks its length: line endings become `\n`, the ends are trimmed, and invisible characters are removed. An
/// empty result counts as not sent.
pub fn optional(name: &str, text: Option<String>, most: usize) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    let tidy = tidy(&text);
    if tidy.chars().count() > most {
        return Err(Error::field(name, format!("must be at most {most} characters")));
    }
    Ok((!tidy.is_empty()).then_some(tidy))
}

fn tidy(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let seen: String = lines.chars().filter(|c| !is_hidden(*c)).collect();
    seen.trim().to_owned()
}

/// Control characters, and tag characters, which can hide a sentence from people but not from programs. Directional marks are
/// kept, because whole scripts need them.
const fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Invisible and directional characters: in a name they could make one look like another.
pub const fn is_misleading(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Option<String> {
        optional("text", Some(text.into()), 20).unwrap()
    }

    #[test]
    fn what_nobody_can_see_is_taken_out() {
        assert_eq!(kept(" a\u{0}b\u{1b}[31m\u{7f}\u{85} ").as_deref(), Some("ab[31m"));
        assert_eq!(kept("a\r\nb\rc\td").as_deref(), Some("a\nb\nc\td"));
        assert_eq!(kept("x\u{e0041}\u{e0042}y").as_deref(), Some("xy"));
        assert_eq!(kept("\u{0}\u{1}"), None);
        assert_eq!(optional("text", None, 1).unwrap(), None);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in ["<script>alert(1)</script>", "שלום \u{200f}", "\u{202e}abc\u{202c}", "👩‍👩‍👧", "\u{fffd}"]
        {
            let kept = optional("text", Some(text.into()), 100).unwrap();
            assert_eq!(kept.as_deref(), Some(text.trim()));
        }
    }

    #[test]
    fn length_is_counted_in_characters_of_what_is_kept() {
        assert!(optional("text", Some("ä".repeat(20)), 20).is_ok());
        assert!(optional("text", Some(format!("{}\u{0}", "ä".repeat(20))), 20).is_ok());
        let error = optional("text", Some("ä".repeat(21)), 20).unwrap_err();
        assert_eq!(error.detail, "`text` must be at most 20 characters.");
    }
}
