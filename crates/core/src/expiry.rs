//! When a page expires: the requested lifetime, checked against what the plan allows.

use crate::plan::Plan;
use crate::{Code, Error, Result, iso};

/// The maximum lifetime of anonymous pages. Spec §8.
pub const ANONYMOUS_LIFE_SECONDS: i64 = 24 * 3600;
/// The furthest possible expiry: a thousand years, so that no sum overflows.
const FARTHEST_SECONDS: i64 = 1000 * 366 * 86_400;

/// The requested lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifetime {
    #[default]
    Unstated,
    Never,
    Seconds(i64),
    Until(i64),
}

impl Lifetime {
    /// Parses the string field `expires_in_hours`: a number of hours, or `never`.
    pub fn from_hours_text(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::empty_field("expires_in_hours"));
        }
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Never);
        }
        let hours: f64 = text
            .parse()
            .map_err(|_| Error::field("expires_in_hours", "must be a number of hours, or `never`"))?;
        Self::from_hours(hours)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
    pub fn from_hours(hours: f64) -> Result<Self> {
        let seconds = (hours * 3600.0).ceil();
        if !(1.0..=1e11).contains(&seconds) {
            return Err(Error::field("expires_in_hours", "must be more than 0 and at most 8784000"));
        }
        Self::Seconds(seconds as i64).checked("expires_in_hours", 0)
    }

    /// From the field `expires_at`; a time in the past is an error.
    pub fn from_epoch(at: i64, now: i64) -> Result<Self> {
        Self::Until(at).checked("expires_at", now)
    }

    /// From a form with a list (`date`, `never` or a number of hours) and a date field, which was prefilled with `shown`. A typed
    /// date is never ignored: it is used when the list was left unchanged, and refused as a contradiction when the list was
    /// changed to another choice.
    pub fn from_form(choice: &str, date: &str, shown: &str, now: i64) -> Result<Self> {
        let (date, shown) = (date.trim(), shown.trim());
        let is_typed = !date.is_empty() && date != shown;
        let initial = if shown.is_empty() { "never" } else { "date" };
        if choice == "date" || (is_typed && (choice == initial || choice.is_empty())) {
            let at = iso::parse(date).ok_or_else(|| Error::field("expires_at", "needs a date and a time"))?;
            return Self::from_epoch(at, now);
        }
        if is_typed {
            let why = "is given twice: choose “On a date” to use the date, or clear the date";
            return Err(Error::field("expires_at", why));
        }
        Self::from_hours_text(choice)
    }

    fn checked(self, field: &str, now: i64) -> Result<Self> {
        match self {
            Self::Until(at) if at <= now => {
                Err(Error::field_hinted(field, "is in the past", "it is epoch seconds"))
            }
            Self::Until(at) if at - now > FARTHEST_SECONDS => {
                let hint = "it is epoch seconds, or null for no expiry";
                Err(Error::field_hinted(field, "is too far in the future", hint))
            }
            Self::Seconds(s) if s > FARTHEST_SECONDS => {
                Err(Error::field_hinted(field, "is too far in the future", "send `never` for no expiry"))
            }
            good => Ok(good),
        }
    }
}

/// The expiry of an anonymous page: capped, never refused. The flag says whether it was capped.
pub fn anonymous(asked: Lifetime, now: i64) -> (i64, bool) {
    let longest = now + ANONYMOUS_LIFE_SECONDS;
    match asked {
        Lifetime::Unstated => (longest, false),
        Lifetime::Never => (longest, true),
        Lifetime::Seconds(s) => ((now + s).min(longest), now + s > longest),
        Lifetime::Until(at) => (at.min(longest), at > longest),
    }
}

/// The expiry of an owned page created at `created_at`: the plan's maximum lifetime when none was requested, an error when more
/// was requested than the plan allows.
pub fn owned(asked: Lifetime, plan: &Plan, created_at: i64, now: i64) -> Result<Option<i64>> {
    let latest = plan.longest_life_seconds.map(|life| created_at + life);
    let wanted = match asked {
        Lifetime::Unstated => return Ok(latest),
        Lifetime::Never => None,
        Lifetime::Seconds(s) => Some(now + s),
        Lifetime::Until(at) => Some(at),
    };
    match (wanted, latest) {
        (None, Some(_)) => Err(over_plan(plan)),
        (Some(at), Some(latest)) if at > latest => Err(over_plan(plan)),
        (wanted, _) => Ok(wanted),
    }
}

/// The expiry of a page imported now: capped, never refused. Its time on another server does not count.
pub fn imported(expires_at: Option<i64>, plan: &Plan, now: i64) -> Option<i64> {
    match (expires_at, plan.longest_life_seconds.map(|life| now + life)) {
        (Some(at), Some(latest)) => Some(at.min(latest)),
        (at, latest) => at.or(latest),
    }
}

