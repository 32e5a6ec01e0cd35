//! Dates and times in ISO 8601 as mandates write them: a day in UTC, or a moment with its time zone.

use std::ops::RangeInclusive;

use dropleaf_core::iso;

/// The seconds since 1970 that a text means: all of a day, or one second. `None` without a time zone, because the moment is then
/// unknown.
pub(crate) fn parse(text: &str) -> Option<RangeInclusive<i64>> {
    if !text.bytes().all(|b| b.is_ascii_digit() || b"-:.+TZ".contains(&b)) {
        return None;
    }
    if text.len() == "2026-11-15".len() {
        let start = iso::parse(&format!("{text}T00:00"))?;
        return Some(start..=start + 86_399);
    }
    let (local, offset) = if let Some(local) = text.strip_suffix('Z') {
        (local, 0)
    } else {
        let (local, zone) = text.split_at_checked(text.len().checked_sub("+01:00".len())?)?;
        (local, offset_seconds(zone)?)
    };
    let whole = match local.split_once('.') {
        Some((whole, fraction)) if is_number(fraction) => whole,
        Some(_) => return None,
        None => local,
    };
    // A second `Z` would pass as part of the local time.
    let moment = if whole.ends_with('Z') { None } else { iso::parse(whole) }?;
    Some(moment - offset..=moment - offset)
}

/// The seconds east of UTC of a zone such as `+01:00`.
fn offset_seconds(zone: &str) -> Option<i64> {
    let (sign, rest) = zone.split_at_checked(1)?;
    let (hours, minutes) = rest.split_once(':')?;
    if hours.len() != 2 || !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = if hours < 24 && minutes < 60 { hours * 3600 + minutes * 60 } else { return None };
    match sign {
        "+" => Some(seconds),
        "-" => Some(-seconds),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_in_any_time_zone() {
        for text in [
            "2026-11-15T01:41:00Z",
            "2026-11-15T01:41:00.123456Z",
            "2026-11-15T01:41:00+00:00",
            "2026-11-15T03:11:00+01:30",
            "2026-11-14T17:41:00.5-08:00",
        ] {
            assert_eq!(parse(text), Some(1_794_706_860..=1_794_706_860), "{text}");
        }
    }

    #[test]
    fn a_date_is_a_whole_day() {
        assert_eq!(parse("1970-01-02"), Some(86_400..=172_799));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "Z",
            "now",
            "2026-11-15T01:41:00",
            "2026-11-15T01:41:00ZZ",
            "2026-11-15T01:41:00Z+01:00",
            "2026-11-15T01:41:00.Z",
            "2026-11-15T01:41:00.1.2Z",
            "2026-11-15T01:41:00+24:00",
            "2026-11-15T01:41:00+1:000",
            "2026-11-15T01:41:00 01:00",
            "2026-02-30",
            "2026-02-30T00:00:00Z",
            " 2026-1-15",
            "2026-11-1é",
            "1794706860",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
