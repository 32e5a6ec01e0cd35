//! Numbers for templates: times, sizes, counts.

use crate::{Moment, Size};
use dropleaf_core::iso;

/// A number, through any number of references, which templates add.
pub(super) trait Number {
    fn number(&self) -> i64;
}

impl Number for i64 {
    fn number(&self) -> i64 {
        *self
    }
}

impl<T: Number> Number for &T {
    fn number(&self) -> i64 {
        (**self).number()
    }
}

pub(super) fn moment(at: impl Number) -> Moment {
    Moment(at.number())
}

/// The value of a date field: UTC, to the minute.
pub(super) fn date_field(at: i64) -> String {
    iso::format(at).get(..16).unwrap_or_default().to_owned()
}

pub(super) fn size(bytes: impl Number) -> Size {
    Size(bytes.number())
}

/// `1 view`, `12 views`.
pub(super) fn count(n: impl Number, one: &str) -> String {
    let n = n.number();
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// A duration in its largest unit, rounded, so that a week still reads as a week a moment later.
pub(super) fn span(seconds: i64) -> String {
    let [minutes, hours, days] = [60, 3600, 86_400].map(|unit| (seconds + unit / 2) / unit);
    match (minutes, hours) {
        (..60, _) => count(minutes.max(1), "minute"),
        (_, ..24) => count(hours, "hour"),
        _ => count(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!((count(0, "view"), count(1, "view")), ("0 views".into(), "1 view".into()));
        assert_eq!([30, 3600, 86_400, 30 * 86_400 - 9].map(span), ["1 minute", "1 hour", "1 day", "30 days"]);
        assert_eq!(date_field(1_794_706_860), "2026-11-15T01:41");
    }
}
