//! Packs files one at a time: hashes the identity bytes, compresses them if that saves space, holds small files in memory and
//! spools larger ones to an unlinked temporary file.

use std::cell::RefCell;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use bytes::Bytes;
use dropleaf_core::program::{PROGRAM, Sniffer};
use zstd::zstd_safe::CParameter;

use crate::bundle::{Body, Encoding, File};
use crate::mime::is_compressible;

const HELD_FILE_BYTES: u64 = 4 << 20;
/// Identity bytes kept in memory for one bundle. Beyond this even files of incompressible types are compressed if that helps:
/// a forged archive of zeros named `.png` must not fill memory.
const HELD_IDENTITY_BYTES: u64 = 24 << 20;
/// Identity bytes of compressed files that are kept for the checks, of one file and of one bundle.
const PLAIN_FILE_BYTES: usize = 64 << 10;
const PLAIN_BYTES: usize = 1 << 20;
const WORTH_COMPRESSING_BYTES: usize = 512;
/// Favours speed over size: what viewers receive is compressed separately, once, with more effort.
const LEVEL: i32 = 1;
/// A small page occupies one page of the database in any case, so the fastest level is good enough there.
const SMALL_LEVEL: i32 = -1;
const SMALL_BYTES: usize = 16 * 1024;
/// The buffers of a compressor grow to the largest input it has packed; larger files do not use the one each thread keeps.
const SHARED_COMPRESSOR_BYTES: usize = 128 * 1024;

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) struct Packer<'a> {
    spool_dir: &'a Path,
    held_identity_bytes: u64,
    plain_bytes: usize,
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

/// One file being written. Write all its bytes, then pass it to [`Packer::finish`].
pub(crate) struct Sink {
    path: String,
    mime: &'static str,
    hasher: blake3::Hasher,
    sniffer: Sniffer,
    written: u64,
    body: SinkBody,
}

enum SinkBody {
    Held(Vec<u8>),
    Spooled(BufWriter<std::fs::File>),
    SpooledZstd(Box<zstd::Encoder<'static, BufWriter<std::fs::File>>>),
}

impl<'a> Packer<'a> {
    pub(crate) fn new(spool_dir: &'a Path) -> Self {
        Self { spool_dir, held_identity_bytes: 0, plain_bytes: 0, compressor: None }
    }

    /// `size` must be the exact number of bytes that will be written.
    pub(crate) fn begin(&self, path: impl Into<String>, mime: &'static str, size: u64) -> io::Result<Sink> {
        let body = if size <= HELD_FILE_BYTES {
            SinkBody::Held(Vec::with_capacity(usize::try_from(size).unwrap_or_default()))
        } else {
            let file = BufWriter::with_capacity(256 * 1024, tempfile::tempfile_in(self.spool_dir)?);
            if is_compressible(mime) {
                let mut encoder = zstd::Encoder::new(file, LEVEL)?;
                encoder.include_checksum(true)?;
                encoder.set_pledged_src_size(Some(size))?;
                SinkBody::SpooledZstd(Box::new(encoder))
            } else {
                SinkBody::Spooled(file)
            }
        };
        Ok(Sink {
            path: path.into(),
            mime,
            hasher: blake3::Hasher::new(),
            sniffer: Sniffer::default(),
            written: 0,
            body,
        })
    }

    pub(crate) fn finish(&mut self, sink: Sink) -> io::Result<File> {
        let (body, plain) = match sink.body {
            SinkBody::Held(bytes) => self.hold(bytes, is_compressible(sink.mime))?,
            SinkBody::Spooled(writer) => (spooled(writer, Encoding::Identity)?, None),
            SinkBody::SpooledZstd(encoder) => (spooled(encoder.finish()?, Encoding::Zstd)?, None),
        };
        let hash = *sink.hasher.finalize().as_bytes();
        // A program is never displayed, whatever its name says.
        let mime = if sink.sniffer.is_program(&sink.path) { PROGRAM } else { sink.mime };
        Ok(File { path: sink.path, mime, hash, size_bytes: sink.written, body, plain })
    }

    /// Packs bytes that are already complete.
    pub(crate) fn pack(&mut self, path: &str, mime: &'static str, bytes: &[u8]) -> io::Result<File> {
        let mut sink = self.begin(path, mime, bytes.len() as u64)?;
        sink.write(bytes)?;
        self.finish(sink)
    }

    /// The body, and the identity bytes if they are kept beside it.
    fn hold(&mut self, bytes: Vec<u8>, compressible: bool) -> io::Result<(Body, Option<Bytes>)> {
        let crowded = self.held_identity_bytes + bytes.len() as u64 > HELD_IDENTITY_BYTES;
        if bytes.len() >= WORTH_COMPRESSING_BYTES && (compressible || crowded) {
            let packed = self.compress(&bytes)?;
            if packed.len() * 10 <= bytes.len() * 9 {
                let body = Body::Packed { encoding: Encoding::Zstd, bytes: packed.into() };
                return Ok((body, self.keep_plain(bytes)));
            }
        }
        self.held_identity_bytes += bytes.len() as u64;
        Ok((Body::Packed { encoding: Encoding::Identity, bytes: Bytes::from(bytes) }, None))
    }

