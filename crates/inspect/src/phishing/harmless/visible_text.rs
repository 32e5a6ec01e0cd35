//! Counts the text that a page shows, and finds numbers in it that may be toll-free.

use dropleaf_core::html::character_references::{Context, decode};

use crate::phishing::detectors::LONG_TEXT;
use crate::phishing::detectors::lures::{PHONE_BYTES, PHONE_DIGITS};

/// How much of a text is read to see how a number goes on. A longer one counts as a telephone number.
const LOOKAHEAD: usize = 64;

/// How much text the page shows at least, and whether a toll-free number may be in it.
#[derive(Debug, Default)]
pub(super) struct VisibleText {
    pub(super) bytes: usize,
    pub(super) may_have_phone: bool,
    /// The end of the last text, if a number began there that may go on.
    open_number: Vec<u8>,
}

impl VisibleText {
    pub(super) fn add(&mut self, text: &str) {
        // On a long page, numbers no longer matter.
        if self.bytes > LONG_TEXT {
            return;
        }
        let found = ByteCounts::of(text);
        if !found.need_decoding {
            self.bytes += found.shown;
            if (found.eight || !self.open_number.is_empty()) && !self.may_have_phone && !text.is_empty() {
                self.may_have_phone = self.finds_phone(text.as_bytes());
            }
            return;
        }
        let decoded = decode(text, Context::Text);
        self.bytes += ByteCounts::of(&decoded).shown;
        if !self.may_have_phone && !decoded.is_empty() {
            self.may_have_phone = (!decoded.is_ascii() && decoded.chars().any(may_be_digit))
                || self.finds_phone(decoded.as_bytes());
        }
    }

    /// Text that the page shows only in place of something, which is not counted.
    pub(super) fn add_hint(&mut self, text: &str) {
        self.open_number.clear();
        let before = self.bytes;
        self.add(text);
        self.bytes = before;
        self.open_number.clear();
    }

    /// A tag: text of different blocks does not belong together.
    pub(super) fn pass(&mut self, is_inline: bool) {
        if !is_inline {
            self.open_number.clear();
        }
    }

    /// Whether a number is in this text, or begins in the last one and ends here.
    fn finds_phone(&mut self, text: &[u8]) -> bool {
        let open = std::mem::take(&mut self.open_number);
        if !open.is_empty() {
            let joined = [&open[..], &text[..text.len().min(LOOKAHEAD)]].concat();
            for at in memchr::memchr_iter(b'8', &open) {
                match begins_phone(&joined[at..]) {
                    Number::Open if joined.len() - at <= LOOKAHEAD => self.keep_open(&joined[at..]),
                    Number::Open | Number::Phone => return true,
                    Number::Other => {}
                }
            }
        }
        for at in memchr::memchr_iter(b'8', text) {
            match begins_phone(&text[at..]) {
                Number::Open if text.len() - at <= LOOKAHEAD => self.keep_open(&text[at..]),
                Number::Open | Number::Phone => return true,
                Number::Other => {}
            }
        }
        false
    }

    /// A number that began earlier and is still open contains this one.
    fn keep_open(&mut self, number: &[u8]) {
        if self.open_number.is_empty() {
            self.open_number.extend_from_slice(number);
        }
    }
}

/// What is in a text.
#[derive(Debug, Default)]
struct ByteCounts {
    /// How many the check reads.
    shown: usize,
    /// Whether there are character references or other than ASCII characters.
    need_decoding: bool,
    /// Whether there is an 8.
    eight: bool,
}

impl ByteCounts {
    /// Without branches and in small numbers, so that the compiler looks at many bytes at once.
    fn of(text: &str) -> ByteCounts {
        let mut found = ByteCounts::default();
        for chunk in text.as_bytes().chunks(usize::from(u8::MAX)) {
            let (mut shown, mut coded, mut eight) = (0_u8, 0_u8, 0_u8);
            for byte in chunk {
                shown += u8::from(is_shown(*byte));
                coded |= u8::from(!byte.is_ascii()) | u8::from(*byte == b'&');
                eight |= u8::from(*byte == b'8');
            }
            found.shown += usize::from(shown);
            found.need_decoding |= coded != 0;
            found.eight |= eight != 0;
        }
        found
    }
}

enum Number {
    Other,
    Phone,
    /// The text ends before it is known.
    Open,
}

/// What a text that begins with an 8 is.
fn begins_phone(text: &[u8]) -> Number {
    let start = |place: usize| text.get(place).copied();
    let fits = match (start(1), start(2)) {
        (Some(b'0'), Some(third)) => matches!(third, b'0' | b'5' | b'8') || !third.is_ascii(),
        (Some(second @ b'3'..=b'8'), Some(third)) => third == second || !third.is_ascii(),
        (None, _) | (Some(b'0' | b'3'..=b'8'), None) => return Number::Open,
        (Some(second), _) => !second.is_ascii(),
    };
    if !fits {
        return Number::Other;
    }
    // White space counts once, however much of it there is.
    let (mut digits, mut seen, mut is_space) = (0, 0, false);
    for byte in text {
        // It may stand for a digit, for a space or for nothing.
        if !byte.is_ascii() {
            return Number::Phone;
        }
        if !continues(*byte) {
            return Number::Other;
        }
        let space = separates_words(*byte);
        seen += usize::from(!(space && is_space));
        is_space = space;
        digits += usize::from(byte.is_ascii_digit());
        if digits >= PHONE_DIGITS {
            return Number::Phone;
        }
        if seen >= PHONE_BYTES {
            return Number::Other;
        }
    }
    Number::Open
}

/// Whether a byte is one of what the check reads.
const fn is_shown(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b','
}

/// Whether a byte may be part of a number.
fn continues(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_digit() || separates_words(byte) || b"-().".contains(&byte)
}

/// What the check reads as a space: also control characters, which references can stand for.
const fn separates_words(byte: u8) -> bool {
    byte == b' ' || byte == b',' || byte.is_ascii_control()
}

/// Whether a character that is not ASCII may be read as a digit: all but the letters and signs of common writing.
fn may_be_digit(c: char) -> bool {
    !(c.is_ascii()
        || matches!(u32::from(c),
            0xa0..=0x24f | 0x370..=0x52f | 0x590..=0x6ff | 0x2010..=0x2027 | 0x20a0..=0x20bf | 0x2190..=0x21ff
            | 0x2500..=0x27bf | 0x3000..=0x30ff | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xfe0f | 0x1f300..=0x1faff))
}
