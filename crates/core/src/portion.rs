//! A rate limit that several nodes share: each node reserves a portion of a window's operations and spends it without asking
//! again. The sum of all portions never exceeds the limit, so neither do the operations. Where the reservations are counted
//! is not decided here.

use crate::rate::{Rate, RateLimitStatus};

/// A node reserves this share of what nobody has reserved yet, so portions shrink to single operations near the limit: little
/// is left unused on other nodes when a caller is refused.
const SHARE: i64 = 8;
/// The largest portion.
const LARGEST: i64 = 1000;

/// What one node has reserved for one caller.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    window_at: i64,
    unspent: i64,
    /// What no node had reserved when this one last asked.
    unreserved: i64,
}

/// The answer to an attempt to spend one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spending {
    Spent(RateLimitStatus),
    Refused(RateLimitStatus),
    /// Nothing is left here; the node has to reserve this many first.
    Empty {
        reserve: i64,
    },
}

/// The shared count after a reservation: the window it was counted in, and all reservations of that window, which may exceed
/// the limit by a part of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    pub window_at: i64,
    pub used: i64,
}

impl Default for Portion {
    fn default() -> Self {
        Self { window_at: i64::MIN, unspent: 0, unreserved: 0 }
    }
}

impl Portion {
    /// Spends one operation. A window never moves backwards, even if the clock does.
    pub fn spend(&mut self, rate: &Rate, now: i64) -> Spending {
        let window_at = rate.window_at(now);
        if window_at > self.window_at {
            *self = Self { window_at, unspent: 0, unreserved: rate.limit.max(0) };
        }
        if self.unspent > 0 {
            self.unspent -= 1;
            Spending::Spent(self.status(rate, now))
        } else if self.unreserved > 0 {
            Spending::Empty { reserve: (self.unreserved / SHARE).clamp(1, LARGEST) }
        } else {
            Spending::Refused(self.status(rate, now))
        }
    }

    /// Adds what was reserved: all of `asked`, or what was left of the limit. `None` if nothing was left.
    pub fn add(&mut self, rate: &Rate, asked: i64, reserved: Option<Reserved>) {
        let Some(Reserved { window_at, used }) = reserved else {
            self.unreserved = 0;
            return;
        };
        // Another node's clock has begun the next window; what was reserved in the last one is not spent in it.
        if window_at > self.window_at {
            (self.window_at, self.unspent) = (window_at, 0);
        }
        let before = used.saturating_sub(asked);
        self.unspent += rate.limit.saturating_sub(before).clamp(0, asked);
        self.unreserved = rate.limit.saturating_sub(used).max(0);
    }

    /// Takes back an operation that was spent in this window and not carried out.
    pub const fn refund(&mut self, rate: &Rate, now: i64) {
        if rate.window_at(now) <= self.window_at {
            self.unspent += 1;
        }
    }

    /// What is left for the caller, as this node knows it: exact for one node; with several, others may have reserved more
    /// since this one last asked.
    const fn status(&self, rate: &Rate, now: i64) -> RateLimitStatus {
        let resets_in = self.window_at + rate.window_seconds - now;
        RateLimitStatus { rate: *rate, remaining: self.unspent.saturating_add(self.unreserved), resets_in }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The shared count, as the database keeps it.
    #[derive(Debug, Default)]
    struct Shared {
        window_at: i64,
        used: i64,
    }

    impl Shared {
        fn reserve(&mut self, rate: &Rate, asked: i64, now: i64) -> Option<Reserved> {
            let window_at = rate.window_at(now);
            if window_at > self.window_at {
                *self = Self { window_at, used: asked };
            } else if self.used < rate.limit {
                self.used += asked;
            } else {
                return None;
            }
            Some(Reserved { window_at: self.window_at, used: self.used })
        }
    }

    /// One operation on one node: the window in which it was granted.
    fn take(portion: &mut Portion, shared: &mut Shared, rate: &Rate, now: i64) -> Option<i64> {
        loop {
            match portion.spend(rate, now) {
                Spending::Spent(_) => return Some(portion.window_at),
                Spending::Refused(_) => return None,
                Spending::Empty { reserve } => {
                    let reserved = shared.reserve(rate, reserve, now);
                    portion.add(rate, reserve, reserved);
                }
            }
        }
    }

    const MINUTE: Rate = Rate { name: "minute", limit: 120, window_seconds: 60 };

    #[test]
    fn one_node_can_spend_the_whole_limit_and_its_headers_are_exact() {
        let (mut portion, mut shared) = (Portion::default(), Shared::default());
        for n in 1..=120 {
            assert!(take(&mut portion, &mut shared, &MINUTE, 600).is_some());
            assert_eq!(portion.unspent + portion.unreserved, 120 - n);
        }
        let Spending::Refused(status) = portion.spend(&MINUTE, 610) else { panic!("121 of 120") };
        assert_eq!((status.remaining, status.resets_in), (0, 50));
        assert!(take(&mut portion, &mut shared, &MINUTE, 660).is_some(), "the next window");
    }

    #[test]
    fn hot_requests_rarely_ask() {
        let (mut portion, mut shared) = (Portion::default(), Shared::default());
        let mut asked = 0;
        for _ in 0..120 {
            if let Spending::Empty { reserve } = portion.spend(&MINUTE, 600) {
                asked += 1;
                let reserved = shared.reserve(&MINUTE, reserve, 600);
                portion.add(&MINUTE, reserve, reserved);
                assert!(matches!(portion.spend(&MINUTE, 600), Spending::Spent(_)));
            }
        }
        assert!(asked < 40, "{asked} reservations for 120 requests");
    }

    #[test]
    fn a_limit_of_zero_asks_nobody() {
        let none = Rate { limit: 0, ..MINUTE };
        assert!(matches!(Portion::default().spend(&none, 600), Spending::Refused(_)));
    }

    #[test]
    fn what_is_refunded_can_be_spent_again_in_the_same_window_only() {
        let one = Rate { limit: 1, ..MINUTE };
        let (mut portion, mut shared) = (Portion::default(), Shared::default());
        assert!(take(&mut portion, &mut shared, &one, 600).is_some());
        portion.refund(&one, 601);
        assert!(take(&mut portion, &mut shared, &one, 602).is_some());
        assert!(take(&mut portion, &mut shared, &one, 603).is_none());
        portion.refund(&one, 660);
        assert!(take(&mut portion, &mut shared, &one, 603).is_none(), "not carried over");
    }

    proptest! {
        #[test]
        fn nodes_with_different_clocks_never_exceed_the_limit_of_a_window(
            limit in 0_i64..200,
            skews in proptest::collection::vec(-90_i64..90, 1..5),
            steps in proptest::collection::vec((0_usize..5, 0_i64..7), 1..600),
        ) {
            let rate = Rate { limit, ..MINUTE };
            let mut shared = Shared::default();
            let mut nodes = vec![Portion::default(); skews.len()];
            let mut granted = std::collections::HashMap::new();
            let mut now = 6000;
            for (node, later) in steps {
                now += later;
                let node = node % nodes.len();
                if let Some(window) = take(&mut nodes[node], &mut shared, &rate, now + skews[node]) {
                    *granted.entry(window).or_insert(0) += 1;
                }
            }
            for (window, count) in granted {
                prop_assert!(count <= limit, "{count} of {limit} in window {window}");
            }
        }
    }
}
