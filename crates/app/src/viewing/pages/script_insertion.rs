//! Finds where to insert our script into a document: into its head, where the page's selectors for its body do not match
//! it.
//!
//! Reads only the start, up to the tokens that may precede the head: white space, comments, the doctype, `<html>` and
//! `<head>`. Nothing is inserted before the doctype, since that would cause quirks mode. A charset that follows directly
//! stays before the script, because browsers look for it in the first kilobyte.

use bytes::Bytes;

/// How much of a document is read. If longer comments precede the doctype, the document stays unchanged.
pub const WINDOW: usize = 64 * 1024;

/// The code unit of a document, as far as a byte order mark tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeUnit {
    One,
    Little,
    Big,
}

/// An offset in a document, and the bytes to insert there in the document's encoding.
#[derive(Debug, PartialEq, Eq)]
pub struct Insertion {
    pub at: usize,
    pub bytes: Bytes,
}

/// Where to insert `tag` (ASCII) in a document that starts with `start`. None if there is no place for it.
pub(super) fn find_insertion(start: &[u8], tag: &str, is_xml: bool) -> Option<Insertion> {
    let start = &start[..start.len().min(WINDOW)];
    let (width, mark) = match start {
        [0xff, 0xfe, ..] => (CodeUnit::Little, 2),
        [0xfe, 0xff, ..] => (CodeUnit::Big, 2),
        [0xef, 0xbb, 0xbf, ..] => (CodeUnit::One, 3),
        _ => (CodeUnit::One, 0),
    };
    let rest = &start[mark..];
    if width == CodeUnit::One {
        // After an escape the bytes of ISO-2022-JP mean other characters, so the search stops there.
        let rest = &rest[..rest.iter().position(|byte| *byte == 0x1b).unwrap_or(rest.len())];
        let at = HeadScanner { text: rest, at: 0 }.head(is_xml)?;
        return Some(Insertion { at: mark + at, bytes: Bytes::copy_from_slice(tag.as_bytes()) });
    }
    let unit = |pair: &[u8]| match (width, pair) {
        (CodeUnit::Little, [low, 0]) | (CodeUnit::Big, [0, low]) => *low,
        // Any non-ASCII character.
        _ => 0xff,
    };
    let narrow: Vec<u8> = rest.chunks_exact(2).map(unit).collect();
    let at = HeadScanner { text: &narrow, at: 0 }.head(is_xml)?;
    let wide = |byte: u8| if width == CodeUnit::Little { [byte, 0] } else { [0, byte] };
    Some(Insertion { at: mark + 2 * at, bytes: tag.bytes().flat_map(wide).collect() })
}

struct HeadScanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl HeadScanner<'_> {
    /// The offset at the start of the head. In XML there is none without a `<head>` tag.
    fn head(mut self, is_xml: bool) -> Option<usize> {
        self.skip_prolog(true)?;
        let has_html = self.tag(b"html");
        if has_html {
            self.skip_prolog(false)?;
        }
        let has_head = self.tag(b"head");
        if is_xml && !has_head {
            return None;
        }
        // The position is reset if something else follows.
        loop {
            let before = self.at;
            let is_charset = self.skip_prolog(false).is_some() && {
                let from = self.at;
                self.tag(b"meta") && names_charset(&self.text[from..self.at])
            };
            if !is_charset {
                self.at = before;
                return Some(self.at);
            }
        }
    }

    /// Skips white space, comments and processing instructions, and the doctype where one is allowed. None if the
    /// readable part ends first, since a doctype may still follow.
    fn skip_prolog(&mut self, takes_doctype: bool) -> Option<()> {
        loop {
            match self.text.get(self.at..)? {
                [] | [b'<'] if takes_doctype => return None,
                [b' ' | b'\t' | b'\n' | b'\r' | 0x0c, ..] => self.at += 1,
                [b'<', b'!', b'-', b'-', rest @ ..] => self.at += 4 + comment_length(rest)?,
                [b'<', b'!', rest @ ..] => {
                    let is_doctype = rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype"));
                    if is_doctype && !takes_doctype {
                        return Some(());
                    }
                    self.at += 3 + rest.iter().position(|b| *b == b'>')?;
                }
                [b'<', b'?', rest @ ..] => self.at += 3 + rest.iter().position(|b| *b == b'>')?,
                _ => return Some(()),
            }
        }
    }

    /// Skips a complete start tag with this name, if one is here.
    fn tag(&mut self, name: &[u8]) -> bool {
        let Some([b'<', rest @ ..]) = self.text.get(self.at..) else { return false };
        let is_named = rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        let Some(attributes) = rest.get(name.len()..).filter(|_| is_named) else { return false };
        if !matches!(attributes, [b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'>', ..]) {
            return false;
        }
        let Some(length) = tag_length(attributes) else { return false };
        self.at += 1 + name.len() + length;
        true
    }
}

