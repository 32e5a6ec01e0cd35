//! Guesses at passwords and codes, counted for all nodes together where they share a database. A guess is counted before it is
//! checked and refunded if it was right, so a node that dies in between leaves a stricter limit, never a looser one. Without
//! the database nothing can be guessed.

use crate::app::App;
use crate::infra::throttle::rate_limited;
use crate::viewing::hash_budget::too_many_attempts;
use crate::viewing::password_gate::{CountedGuess, GUESSES};
use dropleaf_core::{Error, Result};
use dropleaf_store::{DbError, Stmt, counters, token_buckets};
use std::time::Duration;

impl App {
    /// Counts a guess that this node would allow. A refusal is remembered here, so that the next ones cost no round trip.
    pub(super) async fn take_shared_guess(&self, guess: &CountedGuess) -> Result<()> {
        let Some((network, key)) = self.shared_bucket(guess) else { return Ok(()) };
        let site_rate = self.settings.rates.gate_site_minute;
        let mut stmts = vec![token_buckets::take(&key, &GUESSES, guess.at)];
        // A network that is refused does not use up the page's limit, and the other way round: all or nothing.
        stmts.extend(self.shared_site_key(guess).map(|key| counters::take(&key, &site_rate, guess.at)));
        match self.store.commit(stmts).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(label)) if label == GUESSES.name => {
                // The page's own count here stays for those that were checked; only this network is refused.
                if let Some(site) = &guess.site {
                    self.limits.gate_guesses.sites.refund(site);
                }
                Err(self.hold_guesses(network, &key).await?)
            }
            Err(DbError::Guard(label)) if label == site_rate.name => {
                Err(rate_limited(&site_rate.status(site_rate.limit, self.now())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reverts a guess. If that fails the limit is stricter for a while; the viewer has passed all the same.
    pub(super) async fn refund_shared_guess(&self, guess: &CountedGuess) {
        let Some((_, key)) = self.shared_bucket(guess) else { return };
        let site_rate = self.settings.rates.gate_site_minute;
        let mut stmts: Vec<Stmt> = vec![token_buckets::give_back(&key, &GUESSES)];
        stmts.extend(self.shared_site_key(guess).map(|key| counters::give_back(&key, &site_rate, guess.at)));
        if let Err(error) = self.store.commit(stmts).await {
            tracing::warn!(%error, "guess not refunded");
        }
    }

    /// The refusal of a network that has used up its guesses on all nodes. Until the next one this node does not ask again.
    async fn hold_guesses(&self, network: &str, key: &str) -> Result<Error> {
        let full_at = self.store.find_bucket(key).await?.unwrap_or_default();
        // At least a second: the bucket was full a moment ago.
        let seconds = GUESSES.wait(full_at, self.now()).max(1);
        let wait = Duration::from_secs(seconds.unsigned_abs());
        self.limits.gate_guesses.networks.hold(network, self.clock.monotonic(), wait);
        Ok(too_many_attempts(wait))
    }

    /// The network of a guess and the key of its bucket, which reveals neither address nor page. `None` if this node is alone.
    fn shared_bucket<'a>(&self, guess: &'a CountedGuess) -> Option<(&'a str, String)> {
        let network = guess.network.as_deref().filter(|_| self.store.db.is_shared())?;
        Some((network, format!("{}:{}", GUESSES.name, self.hash_client(network))))
    }

    fn shared_site_key(&self, guess: &CountedGuess) -> Option<String> {
        let name = self.settings.rates.gate_site_minute.name;
        guess.site.as_deref().map(|site| format!("{name}:{site}"))
    }
}
