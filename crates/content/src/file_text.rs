//! The text of a stored file: decompressed, and decoded by the charset that it is sent with.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read, Seek};

use crate::bundle::{Body, Encoding, File};
use crate::charset;
use crate::mime::is_html;

/// Decompressors that threads keep are for small files.
const SMALL_BYTES: u64 = 1 << 20;

thread_local! {
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Reads a file of a bundle. A spooled one is left positioned at its start.
pub(crate) fn text_of(file: &File) -> io::Result<Cow<'_, str>> {
    let mut bytes = Vec::new();
    match &file.body {
        Body::Packed { encoding: Encoding::Identity, bytes: packed } => {
            return Ok(match std::str::from_utf8(packed) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(decoded(packed.to_vec(), file.mime)),
            });
        }
        Body::Packed { encoding: Encoding::Zstd, bytes: packed } if file.size_bytes <= SMALL_BYTES => {
            bytes = DECOMPRESSOR.with_borrow_mut(|kept| unpack(kept, packed, file.size_bytes))?;
        }
        Body::Packed { encoding, bytes: packed } => read_all(*encoding, &packed[..], &mut bytes)?,
        Body::Spooled { encoding, file: spooled, .. } => {
            read_all(*encoding, spooled, &mut bytes)?;
            { spooled }.rewind()?;
        }
    }
    Ok(Cow::Owned(decoded(bytes, file.mime)))
}

/// Making a decompressor takes longer than using it on a small page.
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

/// The text of a file as a browser reads it that gets it with this media type. Which charset a page was sent with follows
/// from its bytes; everything else is sent as UTF-8.
pub(crate) fn decoded(bytes: Vec<u8>, mime: &str) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_html(mime) => charset::decode_page(error.as_bytes()),
        Err(error) => charset::decode_other(error.as_bytes()),
    }
}
