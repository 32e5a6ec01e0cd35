//! Which queue the batches of an account wait in. Accounts share a few, the lanes, so that their batches share transactions; an
//! account that others would wait for has a queue of its own for a while.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use tokio::time::Instant;

/// Each has up to two transactions at once, which leaves connections for other writes. An account always uses the same lane, so
/// transactions that count its pages hardly ever wait for each other.
const LANES: u64 = 4;
/// How long an account is kept apart.
const APART: Duration = Duration::from_mins(1);
/// Accounts that are kept apart; further ones stay in their lanes.
const MAX_APART: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// Of all accounts whose names have this hash.
    Shared(u64),
    /// Of one account.
    Own(String),
}

/// Why an account is kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A transaction with its batches waited too long for a lock, which may have been another account's.
    Waited,
    /// Its batch was refused, and so was the group that it was in.
    Refused,
}

/// The accounts that are kept apart, and until when.
#[derive(Debug, Default)]
pub(super) struct Lanes(HashMap<String, (Instant, Why)>);

impl Lane {
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Lane::Shared(_))
    }
}

impl Lanes {
    pub(super) fn lane_of(&self, account: &str, now: Instant) -> Lane {
        if self.0.get(account).is_some_and(|(until, _)| now < *until) {
            return Lane::Own(account.to_owned());
        }
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(account);
        Lane::Shared(hash % LANES)
    }

    pub(super) fn keep_apart(&mut self, account: &str, why: Why, now: Instant) {
        if self.0.len() >= MAX_APART {
            self.0.retain(|_, (until, _)| now < *until);
        }
        if self.0.len() < MAX_APART || self.0.contains_key(account) {
            self.0.insert(account.to_owned(), (now + APART, why));
        }
    }

    /// A transaction of the account alone was as quick as it should be, so it was another one that waited.
    pub(super) fn was_quick(&mut self, account: &str) {
        if self.0.get(account).is_some_and(|(_, why)| *why == Why::Waited) {
            self.0.remove(account);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_account_is_kept_apart_for_a_while() {
        let mut lanes = Lanes::default();
        let own = Lane::Own("a".to_owned());
        let shared = lanes.lane_of("a", Instant::now());
        assert!(shared.is_shared());
        for why in [Why::Waited, Why::Refused] {
            lanes.keep_apart("a", why, Instant::now());
            assert_eq!(lanes.lane_of("a", Instant::now()), own);
            assert!(lanes.lane_of("b", Instant::now()).is_shared());
            tokio::time::advance(APART).await;
            assert_eq!(lanes.lane_of("a", Instant::now()), shared);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_account_that_was_quick_comes_back_unless_it_was_refused() {
        let mut lanes = Lanes::default();
        for (why, comes_back) in [(Why::Waited, true), (Why::Refused, false)] {
            lanes.keep_apart("a", why, Instant::now());
            lanes.was_quick("a");
            assert_eq!(lanes.lane_of("a", Instant::now()).is_shared(), comes_back, "{why:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn number_of_accounts_apart_is_bounded() {
        let mut lanes = Lanes::default();
        for number in 0..=MAX_APART {
            lanes.keep_apart(&number.to_string(), Why::Waited, Instant::now());
        }
        assert_eq!(lanes.0.len(), MAX_APART);
        tokio::time::advance(APART).await;
        lanes.keep_apart("a", Why::Waited, Instant::now());
        assert_eq!(lanes.0.len(), 1);
    }

    #[test]
    fn accounts_use_all_lanes() {
        let lanes = Lanes::default();
        let used: std::collections::HashSet<_> =
            (0..100).map(|number| lanes.lane_of(&format!("acct_{number}"), Instant::now())).collect();
        assert_eq!(used.len() as u64, LANES);
    }
}