    fn keep_plain(&mut self, bytes: Vec<u8>) -> Option<Bytes> {
        let fits = bytes.len() <= PLAIN_FILE_BYTES && self.plain_bytes + bytes.len() <= PLAIN_BYTES;
        fits.then(|| {
            self.plain_bytes += bytes.len();
            bytes.into()
        })
    }

    fn compress(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if bytes.len() <= SHARED_COMPRESSOR_BYTES {
            return COMPRESSOR.with_borrow_mut(|shared| compress(shared, bytes));
        }
        compress(&mut self.compressor, bytes)
    }
}

/// Keeps the compressor for the next call, because creating one costs as much as packing a small page with it.
fn compress(kept: &mut Option<zstd::bulk::Compressor<'static>>, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = if let Some(compressor) = kept.take() {
        compressor
    } else {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        compressor
    };
    compressor.set_compression_level(if bytes.len() <= SMALL_BYTES { SMALL_LEVEL } else { LEVEL })?;
    let mut packed = compressor.compress(bytes)?;
    packed.shrink_to_fit();
    *kept = Some(compressor);
    Ok(packed)
}

impl Sink {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.sniffer.take(self.written, bytes);
        self.written += bytes.len() as u64;
        match &mut self.body {
            SinkBody::Held(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            SinkBody::Spooled(writer) => writer.write_all(bytes),
            SinkBody::SpooledZstd(encoder) => encoder.write_all(bytes),
        }
    }

    pub(crate) fn is_disk_image(&self) -> bool {
        self.sniffer.is_disk_image()
    }

    /// For types that are known only once all bytes were read.
    pub(crate) fn set_mime(&mut self, mime: &'static str) {
        self.mime = mime;
    }
}

fn spooled(writer: BufWriter<std::fs::File>, encoding: Encoding) -> io::Result<Body> {
    let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    let stored_bytes = file.stream_position()?;
    file.rewind()?;
    Ok(Body::Spooled { encoding, file, stored_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn identity(body: Body) -> Vec<u8> {
        let encoding = body.encoding();
        let stored = match body {
            Body::Packed { bytes, .. } => bytes.to_vec(),
            Body::Spooled { mut file, stored_bytes, .. } => {
                let mut all = Vec::new();
                file.read_to_end(&mut all).unwrap();
                assert_eq!(all.len() as u64, stored_bytes);
                all
            }
        };
        match encoding {
            Encoding::Identity => stored,
            Encoding::Zstd => zstd::decode_all(&stored[..]).unwrap(),
        }
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        bytes
    }

    fn packed(mime: &'static str, bytes: &[u8]) -> File {
        let dir = tempfile::tempdir().unwrap();
        Packer::new(dir.path()).pack("x", mime, bytes).unwrap()
    }

    #[test]
    fn text_is_stored_as_zstd_when_it_saves_a_tenth() {
        let text = b"all work and no play ".repeat(100);
        let file = packed("text/plain", &text);
        assert_eq!(file.body.encoding(), Encoding::Zstd);
        assert_eq!(file.hash, *blake3::hash(&text).as_bytes());
        assert_eq!(file.size_bytes, 2100);
        assert_eq!(identity(file.body), text);
    }

    #[test]
    fn short_noisy_or_compressed_types_stay_identity() {
        assert_eq!(packed("text/plain", &[b'a'; 511]).body.encoding(), Encoding::Identity);
        assert_eq!(packed("text/plain", &noise(4096)).body.encoding(), Encoding::Identity);
        assert_eq!(packed("image/png", &[b'a'; 4096]).body.encoding(), Encoding::Identity);
    }

    #[test]
    fn small_files_keep_what_was_sent_beside_what_is_stored_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let mut packer = Packer::new(dir.path());
        let text = b"0123456789abcdef".repeat(4096);
        let mut kept = 0;
        for _ in 0..20 {
            let file = packer.pack("x", "text/plain", &text).unwrap();
            assert_eq!(file.body.encoding(), Encoding::Zstd);
            if let Some(plain) = file.plain {
                assert_eq!(plain, text);
                kept += plain.len();
            }
        }
        assert_eq!(kept, PLAIN_BYTES);
        let longer = [&text[..], b"!"].concat();
        assert_eq!(packed("text/plain", &longer).plain, None);
        assert_eq!(packed("text/plain", b"short").plain, None, "it is stored as it is");
    }

    #[test]
    fn large_files_are_spooled_and_read_back() {
        let text = b"0123456789abcdef".repeat(400_000);
        for (mime, encoding) in [("text/plain", Encoding::Zstd), ("image/png", Encoding::Identity)] {
            let file = packed(mime, &text);
            assert!(matches!(file.body, Body::Spooled { .. }));
            assert_eq!(file.body.encoding(), encoding);
            assert_eq!(file.hash, *blake3::hash(&text).as_bytes());
            assert_eq!(identity(file.body), text);
        }
    }

    #[test]
    fn zeroes_named_png_do_not_fill_memory() {
        let dir = tempfile::tempdir().unwrap();
        let mut packer = Packer::new(dir.path());
        let zeroes = vec![0; 4 << 20];
        let held: u64 =
            (0..25).map(|_| packer.pack("x.png", "image/png", &zeroes).unwrap().body.stored_bytes()).sum();
        assert!(held < 26 << 20, "{held}");
    }
}
