//! Limits how many passwords the server hashes for one network or account per minute, right or wrong, over all pages.
//! Hashing is the most expensive operation that an anonymous caller can request. Counted per node, in monotonic time.

use crate::infra::fair_queue::Group;
use crate::infra::token_bucket::TokenBuckets;
use dropleaf_core::rate::Rate;
use dropleaf_core::{Code, Error, Result, network};
use std::net::IpAddr;
use std::time::Duration;

/// An IPv6 /48, which may belong to one customer or to many, gets this many times the budget of a /64.
const WIDE: u32 = 8;
/// An account that sets passwords gets this many times the budget of a network, because its programs are known.
const ACCOUNT: u32 = 4;

/// Whose budget a hash is charged to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HashRequester<'a> {
    /// A viewer, or a publisher without an account. All clients with an unknown address count as one.
    Client { ip: Option<IpAddr>, is_exempt: bool },
    /// A publisher, by the id of the account.
    Account(&'a str),
}

impl HashRequester<'_> {
    /// Its group in the queue of hashes.
    pub(crate) fn group(&self) -> Group {
        match self {
            Self::Client { ip, is_exempt } => Group {
                own: ip.map(network::client_network).unwrap_or_default(),
                wide: ip.map(network::wide_network).unwrap_or_default(),
                is_bounded: !is_exempt,
            },
            // It may publish many pages at once; permits still go round-robin.
            Self::Account(id) => Group { own: (*id).to_owned(), wide: (*id).to_owned(), is_bounded: false },
        }
    }
}

#[derive(Debug)]
pub(crate) struct HashBudget {
    networks: TokenBuckets,
    wide: TokenBuckets,
    accounts: TokenBuckets,
}

impl HashBudget {
    pub(crate) fn new(per_minute: Rate) -> Self {
        let limit = u32::try_from(per_minute.limit.clamp(1, 1_000_000)).unwrap_or(1);
        let buckets = |times: u32| {
            let burst = limit.saturating_mul(times);
            TokenBuckets::new(burst, Duration::from_mins(1) / burst)
        };
        Self { networks: buckets(1), wide: buckets(WIDE), accounts: buckets(ACCOUNT) }
    }

    /// Takes one hash from the budget, or returns an error with the time to wait.
    pub(crate) fn take(&self, requester: &HashRequester<'_>, now: Duration) -> Result<()> {
        let Group { own, wide, .. } = requester.group();
        match requester {
            HashRequester::Client { is_exempt: true, .. } => Ok(()),
            HashRequester::Account(_) => self.accounts.take(&own, now).map_err(account_refusal),
            HashRequester::Client { .. } => {
                self.wide.take(&wide, now).map_err(too_many_attempts)?;
                self.networks.take(&own, now).map_err(|wait| {
                    self.wide.refund(&wide);
                    too_many_attempts(wait)
                })
            }
        }
    }

    /// Returns a hash that was not computed after all.
    pub(crate) fn refund(&self, requester: &HashRequester<'_>) {
        let Group { own, wide, .. } = requester.group();
        match requester {
            HashRequester::Client { is_exempt: true, .. } => {}
            HashRequester::Account(_) => self.accounts.refund(&own),
            HashRequester::Client { .. } => {
                self.wide.refund(&wide);
                self.networks.refund(&own);
            }
        }
    }
}

fn account_refusal(wait: Duration) -> Error {
    let seconds = i64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
    let detail =
        format!("Too many passwords were set for this account within a minute. Try again in {seconds} s.");
    Error::new(Code::RateLimited, detail).retry_after(seconds)
}

pub(super) fn too_many_attempts(wait: Duration) -> Error {
    let seconds = i64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
    Error::new(Code::RateLimited, format!("Too many attempts from your network. Try again in {seconds} s."))
        .retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn budget() -> HashBudget {
        HashBudget::new(Rate { name: "password_hashes", limit: 6, window_seconds: 60 })
    }

    fn taken(budget: &HashBudget, ip: &str) -> bool {
        let ip = Some(ip.parse().unwrap());
        budget.take(&HashRequester::Client { ip, is_exempt: false }, NOW).is_ok()
    }

    #[test]
    fn a_network_has_its_budget_and_gets_it_back_over_a_minute() {
        let budget = budget();
        assert_eq!((0..20).filter(|_| taken(&budget, "192.0.2.1")).count(), 6);
        assert!(taken(&budget, "192.0.2.2"), "another address has its own");
        let requester = HashRequester::Client { ip: Some("192.0.2.1".parse().unwrap()), is_exempt: false };
        assert_eq!(budget.take(&requester, NOW).unwrap_err().retry_after, Some(10));
        assert!(budget.take(&requester, NOW + Duration::from_secs(10)).is_ok());
        assert!(budget.take(&requester, NOW + Duration::from_secs(10)).is_err());
        budget.refund(&requester);
        assert!(budget.take(&requester, NOW + Duration::from_secs(10)).is_ok());
    }

    #[test]
    fn a_wide_ipv6_network_has_eight_times_the_budget_however_many_addresses_it_uses() {
        let budget = budget();
        let by_64 = (0..20).filter(|n| taken(&budget, &format!("2001:db8:0:1::{n}"))).count();
        assert_eq!(by_64, 6, "one /64 is one client");
        let by_48 = (2..500).filter(|n| taken(&budget, &format!("2001:db8:0:{n:x}::1"))).count();
        assert_eq!(by_48, 42, "and what is refused for the /64 is not counted for the /48");
        assert!(taken(&budget, "2001:db8:1::1"), "the next /48 has its own");
    }

    #[test]
    fn exempt_networks_and_accounts_are_not_held_to_the_budget_of_a_network() {
        let budget = budget();
        let exempt = HashRequester::Client { ip: None, is_exempt: true };
        assert!((0..100).all(|_| budget.take(&exempt, NOW).is_ok()));
        let account = HashRequester::Account("acc_1");
        assert_eq!((0..100).filter(|_| budget.take(&account, NOW).is_ok()).count(), 24);
        let refused = budget.take(&account, NOW).unwrap_err();
        assert!(
            refused.detail.starts_with("Too many passwords were set for this account"),
            "{}",
            refused.detail
        );
        assert_eq!((refused.code, refused.retry_after), (Code::RateLimited, Some(3)));
    }
}
