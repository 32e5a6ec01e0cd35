//! Generates ids and secrets from an injected source of randomness: the operating system, or a seed in tests.

use crate::secret::{CLAIM_PREFIX, KEY_PREFIX, checksummed};
use sha2::{Digest, Sha256};
use std::sync::Mutex;

/// Letters and digits first: the last two characters are not used at the ends of a token.
const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Generates everything that must be unguessable.
#[derive(Debug)]
pub struct Minter(Source);

#[derive(Debug)]
enum Source {
    System,
    /// SHA-256 of (seed, counter): reproducible, for tests only.
    Seeded(Mutex<(u64, u64)>),
}

impl Minter {
    pub const fn system() -> Self {
        Self(Source::System)
    }

    pub const fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Mutex::new((seed, 0))))
    }

    /// Random bytes.
    #[expect(clippy::disallowed_methods, reason = "the one place where randomness comes in")]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        match &self.0 {
            // No secret may be generated without randomness, so panicking is the only safe option.
            Source::System => getrandom::fill(&mut out).expect("the system has no randomness"),
            Source::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                for chunk in out.chunks_mut(32) {
                    state.1 += 1;
                    let block = Sha256::digest([state.0.to_be_bytes(), state.1.to_be_bytes()].concat());
                    chunk.copy_from_slice(&block[..chunk.len()]);
                }
            }
        }
        out
    }

    /// The token in a private link: 22 characters, 131.9 random bits (2 × log2(62) + 20 × 6).
    pub fn page_token(&self) -> String {
        self.base64url(22)
    }

    /// Random characters of the base64url alphabet. The first and the last are letters or digits: a leading `-` looks like an
    /// option on a command line, and programs that detect links in text drop a trailing `-` or `_`.
    fn base64url(&self, len: usize) -> String {
        let mut out = String::with_capacity(len);
        while out.len() < len {
            for byte in self.bytes::<32>() {
                let is_end = out.is_empty() || out.len() + 1 == len;
                // Reject bytes of 248 and above at the ends, so that each of the 62 characters is equally likely.
                if out.len() == len || (is_end && byte >= 248) {
                    continue;
                }
                let index = if is_end { byte % 62 } else { byte % 64 };
                out.push(char::from(BASE64URL[usize::from(index)]));
            }
        }
        out
    }

    /// An id with a prefix for its type. The underscore distinguishes it from every slug.
    pub fn id(&self, prefix: &str) -> String {
        let name = data_encoding::BASE32_NOPAD.encode(&self.bytes::<13>()).to_ascii_lowercase();
        format!("{prefix}_{}", &name[..20])
    }

    /// Whether the text has the form of such an id; other texts need no database lookup.
    pub fn is_id(prefix: &str, text: &str) -> bool {
        let rest = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| {
            rest.len() == 20 && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
    }

    /// An id that sorts by its creation second, so that rows created together are stored close together. The other 60 bits are
    /// random; the id need not be hard to guess.
    pub fn ordered_id(&self, prefix: &str, now: i64) -> String {
        let mut bytes = [0; 13];
        bytes[..5].copy_from_slice(&now.to_be_bytes()[3..]);
        bytes[5..].copy_from_slice(&self.bytes::<8>());
        let name = data_encoding::BASE32HEX_NOPAD.encode(&bytes).to_ascii_lowercase();
        format!("{prefix}_{}", &name[..20])
    }

    /// A short random name for temporary things, such as object keys and request ids.
    pub fn nonce(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.bytes::<8>())
    }

    /// A bearer secret without a checksum: 43 characters, 257.9 random bits.
    pub fn token(&self) -> String {
        self.base64url(43)
    }

    pub fn api_key(&self) -> String {
        checksummed(KEY_PREFIX, &self.bytes::<48>())
    }

    /// The last part of a pay page's address: short, because it is shown as a QR code, with 75 random bits. It is typed by
    /// people, so it has only lower-case letters and digits.
    pub fn pay_slug(&self) -> String {
        let name = data_encoding::BASE32_NOPAD.encode(&self.bytes::<10>()).to_ascii_lowercase();
        name.get(..15).unwrap_or(&name).to_owned()
    }

    pub fn share_token(&self) -> String {
        format!("{}{}", crate::share_token::PREFIX, self.page_token())
    }

    pub fn owner_ticket(&self) -> String {
        format!("{}{}", crate::owner_ticket::PREFIX, self.page_token())
    }

    pub fn claim_token(&self) -> String {
        checksummed(CLAIM_PREFIX, &self.bytes::<48>())
    }
}

#[cfg(test)]
mod tests {
    use super::Minter;
    use crate::{device_login, secret, site};

    #[test]
    fn page_tokens_are_22_characters_and_differ() {
        let minter = Minter::seeded(1);
        let (a, b) = (minter.page_token(), minter.page_token());
        assert_eq!(a.len(), 22);
        assert_ne!(a, b);
        assert_eq!(Minter::system().page_token().len(), 22);
    }

    #[test]
    fn nothing_that_is_minted_begins_or_ends_with_a_hyphen_or_an_underscore() {
        let minter = Minter::seeded(1);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..2000 {
            let token = minter.page_token();
            assert!(site::is_token(&token), "{token}");
            seen.extend(token.bytes());
            let texts = [
                token,
                minter.token(),
                minter.share_token(),
                minter.owner_ticket(),
                minter.claim_token(),
                minter.api_key(),
                minter.id("site"),
                minter.ordered_id("site", 1_800_000_000),
                minter.nonce(),
                device_login::format_user_code(&device_login::new_code(&minter)),
            ];
            for text in texts {
                assert!(!text.starts_with(['-', '_']) && !text.ends_with(['-', '_']), "{text}");
            }
        }
        assert_eq!(seen.len(), 64, "inside a token every character occurs");
    }

    #[test]
    fn the_ends_of_a_token_use_every_letter_and_digit() {
        let minter = Minter::seeded(2);
        let tokens: Vec<String> = (0..2000).map(|_| minter.token()).collect();
        assert!(tokens.iter().all(|token| token.len() == 43));
        for at in [0, 42] {
            let seen: std::collections::HashSet<u8> =
                tokens.iter().map(|token| token.as_bytes()[at]).collect();
            assert_eq!(seen.len(), 62, "position {at}");
        }
    }

    #[test]
    fn ordered_ids_sort_by_time_and_look_like_the_others() {
        let minter = Minter::seeded(1);
        let ids =
            [1, 2, 1_794_706_860, 1_794_706_861, 4_000_000_000].map(|now| minter.ordered_id("site", now));
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().all(|id| id.len() == minter.id("site").len()));
        assert!(ids.iter().chain([&minter.id("site")]).all(|id| Minter::is_id("site", id)));
        assert!(
            ["", "site_", "key_aaaaaaaaaaaaaaaaaaaa", "site_aaaaaaaaaaaaaaaaaaa\0"]
                .iter()
                .all(|id| !Minter::is_id("site", id))
        );
        assert_ne!(minter.ordered_id("site", 7), minter.ordered_id("site", 7));
    }

    #[test]
    fn a_seed_repeats_itself() {
        assert_eq!(Minter::seeded(7).api_key(), Minter::seeded(7).api_key());
        assert_ne!(Minter::seeded(7).api_key(), Minter::seeded(8).api_key());
    }

    #[test]
    fn minted_keys_pass_their_own_checksum() {
        let minter = Minter::seeded(1);
        assert!(secret::is_well_formed(secret::KEY_PREFIX, &minter.api_key()));
        assert!(secret::is_well_formed(secret::CLAIM_PREFIX, &minter.claim_token()));
    }
}
