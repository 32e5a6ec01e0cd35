//! The growing pauses between attempts to reach the server.

use std::time::Duration;
use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between attempts that are repeated without limit.
pub(super) const LASTING_PAUSE: Duration = Duration::from_secs(30);

/// The exponential backoff between attempts.
#[derive(Debug)]
pub(super) struct Wait {
    patience: Option<Duration>,
    until: Option<Instant>,
    next: Duration,
    longest: Duration,
}

impl Wait {
    pub(super) const fn up_to(patience: Duration) -> Self {
        Self { patience: Some(patience), until: None, next: FIRST_PAUSE, longest: LONGEST_PAUSE }
    }

    /// Without a time limit.
    pub(super) const fn lasting() -> Self {
        Self { patience: None, until: None, next: FIRST_PAUSE, longest: LASTING_PAUSE }
    }

    /// Waits before the next attempt; returns false when the time is up.
    pub(super) async fn pause(&mut self) -> bool {
        let now = Instant::now();
        if let Some(patience) = self.patience {
            let until = *self.until.get_or_insert(now + patience);
            if now >= until {
                return false;
            }
            self.next = self.next.min(until - now);
        }
        sleep(self.next).await;
        self.next = (self.next * 2).min(self.longest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn patience_ends_and_lasting_does_not() {
        let begun = Instant::now();
        let mut wait = Wait::up_to(Duration::from_secs(8));
        let mut tries = 0;
        while wait.pause().await {
            tries += 1;
        }
        assert_eq!((begun.elapsed().as_secs(), tries), (8, 7));
        assert!(!Wait::up_to(Duration::ZERO).pause().await);
        let mut wait = Wait::lasting();
        for _ in 0..20 {
            assert!(wait.pause().await);
        }
        assert_eq!(wait.next, LASTING_PAUSE);
    }
}
