//! A moment by both clocks, to measure how long ago it was: the wall clock goes on while the machine is suspended, and the
//! monotonic one cannot be set back. The longer of the two times counts.

use dropleaf_core::Clock;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Epoch seconds.
    pub(crate) wall: i64,
    pub(crate) monotonic: Duration,
}

impl Moment {
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), monotonic: clock.monotonic() }
    }

    /// The moment this much earlier.
    pub(crate) fn before(self, by: Duration) -> Self {
        // Rounded up, so that it never seems more recent than it is.
        let seconds = i64::try_from(by.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
        Self { wall: self.wall.saturating_sub(seconds), monotonic: self.monotonic.saturating_sub(by) }
    }

    /// How long ago `earlier` was.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        let seconds = u64::try_from(self.wall.saturating_sub(earlier.wall)).unwrap_or_default();
        // The wall clock is read in whole seconds, so a difference of one may be less.
        let wall = Duration::from_secs(seconds.saturating_sub(1));
        self.monotonic.saturating_sub(earlier.monotonic).max(wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall: i64, millis: u64) -> Moment {
        Moment { wall, monotonic: Duration::from_millis(millis) }
    }

    #[test]
    fn the_clock_that_has_gone_on_counts() {
        assert_eq!(at(1010, 10_200).since(at(1000, 0)), Duration::from_millis(10_200));
        assert_eq!(at(4600, 500).since(at(1000, 0)), Duration::from_secs(3599), "suspended for an hour");
        assert_eq!(at(500, 10_000).since(at(1000, 0)), Duration::from_secs(10), "set back");
        assert_eq!(at(1001, 300).since(at(1000, 0)), Duration::from_millis(300), "the second has changed");
    }

    #[test]
    fn an_earlier_moment_never_seems_more_recent() {
        assert_eq!(at(1000, 5000).before(Duration::from_millis(1200)), at(998, 3800));
    }
}
