//! Passwords: argon2id on a bounded number of threads, so that guesses cannot take the machine.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use dropleaf_core::options::PASSWORD_BYTES;
use dropleaf_core::{Code, Error, Minter, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

/// OWASP's set for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
/// How many may wait for a turn before the server says it is busy.
const WAITING: usize = 64;

#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    runs: AtomicU64,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            turns: Arc::new(Semaphore::new(cores)),
            queue: Arc::new(Semaphore::new(cores + WAITING)),
            runs: AtomicU64::new(0),
        }
    }
}

impl Passwords {
    /// The PHC string that is stored for a password.
    pub(crate) async fn hash(&self, password: &str, minter: &Minter) -> Result<String> {
        let (password, salt) = (normal(password), minter.bytes::<16>());
        self.run(move || hash(&password, &salt)).await?
    }

    /// Whether this is the password behind the stored string. One too long to be any is not worth hashing.
    pub(crate) async fn verify(&self, password: &str, stored: &str) -> Result<bool> {
        if password.len() > PASSWORD_BYTES {
            return Ok(false);
        }
        let (password, stored) = (normal(password), stored.to_owned());
        self.run(move || verify(&password, &stored)).await?
    }

    /// How often the hash was computed since the start.
    pub(crate) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Waits for a turn and works on a thread of its own. The turn goes with the work: a caller who leaves early
    /// does not let another one in beside it.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let busy = || Error::plain(Code::Overloaded).retry_after(1);
        let place = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| busy())?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| busy())?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        let work = move || {
            let _held = (place, turn);
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

/// One spelling for what keyboards write in two: é as one character, or as e and an accent.
fn normal(password: &str) -> String {
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

    #[tokio::test]
    async fn the_right_password_is_known_in_either_spelling() {
        let passwords = Passwords::default();
        let stored = passwords.hash("caf\u{e9}", &Minter::seeded(1)).await.unwrap();
        assert!(passwords.verify("cafe\u{301}", &stored).await.unwrap());
        assert!(!passwords.verify("cafe", &stored).await.unwrap());
        assert!(!passwords.verify("", &stored).await.unwrap());
        let before = passwords.runs();
        assert!(!passwords.verify(&"x".repeat(PASSWORD_BYTES + 1), &stored).await.unwrap());
        assert_eq!(passwords.runs(), before, "too long is not hashed");
    }

    #[tokio::test]
    async fn callers_who_leave_early_do_not_add_up() {
        let passwords = Arc::new(Passwords::default());
        let all = passwords.turns.available_permits();
        for _ in 0..3 * all {
            let mut work = Box::pin(passwords.verify("x", "$argon2id$"));
            // Polled once, then dropped: the work may have begun.
            let _ = futures_util::poll!(work.as_mut());
        }
        assert!(passwords.runs() <= u64::try_from(3 * all).unwrap());
        let _everybody_came_back = passwords.turns.acquire_many(u32::try_from(all).unwrap()).await.unwrap();
    }
}
