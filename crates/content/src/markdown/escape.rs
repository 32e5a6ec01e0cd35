//! Escapes text for HTML.

use std::io;

/// For text between tags; never for attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut safe, text);
    safe
}

/// For attributes in double quotes.
pub(crate) fn escaped_attribute(text: &str) -> String {
    escaped(text).replace('"', "&quot;")
}

pub(super) fn push_escaped(safe: &mut String, text: &str) {
    for part in text.split_inclusive(['<', '>', '&']) {
        let (plain, mark) = split_mark(part.as_bytes());
        safe.push_str(&part[..plain.len()]);
        safe.push_str(mark);
    }
}

/// Escapes bytes, because a chunk may end inside a character. Returns the escaped length.
pub(super) fn escaped_bytes(chunk: &[u8], mut write: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<u64> {
    let mut size = 0;
    for part in chunk.split_inclusive(|b| matches!(b, b'<' | b'>' | b'&')) {
        let (plain, mark) = split_mark(part);
        write(plain)?;
        write(mark.as_bytes())?;
        size += (plain.len() + mark.len()) as u64;
    }
    Ok(size)
}

/// Splits off the last byte of a part if it must be escaped, and returns its replacement.
fn split_mark(part: &[u8]) -> (&[u8], &'static str) {
    match part.split_last() {
        Some((b'<', plain)) => (plain, "&lt;"),
        Some((b'>', plain)) => (plain, "&gt;"),
        Some((b'&', plain)) => (plain, "&amp;"),
        _ => (part, ""),
    }
}
