//! Encrypts small secrets at rest: ChaCha20-Poly1305 under a key that the caller derives, with the nonce in front.

use bytes::Bytes;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use dropleaf_core::{Error, Minter, Result};

/// Encrypts a message; `associated_data` is not encrypted but must be the same on decryption.
pub(crate) fn seal(minter: &Minter, key: [u8; 32], associated_data: &[u8], message: &[u8]) -> Result<Bytes> {
    let nonce = minter.bytes::<12>();
    let sealed = ChaCha20Poly1305::new(&key.into())
        .encrypt(&Nonce::from(nonce), Payload { msg: message, aad: associated_data })
        .map_err(|_| Error::internal("secret not encrypted"))?;
    Ok([&nonce[..], &sealed].concat().into())
}

pub(crate) fn open(key: [u8; 32], associated_data: &[u8], sealed: &[u8]) -> Result<Bytes> {
    let broken = || Error::internal("stored secret could not be decrypted");
    let (nonce, rest) = sealed.split_first_chunk::<12>().ok_or_else(broken)?;
    let opened = ChaCha20Poly1305::new(&key.into())
        .decrypt(&Nonce::from(*nonce), Payload { msg: rest, aad: associated_data })
        .map_err(|_| broken())?;
    Ok(opened.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_key_and_subject_only() {
        let minter = Minter::seeded(1);
        let sealed = seal(&minter, [7; 32], b"about", b"secret").unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
        assert_eq!(open([7; 32], b"about", &sealed).unwrap(), "secret");
        assert!(open([8; 32], b"about", &sealed).is_err());
        assert!(open([7; 32], b"other", &sealed).is_err());
        assert!(open([7; 32], b"about", &sealed[..5]).is_err());
        assert_ne!(seal(&minter, [7; 32], b"about", b"secret").unwrap(), sealed);
    }
}
