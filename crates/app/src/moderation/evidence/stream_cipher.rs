//! Stream encryption with ChaCha20-Poly1305 in chunks, so that memory use is bounded. The nonce holds each chunk's index
//! and whether it is the last, so that chunks cannot be dropped, reordered or truncated. Each stream of each page has a
//! key of its own.

use bytes::{Buf, Bytes, BytesMut};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use dropleaf_core::secret::Keys;
use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"dlseal1\n";
const SALT: usize = 16;
const HEAD: usize = MAGIC.len() + SALT;
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

fn cipher(keys: &Keys, site_id: &str, salt: &[u8; SALT]) -> ChaCha20Poly1305 {
    let key = keys.mac("evidence", &[salt, site_id.as_bytes()].concat());
    ChaCha20Poly1305::new(&key.into())
}

/// A counter is enough, since each key encrypts only one stream.
fn nonce(chunk_index: u64, last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&chunk_index.to_be_bytes());
    nonce[11] = u8::from(last);
    Nonce::from(nonce)
}

/// Encrypts what is written to it. Must be closed with `finish`.
pub(super) struct Sealer<W> {
    out: W,
    cipher: ChaCha20Poly1305,
    associated_data: Vec<u8>,
    chunk_index: u64,
    buffer: Vec<u8>,
}

impl<W: Write> Sealer<W> {
    pub(super) fn new(mut out: W, keys: &Keys, site_id: &str, salt: [u8; SALT]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&salt)?;
        let cipher = cipher(keys, site_id, &salt);
        Ok(Self {
            out,
            cipher,
            associated_data: site_id.into(),
            chunk_index: 0,
            buffer: Vec::with_capacity(CHUNK),
        })
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        Ok(self.out)
    }

    fn seal(&mut self, last: bool) -> io::Result<()> {
        let payload = Payload { msg: &self.buffer, aad: &self.associated_data };
        let sealed = self.cipher.encrypt(&nonce(self.chunk_index, last), payload);
        self.out.write_all(&sealed.map_err(|_| io::Error::other("a chunk could not be sealed"))?)?;
        self.chunk_index += 1;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk is kept until more data follows, because the last chunk is marked.
        if self.buffer.len() == CHUNK {
            self.seal(false)?;
        }
        let taken = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decrypts what a [`Sealer`] wrote, incrementally. Returns only authenticated bytes.
pub(super) struct Unsealer {
    keys: Keys,
    site_id: String,
    cipher: Option<ChaCha20Poly1305>,
    chunk_index: u64,
    buffer: BytesMut,
}

impl Unsealer {
    pub(super) fn new(keys: &Keys, site_id: &str) -> Self {
        Self {
            keys: keys.clone(),
            site_id: site_id.to_owned(),
            cipher: None,
            chunk_index: 0,
            buffer: BytesMut::new(),
        }
    }

    /// Returns the plaintext that these bytes complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<Bytes> {
        self.buffer.extend_from_slice(bytes);
        if self.cipher.is_none() && self.buffer.len() >= HEAD {
            let head = self.buffer.split_to(HEAD);
            let salt: [u8; SALT] = head[MAGIC.len()..].try_into().map_err(|_| invalid_archive())?;
            if !head.starts_with(MAGIC) {
                return Err(invalid_archive());
            }
            self.cipher = Some(cipher(&self.keys, &self.site_id, &salt));
        }
        let mut opened = BytesMut::new();
        while self.cipher.is_some() && self.buffer.len() > CHUNK + TAG {
            let chunk = self.buffer.split_to(CHUNK + TAG);
            opened.extend_from_slice(&self.open(&chunk, false)?);
        }
        Ok(opened.freeze())
    }

    /// Decrypts the last chunk at the end of the input.
    pub(super) fn finish(&mut self) -> io::Result<Bytes> {
        let last = self.buffer.copy_to_bytes(self.buffer.len());
        Ok(self.open(&last, true)?.into())
    }

    fn open(&mut self, chunk: &[u8], last: bool) -> io::Result<Vec<u8>> {
        let cipher = self.cipher.as_ref().ok_or_else(invalid_archive)?;
        let payload = Payload { msg: chunk, aad: self.site_id.as_bytes() };
        let opened =
            cipher.decrypt(&nonce(self.chunk_index, last), payload).map_err(|_| invalid_archive())?;
        self.chunk_index += 1;
        Ok(opened)
    }
}

fn invalid_archive() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "sealed evidence could not be opened")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new([7; 32])
    }

    fn sealed(message: &[u8]) -> Vec<u8> {
        let mut sealer = Sealer::new(Vec::new(), &keys(), "site_1", [3; SALT]).unwrap();
        sealer.write_all(message).unwrap();
        sealer.finish().unwrap()
    }

    fn open(site_id: &str, sealed: &[u8], step: usize) -> io::Result<Vec<u8>> {
        let mut opener = Unsealer::new(&keys(), site_id);
        let mut all = Vec::new();
        for piece in sealed.chunks(step) {
            all.extend_from_slice(&opener.push(piece)?);
        }
        all.extend_from_slice(&opener.finish()?);
        Ok(all)
    }

    #[test]
    fn what_is_sealed_opens_again_whatever_its_length_and_its_pieces() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5] {
            let message: Vec<u8> = (0_u8..=250).cycle().take(length).collect();
            let sealed = sealed(&message);
            assert!(!sealed.windows(32).any(|window| message.windows(32).next() == Some(window)));
            for step in [1000, CHUNK, 5 * CHUNK] {
                assert_eq!(open("site_1", &sealed, step).unwrap(), message, "{length} in {step}");
            }
        }
    }

    #[test]
    fn nothing_can_be_cut_off_moved_changed_or_given_to_another_page() {
        let whole = sealed(&vec![5; 2 * CHUNK + 9]);
        let chunk = CHUNK + TAG;
        let (first, second) = (HEAD..HEAD + chunk, HEAD + chunk..HEAD + 2 * chunk);
        let swapped = [&whole[..HEAD], &whole[second.clone()], &whole[first], &whole[second.end..]].concat();
        let mut changed = whole.clone();
        changed[HEAD + 100] ^= 1;
        for bad in [&whole[..whole.len() - 1], &whole[..second.end], &whole[..HEAD], &[], &swapped, &changed]
        {
            assert!(open("site_1", bad, 4096).is_err());
        }
        assert!(open("site_2", &whole, 4096).is_err());
        assert!(open("site_1", &whole, 4096).is_ok());
    }
}
