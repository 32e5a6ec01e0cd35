//! Makes ids and secrets from randomness that is passed in: the system's, or a seed in tests.

use crate::secret::{CLAIM_PREFIX, KEY_PREFIX, checksummed};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::sync::Mutex;

/// The source of everything unguessable.
#[derive(Debug)]
pub struct Minter(Source);

#[derive(Debug)]
enum Source {
    System,
    /// SHA-256 of (seed, counter): repeatable, for tests only.
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
            // Without randomness no secret may be made: stopping is the only safe answer.
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

    /// The token inside a private link: 128 bits in 22 characters.
    pub fn page_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes::<16>())
    }

    /// An id with a prefix that says what it names. The underscore keeps it apart from every slug.
    pub fn id(&self, prefix: &str) -> String {
        let name = data_encoding::BASE32_NOPAD.encode(&self.bytes::<13>()).to_ascii_lowercase();
        format!("{prefix}_{}", &name[..20])
    }

    /// Whether the text has the shape of such an id; what has not need not be looked for.
    pub fn is_id(prefix: &str, text: &str) -> bool {
        let rest = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| {
            rest.len() == 20 && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
    }

    /// An id that sorts by the second it was made in, so that rows made together lie together on the disk. The other
    /// 60 bits are random; nothing rests on its being hard to guess.
    pub fn ordered_id(&self, prefix: &str, now: i64) -> String {
        let mut bytes = [0; 13];
        bytes[..5].copy_from_slice(&now.to_be_bytes()[3..]);
        bytes[5..].copy_from_slice(&self.bytes::<8>());
        let name = data_encoding::BASE32HEX_NOPAD.encode(&bytes).to_ascii_lowercase();
        format!("{prefix}_{}", &name[..20])
    }

    /// A short random name for temporary things: object keys, request ids.
    pub fn nonce(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.bytes::<8>())
    }

    /// A bearer secret without a checksum: 256 bits in 43 characters.
    pub fn token(&self) -> String {
        crate::secret::text(&self.bytes::<32>())
    }

    pub fn api_key(&self) -> String {
        checksummed(KEY_PREFIX, &self.bytes::<48>())
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
    use crate::secret;

    #[test]
    fn page_tokens_are_22_characters_and_differ() {
        let minter = Minter::system();
        let (a, b) = (minter.page_token(), minter.page_token());
        assert_eq!(a.len(), 22);
        assert_ne!(a, b);
    }

    #[test]
    fn ordered_ids_sort_by_time_and_look_like_the_others() {
        let minter = Minter::system();
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
