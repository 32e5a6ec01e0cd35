//! Secrets with a checksum, how they are stored, and keys derived from the server's master secret.
//! The checksum detects mistyped or made-up secrets without a database lookup.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

pub const KEY_PREFIX: &str = "stk_live_";
pub const CLAIM_PREFIX: &str = "clm_";

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LEN: usize = 30;
const CHECK_LEN: usize = 6;

/// The prefix, 30 random base62 characters and 6 characters of their CRC32.
/// Bytes of 248 and above are skipped, so that every character is equally likely; 48 bytes are more than enough.
pub fn checksummed(prefix: &str, random: &[u8; 48]) -> String {
    let mut body: Vec<u8> =
        random.iter().filter(|b| **b < 248).map(|b| BASE62[usize::from(*b % 62)]).take(RANDOM_LEN).collect();
    while body.len() < RANDOM_LEN {
        // Nineteen rejected bytes of 48 do not occur in practice; if they did, a hash would fill the rest.
        let more = Sha256::digest([random.as_slice(), &body].concat());
        body.push(BASE62[usize::from(more[0]) % 62]);
    }
    let check = check_digits(&body);
    let mut out = String::with_capacity(prefix.len() + RANDOM_LEN + CHECK_LEN);
    out.push_str(prefix);
    out.extend(body.iter().chain(&check).map(|b| char::from(*b)));
    out
}

/// Whether the text has the right prefix, length, alphabet and checksum.
pub fn is_well_formed(prefix: &str, secret: &str) -> bool {
    let Some(rest) = secret.strip_prefix(prefix).map(str::as_bytes) else { return false };
    rest.len() == RANDOM_LEN + CHECK_LEN
        && rest.iter().all(u8::is_ascii_alphanumeric)
        && check_digits(&rest[..RANDOM_LEN]) == rest[RANDOM_LEN..]
}

fn check_digits(body: &[u8]) -> [u8; CHECK_LEN] {
    let mut rest = crc32fast::hash(body);
    let mut out = [b'0'; CHECK_LEN];
    for digit in out.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    out
}

/// The stored hash of a secret: enough to find it, not enough to use it.
pub fn hash(secret: &str) -> [u8; 32] {
    digest(secret.as_bytes())
}

/// SHA-256.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Encodes bytes as base64url, for URLs, cookies and forms.
pub fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Encodes bytes as lower-case base32 (letters and digits only), for the end of a link or for typing.
pub fn letters(bytes: &[u8]) -> String {
    data_encoding::BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// Decodes what [`text`] encoded.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The characters shown in lists.
pub fn shown_prefix(secret: &str) -> &str {
    secret.get(..13).unwrap_or(secret)
}

/// The server's master secret, from which one key per purpose is derived.
#[derive(Clone)]
pub struct Keys {
    master: [u8; 32],
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(hidden)")
    }
}

impl Keys {
    pub const fn new(master: [u8; 32]) -> Self {
        Self { master }
    }

    /// HMAC-SHA256 of the message under the key for this purpose.
    pub fn mac(&self, purpose: &str, message: &[u8]) -> [u8; 32] {
        hmac(&hmac(&self.master, purpose.as_bytes()), message)
    }

    /// Whether the MAC matches that of [`Keys::mac`], in constant time.
    pub fn verify(&self, purpose: &str, message: &[u8], mac: &[u8]) -> bool {
        keyed(&hmac(&self.master, purpose.as_bytes()), message).verify_slice(mac).is_ok()
    }

    /// The label of a site's own host. Never the token, which must not appear in DNS or TLS.
    pub fn host_label(&self, site_id: &str) -> String {
        let name = letters(&self.mac("host", site_id.as_bytes()));
        format!("s-{}", &name[..26])
    }
}

fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    keyed(key, message).finalize().into_bytes().into()
}

fn keyed(key: &[u8; 32], message: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("any key length will do"));
    mac.update(message);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_character_breaks_the_checksum() {
        let key = checksummed(KEY_PREFIX, &[7; 48]);
        assert_eq!(key.len(), KEY_PREFIX.len() + 36);
        assert!(is_well_formed(KEY_PREFIX, &key));
        for at in KEY_PREFIX.len()..key.len() {
            let mut bytes = key.clone().into_bytes();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            assert!(!is_well_formed(KEY_PREFIX, std::str::from_utf8(&bytes).unwrap()), "position {at}");
        }
        assert!(!is_well_formed(CLAIM_PREFIX, &key));
    }

    #[test]
    fn an_unlucky_draw_still_makes_a_whole_secret() {
        assert!(is_well_formed(CLAIM_PREFIX, &checksummed(CLAIM_PREFIX, &[255; 48])));
    }

    #[test]
    fn a_mac_is_verified_for_its_purpose_alone() {
        let keys = Keys::new([1; 32]);
        let mac = keys.mac("a", b"message");
        assert!(keys.verify("a", b"message", &mac));
        assert!(!keys.verify("b", b"message", &mac) && !keys.verify("a", b"massage", &mac));
        assert!(!keys.verify("a", b"message", &mac[..31]));
    }

    #[test]
    fn host_labels_differ_by_site_and_by_server() {
        let (a, b) = (Keys::new([1; 32]), Keys::new([2; 32]));
        assert_eq!(a.host_label("site_1").len(), 28);
        assert_ne!(a.host_label("site_1"), a.host_label("site_2"));
        assert_ne!(a.host_label("site_1"), b.host_label("site_1"));
    }
}
