//! A calendar month in UTC, written `2026-11`.

use crate::{Error, Result, iso, number};
use std::fmt;

/// A month, as the number of months since January of year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month(i64);

/// The month of the epoch: nothing was recorded before it.
const FIRST: Month = Month::new(1970, 1);

impl Month {
    const fn new(year: i64, month: i64) -> Self {
        Self(year * 12 + month - 1)
    }

    /// The month that contains this time.
    pub fn of(epoch: i64) -> Self {
        let (year, month, _) = iso::date_of(epoch);
        Self::new(year, month)
    }

    /// Parses `2026-11`. `None` also for months before 1970.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        if (year.len(), month.len()) != (4, 2) {
            return None;
        }
        let (year, month) = (number::unsigned::<u16>(year)?, number::unsigned::<u8>(month)?);
        let parsed = Self::new(year.into(), month.into());
        ((1..=12).contains(&month) && parsed >= FIRST).then_some(parsed)
    }

    /// Parses the field `name` of a request.
    pub fn field(name: &str, text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| Error::field(name, "must be a month such as 2026-11"))
    }

    /// The first second of the month.
    pub fn start(self) -> i64 {
        iso::midnight(self.year(), self.number(), 1)
    }

    /// The month so many months later, or earlier if `months` is negative.
    #[must_use]
    pub const fn plus(self, months: i64) -> Self {
        Self(self.0 + months)
    }

    /// How many months this is after another.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    pub const fn year(self) -> i64 {
        self.0.div_euclid(12)
    }

    /// 1 for January, 12 for December.
    pub const fn number(self) -> i64 {
        self.0.rem_euclid(12) + 1
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_at_midnight_utc() {
        for (text, start) in [
            ("1970-01", "1970-01-01T00:00:00Z"),
            ("2024-02", "2024-02-01T00:00:00Z"),
            ("2024-03", "2024-03-01T00:00:00Z"),
            ("2026-12", "2026-12-01T00:00:00Z"),
            ("9999-12", "9999-12-01T00:00:00Z"),
        ] {
            let month = Month::parse(text).unwrap();
            assert_eq!(month.to_string(), text);
            assert_eq!(iso::format(month.start()), start);
            assert_eq!(Month::of(month.start()), month);
            assert_eq!(Month::of(month.start() - 1), month.plus(-1));
            assert_eq!(Month::of(month.plus(1).start() - 1), month);
        }
    }

    #[test]
    fn months_are_counted_across_years() {
        let november = Month::parse("2026-11").unwrap();
        assert_eq!(november.plus(2).to_string(), "2027-01");
        assert_eq!(november.plus(-11).to_string(), "2025-12");
        assert_eq!(november.since(november.plus(-11)), 11);
        assert_eq!((november.year(), november.number()), (2026, 11));
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "2026",
            "2026-1",
            "2026-00",
            "2026-13",
            "26-11",
            "2026-11-01",
            "1969-12",
            "+026-11",
            "2026-+1",
            "2026/11",
            " 2026-11",
            "２０２６-11",
        ] {
            assert_eq!(Month::parse(bad), None, "{bad}");
        }
        let error = Month::field("from", "x").unwrap_err();
        assert_eq!(error.detail, "`from` must be a month such as 2026-11.");
    }
}
