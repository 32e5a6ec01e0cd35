//! Reads the text of a stored file: decompresses it and decodes it with the charset it is served with.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read, Seek};

use super::charset;
use crate::bundle::{Body, Encoding, File};
use crate::mime::{is_active, is_html, is_script};

/// Files up to this size use the decompressor that each thread keeps.
const SMALL_BYTES: u64 = 1 << 20;

thread_local! {
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Reads a file of a bundle. A spooled one is left positioned at its start. `pages` returns the charset of the bundle's pages;
/// it is called only for a script that is not UTF-8.
pub(crate) fn text_of(
    file: &File,
    pages: impl FnOnce() -> io::Result<Option<&'static encoding_rs::Encoding>>,
) -> io::Result<Cow<'_, str>> {
    if let Some(bytes) = held(file)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = bytes_of(file)?;
    if is_script(file.mime) && std::str::from_utf8(&bytes).is_err() {
        return Ok(Cow::Owned(charset::of_script(&bytes, pages()?).decode(&bytes).0.into_owned()));
    }
    Ok(Cow::Owned(decode_text(bytes, file.mime)))
}

/// The charset of the first page of a bundle that is not UTF-8.
pub(crate) fn charset_of_pages(files: &[File]) -> io::Result<Option<&'static encoding_rs::Encoding>> {
    for file in files.iter().filter(|file| is_html(file.mime)) {
        let bytes = bytes_of(file)?;
        let charset = charset::of_page(&bytes, std::str::from_utf8(&bytes).is_ok());
        if charset != encoding_rs::UTF_8 {
            return Ok(Some(charset));
        }
    }
    Ok(None)
}

/// The identity bytes of a file, if they are in memory.
pub(crate) fn held(file: &File) -> Option<&[u8]> {
    match &file.body {
        Body::Packed { encoding: Encoding::Identity, bytes } => Some(bytes),
        Body::Packed { .. } | Body::Spooled { .. } => file.plain.as_deref(),
    }
}

fn bytes_of(file: &File) -> io::Result<Vec<u8>> {
    if let Some(bytes) = held(file) {
        return Ok(bytes.to_vec());
    }
    let mut bytes = Vec::new();
    match &file.body {
        Body::Packed { encoding: Encoding::Zstd, bytes: packed } if file.size_bytes <= SMALL_BYTES => {
            bytes = DECOMPRESSOR.with_borrow_mut(|kept| unpack(kept, packed, file.size_bytes))?;
        }
        Body::Packed { encoding, bytes: packed } => read_all(*encoding, &packed[..], &mut bytes)?,
        Body::Spooled { encoding, file: spooled, .. } => {
            read_all(*encoding, spooled, &mut bytes)?;
            { spooled }.rewind()?;
        }
    }
    Ok(bytes)
}

/// Keeps the decompressor, because creating one takes longer than using it on a small page.
fn unpack(
    kept: &mut Option<zstd::bulk::Decompressor<'static>>,
    packed: &[u8],
    size_bytes: u64,
) -> io::Result<Vec<u8>> {
    let decompressor = match kept {
        Some(decompressor) => decompressor,
        None => kept.insert(zstd::bulk::Decompressor::new()?),
    };
    decompressor.decompress(packed, usize::try_from(size_bytes).unwrap_or_default())
}

fn read_all(encoding: Encoding, stored: impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    match encoding {
        Encoding::Identity => { stored }.read_to_end(bytes)?,
        Encoding::Zstd => zstd::Decoder::new(stored)?.read_to_end(bytes)?,
    };
    Ok(())
}

/// The text of a file, decoded as a browser would with this media type. The charset of a page and of XML follows from its
/// bytes; a script on its own is taken to be UTF-8.
pub fn decode_text(bytes: Vec<u8>, mime: &str) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_html(mime) => charset::decode_page(error.as_bytes()),
        Err(error) if is_active(mime) => charset::decode_xml(error.as_bytes()),
        Err(error) => charset::decode_other(error.as_bytes()),
    }
}
