//! Titles: one clean line of at most 200 characters.

use crate::entities;

const LONGEST: usize = 200;
const UNTITLED: &str = "Untitled page";

/// Text as a title, or nothing if there is no visible text.
pub(crate) fn clean(text: &str) -> Option<String> {
    let mut title = String::new();
    let mut count = 0;
    let visible = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    for word in visible {
        let space = usize::from(count > 0);
        if count + space >= LONGEST {
            break;
        }
        if space == 1 {
            title.push(' ');
        }
        let kept = word.chars().take(LONGEST - count - space);
        count += space + kept.clone().count();
        title.extend(kept);
    }
    (!title.is_empty()).then_some(title)
}

/// The same for text of an HTML document, where characters may be written as entities.
pub(crate) fn clean_html(text: &str) -> Option<String> {
    clean(&entities::decode(text))
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
    fn titles_end_after_200_characters() {
        assert_eq!(clean(&"é".repeat(5000)).unwrap().chars().count(), 200);
        assert_eq!(clean(&"ab ".repeat(5000)).unwrap().chars().count(), 200);
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
