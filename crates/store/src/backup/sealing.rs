//! Encrypts the files of a backup with AES-256-GCM in pieces, so that a file of any size needs little memory.
//!
//! A file begins with a magic number and a random salt. The key of the file is derived from the backup key and the salt, so
//! the nonce is simply the number of the piece and a mark on the last one: pieces cannot be reordered, and an end that is
//! missing is noticed. The context (what the file is) is authenticated with every piece, so files cannot be exchanged.

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use bytes::BytesMut;
use dropleaf_core::{Minter, hex};

use super::BackupError;

const MAGIC: &[u8; 4] = b"DLB1";
const SALT: usize = 32;
const HEADER: usize = MAGIC.len() + SALT;
const PIECE: usize = 64 << 10;
const TAG: usize = 16;

/// The key that encrypts backups: 32 bytes, written as 64 hexadecimal digits.
#[derive(Clone)]
pub struct BackupKey([u8; 32]);

impl std::fmt::Debug for BackupKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackupKey")
    }
}

impl BackupKey {
    pub fn parse(text: &str) -> Option<Self> {
        hex::digest(text.trim()).map(Self)
    }

    /// Tells keys apart without revealing them.
    pub fn id(&self) -> String {
        hex::encode(&self.derive(b"key id", &[])[..8])
    }

    /// The name of a body in the backup: without the key it does not reveal whether known content is stored.
    pub(super) fn body_name(&self, hash: &[u8; 32]) -> [u8; 32] {
        self.derive(b"body name", hash)
    }

    fn derive(&self, purpose: &[u8], about: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(purpose).update(&[0]).update(about);
        *hasher.finalize().as_bytes()
    }
}

/// The size of a file of this many bytes in the backup.
pub(super) fn stored_len(key: Option<&BackupKey>, bytes: u64) -> u64 {
    match key {
        None => bytes,
        Some(_) => HEADER as u64 + bytes + bytes.div_ceil(PIECE as u64).max(1) * TAG as u64,
    }
}

struct Pieces {
    cipher: Aes256Gcm,
    context: Vec<u8>,
    count: u64,
}

impl Pieces {
    fn new(key: &BackupKey, salt: &[u8], context: &str) -> Self {
        let file_key = key.derive(b"file", salt);
        Self { cipher: Aes256Gcm::new(&file_key.into()), context: context.into(), count: 0 }
    }

    fn nonce(&mut self, is_last: bool) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.count.to_be_bytes());
        nonce[11] = u8::from(is_last);
        self.count += 1;
        nonce
    }
}

/// Encrypts a file piece by piece; without a key it passes the bytes on.
pub(super) struct Sealer(Option<SealerState>);

struct SealerState {
    pieces: Pieces,
    buffer: BytesMut,
    header: Option<Vec<u8>>,
}

impl Sealer {
    pub(super) fn new(key: Option<&BackupKey>, context: &str, minter: &Minter) -> Self {
        Self(key.map(|key| {
            let salt = minter.bytes::<SALT>();
            let header = Some([&MAGIC[..], &salt].concat());
            SealerState { pieces: Pieces::new(key, &salt, context), buffer: BytesMut::new(), header }
        }))
    }

    /// Takes more of the file and appends what can be written of it.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BackupError> {
        let Some(state) = &mut self.0 else {
            out.extend_from_slice(bytes);
            return Ok(());
        };
        out.extend(state.header.take().into_iter().flatten());
        state.buffer.extend_from_slice(bytes);
        // A full piece is held back: it may be the last.
        while state.buffer.len() > PIECE {
            let piece = state.buffer.split_to(PIECE);
            seal(&mut state.pieces, &piece, false, out)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), BackupError> {
        self.push(&[], out)?;
        match self.0 {
            Some(mut state) => seal(&mut state.pieces, &state.buffer, true, out),
            None => Ok(()),
        }
    }
}

fn seal(pieces: &mut Pieces, piece: &[u8], is_last: bool, out: &mut Vec<u8>) -> Result<(), BackupError> {
    let nonce = pieces.nonce(is_last);
    let payload = Payload { msg: piece, aad: &pieces.context };
    let sealed = pieces.cipher.encrypt(&nonce.into(), payload);
    out.extend(sealed.map_err(|_| BackupError::Damaged("the backup could not be encrypted".to_owned()))?);
    Ok(())
}

/// The reverse of [`Sealer`].
pub(super) struct Opener(Option<OpenerState>);

struct OpenerState {
    key: BackupKey,
    context: String,
    pieces: Option<Pieces>,
    buffer: BytesMut,
}

