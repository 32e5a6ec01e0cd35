//! Rate limits of the operations: who is counted, against which limit, and what the refusal says.

use crate::accounts::caller::Caller;
use crate::accounts::oauth::Identity;
use crate::app::App;
use crate::infra::request_limit::{Callers, RequestLimit};
use crate::infra::settings::Settings;
use crate::infra::throttle::{Throttle, rate_limited};
use crate::viewing::password_gate::GuessLimiter;
use crate::viewing::password_hasher::PasswordHasher;
use dropleaf_core::rate::{Rate, RateLimitStatus};
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, device_login, feedback, network, oauth, report, webhook};
use dropleaf_store::{Stmt, anonymous_usage, counters};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A dry run counts once more per this many unpacked bytes (4 MiB).
const BYTES_PER_DRY_RUN: u64 = 4 << 20;

/// What this node keeps in memory of the limits. Those that protect people or money hold across nodes on a shared database:
/// requests, and guesses. The others protect this machine. `docs/limits.md` lists all.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) key_requests: RequestLimit,
    pub(crate) account_requests: RequestLimit,
    pub(crate) anonymous_attempts: RequestLimit,
    pub(crate) paid_attempts: RequestLimit,
    pub(crate) token_requests: RequestLimit,
    /// Protects the processor of this machine.
    pub(crate) dry_runs: Throttle,
    pub(crate) gate_guesses: GuessLimiter,
    pub(crate) password_hasher: PasswordHasher,
    pub(crate) upload_permits: Arc<Semaphore>,
    /// For small pages, which are checked where requests are answered: one fewer than there are threads for that, so that one is left
    /// for views however many publish.
    pub(crate) inline_permits: Semaphore,
    pub(crate) extra_bodies: Semaphore,
}

/// Bodies of all uploads that are stored beside another of the same upload. Each buffers up to 8 MiB, so this bounds the
/// memory that storing several at a time adds.
pub(crate) const EXTRA_BODIES: usize = 8;

impl Limits {
    /// `is_shared`: other nodes may use the same database.
    pub(crate) fn new(settings: &Settings, is_shared: bool) -> Self {
        let rates = &settings.rates;
        let requests = |rate: Rate, callers: Callers| RequestLimit::new(rate, callers, is_shared);
        Self {
            key_requests: requests(rates.key_minute, Callers::SignedIn),
            account_requests: requests(rates.account_minute, Callers::SignedIn),
            anonymous_attempts: requests(rates.anonymous_attempts, Callers::Anonymous),
            paid_attempts: requests(rates.paid_attempts, Callers::Anonymous),
            token_requests: requests(oauth::TOKEN_REQUESTS, Callers::Anonymous),
            dry_runs: Throttle::new(rates.checks_minute),
            gate_guesses: GuessLimiter::new(rates.gate_site_minute),
            password_hasher: PasswordHasher::new(rates.password_hashes),
            upload_permits: Arc::new(Semaphore::new(settings.parallel_uploads.max(1))),
            inline_permits: Semaphore::new(inline_permits()),
            extra_bodies: Semaphore::new(EXTRA_BODIES),
        }
    }
}

fn inline_permits() -> usize {
    let threads = tokio::runtime::Handle::try_current().map_or(1, |runtime| runtime.metrics().num_workers());
    threads.saturating_sub(1).max(1)
}

/// The counters of one anonymous publish.
pub(crate) struct AnonymousQuota {
    key: String,
    rates: [Rate; 2],
}

impl AnonymousQuota {
    pub(crate) fn take(&self, now: i64) -> impl Iterator<Item = Stmt> {
        self.rates.iter().map(move |rate| counters::take(&self.key_of(rate), rate, now))
    }

    fn key_of(&self, rate: &Rate) -> String {
        format!("{}:{}", rate.name, self.key)
    }
}

impl App {
    pub(crate) fn is_exempt(&self, ip: Option<IpAddr>) -> bool {
        ip.is_some_and(|ip| network::is_in(ip, &self.settings.exempt))
    }

