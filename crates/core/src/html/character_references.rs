//! Decodes character references (`&lt;`, `&#60`) in text and attribute values as the HTML standard requires: all 2,231 names,
//! including those without a semicolon, numbers of any length and their replacements.

use std::borrow::Cow;
use std::sync::LazyLock;

/// The standard's list; the head of the file describes its format.
const LIST: &str = include_str!("../../assets/character_references.txt");
/// The longest name has 31 letters, the shortest 2. Those that need no semicolon have at most 6.
const LONGEST_NAME: usize = 31;
const SHORTEST: usize = 2;

/// Where a text occurs. In an attribute value a name without a semicolon is not a reference when `=`, a letter or a digit
/// follows, so that `?a=1&copy=2` stays a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    Text,
    Attribute,
}

/// What a reference stands for: one character, or two for a few names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Characters {
    pub first: char,
    pub second: Option<char>,
}

struct Name {
    text: &'static str,
    characters: Characters,
}

/// A name that needs no semicolon. `key` holds its first bytes as a number.
struct Bare {
    key: u64,
    len: usize,
    /// Its index in [`Names::all`].
    at: usize,
}

struct Names {
    all: Vec<Name>,
    /// The first eight bytes of each name as a number that sorts like the name.
    keys: Vec<u64>,
    /// For each first byte, the range of names that start with it.
    starts: [(usize, usize); 128],
    /// By first byte, the longest name first.
    bare: [Vec<Bare>; 128],
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names {
        all: Vec::with_capacity(2125),
        keys: Vec::with_capacity(2125),
        starts: [(0, 0); 128],
        bare: [const { Vec::new() }; 128],
    };
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let mut codes = words.filter_map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        let (Some(first), second) = (codes.next(), codes.next()) else { continue };
        let text = name.trim_end_matches(';');
        let start = text.as_bytes().first().map_or(0, |byte| usize::from(byte & 0x7f));
        let at = names.all.len();
        let range = &mut names.starts[start];
        *range = if range.1 == 0 { (at, at + 1) } else { (range.0, at + 1) };
        let key = first_eight(text.as_bytes());
        names.keys.push(key);
        if text.len() == name.len() {
            let bare = &mut names.bare[start];
            bare.push(Bare { key, len: text.len(), at });
            bare.sort_by_key(|known| std::cmp::Reverse(known.len));
        }
        names.all.push(Name { text, characters: Characters { first, second } });
    }
    names
});

impl Names {
    fn find(&self, name: &str) -> Option<&Name> {
        let first = name.as_bytes().first().filter(|byte| byte.is_ascii())?;
        let (from, to) = self.starts[usize::from(*first)];
        let key = first_eight(name.as_bytes());
        let lowest = from + self.keys[from..to].partition_point(|known| *known < key);
        let same = self.keys[lowest..to].iter().take_while(|known| **known == key).count();
        self.all[lowest..lowest + same].iter().find(|known| known.text == name)
    }

    /// The longest name without a semicolon that the text begins with.
    fn find_bare(&self, text: &[u8]) -> Option<(&Name, usize)> {
        let bare = &self.bare[usize::from(*text.first().filter(|byte| byte.is_ascii())?)];
        let word = first_eight(text);
        let found =
            bare.iter().find(|name| word >> (64 - 8 * name.len) == name.key >> (64 - 8 * name.len))?;
        Some((&self.all[found.at], found.len))
    }
}

/// The first eight bytes as a big-endian number, padded with zeros.
fn first_eight(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*eight);
    }
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(eight)
}

/// The text with every reference decoded.
#[inline]
pub fn decode(text: &str, context: Context) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut decoded = String::with_capacity(text.len());
    decoded.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match reference(rest, context) {
            Some((characters, used)) => {
                decoded.push(characters.first);
                decoded.extend(characters.second);
                rest = &rest[used..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// What the text after `&` stands for, and how many of its bytes belong to the reference.
#[inline]
pub fn reference(rest: &str, context: Context) -> Option<(Characters, usize)> {
    if let Some(number) = rest.strip_prefix('#') {
        return numeric(number).map(|(first, used)| (Characters { first, second: None }, used + 1));
    }
    let bytes = rest.as_bytes();
    let len = bytes.iter().take(LONGEST_NAME + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if (SHORTEST..=LONGEST_NAME).contains(&len)
        && bytes.get(len) == Some(&b';')
        && let Some(name) = NAMES.find(&rest[..len])
    {
        return Some((name.characters, len + 1));
    }
    // In text, the longest name that needs no semicolon matches whatever follows: `&notit;` is `¬it;`.
    let (name, used) = NAMES.find_bare(bytes)?;
    let goes_on = bytes.get(used).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'=');
    let is_one = context == Context::Text || !goes_on;
    is_one.then_some((name.characters, used))
}

/// A number after `&#`, with or without a semicolon.
fn numeric(number: &str) -> Option<(char, usize)> {
    let (radix, digits) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (16, digits),
        None => (10, number),
    };
    let len = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let code = digits[..len].bytes().fold(0_u32, |code, byte| {
        code.saturating_mul(radix).saturating_add(char::from(byte).to_digit(radix).unwrap_or(0))
    });
    let semicolon = usize::from(digits[len..].starts_with(';'));
    (len > 0).then(|| (character(code), number.len() - digits.len() + len + semicolon))
}

/// The character for a code: U+FFFD for NUL, surrogates and numbers that are no code points; windows-1252 for C1 controls.
fn character(code: u32) -> char {
    const REPLACED: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match code {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => REPLACED[(code - 0x80) as usize],
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
#[path = "character_references_tests.rs"]
mod tests;