impl Opener {
    pub(super) fn new(key: Option<&BackupKey>, context: &str) -> Self {
        Self(key.map(|key| OpenerState {
            key: key.clone(),
            context: context.to_owned(),
            pieces: None,
            buffer: BytesMut::new(),
        }))
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BackupError> {
        let Some(state) = &mut self.0 else {
            out.extend_from_slice(bytes);
            return Ok(());
        };
        state.buffer.extend_from_slice(bytes);
        if state.pieces.is_none() {
            if state.buffer.len() < HEADER {
                return Ok(());
            }
            let header = state.buffer.split_to(HEADER);
            let salt = header.strip_prefix(MAGIC).ok_or_else(|| damaged(&state.context))?;
            state.pieces = Some(Pieces::new(&state.key, salt, &state.context));
        }
        while let Some(pieces) = &mut state.pieces
            && state.buffer.len() > PIECE + TAG
        {
            let piece = state.buffer.split_to(PIECE + TAG);
            open(pieces, &piece, false, &state.context, out)?;
        }
        Ok(())
    }

    pub(super) fn finish(self, out: &mut Vec<u8>) -> Result<(), BackupError> {
        let Some(mut state) = self.0 else { return Ok(()) };
        let pieces = state.pieces.as_mut().ok_or_else(|| damaged(&state.context))?;
        open(pieces, &state.buffer, true, &state.context, out)
    }
}

fn open(
    pieces: &mut Pieces,
    piece: &[u8],
    is_last: bool,
    context: &str,
    out: &mut Vec<u8>,
) -> Result<(), BackupError> {
    let nonce = pieces.nonce(is_last);
    let payload = Payload { msg: piece, aad: &pieces.context };
    let opened = pieces.cipher.decrypt(&nonce.into(), payload).map_err(|_| damaged(context))?;
    out.extend(opened);
    Ok(())
}

fn damaged(context: &str) -> BackupError {
    BackupError::Damaged(format!("{context} cannot be decrypted: it is damaged or incomplete"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: &str) -> BackupKey {
        BackupKey::parse(&digit.repeat(64)).unwrap()
    }

    fn sealed(plain: &[u8], context: &str) -> Vec<u8> {
        let mut sealer = Sealer::new(Some(&key("a")), context, &Minter::seeded(1));
        let mut out = Vec::new();
        for part in plain.chunks(50_000) {
            sealer.push(part, &mut out).unwrap();
        }
        sealer.finish(&mut out).unwrap();
        out
    }

    fn opened(key: &BackupKey, sealed: &[u8], context: &str, step: usize) -> Result<Vec<u8>, BackupError> {
        let mut opener = Opener::new(Some(key), context);
        let mut out = Vec::new();
        for part in sealed.chunks(step) {
            opener.push(part, &mut out)?;
        }
        opener.finish(&mut out)?;
        Ok(out)
    }

    #[test]
    fn any_size_reads_back_and_has_the_expected_size() {
        for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 5] {
            let plain = vec![7; size];
            let written = sealed(&plain, "x");
            assert_eq!(written.len() as u64, stored_len(Some(&key("a")), size as u64), "{size}");
            for step in [33, 70_000, usize::MAX] {
                assert!(opened(&key("a"), &written, "x", step).unwrap() == plain, "{size} {step}");
            }
        }
        assert_eq!(stored_len(None, 5), 5);
    }

    #[test]
    fn changes_are_noticed() {
        let written = sealed(&vec![7; 2 * PIECE + 9], "x");
        let is_refused = |bytes: &[u8]| opened(&key("a"), bytes, "x", 8192).is_err();
        for at in [0, 10, HEADER, HEADER + PIECE, written.len() - 1] {
            let mut changed = written.clone();
            changed[at] ^= 1;
            assert!(is_refused(&changed), "{at}");
        }
        // Cut after a whole piece, and two pieces exchanged.
        assert!(is_refused(&written[..HEADER + PIECE + TAG]));
        let (first, second) =
            (HEADER..HEADER + PIECE + TAG, HEADER + PIECE + TAG..HEADER + 2 * (PIECE + TAG));
        let exchanged =
            [&written[..HEADER], &written[second.clone()], &written[first], &written[second.end..]];
        assert!(is_refused(&exchanged.concat()));
        assert!(is_refused(&[]));
        assert!(opened(&key("a"), &written, "y", 8192).is_err(), "another file");
        assert!(opened(&key("b"), &written, "x", 8192).is_err(), "another key");
    }

    #[test]
    fn a_key_is_64_hexadecimal_digits_and_is_not_printed() {
        assert!(BackupKey::parse(&format!("{}\n", "0a".repeat(32))).is_some());
        assert!(BackupKey::parse("abc").is_none() && BackupKey::parse("").is_none());
        assert_eq!(format!("{:?}", key("a")), "BackupKey");
        assert_ne!(key("a").id(), key("b").id());
        assert_ne!(key("a").body_name(&[1; 32]), key("b").body_name(&[1; 32]));
    }
}