    /// Counts one authenticated request against its key or grant and against the account, so that several keys do not
    /// multiply an account's limit. Returns the tighter of the two.
    pub async fn take_request(&self, who: &Identity, ip: Option<IpAddr>) -> Result<Option<RateLimitStatus>> {
        if self.is_exempt(ip) {
            return Ok(None);
        }
        let Limits { key_requests, account_requests, .. } = &self.limits;
        let of_key = key_requests.take(&self.store, &*self.clock, &who.rate_limit_key).await?;
        match account_requests.take(&self.store, &*self.clock, &who.account.id).await {
            Ok(of_account) if of_account.remaining < of_key.remaining => Ok(Some(of_account)),
            Ok(_) => Ok(Some(of_key)),
            Err(refusal) => {
                key_requests.refund(&*self.clock, &who.rate_limit_key).await;
                Err(refusal)
            }
        }
    }

    /// Counts an attempt by a client without an account, successful or not.
    pub(crate) async fn take_attempt(&self, ip: Option<IpAddr>) -> Result<()> {
        if ip.is_none() { Ok(()) } else { self.take_attempt_even_without_ip(ip).await }
    }

    /// The same, but all clients with an unknown address are counted as one.
    pub(crate) async fn take_attempt_even_without_ip(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_for_network(&self.limits.anonymous_attempts, ip).await
    }

    /// Reverts an attempt that turned out not to be a guess.
    pub(crate) async fn refund_attempt(&self, ip: Option<IpAddr>) {
        if ip.is_some() && !self.is_exempt(ip) {
            self.limits.anonymous_attempts.refund(&*self.clock, &self.network_name(ip)).await;
        }
    }

    async fn take_for_network(&self, limit: &RequestLimit, ip: Option<IpAddr>) -> Result<()> {
        if self.is_exempt(ip) {
            return Ok(());
        }
        limit.take(&self.store, &*self.clock, &self.network_name(ip)).await.map(|_| ())
    }

    /// The name that a network is counted under: a keyed hash if it is stored, as for anonymous quotas.
    fn network_name(&self, ip: Option<IpAddr>) -> String {
        let network = ip.map(network::client_network).unwrap_or_default();
        if self.store.db.is_shared() { self.hash_client(&network) } else { network }
    }

    /// Counts an attempt to pay, or to use a purchase with a wallet signature.
    pub async fn take_paid_attempt(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_for_network(&self.limits.paid_attempts, ip).await
    }

    /// Counts a dry run of the checks, on this node; all clients with an unknown address are counted as one.
    pub fn take_check(&self, ip: Option<IpAddr>) -> Result<()> {
        if self.is_exempt(ip) {
            return Ok(());
        }
        let who = ip.map(network::client_network).unwrap_or_default();
        let taken = self.limits.dry_runs.take(&who, self.clock.monotonic());
        taken.map(|_| ()).map_err(|standing| rate_limited(&standing))
    }

    /// Counts a large dry run as several, because its cost grows with its size.
    pub(crate) fn charge_check(&self, ip: Option<IpAddr>, bytes: u64) {
        let more = i64::try_from(bytes / BYTES_PER_DRY_RUN).unwrap_or(i64::MAX);
        if more > 0 && !self.is_exempt(ip) {
            self.limits.dry_runs.charge(&ip.map(network::client_network).unwrap_or_default(), more);
        }
    }

    /// Counts a request to issue or revoke a token; all clients with an unknown address are counted as one.
    pub async fn take_token_request(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_for_network(&self.limits.token_requests, ip).await
    }

    /// Fails if the settings leave no quota for pages without an account, which turns them off.
    pub fn require_anonymous_publishing(&self) -> Result<()> {
        let (rates, usage) = (&self.settings.rates, self.settings.anonymous_usage);
        let quotas = [rates.anonymous_hour, rates.anonymous_day, rates.anonymous_attempts];
        let has_space = usage.server_bytes > 0 && usage.network_bytes > 0;
        if has_space && quotas.iter().all(|rate| rate.limit > 0) {
            return Ok(());
        }
        let detail = "Publishing without an account is turned off on this server. Sign in to publish.";
        Err(Error::new(Code::AuthRequired, detail))
    }

