//! Shared payment tokens: secrets with which an agent lets a seller charge a card up to a limit.

use std::fmt;

use dropleaf_core::hex;
use sha2::{Digest, Sha256};

use super::object_id::is_id;

pub(super) const PREFIX: &str = "spt_";

/// A token `spt_…` that an agent sent. Anyone who has it together with our secret key can charge the card, so it is never logged
/// and never stored; its hash is.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedPaymentToken(String);

impl SharedPaymentToken {
    /// Parses the prefix and 1 to 255 letters, digits or underscores.
    pub fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(PREFIX).is_some_and(is_id).then(|| Self(text.to_owned()))
    }

    /// The SHA-256 of the token: enough to recognise it, not enough to use it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// The same for every request that charges this token, so that it is charged at most once.
    pub(super) fn idempotency_key(&self) -> String {
        let hash = hex::encode(&self.hash());
        format!("provision_{}", hash.get(..32).unwrap_or(&hash))
    }

    /// The token itself, to charge it or to store it encrypted.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Keeps the token out of logs.
impl fmt::Debug for SharedPaymentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedPaymentToken(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_prefix_and_plain_characters() {
        let longest = format!("spt_{}", "a".repeat(255));
        for text in ["spt_1", "spt_1RgaZcFPC5QUO6ZCDVZuVA8q", "spt_a_b", &longest] {
            assert!(SharedPaymentToken::parse(text).is_some(), "{text}");
        }
        let too_long = format!("{longest}a");
        for text in
            ["", "spt_", "SPT_1", "pm_1", "spt_a-b", "spt_a b", "spt_é", " spt_1", "spt_1\n", &too_long]
        {
            assert!(SharedPaymentToken::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_token_is_known_by_its_hash_and_never_shown() {
        let token = SharedPaymentToken::parse("spt_123").unwrap();
        let hash = hex::encode(&token.hash());
        assert_eq!(hash, "66c331b5b702ed27754fdac00b3cdc51eb7da2d81ef319555cfc948cb73bc261");
        assert_eq!(token.idempotency_key(), format!("provision_{}", &hash[..32]));
        assert!(!format!("{token:?}").contains("123"));
    }
}
