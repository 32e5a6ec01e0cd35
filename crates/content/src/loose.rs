//! A text that is read and not packed: for whoever only wants to know what the checks say of it.

use crate::file_text::decoded;
use crate::mime::{BINARY, HTML, is_text, mime_of};
use crate::refusal::Refusal;
use crate::text::TextWatch;

/// A text as a browser would read it, and why it could not be published even so.
#[derive(Debug)]
pub struct LooseText {
    pub text: String,
    pub fault: Option<Refusal>,
}

/// Reads the bytes of a page, a script or any other text: what it is, its name says.
pub fn read_loose(name: &str, bytes: Vec<u8>) -> LooseText {
    let mut watch = TextWatch::new();
    watch.watch(&bytes);
    LooseText { fault: watch.check().err(), text: decoded(bytes, mime_of(name)) }
}

/// Whether a file of this name is read at all.
pub fn is_read(path: &str) -> bool {
    is_text(mime_of(path))
}

/// The name by which the checks know what a file is: its own, unless it only shows inside that it is a page.
pub fn name_to_check<'a>(name: &'a str, bytes: &[u8]) -> &'a str {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if mime_of(name) == BINARY && (text.starts_with(b"<") || has_mark_of_utf16(bytes)) {
        return "index.html";
    }
    name
}

fn has_mark_of_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Whether it is a page by its name.
pub fn is_page(name: &str) -> bool {
    mime_of(name) == HTML
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefusalCode;

    #[test]
    fn what_could_not_be_published_is_read_all_the_same() {
        let read = read_loose("a.html", b"<title>a\0b</title>".to_vec());
        assert_eq!(read.fault.unwrap().code, RefusalCode::NotText);
        assert_eq!(read.text, "<title>a\0b</title>");
        assert_eq!(read_loose("a.html", b" \n".to_vec()).fault.unwrap().code, RefusalCode::EmptyFile);
        assert!(read_loose("a.html", b"\xff\xfe<\0p\0>\0".to_vec()).fault.is_none());
    }

    #[test]
    fn a_page_without_a_name_of_one_is_a_page() {
        assert_eq!(name_to_check("page", b"\xef\xbb\xbf <!doctype html>"), "index.html");
        assert_eq!(name_to_check("page.php", b"<html>"), "index.html");
        assert_eq!(name_to_check("drawing.svg", b"<svg>"), "drawing.svg");
        assert_eq!(name_to_check("photo", b"\x89PNG"), "photo");
    }

    #[test]
    fn pictures_are_not_read() {
        for name in ["a.html", "b/c.js", "d.SVG", "e.json", "f.md", "g.txt"] {
            assert!(is_read(name), "{name}");
        }
        for name in ["a.png", "b.woff2", "c", "d.bin"] {
            assert!(!is_read(name), "{name}");
        }
    }
}
