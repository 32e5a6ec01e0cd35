//! Folds text to the letters a reader sees: lowercase without accents, homoglyphs as Latin letters, zero-width
//! characters removed, character references decoded, white space collapsed. The words of our lists are folded the same way.

mod homoglyphs;

use dropleaf_core::html::character_references::{Context, reference};
use unicode_normalization::char::decompose_compatible;

use homoglyphs::homoglyph_of;

/// Folded text, and where in it a letter was replaced by the one it imitates.
#[derive(Debug, Default, Clone)]
pub(crate) struct Folded {
    pub(crate) bytes: Vec<u8>,
    imitated: Vec<usize>,
    /// Keeps letters as they are: in URLs, a homoglyph is another host.
    exact: bool,
}

const MOST_IMITATED: usize = 1 << 16;
/// What a byte folds to without context: a space for separators, 0 for bytes that need context.
const SIMPLE: [u8; 256] = {
    let mut simple = [0; 256];
    let mut byte: u8 = 0;
    while byte < 0x7f {
        simple[byte as usize] = match byte {
            // A comma is optional punctuation; the words it separates stay apart.
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b',' => b' ',
            b'I' | b'0' | b'1' | b'&' | 0..=0x20 => 0,
            b'A'..=b'Z' => byte | 0x20,
            _ => byte,
        };
        byte += 1;
    }
    simple
};

/// The number of leading bytes that fold without context; a space counts only after a non-space.
fn simple_run(bytes: &[u8]) -> usize {
    let mut last = b' ';
    let goes_on = |byte: &&u8| {
        let before = std::mem::replace(&mut last, SIMPLE[usize::from(**byte)]);
        last > b' ' || (last == b' ' && before > b' ')
    };
    bytes.iter().take_while(goes_on).count()
}

pub(crate) fn fold(text: &str) -> String {
    let mut folded = Folded::default();
    folded.add(text);
    String::from_utf8(folded.bytes).unwrap_or_default().trim().to_owned()
}

/// Decodes and lowercases text, keeping every letter itself.
pub(crate) fn exact(text: &str) -> String {
    let mut folded = Folded { exact: true, ..Folded::default() };
    folded.add(text);
    String::from_utf8(folded.bytes).unwrap_or_default()
}

impl Folded {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Ends a line: text in different blocks does not belong together.
    pub(crate) fn break_line(&mut self) {
        while self.bytes.last() == Some(&b' ') {
            self.bytes.pop();
        }
        if self.bytes.last().is_some_and(|last| *last != b'\n') {
            self.bytes.push(b'\n');
        }
    }

    /// Appends folded text on separate lines and returns where it begins.
    pub(crate) fn append(&mut self, other: &Self) -> usize {
        self.break_line();
        let from = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        let room = MOST_IMITATED.saturating_sub(self.imitated.len());
        self.imitated.extend(other.imitated.iter().take(room).map(|at| from + at));
        self.break_line();
        from
    }

    /// Whether a letter in this range was an imitation.
    pub(crate) fn is_imitated(&self, from: usize, to: usize) -> bool {
        let first = self.imitated.partition_point(|at| *at < from);
        self.imitated.get(first).is_some_and(|at| *at < to)
    }

