//! Hashes passwords with argon2id on a bounded number of threads. Every hash is charged to the caller's budget, and
//! permits go round-robin over the waiting networks, so that one of them cannot block the others.

use crate::infra::fair_queue::{FairQueue, QueueFull, QueueLimits};
use crate::viewing::hash_budget::{HashBudget, HashRequester};
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier, Version};
use dropleaf_core::options::PASSWORD_BYTES;
use dropleaf_core::rate::Rate;
use dropleaf_core::{Code, Error, Minter, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use unicode_normalization::UnicodeNormalization;

/// OWASP parameters for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
/// Callers that may wait before the server reports overload: in total, of one network, of one IPv6 /48.
const WAITING: usize = 64;
const NETWORK_WAITING: usize = 8;
const WIDE_WAITING: usize = 24;

#[derive(Debug)]
pub(crate) struct PasswordHasher {
    queue: Arc<FairQueue>,
    budget: HashBudget,
    hash_count: AtomicU64,
}

/// Whose budget a hash is charged to, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashRequest<'a> {
    pub requester: HashRequester<'a>,
    pub monotonic: Duration,
}

impl PasswordHasher {
    /// `per_minute` is the budget of one network.
    pub(crate) fn new(per_minute: Rate) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_threads(per_minute, threads)
    }

    fn with_threads(per_minute: Rate, threads: usize) -> Self {
        let limits = QueueLimits {
            permits: threads,
            waiting: WAITING,
            group_waiting: NETWORK_WAITING,
            wide_waiting: WIDE_WAITING,
        };
        Self {
            queue: FairQueue::new(limits),
            budget: HashBudget::new(per_minute),
            hash_count: AtomicU64::new(0),
        }
    }

    /// Returns the PHC string to store for a password.
    pub(crate) async fn hash(&self, password: &str, minter: &Minter, ask: HashRequest<'_>) -> Result<String> {
        let (password, salt) = (normalize(password), minter.bytes::<16>());
        self.run(ask, move || hash(&password, &salt)).await?
    }

    /// Whether the password matches the stored string. A password over the length limit is not hashed.
    pub(crate) async fn verify(&self, password: &str, stored: &str, ask: HashRequest<'_>) -> Result<bool> {
        if password.len() > PASSWORD_BYTES {
            return Ok(false);
        }
        let (password, stored) = (normalize(password), stored.to_owned());
        self.run(ask, move || verify(&password, &stored)).await?
    }

    /// Hashes computed since the start.
    pub(crate) fn hash_count(&self) -> u64 {
        self.hash_count.load(Ordering::Relaxed)
    }

    /// Waits for a permit and runs the work on a blocking thread. The permit moves with the work, so that a caller that
    /// disconnects does not admit another one while its work is still running.
    async fn run<T: Send + 'static>(
        &self,
        ask: HashRequest<'_>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.budget.take(&ask.requester, ask.monotonic)?;
        let permit = self.queue.acquire(ask.requester.group()).await.map_err(|refused| {
            self.budget.refund(&ask.requester);
            match refused {
                QueueFull::Full => Error::plain(Code::Overloaded).retry_after(1),
                QueueFull::GroupFull => {
                    let why =
                        "Too many passwords from your network are being checked. Try again in a second.";
                    Error::new(Code::RateLimited, why).retry_after(1)
                }
            }
        })?;
        self.hash_count.fetch_add(1, Ordering::Relaxed);
        let work = move || {
            let _held = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

/// Normalizes to NFC, because keyboards produce é as one character or as e and an accent.
fn normalize(password: &str) -> String {
    password.nfc().collect()
}

fn argon() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, Some(32)).map_err(|e| Error::internal(e.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str, salt: &[u8; 16]) -> Result<String> {
    let phc: PasswordHash = argon()?
        .hash_password_with_salt(password.as_bytes(), salt)
        .map_err(|e| Error::internal(e.to_string()))?;
    Ok(phc.to_string())
}

fn verify(password: &str, stored: &str) -> Result<bool> {
    let stored = PasswordHash::new(stored).map_err(|e| Error::internal(e.to_string()))?;
    Ok(argon()?.verify_password(password.as_bytes(), &stored).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_argon2id_with_the_chosen_cost() {
        let phc = hash("secret", &[1; 16]).unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert_ne!(phc, hash("other", &[1; 16]).unwrap());
    }

    fn passwords(threads: usize) -> PasswordHasher {
        PasswordHasher::with_threads(
            Rate { name: "password_hashes", limit: 1000, window_seconds: 60 },
            threads,
        )
    }

    fn from(ip: &str) -> HashRequest<'static> {
        let requester = HashRequester::Client { ip: Some(ip.parse().unwrap()), is_exempt: false };
        HashRequest { requester, monotonic: Duration::ZERO }
    }

    #[tokio::test]
    async fn the_right_password_is_known_in_either_spelling() {
        let (passwords, ask) = (passwords(1), from("192.0.2.1"));
        let stored = passwords.hash("caf\u{e9}", &Minter::seeded(1), ask).await.unwrap();
        assert!(passwords.verify("cafe\u{301}", &stored, ask).await.unwrap());
        assert!(!passwords.verify("cafe", &stored, ask).await.unwrap());
        assert!(!passwords.verify("", &stored, ask).await.unwrap());
        let before = passwords.hash_count();
        assert!(!passwords.verify(&"x".repeat(PASSWORD_BYTES + 1), &stored, ask).await.unwrap());
        assert_eq!(passwords.hash_count(), before, "too long is not hashed");
    }

    #[tokio::test]
    async fn callers_who_leave_early_do_not_add_up() {
        let passwords = passwords(2);
        for _ in 0..6 {
            let mut work = Box::pin(passwords.verify("x", "$argon2id$", from("192.0.2.1")));
            // Polled once, then dropped: the work may have started.
            let _ = futures_util::poll!(work.as_mut());
        }
        assert!(passwords.hash_count() <= 6);
        let enter = |ip| passwords.queue.acquire(from(ip).requester.group());
        let _everybody_came_back = (enter("192.0.2.2").await.unwrap(), enter("192.0.2.3").await.unwrap());
    }

    #[tokio::test]
    async fn a_flood_from_one_network_leaves_the_next_turn_to_another() {
        let passwords = passwords(1);
        let stored = hash("right", &[1; 16]).unwrap();
        let busy = passwords.queue.acquire(from("192.0.2.1").requester.group()).await.unwrap();
        let check = |ip| Box::pin(passwords.verify("right", &stored, from(ip)));
        let mut flood: Vec<_> = (0..100).map(|_| check("192.0.2.1")).collect();
        let mut refused = 0;
        for request in &mut flood {
            if let std::task::Poll::Ready(answer) = futures_util::poll!(request.as_mut()) {
                assert_eq!(answer.unwrap_err().code, Code::RateLimited);
                refused += 1;
            }
        }
        assert_eq!(refused, 92, "eight wait");
        let mut viewer = check("198.51.100.1");
        assert!(futures_util::poll!(viewer.as_mut()).is_pending());
        drop(busy);
        assert_eq!(passwords.hash_count(), 0);
        // The first of the flood was waiting already; the viewer is next, ahead of the other seven.
        assert!(flood.remove(0).await.unwrap());
        assert!(viewer.await.unwrap());
        assert_eq!(passwords.hash_count(), 2);
    }
}
