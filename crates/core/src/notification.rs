//! Emails to owners about comments and about pages that expire soon: which ones an account gets, how they are grouped and
//! when a digest is due. Storing and sending them is left to others.

use crate::feedback::string_enum;
use crate::rate::Rate;
use crate::{Error, Result};

string_enum!(NotifyMode: Off = "off", Instant = "instant", Daily = "daily");
string_enum!(NotificationKind: Comment = "comment", Reply = "reply", Reopened = "reopened", Expiring = "expiring");

/// The pause between two instant emails about the comments of one page, in seconds.
pub const SITE_PAUSE: i64 = 600;
/// The pause between two instant emails about pages of one account that expire, in seconds.
pub const EXPIRY_PAUSE: i64 = 3600;
/// When it is tried again, if the mail server could not be reached, in seconds.
pub const RETRY_PAUSE: i64 = 900;
/// A page is announced so long before it expires, in seconds, or a quarter of its life if that is shorter.
pub const EXPIRY_LEAD: i64 = 3 * DAY;
/// Pages that live shorter are not announced, in seconds.
pub const SHORTEST_LIFE: i64 = DAY;
/// How long before its end a page is at the latest in the list of the next digest: a digest comes once a day, and listing and
/// sending take a while.
pub const DIGEST_LEAD: i64 = DAY + 6 * 3600;
/// Things that may wait for one account; further ones are not emailed about.
pub const MOST_WAITING: i64 = 1000;
/// What was not sent for so long is not sent any more, in seconds.
pub const KEPT_SECONDS: i64 = 3 * DAY;
/// Emails to one address.
pub const PER_ADDRESS: Rate = Rate { name: "notification_address_day", limit: 100, window_seconds: DAY };

const DAY: i64 = 86_400;
/// The hour at which digests are sent, UTC.
const DIGEST_SECONDS: i64 = 7 * 3600;

impl NotifyMode {
    pub fn read(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| Error::field("notify", "must be off, instant or daily"))
    }
}

/// The most recent time at which digests were due. A digest is about what happened before it.
pub const fn last_digest(now: i64) -> i64 {
    now - (now - DIGEST_SECONDS).rem_euclid(DAY)
}

/// The next time at which digests are due.
pub const fn next_digest(now: i64) -> i64 {
    last_digest(now) + DAY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iso;

    #[test]
    fn modes_parse_back_and_others_are_refused() {
        for mode in NotifyMode::ALL {
            assert_eq!(NotifyMode::read(mode.as_str()).unwrap(), *mode);
        }
        assert_eq!(NotifyMode::read("weekly").unwrap_err().detail, "`notify` must be off, instant or daily.");
    }

    #[test]
    fn digests_are_due_at_seven() {
        let at = |text: &str| iso::parse(text).unwrap();
        for (now, last) in [
            ("2026-11-18T06:59:59Z", "2026-11-17T07:00:00Z"),
            ("2026-11-18T07:00:00Z", "2026-11-18T07:00:00Z"),
            ("2026-11-18T23:00:00Z", "2026-11-18T07:00:00Z"),
        ] {
            assert_eq!(last_digest(at(now)), at(last), "{now}");
            assert_eq!(next_digest(at(now)), at(last) + 86_400, "{now}");
        }
    }
}
