//! The password gate: throttles guesses before anything is hashed, and issues a signed pass that the viewer keeps. Guesses are
//! counted in memory, in monotonic time, and on a shared database also for all nodes together (`shared_guesses.rs`).

use crate::app::App;
use crate::infra::throttle::{Throttle, rate_limited};
use crate::infra::token_bucket::TokenBuckets;
use crate::viewing::hash_budget::{HashRequester, too_many_attempts};
use crate::viewing::password_hasher::HashRequest;
use dropleaf_core::bucket::Bucket;
use dropleaf_core::gate_pass::{GatePass, GatePassKind, frame_reader};
use dropleaf_core::rate::Rate;
use dropleaf_core::site::Site;
use dropleaf_core::{Result, network};
use quick_cache::sync::Cache;
use std::net::IpAddr;
use std::time::Duration;

/// Guesses per network and site: five at once, then one every ten seconds.
pub(super) const GUESSES: Bucket = Bucket { name: "gate_guesses", burst: 5, refill_seconds: 10 };
/// How long a correct password is accepted from the same network without hashing it again.
const VERIFIED_TTL: Duration = Duration::from_mins(10);
const VERIFIED_MOST: usize = 10_000;

#[derive(Debug)]
pub(crate) struct GuessLimiter {
    pub(super) networks: TokenBuckets,
    pub(super) sites: Throttle,
    /// Networks that sent the correct password, and until when that counts. The key is a keyed hash of both.
    verified: Cache<[u8; 32], Duration>,
}

impl GuessLimiter {
    pub(crate) fn new(site_minute: Rate) -> Self {
        let refill = Duration::from_secs(GUESSES.refill_seconds.into());
        Self {
            networks: TokenBuckets::new(GUESSES.burst, refill),
            sites: Throttle::new(site_minute),
            verified: Cache::new(VERIFIED_MOST),
        }
    }
}

/// A guess that was counted: against a network unless it is exempt, and perhaps against a site.
#[derive(Debug, Default)]
pub(crate) struct CountedGuess {
    pub(super) network: Option<String>,
    pub(super) site: Option<String>,
    /// When it was counted, by the wall clock.
    pub(super) at: i64,
}

impl App {
    /// Issues a pass for a viewer who has just passed this gate of the site.
    pub fn issue_pass(&self, kind: GatePassKind, site: &Site) -> String {
        gate(kind, site).issue(&self.keys, self.now())
    }

    /// Whether this is a valid pass for the current version of that gate.
    pub fn verify_pass(&self, kind: GatePassKind, site: &Site, pass: &str) -> bool {
        gate(kind, site).admits(&self.keys, pass, self.now())
    }

    /// Issues a pass for what a sandboxed frame of the page loads, valid only from this client's network.
    pub fn issue_frame_pass(&self, site: &Site, ip: IpAddr) -> String {
        let reader = frame_reader(site, ip);
        GatePass { reader: Some(&reader), ..gate(GatePassKind::Frame, site) }.issue(&self.keys, self.now())
    }

    /// Whether this is a valid frame pass for this site and network.
    pub fn verify_frame_pass(&self, site: &Site, ip: IpAddr, pass: &str) -> bool {
        let reader = frame_reader(site, ip);
        GatePass { reader: Some(&reader), ..gate(GatePassKind::Frame, site) }.admits(
            &self.keys,
            pass,
            self.now(),
        )
    }

    /// Checks the page's password. Too many wrong guesses are refused before they are checked. A correct password is
    /// remembered for a while for the same network, so that neither an office that opens a page nor a program that sends
    /// the password with every request costs a hash each time. Only for that network: otherwise guesses could be tried
    /// against the cache, unthrottled.
    pub async fn check_password(&self, site: &Site, password: &str, ip: Option<IpAddr>) -> Result<bool> {
        let Some(stored) = &site.password_hash else { return Ok(false) };
        let now = self.clock.monotonic();
        let name = ip.map(|ip| {
            let (network, version) = (network::client_network(ip), site.gate_version);
            let message = format!("{}\0{version}\0{network}\0{password}", site.id);
            self.keys.mac("right_password", message.as_bytes())
        });
        if name
            .is_some_and(|name| self.limits.gate_guesses.verified.get(&name).is_some_and(|until| until > now))
        {
            return Ok(true);
        }
        let is_correct = self.check_guess(site, stored, password, ip).await?;
        if let Some(name) = name.filter(|_| is_correct) {
            self.limits.gate_guesses.verified.insert(name, now + VERIFIED_TTL);
        }
        Ok(is_correct)
    }