    pub(crate) fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.bytes.reserve(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let run = &bytes[at..at + simple_run(&bytes[at..])];
            self.bytes.extend(run.iter().map(|byte| SIMPLE[usize::from(*byte)]));
            at += run.len();
            let Some(&byte) = bytes.get(at) else { return };
            at += 1;
            match byte {
                b'I' => self.capital_i(bytes.get(at.wrapping_sub(2)).copied(), bytes.get(at).copied()),
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b',' => self.space(),
                b'0' | b'1' => self.digit(byte, bytes.get(at).copied()),
                b'&' if bytes.get(at).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'#') => {
                    at += self.reference(&text[at..]);
                }
                0..=0x7f => self.bytes.push(byte),
                _ => {
                    at -= 1;
                    let Some(c) = text[at..].chars().next() else { return };
                    at += c.len_utf8();
                    self.character(c);
                }
            }
        }
    }

    fn space(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b' ' | b'\n')) {
            self.bytes.push(b' ');
        }
    }

    /// `PayPaI`: a capital I at the end of a lowercase word is read as l.
    fn capital_i(&mut self, before: Option<u8>, next: Option<u8>) {
        let ends_word = next.is_none_or(|next| !next.is_ascii_alphanumeric());
        if !self.exact && ends_word && before.is_some_and(|before| before.is_ascii_lowercase()) {
            self.push_imitated(b'l');
        } else {
            self.bytes.push(b'i');
        }
    }

    /// `paypa1` and `micr0soft`: a digit inside a word is read as the letter it looks like.
    fn digit(&mut self, digit: u8, next: Option<u8>) {
        let after_letter = self.bytes.last().is_some_and(u8::is_ascii_alphabetic);
        let before_letter = next.is_some_and(|next| next.is_ascii_alphabetic());
        let ends_word = next.is_none_or(|next| !next.is_ascii_alphanumeric());
        let begins_word = self.bytes.last().is_none_or(|last| !last.is_ascii_alphanumeric()) && digit == b'0';
        let inside = after_letter && (before_letter || (ends_word && digit == b'1'));
        if !self.exact && (inside || (begins_word && before_letter)) {
            self.push_imitated(if digit == b'0' { b'o' } else { b'l' });
        } else {
            self.bytes.push(digit);
        }
    }

    fn push_imitated(&mut self, letter: u8) {
        if self.imitated.len() < MOST_IMITATED {
            self.imitated.push(self.bytes.len());
        }
        self.bytes.push(letter);
    }

    /// Adds the character that the text after `&` stands for and returns the length of the reference.
    fn reference(&mut self, rest: &str) -> usize {
        // URLs are in attributes.
        let context = if self.exact { Context::Attribute } else { Context::Text };
        let Some((found, len)) = reference(rest, context) else {
            self.bytes.push(b'&');
            return 0;
        };
        self.character(found.first);
        if let Some(second) = found.second {
            self.character(second);
        }
        len
    }

    fn character(&mut self, c: char) {
        match u32::from(c) {
            0x20..=0x7e => {
                let mut buffer = [0; 4];
                let plain: &str = c.encode_utf8(&mut buffer);
                if c == '&' { self.bytes.push(b'&') } else { self.add(plain) }
            }
            0..=0x1f
            | 0x7f..=0xa0
            | 0x1680
            | 0x2000..=0x200a
            | 0x2028
            | 0x2029
            | 0x202f
            | 0x205f
            | 0x3000 => {
                self.space();
            }
            0x2018 | 0x2019 | 0x2bc | 0xb4 => self.bytes.push(b'\''),
            0x2010 | 0x2011 if !self.exact => self.bytes.push(b'-'),
            // Soft hyphen, joiners, direction marks, variation selectors, combining accents, tags.
            0xad
            | 0x300..=0x36f
            | 0x180b..=0x180e
            | 0x200b..=0x200f
            | 0x202a..=0x202e
            | 0x2060..=0x206f
            | 0xfe00..=0xfe0f
            | 0xfeff
            | 0xe0000..=0xe0fff => {}
            // Scripts without Latin look-alikes, whose letters must stay as they are.
            0x590..=0x1cff | 0x2e80..=0xa6ff | 0xac00..=0xd7ff | 0x1f000..=0x1faff => self.push(c),
            _ => self.letter(c),
        }
    }

    fn push(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn letter(&mut self, c: char) {
        let small = match c {
            'А'..='Я' => char::from_u32(u32::from(c) + 0x20).unwrap_or(c),
            'а'..='я' => c,
            _ => c.to_lowercase().next().unwrap_or(c),
        };
        if self.exact {
            self.push(small);
            return;
        }
        if let Some(latin) = homoglyph_of(small) {
            self.push_imitated(latin);
            return;
        }
        if matches!(small, 'а'..='я') {
            self.push(small);
            return;
        }
        let mut latin = false;
        let mut rest = None;
        decompose_compatible(small, |part| {
            let part = part.to_lowercase().next().unwrap_or(part);
            if part.is_ascii() {
                latin = true;
                // Accented Latin letters are legitimate; letters from other blocks that decompose to Latin are imitations.
                if u32::from(small) > 0x24f && !matches!(u32::from(small), 0x1e00..=0x1eff) {
                    self.push_imitated(part as u8);
                } else {
                    self.bytes.push(part as u8);
                }
            } else if rest.is_none() && !matches!(u32::from(part), 0x300..=0x36f) {
                rest = Some(part);
            }
        });
        if !latin {
            let part = rest.unwrap_or(small);
            match homoglyph_of(part) {
                Some(letter) => self.push_imitated(letter),
                None => self.push(part),
            }
        }
    }
}

#[cfg(test)]
mod tests;
