//! Checks the bytes of a text as they are streamed: whether it is text, whether it is UTF-8, and whether it is blank.

use memchr::memchr;

use super::charset::{self, HEAD_BYTES};
use crate::mime::{html_in, is_html, is_script, without_charset};
use crate::refusal::{Refusal, RefusalCode};

#[derive(Debug)]
pub(crate) struct TextCheck {
    start: Vec<u8>,
    has_nul: bool,
    has_escape: bool,
    has_content: bool,
    utf8: bool,
    /// The unfinished character at the end of the last chunk.
    carry: Vec<u8>,
}

impl TextCheck {
    pub(crate) fn new() -> Self {
        Self {
            start: Vec::new(),
            has_nul: false,
            has_escape: false,
            has_content: false,
            utf8: true,
            carry: Vec::new(),
        }
    }

    pub(crate) fn update(&mut self, chunk: &[u8]) {
        if self.start.len() < HEAD_BYTES {
            let missing = HEAD_BYTES - self.start.len();
            self.start.extend_from_slice(&chunk[..chunk.len().min(missing)]);
        }
        self.has_nul = self.has_nul || memchr(0, chunk).is_some();
        self.has_escape = self.has_escape || memchr(charset::ESCAPE, chunk).is_some();
        self.has_content = self.has_content || has_content(chunk);
        if self.utf8 {
            self.update_utf8(chunk);
        }
    }

    fn update_utf8(&mut self, mut chunk: &[u8]) {
        while !self.carry.is_empty() {
            let Some((&next, rest)) = chunk.split_first() else { return };
            self.carry.push(next);
            chunk = rest;
            match std::str::from_utf8(&self.carry) {
                Ok(_) => self.carry.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.utf8 = false;
                    return;
                }
            }
        }
        if let Err(error) = std::str::from_utf8(chunk) {
            match error.error_len() {
                None => self.carry.extend_from_slice(&chunk[error.valid_up_to()..]),
                Some(_) => self.utf8 = false,
            }
        }
    }

    /// The first bytes, as far as a charset may be declared there.
    pub(crate) fn start(&self) -> &[u8] {
        &self.start
    }

    pub(crate) fn is_utf16(&self) -> bool {
        self.start.starts_with(b"\xff\xfe") || self.start.starts_with(b"\xfe\xff")
    }

    pub(crate) fn is_utf8(&self) -> bool {
        self.utf8 && self.carry.is_empty()
    }

    /// The media type that a text of this type is served with. UTF-8 is stated only where it is true: without a charset a
    /// browser uses what the file declares, as with any other server. Bytes that are not text in any ASCII-compatible charset
    /// keep the UTF-8 label, so that they cannot be read differently from how they were checked.
    pub(crate) fn media_type(&self, mime: &'static str) -> &'static str {
        if is_html(mime) {
            // State the charset that was used for the checks: a browser might otherwise choose another and show another page.
            return html_in(charset::of_page(self.start(), self.is_utf8()));
        }
        let keeps_ascii = self.is_utf16() || !(self.has_nul || self.has_escape);
        if self.is_utf8() || is_script(mime) || !keeps_ascii { mime } else { without_charset(mime) }
    }

    /// Refuses binary and blank texts. To be called after all bytes.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.has_nul && !self.is_utf16() {
            let detail = "The file is not text: it contains NUL bytes. Use the correct file extension (such as .zip, .pdf or \
                          .png) or save it as UTF-8 text.";
            return Err(Refusal::new(RefusalCode::NotText, detail));
        }
        if !self.has_content {
            let detail = "The file contains only whitespace. Send a file with content.";
            return Err(Refusal::new(RefusalCode::EmptyFile, detail));
        }
        Ok(())
    }
}

/// NUL and the bytes of byte order marks count as blank, so that this works for UTF-16 too.
fn has_content(chunk: &[u8]) -> bool {
    chunk.iter().any(|b| !b.is_ascii_whitespace() && !matches!(b, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(bytes: &[u8], step: usize) -> TextCheck {
        let mut text_check = TextCheck::new();
        bytes.chunks(step).for_each(|chunk| text_check.update(chunk));
        text_check
    }

    #[test]
    fn utf8_is_recognised_however_it_is_cut() {
        for step in 1..9 {
            assert!(checked("aé漢😀z".repeat(3).as_bytes(), step).is_utf8(), "{step}");
            assert!(!checked(b"caf\xe9 au lait", step).is_utf8(), "{step}");
            assert!(!checked(b"cut \xf0\x9f\x98", step).is_utf8(), "{step}");
            assert!(!checked(b"\xf0\x9f\x98 cut", step).is_utf8(), "{step}");
        }
    }

    #[test]
    fn nul_is_binary_unless_utf16_says_so() {
        assert_eq!(checked(b"a\0b", 1).check().unwrap_err().code, RefusalCode::NotText);
        assert!(checked(b"\xff\xfea\0b\0", 1).check().is_ok());
        assert!(checked(b"\xfe\xff\0a\0b", 4).check().is_ok());
    }

    #[test]
    fn white_space_is_empty() {
        for blank in [&b" \n\t"[..], b"\xef\xbb\xbf \r\n", b"\xff\xfe \0\n\0"] {
            assert_eq!(checked(blank, 2).check().unwrap_err().code, RefusalCode::EmptyFile);
        }
    }
}
