//! The format of end-to-end encrypted pages: `E2E1`, an authenticated header of 40 bytes, AES-256-GCM. Pure: secret, salt and
//! IV are passed in. The table of fields is in docs/encryption.md.

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::Sha256;

pub(super) const ITERATIONS: u32 = 600_000;

/// Random values. The secret must be new for every page, salt and IV for every revision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seeds {
    pub(super) secret: [u8; 32],
    pub(super) salt: [u8; 16],
    pub(super) iv: [u8; 12],
}

/// The payload to upload with `e2e=true`. `gzip` states that the plaintext is already compressed.
pub(super) fn seal(
    plain: &[u8],
    seeds: &Seeds,
    passphrase: Option<&str>,
    gzip: bool,
) -> anyhow::Result<Vec<u8>> {
    let mut payload = Vec::with_capacity(40 + plain.len() + 16);
    payload.extend_from_slice(b"E2E1");
    payload.extend_from_slice(&[u8::from(passphrase.is_some()), u8::from(gzip), 0, 0]);
    payload.extend_from_slice(&passphrase.map_or(0, |_| ITERATIONS).to_be_bytes());
    payload.extend_from_slice(&seeds.salt);
    payload.extend_from_slice(&seeds.iv);
    let key = match passphrase {
        None => seeds.secret,
        Some(passphrase) => derive(passphrase, seeds, ITERATIONS),
    };
    let sealed = Aes256Gcm::new(&key.into())
        .encrypt(&seeds.iv.into(), Payload { msg: plain, aad: &payload })
        .map_err(|_| anyhow::anyhow!("the file is too large to encrypt"))?;
    payload.extend_from_slice(&sealed);
    Ok(payload)
}

fn derive(passphrase: &str, seeds: &Seeds, iterations: u32) -> [u8; 32] {
    let both = [passphrase.as_bytes(), &seeds.secret].concat();
    pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(&both, &seeds.salt, iterations)
}

/// The fragment of the link, which browsers do not send to the server.
pub(in crate::cli) fn fragment(secret: &[u8; 32]) -> String {
    format!("#k={}", URL_SAFE_NO_PAD.encode(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> Seeds {
        let mut secret = [0; 32];
        (0..32).zip(&mut secret).for_each(|(n, byte)| *byte = n);
        Seeds { secret, salt: [0xa0; 16], iv: [0xb0; 12] }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |text, b| format!("{text}{b:02x}"))
    }

    #[test]
    fn vector_with_the_secret_as_key() {
        let payload = seal(b"<p>hi</p>", &seeds(), None, false).unwrap();
        assert_eq!(
            hex(&payload),
            "453245310000000000000000a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0b0b0b0b0b0b0b0b0b0b0b0b0c6c2c222f7f6b1da3b3b49c070\
             648cd28bfc19c0a22f1d808d"
        );
        assert_eq!(fragment(&seeds().secret), "#k=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    }

    #[test]
    fn vector_with_a_passphrase() {
        let payload = seal(b"<p>hi</p>", &seeds(), Some("pass"), false).unwrap();
        assert_eq!(
            hex(&payload),
            "4532453101000000000927c0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0b0b0b0b0b0b0b0b0b0b0b0b03e1dce37433ae1f5673fd531d0\
             dfbea66456f69dc9384d2194"
        );
    }
}
