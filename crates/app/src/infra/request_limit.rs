//! Limits on requests per caller. On a database of its own a node counts in memory; on a shared one the nodes reserve
//! portions of each window in the database, so that together they never allow more than the limit and most requests need no
//! round trip.

use crate::infra::throttle::{Throttle, rate_limited};
use dropleaf_core::portion::{Portion, Spending};
use dropleaf_core::rate::{Rate, RateLimitStatus};
use dropleaf_core::{Clock, Result};
use dropleaf_store::{Store, counters};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Mutex as AsyncMutex;

/// Callers in one window whose portions are kept, which bounds the table. Those after them reserve single operations.
const MAX_CALLERS: usize = 100_000;

#[derive(Debug)]
pub(crate) enum RequestLimit {
    Local(Throttle),
    Shared(SharedLimit),
}

impl RequestLimit {
    /// A limit for this node alone, or for all nodes that use the database.
    pub(crate) fn new(rate: Rate, callers: Callers, is_shared: bool) -> Self {
        if is_shared {
            Self::Shared(SharedLimit { rate, callers, window: Mutex::default() })
        } else {
            Self::Local(Throttle::new(rate))
        }
    }

    /// Counts one request, or refuses it. `who` is stored in a shared database, so it must not be an address. If the database
    /// is away and this node has reserved nothing, the request fails.
    pub(crate) async fn take(&self, store: &Store, clock: &dyn Clock, who: &str) -> Result<RateLimitStatus> {
        match self {
            Self::Local(throttle) => {
                throttle.take(who, clock.monotonic()).map_err(|standing| rate_limited(&standing))
            }
            Self::Shared(shared) => shared.take(store, clock.now(), who).await,
        }
    }

    /// Reverts a request that was counted in this window.
    pub(crate) async fn refund(&self, clock: &dyn Clock, who: &str) {
        match self {
            Self::Local(throttle) => throttle.refund(who),
            Self::Shared(shared) => shared.refund(clock.now(), who).await,
        }
    }
}

/// Whose requests a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callers {
    /// Each waits only for itself.
    SignedIn,
    /// All of them share some of this node's connections, because anyone can have many addresses.
    Anonymous,
}

#[derive(Debug)]
pub(crate) struct SharedLimit {
    rate: Rate,
    callers: Callers,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    at: i64,
    portions: HashMap<String, Arc<AsyncMutex<Portion>>>,
}

impl SharedLimit {
    async fn take(&self, store: &Store, now: i64, who: &str) -> Result<RateLimitStatus> {
        let (portion, is_kept) = self.portion(now, who);
        // Held while a portion is reserved: other requests of this caller would only reserve too.
        let mut portion = portion.lock().await;
        loop {
            match portion.spend(&self.rate, now) {
                Spending::Spent(standing) => return Ok(standing),
                Spending::Refused(standing) => return Err(rate_limited(&standing)),
                Spending::Empty { reserve } => {
                    // The rest of a portion that is not kept would be lost to the caller.
                    let reserve = if is_kept { reserve } else { 1 };
                    let key = format!("{}:{who}", self.rate.name);
                    let share = match self.callers {
                        Callers::SignedIn => key.as_str(),
                        Callers::Anonymous => counters::LIMITS_SHARE,
                    };
                    let reserved = store.reserve_portion(&key, &self.rate, reserve, now, share).await?;
                    portion.add(&self.rate, reserve, reserved);
                }
            }
        }
    }

    async fn refund(&self, now: i64, who: &str) {
        let (portion, _) = self.portion(now, who);
        portion.lock().await.refund(&self.rate, now);
    }

    /// What this node has reserved for the caller, and whether it is kept. Portions of earlier windows are dropped.
    fn portion(&self, now: i64, who: &str) -> (Arc<AsyncMutex<Portion>>, bool) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.rate.window_at(now);
        if at > window.at {
            *window = Window { at, portions: HashMap::new() };
        }
        if let Some(portion) = window.portions.get(who) {
            return (Arc::clone(portion), true);
        }
        if window.portions.len() >= MAX_CALLERS {
            return (Arc::default(), false);
        }
        (Arc::clone(window.portions.entry(who.to_owned()).or_default()), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_callers_do_not_cost_others_what_is_reserved_for_them() {
        let rate = Rate { name: "minute", limit: 120, window_seconds: 60 };
        let limit = SharedLimit { rate, callers: Callers::Anonymous, window: Mutex::default() };
        let (first, is_kept) = limit.portion(600, "a");
        assert!(is_kept);
        for n in 1..MAX_CALLERS {
            limit.portion(601, &n.to_string());
        }
        assert!(!limit.portion(602, "late").1);
        assert_eq!(limit.window.lock().unwrap().portions.len(), MAX_CALLERS);
        assert!(Arc::ptr_eq(&limit.portion(603, "a").0, &first));
        assert!(limit.portion(660, "late").1, "the next window");
    }
}