fn over_plan(plan: &Plan) -> Error {
    let days = plan.longest_life_seconds.unwrap_or_default() / 86_400;
    Error::limit(
        Code::PlanLifetimeLimit,
        format!("On the {} plan, pages can stay online for at most {days} days.", plan.name),
        "Choose a shorter time.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free() -> Plan {
        Plan {
            name: "free".into(),
            active_pages: Some(3),
            longest_life_seconds: Some(7 * 86_400),
            publishes_a_day: Some(1000),
            executables: false,
            custom_domains: false,
        }
    }

    #[test]
    fn an_anonymous_page_is_capped_at_a_day() {
        assert_eq!(anonymous(Lifetime::Unstated, 0), (86_400, false));
        assert_eq!(anonymous(Lifetime::Never, 0), (86_400, true));
        assert_eq!(anonymous(Lifetime::Seconds(60), 0), (60, false));
        assert_eq!(anonymous(Lifetime::Seconds(90_000), 0), (86_400, true));
    }

    #[test]
    fn an_imported_page_is_capped_at_the_longest_life_of_the_plan() {
        let week = 7 * 86_400;
        assert_eq!(imported(None, &free(), 10), Some(10 + week));
        assert_eq!(imported(Some(i64::MAX), &free(), 10), Some(10 + week));
        assert_eq!(imported(Some(60), &free(), 10), Some(60));
        assert_eq!(imported(None, &Plan::unlimited(), 10), None);
        assert_eq!(imported(Some(60), &Plan::unlimited(), 10), Some(60));
    }

    #[test]
    fn a_plan_gives_its_longest_life_and_refuses_more() {
        assert_eq!(owned(Lifetime::Unstated, &free(), 10, 10).unwrap(), Some(10 + 7 * 86_400));
        assert_eq!(owned(Lifetime::Seconds(60), &free(), 10, 10).unwrap(), Some(70));
        for more in [Lifetime::Never, Lifetime::Seconds(8 * 86_400), Lifetime::Until(9 * 86_400)] {
            assert_eq!(owned(more, &free(), 10, 10).unwrap_err().code, Code::PlanLifetimeLimit);
        }
    }

    #[test]
    fn the_longest_life_is_counted_from_birth_so_it_cannot_be_renewed_for_ever() {
        let six_days = 6 * 86_400;
        assert!(owned(Lifetime::Seconds(86_400), &free(), 0, six_days).is_ok());
        assert!(owned(Lifetime::Seconds(2 * 86_400), &free(), 0, six_days).is_err());
    }

    #[test]
    fn a_typed_date_is_used_or_refused_but_never_ignored() {
        let (now, day, other) = (1_000_000_000, "2030-01-02T03:04", "2031-01-02T03:04");
        let until = Lifetime::Until(1_893_553_440);
        let from = |choice, date, shown| Lifetime::from_form(choice, date, shown, now);
        // The form of a page without an expiry shows “Never” and an empty date.
        assert_eq!(from("never", day, "").unwrap(), until);
        assert_eq!(from("date", day, "").unwrap(), until);
        assert_eq!(from("never", "", "").unwrap(), Lifetime::Never);
        assert_eq!(from("24", "", "").unwrap(), Lifetime::Seconds(86_400));
        // The form of a page with an expiry shows its date, which does not count as typed.
        assert_eq!(from("never", other, other).unwrap(), Lifetime::Never);
        assert_eq!(from("24", other, other).unwrap(), Lifetime::Seconds(86_400));
        assert_eq!(from("date", day, other).unwrap(), until);
        for (choice, date, shown) in [("24", day, ""), ("24", day, other), ("never", day, other)] {
            let error = from(choice, date, shown).unwrap_err();
            assert!(error.detail.contains("given twice"), "{choice} {date} {shown}: {}", error.detail);
        }
        for (choice, date) in
            [("date", ""), ("date", "soon"), ("never", "soon"), ("never", "2001-01-01T00:00"), ("", "")]
        {
            assert!(from(choice, date, "").is_err(), "{choice} {date}");
        }
    }

    #[test]
    fn hours_may_have_a_fraction_and_bad_ones_are_refused() {
        assert_eq!(Lifetime::from_hours_text("0.5").unwrap(), Lifetime::Seconds(1800));
        assert_eq!(Lifetime::from_hours_text(" never ").unwrap(), Lifetime::Never);
        for bad in ["0", "-1", "nan", "inf", "1e300", "soon", "", " "] {
            assert!(Lifetime::from_hours_text(bad).is_err(), "{bad}");
        }
        assert!(Lifetime::from_epoch(5, 5).is_err());
        assert!(Lifetime::from_epoch(i64::MAX, 5).is_err());
    }
}
