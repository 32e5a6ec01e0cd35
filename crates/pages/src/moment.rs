//! Formats times, sizes, counts and durations for pages.

use dropleaf_core::iso;
use std::fmt;

/// A time, shown in a `time` element: UTC without script, local time with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub i64);

impl Moment {
    pub fn iso(self) -> String {
        iso::format(self.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let iso = self.iso();
        let (day, time) = iso.split_once('T').unwrap_or((&iso, ""));
        write!(f, "{day} {} UTC", time.get(..5).unwrap_or(time))
    }
}

/// A size in bytes, shown in the appropriate unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub i64);

impl From<u64> for Size {
    fn from(bytes: u64) -> Self {
        Self(i64::try_from(bytes).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} {}", self.0, if self.0 == 1 { "byte" } else { "bytes" });
        }
        let mut tenths = self.0.saturating_mul(10) / 1024;
        let mut at = 0;
        while tenths >= 10_240 && at + 1 < units.len() {
            tenths /= 1024;
            at += 1;
        }
        if tenths < 100 && tenths % 10 != 0 {
            write!(f, "{}.{} {}", tenths / 10, tenths % 10, units[at])
        } else {
            write!(f, "{} {}", tenths / 10, units[at])
        }
    }
}

/// A number with thousands separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub i64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.unsigned_abs().to_string();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A duration, shown in its two largest units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(pub u64);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, hours, minutes) = (self.0 / 86_400, self.0 / 3600 % 24, self.0 / 60 % 60);
        match (days, hours) {
            (0, 0) => write!(f, "{minutes} min"),
            (0, _) => write!(f, "{hours} h {minutes} min"),
            _ => write!(f, "{days} d {hours} h"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_and_minutes() {
        assert_eq!(Moment(1_794_706_860).to_string(), "2026-11-15 01:41 UTC");
        assert_eq!(Moment(0).iso(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn sizes_counts_and_spans_are_short() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (25 << 20, "25 MiB"),
            (3 << 40, "3 TiB"),
            (i64::MAX, "838860 TiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")] {
            assert_eq!(Count(count).to_string(), text);
        }
        for (seconds, text) in [(59, "0 min"), (3700, "1 h 1 min"), (90_000, "1 d 1 h")] {
            assert_eq!(Elapsed(seconds).to_string(), text);
        }
    }
}
