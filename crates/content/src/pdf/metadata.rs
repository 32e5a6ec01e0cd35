//! Reads the title of a PDF: `/Title` of its information dictionary, else `dc:title` of its XMP metadata. Objects are found by
//! their header, not by the cross-reference table, in one pass over the bytes for each. Encrypted documents and compressed
//! object streams are not read; such a document has no title.

use std::io::{self, Read};

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
        && let Some(title) = worded(&super::text::decode(&bytes))
    {
        return Ok(Some(title));
    }
    let Some(root) = first("Root") else { return Ok(None) };
    let Some(catalog) = resolve(input, root)? else { return Ok(None) };
    let Some(Value::Reference(metadata)) = catalog.get("Metadata") else { return Ok(None) };
    let Some(bytes) = object(input, *metadata, METADATA_BYTES)? else { return Ok(None) };
    Ok(super::xmp::title(&bytes).as_deref().and_then(worded))
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

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