/// The length of a comment after its `<!--`, including its end.
fn comment_length(text: &[u8]) -> Option<usize> {
    match text {
        [b'>', ..] => return Some(1),
        [b'-', b'>', ..] => return Some(2),
        _ => {}
    }
    let ends = |part: &[u8]| part.starts_with(b"-->") || part.starts_with(b"--!>");
    let at = (0..text.len()).find(|at| ends(&text[*at..]))?;
    Some(at + if text[at + 2] == b'>' { 3 } else { 4 })
}

/// The tokenizer states of the HTML standard within a start tag, between its name and its `>`. A parser with other rules
/// could end up at another place than a browser, and the insertion would change the meaning of the page.
#[derive(Debug, Clone, Copy)]
enum TagState {
    Before,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

impl TagState {
    const fn after(self, byte: u8) -> Self {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        match self {
            Self::Quoted(quote) if quote != byte => self,
            Self::Quoted(_) => Self::Before,
            Self::Unquoted if is_space => Self::Before,
            Self::Unquoted => self,
            Self::BeforeValue => match byte {
                b'"' | b'\'' => Self::Quoted(byte),
                _ if is_space => self,
                _ => Self::Unquoted,
            },
            Self::Before if is_space || byte == b'/' => self,
            Self::Before => Self::Name,
            Self::Name | Self::AfterName => match byte {
                b'=' => Self::BeforeValue,
                b'/' => Self::Before,
                _ if is_space => Self::AfterName,
                _ => Self::Name,
            },
        }
    }
}

/// The length of a start tag after its name, including its `>`. A `>` in a quoted value does not end it.
fn tag_length(text: &[u8]) -> Option<usize> {
    let mut state = TagState::Before;
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'>' && !matches!(state, TagState::Quoted(_)) {
            return Some(at + 1);
        }
        state = state.after(*byte);
    }
    None
}

