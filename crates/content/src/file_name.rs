//! Cleans the name of an uploaded file, so that it can be the last segment of a URL and a name to save under.

use crate::paths::RESERVED;

const MOST_BYTES: usize = 240;

/// The name without its folders and without characters that have a meaning in a header, a URL or a file system. `None` if no
/// letter or digit is left, or if the name is reserved.
pub fn clean(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let kept: String = last.chars().map(|c| if is_unsafe(c) { '_' } else { c }).collect();
    let kept = within(kept.trim_matches([' ', '.']), MOST_BYTES);
    let says_something = kept.chars().any(char::is_alphanumeric);
    (says_something && !kept.to_lowercase().starts_with(RESERVED)).then_some(kept)
}

/// Control characters, characters that change the text direction, and characters that file systems reserve.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '"' | '%' | '*' | ':' | '<' | '>' | '?' | '#' | '|' | ';')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Cuts a name to at most `most` bytes. A short extension is kept, because it says what the file is.
fn within(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() < 16 => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let room = most - extension.len();
    let end = (0..=room.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{extension}", &stem[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_kept() {
        for name in ["report.html", "Jahresbericht 2026 (final).pdf", "r\u{e9}sum\u{e9}.md", "a+b=c.txt"] {
            assert_eq!(clean(name).as_deref(), Some(name));
        }
    }

    #[test]
    fn folders_and_characters_with_a_meaning_are_lost() {
        assert_eq!(clean("C:\\tmp\\report.html").as_deref(), Some("report.html"));
        assert_eq!(clean("../../etc/passwd.txt").as_deref(), Some("passwd.txt"));
        assert_eq!(clean("a\"; x=\r\n<b>.pdf").as_deref(), Some("a__ x=___b_.pdf"));
        assert_eq!(clean("fdp.\u{202e}lmth.html").as_deref(), Some("fdp._lmth.html"));
        assert_eq!(clean("100%.txt").as_deref(), Some("100_.txt"));
    }

    #[test]
    fn names_that_say_nothing_or_are_reserved_are_none() {
        for name in ["", "/", "..", " . ", "a/", "???", "_dropleaf", "_DropLeaf.html", "x/_dropleaf"] {
            assert_eq!(clean(name), None, "{name}");
        }
    }

    #[test]
    fn long_names_keep_their_extension() {
        let name = clean(&format!("{}.html", "\u{e9}".repeat(500))).unwrap();
        assert!(
            name.len() <= MOST_BYTES && name.len() > MOST_BYTES - 3 && name.ends_with("\u{e9}.html"),
            "{name}"
        );
        assert_eq!(clean(&"x".repeat(500)).unwrap().len(), MOST_BYTES);
    }
}