    async fn check_guess(
        &self,
        site: &Site,
        stored: &str,
        password: &str,
        ip: Option<IpAddr>,
    ) -> Result<bool> {
        let guess = self.take_guess("password", site, ip).await?;
        let outcome =
            self.limits.password_hasher.verify(password, stored, self.client_hash_request(ip)).await;
        // Only a wrong password counts as a guess: not a correct one, nor one that was never checked.
        if !matches!(outcome, Ok(false)) {
            self.refund_guess(&guess).await;
        }
        outcome
    }

    /// A hash request by a viewer, or by a publisher without an account.
    pub(crate) fn client_hash_request(&self, ip: Option<IpAddr>) -> HashRequest<'static> {
        let requester = HashRequester::Client { ip, is_exempt: self.is_exempt(ip) };
        HashRequest { requester, monotonic: self.clock.monotonic() }
    }

    /// A hash request by a publisher with an account.
    pub(crate) fn account_hash_request<'a>(&self, account_id: &'a str) -> HashRequest<'a> {
        HashRequest { requester: HashRequester::Account(account_id), monotonic: self.clock.monotonic() }
    }

    /// Passwords hashed since the start.
    pub fn hashed_passwords(&self) -> u64 {
        self.limits.password_hasher.hash_count()
    }

    /// Counts a guess at one of a site's gates. All clients with an unknown address count as one.
    pub(crate) async fn take_guess(
        &self,
        what: &str,
        site: &Site,
        ip: Option<IpAddr>,
    ) -> Result<CountedGuess> {
        let name = format!("{what}:{}", site.id);
        let mut guess = self.take_local_guess(&name, ip)?;
        if guess.network.is_some() {
            let now = self.clock.monotonic();
            self.limits.gate_guesses.sites.take(&name, now).map_err(|standing| rate_limited(&standing))?;
            guess.site = Some(name);
        }
        self.take_shared_guess(&guess).await?;
        Ok(guess)
    }

    /// Counts a guess against the network alone.
    pub(crate) async fn take_guess_from(&self, what: &str, ip: Option<IpAddr>) -> Result<CountedGuess> {
        let guess = self.take_local_guess(what, ip)?;
        self.take_shared_guess(&guess).await?;
        Ok(guess)
    }

    /// Refuses a flood without asking the database.
    fn take_local_guess(&self, what: &str, ip: Option<IpAddr>) -> Result<CountedGuess> {
        if self.is_exempt(ip) {
            return Ok(CountedGuess::default());
        }
        let network = format!("{what}:{}", ip.map(network::client_network).unwrap_or_default());
        self.limits
            .gate_guesses
            .networks
            .take(&network, self.clock.monotonic())
            .map_err(too_many_attempts)?;
        Ok(CountedGuess { network: Some(network), site: None, at: self.now() })
    }

    /// Reverts a guess that was correct: many viewers of one office may open a page in one minute.
    pub(crate) async fn refund_guess(&self, guess: &CountedGuess) {
        if let Some(network) = &guess.network {
            self.limits.gate_guesses.networks.refund(network);
        }
        if let Some(site) = &guess.site {
            self.limits.gate_guesses.sites.refund(site);
        }
        self.refund_shared_guess(guess).await;
    }
}

fn gate(kind: GatePassKind, site: &Site) -> GatePass<'_> {
    GatePass { kind, site_id: &site.id, gate_version: site.gate_version, reader: None }
}
