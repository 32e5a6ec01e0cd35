//! Rate limits as acts meet them: who is counted, against what, and what the refusal says. Decisions §2.14.

use crate::app::App;
use crate::caller::Caller;
use crate::oauth::Identity;
use crate::throttle::Throttle;
use dropleaf_core::rate::{Rate, Standing};
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, device_login, feedback, network, oauth, report};
use dropleaf_store::{Stmt, anonymous_usage, counters};
use std::net::IpAddr;

/// A dry run counts once more for each so many unpacked bytes.
const CHECK_BYTES: u64 = 4 << 20;

/// The counters one anonymous publish moves.
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

    /// Counts one authenticated request against its key or grant and against the account, so that many keys do not
    /// multiply what one account may ask for. Returns the tighter of the two.
    pub fn take_request(&self, who: &Identity, ip: Option<IpAddr>) -> Result<Option<Standing>> {
        if self.is_exempt(ip) {
            return Ok(None);
        }
        let now = self.clock.monotonic();
        let of_key = self.key_throttle.take(&who.counted_as, now).map_err(|standing| refused(&standing))?;
        match self.account_throttle.take(&who.account.id, now) {
            Ok(of_account) if of_account.remaining < of_key.remaining => Ok(Some(of_account)),
            Ok(_) => Ok(Some(of_key)),
            Err(standing) => {
                self.key_throttle.give_back(&who.counted_as);
                Err(refused(&standing))
            }
        }
    }

    /// Counts an attempt of a client without an account, successful or not.
    pub(crate) fn take_attempt(&self, ip: Option<IpAddr>) -> Result<()> {
        if ip.is_none() { Ok(()) } else { self.take_attempt_of_anybody(ip) }
    }

    /// The same, and those whose address is not known are counted as one.
    pub(crate) fn take_attempt_of_anybody(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_of_network(&self.attempt_throttle, ip)
    }

    /// Takes an attempt back that turned out to be no guess.
    pub(crate) fn give_back_attempt(&self, ip: Option<IpAddr>) {
        if let Some(ip) = ip.filter(|ip| !self.is_exempt(Some(*ip))) {
            self.attempt_throttle.give_back(&network::client_network(ip));
        }
    }

    fn take_of_network(&self, throttle: &Throttle, ip: Option<IpAddr>) -> Result<()> {
        if self.is_exempt(ip) {
            return Ok(());
        }
        let who = ip.map(network::client_network).unwrap_or_default();
        throttle.take(&who, self.clock.monotonic()).map(|_| ()).map_err(|standing| refused(&standing))
    }

    /// Counts an attempt to buy, or to use what was bought with a wallet's signature.
    pub fn take_paid_attempt(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_of_network(&self.paid_throttle, ip)
    }

    /// Counts a dry run of the checks; those whose address is not known are counted as one.
    pub fn take_check(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_of_network(&self.check_throttle, ip)
    }

    /// Counts a large dry run as several: what it costs is its size.
    pub(crate) fn charge_check(&self, ip: Option<IpAddr>, bytes: u64) {
        let more = i64::try_from(bytes / CHECK_BYTES).unwrap_or(i64::MAX);
        if more > 0 && !self.is_exempt(ip) {
            self.check_throttle.charge(&ip.map(network::client_network).unwrap_or_default(), more);
        }
    }

    /// Counts a request for tokens, or to take one back; those whose address is not known are counted as one.
    pub fn take_token_request(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_of_network(&self.token_throttle, ip)
    }

    /// Whether this address may publish without credentials now, before its upload is read. Spec §5, §8.
    /// `repeats` says that the request carries an idempotency key.
    pub async fn check_anonymous(&self, caller: &Caller, repeats: bool) -> Result<Option<Standing>> {
        let Some(ip) = caller.ip else { return Err(Error::plain(Code::NoClientIp)) };
        self.take_attempt(Some(ip))?;
        let Some(quota) = self.anonymous_quota(ip) else { return Ok(None) };
        let now = self.now();
        let mut tightest: Option<Standing> = None;
        for rate in &quota.rates {
            let used = self.store.count_used(&quota.key_of(rate), rate, now).await?;
            if used >= rate.limit {
                // A repeat of a request that was answered before is free, and only the act can tell.
                if repeats {
                    return Ok(None);
                }
                return Err(refused(&rate.standing(used, now)));
            }
            // As it stands when this request has gone through.
            let standing = rate.standing(used + 1, now);
            if tightest.is_none_or(|t| standing.remaining < t.remaining) {
                tightest = Some(standing);
            }
        }
        Ok(tightest)
    }

    /// The quota of this address; None when it is exempt. The address itself is not stored, only its keyed hash.
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

    /// Counts a new page without an account towards what all of them and those of this network may take.
    pub(crate) fn take_room(&self, ip: Option<IpAddr>, site: &Site) -> Vec<Stmt> {
        let Some(ip) = ip.filter(|ip| !self.is_exempt(Some(*ip))) else { return Vec::new() };
        let networks = anonymous_usage::Networks {
            own: self.hash_client(&network::client_network(ip)),
            wide: self.hash_client(&network::wide_network(ip)),
        };
        anonymous_usage::take(&site.id, &networks, site.byte_size, self.settings.anonymous_usage)
    }

    /// Counts one version more of such a page, towards the network that published it.
    pub(crate) async fn take_more_room(&self, site: &Site) -> Result<Vec<Stmt>> {
        let Some(networks) = self.store.find_anonymous_networks(&site.id).await? else {
            return Ok(Vec::new());
        };
        Ok(anonymous_usage::take(&site.id, &networks, site.byte_size, self.settings.anonymous_usage))
    }

    /// A name for a client's network that cannot be turned back into it.
    pub fn hash_client(&self, network: &str) -> String {
        self.keys.mac("client", network.as_bytes())[..12]
            .iter()
            .fold(String::new(), |text, b| format!("{text}{b:02x}"))
    }

    /// The counter of a client's network. Clients whose address is not known share one.
    pub(crate) fn client_key(&self, rate: &Rate, ip: Option<IpAddr>) -> String {
        let network = ip.map(network::client_network).unwrap_or_default();
        format!("{}:{}", rate.name, self.hash_client(&network))
    }

    /// What a failed guard on a rate means to the caller.
    pub(crate) fn rate_refusal(&self, label: &str) -> Option<Error> {
        let rates = &self.settings.rates;
        let all = [
            rates.anonymous_hour,
            rates.anonymous_day,
            rates.appeals_day,
            feedback::PER_NETWORK,
            feedback::PER_SITE,
            report::PER_PAGE,
            report::PER_NETWORK,
            device_login::STARTS,
            device_login::ACCOUNT_GUESSES,
            device_login::CLIENT_GUESSES,
            oauth::REGISTRATIONS,
        ];
        let rate = all.into_iter().find(|rate| rate.name == label)?;
        Some(refused(&rate.standing(rate.limit, self.now())))
    }
}

/// The refusal for a full window.
pub(crate) fn refused(standing: &Standing) -> Error {
    let Standing { rate, resets_in, .. } = standing;
    Error::new(
        Code::RateLimited,
        format!(
            "At most {} in {} are allowed. Try again in {resets_in} s.",
            rate.limit,
            span(rate.window_seconds)
        ),
    )
    .retry_after(*resets_in)
    .with_standing(*standing)
}

fn span(seconds: i64) -> String {
    match seconds {
        60 => "a minute".into(),
        3600 => "an hour".into(),
        86_400 => "a day".into(),
        other => format!("{other} seconds"),
    }
}
