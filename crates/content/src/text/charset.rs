//! Determines the charset of a file. The charset of a page is sent in its `Content-Type`, which browsers prefer to a
//! declaration in the page, so that viewers see the text that was checked. A byte order mark takes precedence over both, here
//! and in browsers.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far a declaration is searched for: browsers go beyond the standard's 1024 bytes while nothing is rendered yet.
pub(crate) const HEAD_BYTES: usize = 4096;

/// Starts an escape sequence of ISO-2022, after which ASCII bytes may stand for other characters.
pub(crate) const ESCAPE: u8 = 0x1b;

/// The charset of an HTML page, given its first bytes and whether the whole page is valid UTF-8.
pub(crate) fn of_page(start: &[u8], is_utf8: bool) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        return encoding;
    }
    if is_utf8 {
        return UTF_8;
    }
    declared(&start[..start.len().min(HEAD_BYTES)]).unwrap_or(WINDOWS_1252)
}

/// The text of an HTML page.
pub(crate) fn decode_page(bytes: &[u8]) -> String {
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    of_page(bytes, is_utf8).decode(bytes).0.into_owned()
}

/// The text of a file that is sent as UTF-8, whatever it declares.
pub(crate) fn decode_other(bytes: &[u8]) -> String {
    UTF_8.decode(bytes).0.into_owned()
}

/// The text of an XML document that is not UTF-8. Such a document is sent without a charset if it is legacy text.
pub(crate) fn decode_xml(bytes: &[u8]) -> String {
    let is_legacy = memchr::memchr2(0, ESCAPE, bytes).is_none();
    let declared = in_prolog(&bytes[..bytes.len().min(HEAD_BYTES)]).filter(|_| is_legacy);
    declared.unwrap_or(UTF_8).decode(bytes).0.into_owned()
}

/// The charset of a script that is not UTF-8, where the pages beside it use a charset. Only a single-byte charset is taken
/// over: browsers read modules and workers as UTF-8 whatever is declared, and in other charsets the same bytes can be a
/// different program.
pub(crate) fn of_script(start: &[u8], pages: Option<&'static Encoding>) -> &'static Encoding {
    match Encoding::for_bom(start) {
        Some((encoding, _)) => encoding,
        None => pages.filter(|pages| pages.is_single_byte()).unwrap_or(UTF_8),
    }
}

/// Reads `<?xml version="1.0" encoding="…"?>` at the very beginning.
fn in_prolog(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.strip_prefix(b"<?xml")?;
    let prolog = &rest[..memchr::memmem::find(rest, b"?>")?];
    let rest = &prolog[memchr::memmem::find(prolog, b"encoding")? + "encoding".len()..];
    let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    labelled(&value[1..=memchr::memchr(quote, &value[1..])?])
}

/// The charset a page declares in a `<meta>`: the prescan algorithm of the HTML standard, step by step.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let mut scan = Prescan { head, at: 0 };
    while scan.at < head.len() {
        let rest = &head[scan.at..];
        if rest.starts_with(b"<!--") {
            // The dashes that open a comment may also close it: `<!-->`.
            scan.at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if is_meta(rest) {
            scan.at += "<meta".len();
            if let Some(encoding) = scan.meta()? {
                return Some(encoding);
            }
        } else if is_tag(rest) {
            scan.at += rest.iter().position(|b| is_space(*b) || *b == b'>')?;
            while scan.attribute()?.is_some() {}
        } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
            scan.at += memchr::memchr(b'>', rest)? + 1;
        } else {
            scan.at += 1;
        }
    }
    None
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|b| is_space(*b) || *b == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    match rest {
        [b'<', b'/', letter, ..] | [b'<', letter, ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

struct Prescan<'a> {
    head: &'a [u8],
    at: usize,
}

/// A name and a value, both in lower case.
type Attribute = (Vec<u8>, Vec<u8>);

impl Prescan<'_> {
    /// `None` at the end of the bytes.
    fn byte(&self) -> Option<u8> {
        self.head.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) -> Option<u8> {
        while skipped(self.byte()?) {
            self.at += 1;
        }
        self.byte()
    }

    #[expect(clippy::option_option, reason = "outside, the bytes end; inside, the tag does")]
    fn meta(&mut self) -> Option<Option<&'static Encoding>> {
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let (mut is_pragma, mut needs_pragma, mut charset) = (false, None, None);
        while let Some((name, value)) = self.attribute()? {
            if seen.contains(&name) {
                continue;
            }
            match &name[..] {
                b"http-equiv" => is_pragma |= value == b"content-type",
                b"content" if charset.is_none() => {
                    charset = in_content(&value);
                    needs_pragma = charset.map(|_| true).or(needs_pragma);
                }
                b"charset" => {
                    charset = labelled(&value);
                    needs_pragma = Some(false);
                }
                _ => {}
            }
            seen.push(name);
        }
        Some(charset.filter(|_| needs_pragma == Some(false) || (needs_pragma == Some(true) && is_pragma)))
    }

    /// The next attribute of a tag. The outer `None` means the end of the bytes, the inner one the end of the tag.
    #[expect(clippy::option_option, reason = "outside, the bytes end; inside, the tag does")]
    fn attribute(&mut self) -> Option<Option<Attribute>> {
        if self.skip(|b| is_space(b) || b == b'/')? == b'>' {
            return Some(None);
        }
        let (mut name, mut value) = (Vec::new(), Vec::new());
        loop {
            match self.byte()? {
                b'=' if !name.is_empty() => break,
                b if is_space(b) => {
                    if self.skip(is_space)? != b'=' {
                        return Some(Some((name, value)));
                    }
                    break;
                }
                b'/' | b'>' => return Some(Some((name, value))),
                b => name.push(b.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        let first = self.skip(is_space)?;
        if first == b'>' {
            return Some(Some((name, value)));
        }
        let quote = matches!(first, b'"' | b'\'').then_some(first);
        self.at += usize::from(quote.is_some());
        loop {
            let byte = self.byte()?;
            match quote {
                Some(quote) if byte == quote => {
                    self.at += 1;
                    return Some(Some((name, value)));
                }
                None if is_space(byte) || byte == b'>' => return Some(Some((name, value))),
                _ => value.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
    }
}

/// Reads `text/html; charset=…`.
fn in_content(value: &[u8]) -> Option<&'static Encoding> {
    let mut rest = value;
    loop {
        rest = &rest[memchr::memmem::find(rest, b"charset")? + "charset".len()..];
        let Some(after) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let after = after.trim_ascii_start();
        let label = match after.first()? {
            quote @ (b'"' | b'\'') => &after[1..=memchr::memchr(*quote, &after[1..])?],
            _ => after.split(|b| is_space(*b) || *b == b';').next()?,
        };
        return labelled(label);
    }
}

/// The encoding of a label. As the standard requires, a declared UTF-16 means UTF-8 and `x-user-defined` means windows-1252;
/// encodings that decode to nothing but U+FFFD (`replacement`) are ignored.
fn labelled(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

#[cfg(test)]
#[path = "charset_tests.rs"]
mod tests;
