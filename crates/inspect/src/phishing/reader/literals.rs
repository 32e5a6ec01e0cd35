//! Iterates over the string literals of a script, concatenated where `+` joins them, with escapes decoded.
//! Approximate: a regular expression may mislead it to the end of a line, never further. Reads forwards only.

/// A literal and the offset at which it begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) at: usize,
    pub(crate) text: String,
    /// Characters were written as numeric escapes.
    pub(crate) escaped: bool,
}

const LONGEST: usize = 4 << 20;
/// The most bytes of a URL in a script that are read.
pub(crate) const LONGEST_ADDRESS: usize = 512;

pub(crate) struct Literals<'a> {
    script: &'a str,
    at: usize,
}

impl<'a> Literals<'a> {
    pub(crate) fn new(script: &'a str, at: usize) -> Self {
        Self { script, at }
    }

    /// Advances to the next quote that opens a literal, skipping comments.
    fn next_quote(&mut self) -> Option<u8> {
        let bytes = self.script.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' | b'\'' | b'`' => return Some(*byte),
                b'/' => match bytes.get(self.at + 1) {
                    // `://` occurs in URLs of a misread string, not before a comment.
                    Some(b'/') if self.at == 0 || bytes[self.at - 1] != b':' => {
                        let end = memchr::memchr(b'\n', &bytes[self.at..]);
                        self.at = end.map_or(bytes.len(), |end| self.at + end);
                    }
                    Some(b'*') => {
                        let end = memchr::memmem::find(&bytes[self.at + 2..], b"*/");
                        self.at = end.map_or(bytes.len(), |end| self.at + 2 + end + 2);
                    }
                    _ => self.at += 1,
                },
                _ => self.at += 1,
            }
        }
        None
    }

    /// Appends the literal that opens here and says whether it had numeric escapes. Once `text` has [`LONGEST`] bytes, the
    /// rest of a literal is dropped.
    fn body(&mut self, quote: u8, text: &mut String) -> bool {
        let bytes = self.script.as_bytes();
        self.at += 1;
        let mut from = self.at;
        let mut escaped = false;
        while let Some(byte) = bytes.get(self.at) {
            if *byte == quote || (*byte == b'\n' && quote != b'`') {
                break;
            }
            if *byte == b'\\' {
                text.push_str(self.script.get(from..self.at).unwrap_or_default());
                escaped |= self.escape(text);
                from = self.at;
            } else {
                self.at += 1;
            }
        }
        if text.len() < LONGEST {
            text.push_str(self.script.get(from..self.at).unwrap_or_default());
        }
        self.at += 1;
        escaped
    }

    /// Decodes one escape and says whether it was numeric and an ASCII character.
    fn escape(&mut self, text: &mut String) -> bool {
        let rest = &self.script[self.at + 1..];
        let Some(next) = rest.chars().next() else {
            self.at += 1;
            return false;
        };
        self.at += 1 + next.len_utf8();
        let digits = match next {
            'x' => rest.get(1..3),
            'u' if rest[1..].starts_with('{') => {
                rest[2..].bytes().take(7).position(|b| b == b'}').and_then(|end| rest.get(2..2 + end))
            }
            'u' => rest.get(1..5),
            _ => None,
        };
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(c) =
            digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32)
        {
            self.at += digits.map_or(0, str::len) + if rest[1..].starts_with('{') { 2 } else { 0 };
            text.push(c);
            return c.is_ascii();
        }
        match next {
            'n' | 'r' | 't' => text.push(' '),
            '\n' => {}
            other => text.push(other),
        }
        false
    }

    /// The opening quote of the next literal, if only a plus sign separates it from this one.
    fn goes_on(&mut self) -> Option<u8> {
        let bytes = self.script.as_bytes();
        let mut at = self.at;
        let mut plus = false;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'+' if !plus => plus = true,
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'"' | b'\'' | b'`' if plus => {
                    self.at = at;
                    return Some(*byte);
                }
                _ => return None,
            }
            at += 1;
            // Bounded, so that long white space is not scanned repeatedly.
            if at - self.at > 64 {
                return None;
            }
        }
        None
    }
}

impl Iterator for Literals<'_> {
    type Item = Literal;

    fn next(&mut self) -> Option<Literal> {
        let mut quote = self.next_quote()?;
        let at = self.at;
        let mut text = String::new();
        let mut escaped = false;
        loop {
            escaped |= self.body(quote, &mut text);
            match self.goes_on() {
                Some(next) if text.len() < LONGEST => quote = next,
                _ => return Some(Literal { at, text, escaped }),
            }
        }
    }
}

/// The literal that opens at this quote, cut at [`LONGEST_ADDRESS`].
pub(crate) fn literal_at(text: &str, quote: usize) -> Option<String> {
    let mut end = (quote + LONGEST_ADDRESS).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(Literals::new(&text[..end], quote).next()?.text)
}

/// At most `most` bytes from `from` on, cut at a character boundary.
pub(crate) fn cut(text: &str, from: usize, most: usize) -> &str {
    let mut end = (from + most).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[from..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<String> {
        Literals::new(script, 0).map(|literal| literal.text).collect()
    }

    #[test]
    fn literals_are_joined_and_unescaped() {
        assert_eq!(
            texts(
                r#"a="api.tele" + 'gram.org'; b="\x3cform\u003e\u{41}" // don't
            c=`two
lines`; /* "no" */ d='it\'s'"#
            ),
            ["api.telegram.org", "<form>A", "two\nlines", "it's"]
        );
    }

    #[test]
    fn an_open_literal_ends_with_its_line() {
        assert_eq!(texts("x = 'open\ny = 'ok'"), ["open", "ok"]);
        assert_eq!(texts("x = 'ends in \\"), ["ends in "]);
        assert_eq!(texts("'\\u{zz}' '\\x4' '\\u12'"), ["u{zz}", "x4", "u12"]);
    }
}
