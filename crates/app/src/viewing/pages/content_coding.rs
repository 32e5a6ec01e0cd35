//! The content codings that bodies are served in.

use bytes::Bytes;
use dropleaf_core::{Error, Result};
use std::io::{Read, Write};

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl ContentCoding {
    pub const ALL: [Self; 4] = [Self::Identity, Self::Gzip, Self::Brotli, Self::Zstd];

    /// Its name in `Content-Encoding`; none for identity.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// The suffix in the `ETag` that distinguishes the codings of one file.
    pub(super) const fn etag_suffix(self) -> char {
        match self {
            Self::Identity => 'i',
            Self::Gzip => 'g',
            Self::Brotli => 'b',
            Self::Zstd => 'z',
        }
    }
}

/// Encodes a body. The result is cached, so a medium compression level pays off.
pub fn encode(plain: &[u8], coding: ContentCoding) -> Result<Bytes> {
    let coded = match coding {
        ContentCoding::Identity => plain.to_vec(),
        ContentCoding::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
            out.write_all(plain).and_then(|()| out.finish()).map_err(Error::internal)?
        }
        ContentCoding::Brotli => {
            let mut out = Vec::new();
            let params = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
            brotli::BrotliCompress(&mut &*plain, &mut out, &params).map_err(Error::internal)?;
            out
        }
        ContentCoding::Zstd => zstd::bulk::compress(plain, 6).map_err(Error::internal)?,
    };
    Ok(coded.into())
}

/// Decodes a body that [`encode`] has encoded.
pub(super) fn decode(coded: &[u8], coding: ContentCoding) -> Result<Bytes> {
    let mut plain = Vec::new();
    match coding {
        ContentCoding::Identity => plain.extend_from_slice(coded),
        ContentCoding::Gzip => {
            flate2::read::GzDecoder::new(coded).read_to_end(&mut plain).map_err(Error::internal)?;
        }
        ContentCoding::Brotli => {
            brotli::BrotliDecompress(&mut &*coded, &mut plain).map_err(Error::internal)?;
        }
        ContentCoding::Zstd => {
            zstd::stream::copy_decode(coded, &mut plain).map_err(Error::internal)?;
        }
    }
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coding_can_be_read_back() {
        let plain = b"<p>hello hello hello</p>".repeat(100);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&*encode(&plain, ContentCoding::Gzip).unwrap())
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, plain);
        back.clear();
        brotli::Decompressor::new(&*encode(&plain, ContentCoding::Brotli).unwrap(), 4096)
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, plain);
        let zstd = encode(&plain, ContentCoding::Zstd).unwrap();
        assert_eq!(zstd::stream::decode_all(&*zstd).unwrap(), plain);
        assert_eq!(&*encode(&plain, ContentCoding::Identity).unwrap(), plain.as_slice());
        for coding in ContentCoding::ALL {
            assert_eq!(&*decode(&encode(&plain, coding).unwrap(), coding).unwrap(), plain.as_slice());
        }
    }
}
