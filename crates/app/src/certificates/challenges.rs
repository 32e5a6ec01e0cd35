//! Challenges of open orders. They are stored before the authority is told, because it may ask any node.

use crate::app::App;
use crate::infra::sealing;
use dropleaf_core::Result;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_store::acme_challenges;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a challenge is answered at most. It is deleted when its order ends; this is for orders that were interrupted.
const CHALLENGE_SECONDS: i64 = 3600;
/// The longest token or host name.
const NAME_MOST: usize = 253;
/// How long a node takes it that no challenge is open, after it has looked. Anyone can ask for one, and mostly none is open.
pub const NONE_OPEN_FOR: Duration = Duration::from_secs(1);

/// When this node last found that no challenge was open.
#[derive(Debug, Default)]
pub(super) struct OpenChallenges {
    none_at: Mutex<Option<Instant>>,
}

impl OpenChallenges {
    fn are_none(&self) -> bool {
        self.none_at().is_some_and(|at| at.elapsed() < NONE_OPEN_FOR)
    }

    fn none_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.none_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// The key authorization of a pending challenge. `name`: the token for HTTP-01, the host name for TLS-ALPN-01.
    pub async fn find_challenge(&self, kind: ChallengeKind, name: &str) -> Result<Option<Vec<u8>>> {
        if !is_plausible(kind, name) || self.certificates.open_challenges.are_none() {
            return Ok(None);
        }
        let looked_at = Instant::now();
        if !self.store.has_challenges(self.now()).await? {
            *self.certificates.open_challenges.none_at() = Some(looked_at);
            return Ok(None);
        }
        let name = stored_name(kind, name);
        let Some(sealed) = self.store.find_challenge(kind, &name, self.now()).await? else { return Ok(None) };
        let (key, about) = self.challenge_key(kind, &name);
        Ok(Some(sealing::open(key, &about, &sealed)?.into()))
    }

    /// Other nodes answer it after [`NONE_OPEN_FOR`] at the latest.
    pub async fn put_challenge(
        &self,
        kind: ChallengeKind,
        name: &str,
        key_authorization: &[u8],
    ) -> Result<()> {
        let name = stored_name(kind, name);
        let (key, about) = self.challenge_key(kind, &name);
        let sealed = sealing::seal(&self.minter, key, &about, key_authorization)?;
        let stmt = acme_challenges::put(kind, &name, sealed, self.now() + CHALLENGE_SECONDS);
        self.store.commit(vec![stmt]).await?;
        *self.certificates.open_challenges.none_at() = None;
        Ok(())
    }

    pub async fn remove_challenge(&self, kind: ChallengeKind, name: &str) -> Result<()> {
        self.store.commit(vec![acme_challenges::delete(kind, &stored_name(kind, name))]).await?;
        Ok(())
    }

    fn challenge_key(&self, kind: ChallengeKind, name: &str) -> ([u8; 32], Vec<u8>) {
        let about = format!("{}\0{name}", kind.as_str()).into_bytes();
        (self.keys.mac("acme-challenge", &about), about)
    }
}

/// Tokens are case-sensitive, host names are not.
fn stored_name(kind: ChallengeKind, name: &str) -> String {
    match kind {
        ChallengeKind::Http01 => name.to_owned(),
        ChallengeKind::TlsAlpn01 => name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase(),
    }
}

/// Whether a challenge can have this name; others need no database lookup.
fn is_plausible(kind: ChallengeKind, name: &str) -> bool {
    let allowed = |b: u8| match kind {
        ChallengeKind::Http01 => b.is_ascii_alphanumeric() || b == b'-' || b == b'_',
        ChallengeKind::TlsAlpn01 => b.is_ascii_alphanumeric() || b == b'-' || b == b'.',
    };
    !name.is_empty() && name.len() <= NAME_MOST + 1 && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_and_host_names_are_looked_up() {
        assert!(is_plausible(ChallengeKind::Http01, "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr_oA"));
        assert!(!is_plausible(ChallengeKind::Http01, "a/b") && !is_plausible(ChallengeKind::Http01, ""));
        assert!(!is_plausible(ChallengeKind::Http01, &"a".repeat(300)));
        assert!(is_plausible(ChallengeKind::TlsAlpn01, "a-b.example.com"));
        assert_eq!(stored_name(ChallengeKind::TlsAlpn01, "A.Example.com."), "a.example.com");
        assert_eq!(stored_name(ChallengeKind::Http01, "aB"), "aB");
    }
}
