//! Password hashing: argon2id on a bounded number of threads, so that guesses cannot take the machine.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, Version};
use dropleaf_core::{Code, Error, Minter, Result};
use tokio::sync::Semaphore;

/// OWASP's set for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
/// How many may wait for a turn before the server says it is busy.
const WAITING: usize = 64;

#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
    queue: Semaphore,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { turns: Semaphore::new(cores), queue: Semaphore::new(cores + WAITING) }
    }
}

impl Passwords {
    /// The PHC string that is stored for a password.
    pub(crate) async fn hash(&self, password: &str, minter: &Minter) -> Result<String> {
        let busy = || Error::plain(Code::Overloaded).retry_after(1);
        let _place = self.queue.try_acquire().map_err(|_| busy())?;
        let _turn = self.turns.acquire().await.map_err(|_| busy())?;
        let (password, salt) = (password.to_owned(), minter.bytes::<16>());
        tokio::task::spawn_blocking(move || hash(&password, &salt)).await.map_err(Error::internal)?
    }
}

fn hash(password: &str, salt: &[u8; 16]) -> Result<String> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, Some(32)).map_err(|e| Error::internal(e.to_string()))?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let phc: PasswordHash = argon
        .hash_password_with_salt(password.as_bytes(), salt)
        .map_err(|e| Error::internal(e.to_string()))?;
    Ok(phc.to_string())
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_stored_form_is_argon2id_with_the_chosen_cost() {
        let phc = hash("secret", &[1; 16]).unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert_ne!(phc, hash("other", &[1; 16]).unwrap());
    }
}
