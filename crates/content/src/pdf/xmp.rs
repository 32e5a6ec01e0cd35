//! Reads `dc:title` from an uncompressed XMP packet in a metadata stream.

use dropleaf_core::html::character_references::{Context, decode};
use memchr::memmem;

use super::dictionary::parse;

/// The title in the default language, else the first one. `bytes` is the object: its dictionary and its stream.
pub(super) fn title(bytes: &[u8]) -> Option<String> {
    // Compressed streams are not read.
    if parse(bytes)?.get("Filter").is_some() {
        return None;
    }
    let start = memmem::find(bytes, b"stream")?;
    let end = memmem::find(&bytes[start..], b"endstream").map_or(bytes.len(), |at| start + at);
    let packet = String::from_utf8_lossy(bytes.get(start..end)?);
    let (_, titles) = packet.split_once("<dc:title")?;
    let (titles, _) = titles.split_once("</dc:title>")?;
    let items: Vec<(&str, &str)> = titles.split("<rdf:li").skip(1).filter_map(item).collect();
    let default = items.iter().find(|(attributes, _)| attributes.contains("x-default"));
    let (_, text) = default.or_else(|| items.first())?;
    Some(decode(text, Context::Text).into_owned())
}

/// The attributes and the text of one item.
fn item(rest: &str) -> Option<(&str, &str)> {
    let (attributes, rest) = rest.split_once('>')?;
    let (text, _) = rest.split_once("</rdf:li>")?;
    (!text.contains('<')).then_some((attributes, text))
}