/// Whether a `<meta>` declares the encoding, and not a security policy.
fn names_charset(tag: &[u8]) -> bool {
    let has = |word: &[u8]| tag.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    has(b"charset") && !has(b"security-policy")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAG: &str = "[T]";

    fn put(document: &str) -> String {
        match find_insertion(document.as_bytes(), TAG, false) {
            Some(found) => format!("{}{TAG}{}", &document[..found.at], &document[found.at..]),
            None => document.to_owned(),
        }
    }

    #[test]
    fn the_script_becomes_the_first_thing_in_the_head() {
        for (document, expected) in [
            ("<!doctype html><html><head><title>", "<!doctype html><html><head>[T]<title>"),
            (
                "<!DOCTYPE html>\n<HTML lang=en>\n<HEAD >\n<p>",
                "<!DOCTYPE html>\n<HTML lang=en>\n<HEAD >[T]\n<p>",
            ),
            ("<!doctype html><title>x</title><p>", "<!doctype html>[T]<title>x</title><p>"),
            ("<p>only", "[T]<p>only"),
            ("words", "[T]words"),
            ("<html><body>", "<html>[T]<body>"),
            ("<header>", "[T]<header>"),
            ("<html a='>' b=\">\" c=d'><head x=/>>", "<html a='>' b=\">\" c=d'><head x=/>[T]>"),
            (
                "<!-- a --><!doctype html><!--b--><html><!--c--><head>",
                "<!-- a --><!doctype html><!--b--><html><!--c--><head>[T]",
            ),
            ("<?xml version='1.0'?><!doctype html><p>", "<?xml version='1.0'?><!doctype html>[T]<p>"),
            ("<!--><!doctype html><p>", "<!--><!doctype html>[T]<p>"),
            ("<!-- x --!><p>", "<!-- x --!>[T]<p>"),
            ("<head>\n<meta charset=utf-8>\n<title>", "<head>\n<meta charset=utf-8>[T]\n<title>"),
            (
                "<meta http-equiv=content-type content='text/html; charset=x'><p>",
                "<meta http-equiv=content-type content='text/html; charset=x'>[T]<p>",
            ),
            (
                "<head><meta name=viewport><meta charset=utf-8>",
                "<head>[T]<meta name=viewport><meta charset=utf-8>",
            ),
            (
                "<head><meta http-equiv=Content-Security-Policy content='x charset'>",
                "<head>[T]<meta http-equiv=Content-Security-Policy content='x charset'>",
            ),
            (
                "<!doctype html><frameset><frame src=a></frameset>",
                "<!doctype html>[T]<frameset><frame src=a></frameset>",
            ),
        ] {
            assert_eq!(put(document), expected);
        }
    }

    #[test]
    fn nothing_goes_before_a_doctype_that_may_still_come() {
        for document in ["", "<!-- never closed <!doctype html><p>", "<!doctype html", "<?xml", "  \n"] {
            assert_eq!(put(document), document);
        }
        let long = format!("<!--{}--><!doctype html><p>", "x".repeat(WINDOW));
        assert_eq!(put(&long), long);
    }

    #[test]
    fn a_head_that_is_cut_off_leaves_the_document_a_valid_place() {
        assert_eq!(
            put("<!doctype html><html lang='never closed"),
            "<!doctype html>[T]<html lang='never closed"
        );
        assert_eq!(put("<!doctype html><html><!-- never closed"), "<!doctype html><html><!-- never closed");
    }

    #[test]
    fn marks_and_wide_letters_are_kept() {
        let found = find_insertion(b"\xef\xbb\xbf<!doctype html><p>", TAG, false).unwrap();
        assert_eq!((found.at, &found.bytes[..]), (18, TAG.as_bytes()));
        let wide = |text: &str, big: bool| -> Vec<u8> {
            text.encode_utf16()
                .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect()
        };
        for big in [false, true] {
            let document = wide("\u{feff}<!-- \u{e9}\u{1f600} --><html><head><title>", big);
            let found = find_insertion(&document, TAG, false).unwrap();
            let whole = [&document[..found.at], &found.bytes, &document[found.at..]].concat();
            assert_eq!(whole, wide("\u{feff}<!-- \u{e9}\u{1f600} --><html><head>[T]<title>", big));
        }
    }

    #[test]
    fn a_document_in_xml_needs_its_head() {
        let xml = b"<?xml version='1.0'?>\n<html xmlns='x'><head><title/>";
        assert_eq!(find_insertion(xml, TAG, true).unwrap().at, xml.len() - 8);
        assert_eq!(find_insertion(b"<?xml version='1.0'?><html xmlns='x'><body/>", TAG, true), None);
    }

    #[test]
    fn tags_end_where_browsers_end_them() {
        for (html, rest) in [
            ("<html a=b='>", "<body x='y'>"),
            ("<html a==\">", "<p title=\"\">"),
            ("<html ='>", "<p title='>'>"),
            ("<html a=\"x\"='>", "'>"),
            ("<html a='>'b=\">\">", "<p>"),
            ("<html a/=\"'>", "\"><p>"),
            ("<html a = '>' b>", "<p>"),
        ] {
            let start = format!("<!doctype html>{html}");
            assert_eq!(put(&format!("{start}{rest}")), format!("{start}{TAG}{rest}"), "{html}");
        }
    }

    #[test]
    fn nothing_is_looked_for_behind_an_escape() {
        let page = b"<!doctype html><meta charset=iso-2022-jp><!-- \x1b$B--><meta charset=x a='\x1b(B --><div title=\"'>";
        let found = find_insertion(page, TAG, false).unwrap();
        assert_eq!(found.at, "<!doctype html><meta charset=iso-2022-jp>".len());
        assert_eq!(find_insertion(b"<!-- \x1b$B--><!doctype html>", TAG, false), None);
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_place_inside_them(bytes in proptest::collection::vec(any::<u8>(), 0..200), is_xml: bool) {
            if let Some(found) = find_insertion(&bytes, TAG, is_xml) {
                prop_assert!(found.at <= bytes.len());
            }
        }

        #[test]
        fn pieces_of_markup_give_a_place_inside_them(text in "(<!--|-->|<!doctype html>|<html|<head|<meta charset|>|'|\"|=| |<\\?|x){0,30}") {
            if let Some(found) = find_insertion(text.as_bytes(), TAG, false) {
                prop_assert!(text.is_char_boundary(found.at));
            }
        }
    }
}
