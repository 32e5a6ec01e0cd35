//! When a delivery is sent again, when it is given up, and when its endpoint is disabled.

/// The pauses after failed attempts, in seconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. After the last one a
/// delivery is given up, a little more than three days after the first attempt.
const PAUSES: [i64; 9] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// An endpoint that failed for this long without a success is disabled when a delivery to it is given up.
const FAILING_SECONDS: i64 = 5 * 86_400;
/// The receiver says that it no longer exists.
const GONE: u16 = 410;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    /// The receiver answered with this status.
    Answered(u16),
    /// There was no answer, or none that counts.
    NotDelivered,
}

/// What happens to a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    Delivered,
    /// It is sent again at this time.
    Retry(i64),
    /// It is given up.
    Dead,
    /// It is given up, and so is its endpoint.
    DeadAndGone,
}

/// Decides after attempt number `attempt`, counted from 1. `jitter` is random and lengthens a pause by up to a tenth, so that
/// deliveries that failed together do not come back together.
pub fn after_attempt(result: AttemptResult, attempt: i64, jitter: u8, now: i64) -> NextStep {
    match result {
        AttemptResult::Answered(200..=299) => NextStep::Delivered,
        AttemptResult::Answered(GONE) => NextStep::DeadAndGone,
        AttemptResult::Answered(_) | AttemptResult::NotDelivered => {
            let pause = usize::try_from(attempt - 1).ok().and_then(|at| PAUSES.get(at));
            pause.map_or(NextStep::Dead, |pause| {
                NextStep::Retry(now + pause + pause * i64::from(jitter) / (10 * 255))
            })
        }
    }
}

/// Whether an endpoint whose attempts fail since this time is to be disabled.
pub const fn is_given_up(failing_since: i64, now: i64) -> bool {
    now - failing_since >= FAILING_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: AttemptResult = AttemptResult::NotDelivered;

    #[test]
    fn pauses_grow_until_a_delivery_is_given_up() {
        let mut now = 0;
        let mut pauses = Vec::new();
        for attempt in 1.. {
            match after_attempt(FAILED, attempt, 0, now) {
                NextStep::Retry(at) => {
                    pauses.push(at - now);
                    now = at;
                }
                step => {
                    assert_eq!((step, attempt), (NextStep::Dead, 10));
                    break;
                }
            }
        }
        assert!(pauses.is_sorted() && pauses[0] == 5 && pauses[8] == 86_400, "{pauses:?}");
        assert!((3 * 86_400..4 * 86_400).contains(&now), "{now}");
    }

    #[test]
    fn jitter_adds_a_tenth_at_most() {
        assert_eq!(after_attempt(FAILED, 2, 255, 1000), NextStep::Retry(1330));
        assert_eq!(after_attempt(FAILED, 2, 0, 1000), NextStep::Retry(1300));
    }

    #[test]
    fn only_a_status_of_success_is_a_delivery() {
        for status in [200, 202, 204, 299] {
            assert_eq!(after_attempt(AttemptResult::Answered(status), 1, 0, 0), NextStep::Delivered);
        }
        for status in [100, 199, 301, 302, 307, 400, 404, 429, 500, 503] {
            assert_eq!(
                after_attempt(AttemptResult::Answered(status), 1, 0, 0),
                NextStep::Retry(5),
                "{status}"
            );
        }
        assert_eq!(after_attempt(AttemptResult::Answered(410), 1, 0, 0), NextStep::DeadAndGone);
    }

    #[test]
    fn an_endpoint_is_disabled_after_five_days_of_failures() {
        assert!(!is_given_up(0, 5 * 86_400 - 1) && is_given_up(0, 5 * 86_400));
    }

    #[test]
    fn an_attempt_that_was_never_made_is_not_counted_beyond_the_table() {
        assert_eq!(after_attempt(FAILED, 0, 0, 0), NextStep::Dead);
        assert_eq!(after_attempt(FAILED, i64::MAX, 0, 0), NextStep::Dead);
    }
}
