//! The text of a stored file: decompressed, and decoded by the charset that a browser would choose.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read, Seek};

use crate::bundle::{Body, Encoding, File};

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
                Err(_) => Cow::Owned(decoded(packed.to_vec())),
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
    Ok(Cow::Owned(decoded(bytes)))
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

/// The text of a page in the charset that a browser would choose: byte order mark, UTF-8 if it is, the page's own
/// declaration, else what the web used before.
pub(crate) fn decoded(bytes: Vec<u8>) -> String {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(&bytes)
        && encoding != encoding_rs::UTF_8
    {
        return encoding.decode(&bytes).0.into_owned();
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let encoding = declared(&bytes[..bytes.len().min(1024)]).unwrap_or(encoding_rs::WINDOWS_1252);
    encoding.decode(&bytes).0.into_owned()
}

fn declared(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let at = head.to_ascii_lowercase().windows(8).position(|window| window == b"charset=")?;
    let label = head[at + 8..].trim_ascii_start();
    let label = label.strip_prefix(b"\"").or(label.strip_prefix(b"'")).unwrap_or(label);
    let len = label.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_".contains(b)).count();
    encoding_rs::Encoding::for_label(&label[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_are_those_of_browsers() {
        assert_eq!(decoded("é".as_bytes().to_vec()), "é");
        assert_eq!(decoded(b"\xff\xfea\0".to_vec()), "a");
        assert_eq!(
            decoded(b"<meta charset='windows-1251'>\xcf".to_vec()),
            "<meta charset='windows-1251'>\u{41f}"
        );
        assert_eq!(decoded(b"caf\xe9".to_vec()), "café");
    }
}
