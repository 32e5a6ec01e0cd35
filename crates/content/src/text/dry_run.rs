//! Reads a text without packing it, for callers that only want to know what the checks report.

use super::check::TextCheck;
use super::file_text::decode_text;
use crate::detect::{Format, NameHint, format_by_magic, hint_by_name};
use crate::mime::{BINARY, HTML, is_text, mime_of};
use crate::refusal::Refusal;

/// A text, decoded as a browser would, and the reason why it could not be published, if any.
#[derive(Debug)]
pub struct DecodedText {
    pub text: String,
    pub fault: Option<Refusal>,
}

/// Reads the bytes of a page, a script or any other text. The name determines its type.
pub fn decode_for_check(name: &str, bytes: Vec<u8>) -> DecodedText {
    let mut text_check = TextCheck::new();
    text_check.update(&bytes);
    DecodedText { fault: text_check.check().err(), text: decode_text(bytes, mime_of(name)) }
}

/// Whether a file of this name is read as text.
pub fn is_text_name(path: &str) -> bool {
    is_text(mime_of(path))
}

/// What publishing would do with a file that is sent on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandaloneFile {
    /// A file that is unpacked, rendered or checked first: an archive, Markdown, a PDF, a picture.
    Packed,
    Page,
    /// Refused because it is not a page, although it may look like one or be part of one.
    NotAPage {
        looks_like_one: bool,
    },
}

/// Decides by the name, then by the first bytes, as publishing does.
pub fn classify_standalone_file(name: &str, head: &[u8]) -> StandaloneFile {
    let content = format_by_magic(head);
    let format = match hint_by_name(name) {
        NameHint::Format(format) => Some(format),
        // Refused for its name; under another name it may be a page.
        NameHint::Unsupported => {
            return StandaloneFile::NotAPage { looks_like_one: content == Some(Format::Html) };
        }
        NameHint::Unknown => content,
    };
    match format {
        Some(Format::Html) => StandaloneFile::Page,
        Some(_) => StandaloneFile::Packed,
        // Publishing refuses it and requests a file name; with a proper name it would be a page.
        None => {
            StandaloneFile::NotAPage { looks_like_one: mime_of(name) == BINARY && has_mark_of_utf16(head) }
        }
    }
}

fn has_mark_of_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Whether the name is that of an HTML page.
pub fn is_page_name(name: &str) -> bool {
    mime_of(name) == HTML
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefusalCode;

    #[test]
    fn what_could_not_be_published_is_read_all_the_same() {
        let read = decode_for_check("a.html", b"<title>a\0b</title>".to_vec());
        assert_eq!(read.fault.unwrap().code, RefusalCode::NotText);
        assert_eq!(read.text, "<title>a\0b</title>");
        assert_eq!(decode_for_check("a.html", b" \n".to_vec()).fault.unwrap().code, RefusalCode::EmptyFile);
        assert!(decode_for_check("a.html", b"\xff\xfe<\0p\0>\0".to_vec()).fault.is_none());
    }

    #[test]
    fn a_file_on_its_own_is_what_publishing_takes_it_for() {
        for (name, head, said) in [
            ("page", "\u{feff} <!doctype html>", StandaloneFile::Page),
            ("page.php", "<html>", StandaloneFile::NotAPage { looks_like_one: true }),
            ("feed.xml", "<rss>", StandaloneFile::NotAPage { looks_like_one: true }),
            ("page.txt", "\n<html>", StandaloneFile::Packed),
            ("drawing.svg", "<svg>", StandaloneFile::Packed),
            ("a.HTM", "text", StandaloneFile::Page),
            ("notes.md", "<p>", StandaloneFile::Packed),
            ("site.bin", "PK\u{3}\u{4}", StandaloneFile::Packed),
            ("paper", "%PDF-1.7", StandaloneFile::Packed),
            ("app.js", "let a;", StandaloneFile::NotAPage { looks_like_one: false }),
        ] {
            assert_eq!(classify_standalone_file(name, head.as_bytes()), said, "{name}");
        }
        assert_eq!(
            classify_standalone_file("wide", b"\xff\xfe<\0"),
            StandaloneFile::NotAPage { looks_like_one: true }
        );
        assert_eq!(
            classify_standalone_file("photo", b"\x89PNG"),
            StandaloneFile::NotAPage { looks_like_one: false }
        );
    }

    #[test]
    fn pictures_are_not_read() {
        for name in ["a.html", "b/c.js", "d.SVG", "e.json", "f.md", "g.txt"] {
            assert!(is_text_name(name), "{name}");
        }
        for name in ["a.png", "b.woff2", "c", "d.bin"] {
            assert!(!is_text_name(name), "{name}");
        }
    }
}
