//! Decodes text strings of a PDF: UTF-16 or UTF-8 with a byte order mark, else `PDFDocEncoding`.

/// The characters of `PDFDocEncoding` from 0x18 to 0x1f.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
/// And from 0x80 to 0xa0; 0x9f is undefined.
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ',
    'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Not in the standard, but written by some programs and understood by all.
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => without_languages(&String::from_utf8_lossy(rest)),
        _ => bytes.iter().map(|byte| of_byte(*byte)).collect(),
    }
}

fn of_byte(byte: u8) -> char {
    let index = usize::from(byte);
    match byte {
        0x18..=0x1f => LOW[index - 0x18],
        0x80..=0xa0 => HIGH[index - 0x80],
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    without_languages(&char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>())
}

/// Removes the language codes that a text may contain, each between two escape characters.
fn without_languages(text: &str) -> String {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    text.split(ESCAPE).step_by(2).collect()
}