    /// Whether this client may publish anonymously now, checked before its upload is read. Spec §5, §8. `repeats` is true
    /// if the request has an idempotency key.
    pub async fn check_anonymous(&self, caller: &Caller, repeats: bool) -> Result<Option<RateLimitStatus>> {
        let Some(ip) = caller.ip else { return Err(Error::plain(Code::NoClientIp)) };
        self.take_attempt(Some(ip)).await?;
        let Some(quota) = self.anonymous_quota(ip) else { return Ok(None) };
        let now = self.now();
        let mut tightest: Option<RateLimitStatus> = None;
        for rate in &quota.rates {
            let used = self.store.count_used(&quota.key_of(rate), rate, now).await?;
            if used >= rate.limit {
                // Repeating an answered request is free, and only the operation can tell whether it was answered.
                if repeats {
                    return Ok(None);
                }
                return Err(rate_limited(&rate.status(used, now)));
            }
            // The state after this request.
            let standing = rate.status(used + 1, now);
            if tightest.is_none_or(|t| standing.remaining < t.remaining) {
                tightest = Some(standing);
            }
        }
        Ok(tightest)
    }

    /// The quota of this client; None if it is exempt. The address itself is not stored, only its keyed hash.
    pub(crate) fn anonymous_quota(&self, ip: IpAddr) -> Option<AnonymousQuota> {
        if self.is_exempt(Some(ip)) {
            return None;
        }
        let key = self.hash_client(&network::client_network(ip));
        Some(AnonymousQuota {
            key,
            rates: [self.settings.rates.anonymous_hour, self.settings.rates.anonymous_day],
        })
    }

    /// Counts a new anonymous page towards the storage limits of all anonymous pages and of this network.
    pub(crate) fn take_anonymous_storage(&self, ip: Option<IpAddr>, site: &Site) -> Vec<Stmt> {
        let Some(ip) = ip.filter(|ip| !self.is_exempt(Some(*ip))) else { return Vec::new() };
        let networks = anonymous_usage::Networks {
            own: self.hash_client(&network::client_network(ip)),
            wide: self.hash_client(&network::wide_network(ip)),
        };
        anonymous_usage::take(&site.id, &networks, site.byte_size, self.settings.anonymous_usage)
    }

    /// Counts a further version of such a page, towards the network that published it.
    pub(crate) async fn take_more_anonymous_storage(&self, site: &Site) -> Result<Vec<Stmt>> {
        let Some(networks) = self.store.find_anonymous_networks(&site.id).await? else {
            return Ok(Vec::new());
        };
        Ok(anonymous_usage::take(&site.id, &networks, site.byte_size, self.settings.anonymous_usage))
    }

    /// A keyed hash of a client's network, which cannot be reversed.
    pub fn hash_client(&self, network: &str) -> String {
        self.keys.mac("client", network.as_bytes())[..12]
            .iter()
            .fold(String::new(), |text, b| format!("{text}{b:02x}"))
    }

    /// The counter key of a client's network. All clients with an unknown address share one.
    pub(crate) fn client_key(&self, rate: &Rate, ip: Option<IpAddr>) -> String {
        let network = ip.map(network::client_network).unwrap_or_default();
        format!("{}:{}", rate.name, self.hash_client(&network))
    }

    /// The error for a failed guard on a rate counter.
    pub(crate) fn rate_refusal(&self, label: &str) -> Option<Error> {
        let rates = &self.settings.rates;
        let all = [
            rates.anonymous_hour,
            rates.anonymous_day,
            rates.appeals_day,
            rates.domain_checks_hour,
            feedback::PER_NETWORK,
            feedback::PER_SITE,
            report::PER_PAGE,
            report::PER_NETWORK,
            device_login::STARTS,
            device_login::ACCOUNT_GUESSES,
            device_login::CLIENT_GUESSES,
            oauth::REGISTRATIONS,
            webhook::TESTS,
        ];
        let rate = all.into_iter().find(|rate| rate.name == label)?;
        Some(rate_limited(&rate.status(rate.limit, self.now())))
    }
}
