//! Times for people: relative in tables on a terminal, absolute in pipes, both in details.

use super::is_terminal;
use dropleaf_core::{Clock, SystemClock, iso};
use dropleaf_pages::Moment;

/// The current time, read once for each command, and whether a person reads the output.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Now {
    at: i64,
    on_terminal: bool,
}

impl Now {
    pub(in crate::cli) fn read() -> Self {
        Self { at: SystemClock::default().now(), on_terminal: is_terminal() }
    }

    /// For a column of a table.
    pub(in crate::cli) fn short(self, at: i64) -> String {
        if self.on_terminal { brief(at, self.at) } else { iso::format(at) }
    }

    /// Whether something ends within a day.
    pub(in crate::cli) fn is_soon(self, at: i64) -> bool {
        at.saturating_sub(self.at) < DAY
    }

    /// For details: `2026-11-15 01:41 UTC (3 hours ago)`.
    pub(in crate::cli) fn long(self, at: i64) -> String {
        format!("{} ({})", Moment(at), relative(at, self.at))
    }
}

const DAY: i64 = 86_400;

/// The largest unit that fits into the distance: how often, its name, and its abbreviation.
fn distance(at: i64, now: i64) -> Option<(u64, &'static str, &'static str)> {
    let seconds = at.abs_diff(now);
    let units = [
        (86_400 * 365, "year", "y"),
        (86_400 * 30, "month", "mo"),
        (86_400, "day", "d"),
        (3600, "hour", "h"),
        (60, "minute", "min"),
    ];
    let (unit, name, short) = units.into_iter().find(|(unit, ..)| seconds >= *unit)?;
    Some((seconds / unit, name, short))
}

/// `3 hours ago`, `in 2 days`, `just now`.
fn relative(at: i64, now: i64) -> String {
    match distance(at, now) {
        None if at > now => "in less than a minute".to_owned(),
        None => "just now".to_owned(),
        Some((count, name, _)) => {
            let plural = if count == 1 { "" } else { "s" };
            if at > now {
                format!("in {count} {name}{plural}")
            } else {
                format!("{count} {name}{plural} ago")
            }
        }
    }
}

/// The same for a narrow column: `3 h ago`, `in 2 d`, `now`.
fn brief(at: i64, now: i64) -> String {
    match distance(at, now) {
        None => "now".to_owned(),
        Some((count, _, unit)) if at > now => format!("in {count} {unit}"),
        Some((count, _, unit)) => format!("{count} {unit} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_in_the_largest_unit_that_fits() {
        let now = 1_794_706_860;
        for (at, text) in [
            (now, "just now"),
            (now - 59, "just now"),
            (now + 1, "in less than a minute"),
            (now - 60, "1 minute ago"),
            (now + 119, "in 1 minute"),
            (now - 3 * 3600, "3 hours ago"),
            (now + 2 * 86_400, "in 2 days"),
            (now - 31 * 86_400, "1 month ago"),
            (now + 800 * 86_400, "in 2 years"),
            (i64::MIN, "292471208734 years ago"),
        ] {
            assert_eq!(relative(at, now), text);
        }
        let both = Now { at: now, on_terminal: true };
        assert_eq!(both.short(now - 60), "1 min ago");
        assert_eq!(both.short(now + 50 * 86_400), "in 1 mo");
        assert!(both.is_soon(now + 3600) && !both.is_soon(now + 2 * 86_400));
        assert_eq!(both.long(now - 60), "2026-11-15 01:40 UTC (1 minute ago)");
        assert_eq!(Now { on_terminal: false, ..both }.short(now), "2026-11-15T01:41:00Z");
    }
}
