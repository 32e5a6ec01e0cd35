//! Reads the title of a PDF: `/Title` of its information dictionary, else `dc:title` of its XMP metadata. Objects are found by
//! their header, not by the cross-reference table, in one pass over the bytes for each. Encrypted documents and compressed
//! object streams are not read; such a document has no title.

use std::io::{self, Read};

use dropleaf_core::html::character_references::{Context, decode};
use memchr::memmem;

use super::dictionary::{Reference, Value, parse};
use crate::input::{CHUNK, Input};
use crate::title;

/// How much of an object is read. Longer objects have a title before that, or none.
const OBJECT_BYTES: u64 = 64 * 1024;
const METADATA_BYTES: u64 = 256 * 1024;
/// `startxref` is in the last kilobyte; some programs write something after it.
const TAIL_BYTES: u64 = 4096;
/// How many trailers are read. A document has one for each time it was saved.
const MOST_TRAILERS: usize = 8;

/// The characters of `PDFDocEncoding` from 0x18 to 0x1f.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
/// And from 0x80 to 0xa0; 0x9f is undefined.
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ',
    'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// The title, if the document has a meaningful one.
pub(crate) fn read(input: &mut Input) -> io::Result<Option<String>> {
    let trailers = trailers(input)?;
    if trailers.iter().any(|trailer| trailer.get("Encrypt").is_some()) {
        return Ok(None);
    }
    let first = |key: &str| trailers.iter().find_map(|trailer| trailer.get(key).cloned());
    if let Some(info) = first("Info")
        && let Some(info) = resolve(input, info)?
        && let Some(title) = info.get("Title").cloned()
        && let Some(Value::Text(bytes)) = resolve(input, title)?
        && let Some(title) = worded(&decode_text(&bytes))
    {
        return Ok(Some(title));
    }
    let Some(root) = first("Root") else { return Ok(None) };
    let Some(catalog) = resolve(input, root)? else { return Ok(None) };
    let Some(Value::Reference(metadata)) = catalog.get("Metadata") else { return Ok(None) };
    let Some(bytes) = object(input, *metadata, METADATA_BYTES)? else { return Ok(None) };
    Ok(xmp_title(&bytes).as_deref().and_then(worded))
}

/// A title given by a person, not the placeholder that programs write without one.
fn worded(text: &str) -> Option<String> {
    title::clean(text).filter(|title| !title.eq_ignore_ascii_case("untitled"))
}

/// The trailer dictionaries, newest first.
fn trailers(input: &mut Input) -> io::Result<Vec<Value>> {
    let mut found = Vec::new();
    let start = input.len().saturating_sub(TAIL_BYTES);
    let tail = window(input, start, TAIL_BYTES)?;
    if let Some(at) = memmem::rfind(&tail, b"startxref")
        && let Some(offset) = number(&tail[at + b"startxref".len()..])
    {
        // A cross-reference stream is an object whose dictionary is the trailer. A table is not an object, and is skipped.
        let bytes = window(input, offset, OBJECT_BYTES)?;
        found.extend(after_header(&bytes).and_then(parse));
    }
    let places = places(input, b"trailer")?;
    for at in places.into_iter().rev() {
        let bytes = window(input, at + b"trailer".len() as u64, OBJECT_BYTES)?;
        found.extend(parse(&bytes));
    }
    Ok(found)
}

/// The value itself, or the one that a reference points to.
fn resolve(input: &mut Input, value: Value) -> io::Result<Option<Value>> {
    match value {
        Value::Reference(reference) => Ok(object(input, reference, OBJECT_BYTES)?.as_deref().and_then(parse)),
        value => Ok(Some(value)),
    }
}

/// The bytes after the newest header of an object, at most `most`.
fn object(input: &mut Input, reference: Reference, most: u64) -> io::Result<Option<Vec<u8>>> {
    let header = format!("{} {} obj", reference.number, reference.generation);
    match places(input, header.as_bytes())?.last() {
        Some(at) => window(input, at + header.len() as u64, most).map(Some),
        None => Ok(None),
    }
}

/// The bytes after `N G obj`.
fn after_header(bytes: &[u8]) -> Option<&[u8]> {
    let at = memmem::find(bytes.get(..64).unwrap_or(bytes), b"obj")?;
    let digits = |b: &u8| b.is_ascii_digit() || b.is_ascii_whitespace();
    bytes[..at].iter().all(digits).then(|| &bytes[at + 3..])
}

fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn window(input: &mut Input, start: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.region(start, start.saturating_add(most)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last offsets, in ascending order, at which a word begins that is not the end of a longer one.
fn places(input: &mut Input, word: &[u8]) -> io::Result<Vec<u64>> {
    let finder = memmem::Finder::new(word);
    let mut places = Vec::new();
    // The end of the previous chunk: the bytes where a word may begin, and the byte before them.
    let mut held: Vec<u8> = Vec::with_capacity(CHUNK + word.len() + 1);
    let mut start = 0_u64;
    input.for_each_chunk::<io::Error>(|chunk| {
        held.extend_from_slice(chunk);
        for at in finder.find_iter(&held) {
            let is_start =
                at.checked_sub(1).map_or(start == 0, |before| !held[before].is_ascii_alphanumeric());
            let place = start + at as u64;
            if is_start && places.last() != Some(&place) {
                places.push(place);
                if places.len() > MOST_TRAILERS {
                    places.remove(0);
                }
            }
        }
        let kept = held.len().saturating_sub(word.len());
        held.drain(..kept);
        start += kept as u64;
        Ok(())
    })?;
    Ok(places)
}

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, else `PDFDocEncoding`.
fn decode_text(bytes: &[u8]) -> String {
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

/// `dc:title` of an uncompressed XMP packet: the title in the default language, else the first one. `bytes` is the object: its dictionary and its stream.
fn xmp_title(bytes: &[u8]) -> Option<String> {
    // Compressed streams are not read.
    if parse(bytes)?.get("Filter").is_some() {
        return None;
    }
    let start = memmem::find(bytes, b"stream")?;
    let end = memmem::find(&bytes[start..], b"endstream").map_or(bytes.len(), |at| start + at);
    let packet = String::from_utf8_lossy(bytes.get(start..end)?);
    let (_, titles) = packet.split_once("<dc:title")?;
    let (titles, _) = titles.split_once("</dc:title>")?;
    let items: Vec<(&str, &str)> = titles.split("<rdf:li").skip(1).filter_map(xmp_item).collect();
    let default = items.iter().find(|(attributes, _)| attributes.contains("x-default"));
    let (_, text) = default.or_else(|| items.first())?;
    Some(decode(text, Context::Text).into_owned())
}

/// The attributes and the text of one item.
fn xmp_item(rest: &str) -> Option<(&str, &str)> {
    let (attributes, rest) = rest.split_once('>')?;
    let (text, _) = rest.split_once("</rdf:li>")?;
    (!text.contains('<')).then_some((attributes, text))
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
