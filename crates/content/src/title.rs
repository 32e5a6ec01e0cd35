//! Cleans titles: one line of at most 200 characters.

use dropleaf_core::html::character_references::{Context, decode};

use crate::text::shorten::shorten;

const LONGEST: usize = 200;
const UNTITLED: &str = "Untitled page";

/// Text beyond this is not read, because it could not change the title.
const LOOKED_AT: usize = 4 * LONGEST;

/// Text as a title, or `None` if there is no visible text. A longer one ends with a whole word and an ellipsis.
pub(crate) fn clean(text: &str) -> Option<String> {
    let mut title = String::new();
    let visible = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut room = LOOKED_AT;
    for word in visible {
        if room == 0 {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        let kept = word.chars().take(room);
        room -= kept.clone().count();
        title.extend(kept);
    }
    (!title.is_empty()).then(|| shorten(&title, LONGEST))
}

/// The same for the text of an HTML document, which may contain character references.
pub(crate) fn clean_html(text: &str) -> Option<String> {
    clean(&decode(text, Context::Text))
}

/// The file name without folders and extension.
pub(crate) fn from_filename(filename: Option<&str>) -> String {
    filename
        .and_then(|name| {
            let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
            let stem = match name.rsplit_once('.') {
                Some((stem, _)) if !stem.is_empty() => stem,
                _ => name,
            };
            clean(stem)
        })
        .unwrap_or_else(|| UNTITLED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_collapses_and_controls_vanish() {
        assert_eq!(clean(" a\n\t b\u{0}c \u{a0} d ").as_deref(), Some("a b c d"));
        assert_eq!(clean(" \n "), None);
    }

    #[test]
    fn titles_of_more_than_200_characters_end_with_a_whole_word() {
        let long = clean(&"é".repeat(5000)).unwrap();
        assert_eq!((long.chars().count(), long.ends_with("é…")), (200, true));
        let words = clean(&"orchard ".repeat(5000)).unwrap();
        assert!(words.ends_with(" orchard…") && words.chars().count() <= 200, "{words}");
        assert_eq!(clean(&"x".repeat(200)).unwrap(), "x".repeat(200));
    }

    #[test]
    fn entities_are_characters() {
        assert_eq!(clean_html("A &amp; B &lt;3 &#x263a;").as_deref(), Some("A & B <3 ☺"));
    }

    #[test]
    fn file_names_lose_folders_and_extension() {
        assert_eq!(from_filename(Some("C:\\tmp\\my.report.html")), "my.report");
        assert_eq!(from_filename(Some("a/b/notes.md")), "notes");
        assert_eq!(from_filename(Some(".md")), ".md");
        assert_eq!(from_filename(Some("")), UNTITLED);
        assert_eq!(from_filename(None), UNTITLED);
    }
}
