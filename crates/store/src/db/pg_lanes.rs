//! Which queue the batches of an account wait in. Accounts share one, so that their batches share transactions; an account that
//! others would wait for has a queue of its own for a while.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// How long an account is kept apart.
const APART: Duration = Duration::from_mins(1);
/// Accounts that are kept apart; further ones stay with the others.
const MAX_APART: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// Of all other accounts.
    Shared,
    /// Of one account.
    Own(String),
}

/// Why an account is kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeparationReason {
    /// A transaction with its batches waited too long for a lock, which may have been another account's.
    Waited,
    /// Its batch was refused, and so was the group that it was in.
    Refused,
}

/// The accounts that are kept apart, and until when.
#[derive(Debug, Default)]
pub(super) struct Lanes(HashMap<String, (Instant, SeparationReason)>);

impl Lane {
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Lane::Shared)
    }
}

impl Lanes {
    pub(super) fn lane_of(&self, account: &str, now: Instant) -> Lane {
        if self.0.get(account).is_some_and(|(until, _)| now < *until) {
            return Lane::Own(account.to_owned());
        }
        Lane::Shared
    }

    pub(super) fn keep_apart(&mut self, account: &str, reason: SeparationReason, now: Instant) {
        if self.0.len() >= MAX_APART {
            self.0.retain(|_, (until, _)| now < *until);
        }
        if self.0.len() < MAX_APART || self.0.contains_key(account) {
            self.0.insert(account.to_owned(), (now + APART, reason));
        }
    }

    /// A transaction of the account alone was as quick as it should be, so it was another one that waited.
    pub(super) fn was_quick(&mut self, account: &str) {
        if self.0.get(account).is_some_and(|(_, reason)| *reason == SeparationReason::Waited) {
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
        assert_eq!(lanes.lane_of("a", Instant::now()), Lane::Shared);
        for reason in [SeparationReason::Waited, SeparationReason::Refused] {
            lanes.keep_apart("a", reason, Instant::now());
            assert_eq!(lanes.lane_of("a", Instant::now()), own);
            assert!(lanes.lane_of("b", Instant::now()).is_shared());
            tokio::time::advance(APART).await;
            assert_eq!(lanes.lane_of("a", Instant::now()), Lane::Shared);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_account_that_was_quick_comes_back_unless_it_was_refused() {
        let mut lanes = Lanes::default();
        for (reason, comes_back) in [(SeparationReason::Waited, true), (SeparationReason::Refused, false)] {
            lanes.keep_apart("a", reason, Instant::now());
            lanes.was_quick("a");
            assert_eq!(lanes.lane_of("a", Instant::now()).is_shared(), comes_back, "{reason:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn number_of_accounts_apart_is_bounded() {
        let mut lanes = Lanes::default();
        for number in 0..=MAX_APART {
            lanes.keep_apart(&number.to_string(), SeparationReason::Waited, Instant::now());
        }
        assert_eq!(lanes.0.len(), MAX_APART);
        tokio::time::advance(APART).await;
        lanes.keep_apart("a", SeparationReason::Waited, Instant::now());
        assert_eq!(lanes.0.len(), 1);
    }
}
