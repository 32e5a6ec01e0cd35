//! Converts epoch seconds to and from ISO 8601: `2026-11-15T01:41:00Z`.

/// ISO 8601 in UTC.
pub fn format(epoch: i64) -> String {
    let (year, month, day) = date_of(epoch);
    let seconds = epoch.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The year, month and day of a time in UTC.
pub(crate) fn date_of(epoch: i64) -> (i64, i64, i64) {
    // Days are counted from 1 March of year 0, so that leap days come last; an era has 400 years.
    let shifted = epoch.div_euclid(86_400) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The time at which a day begins in UTC: the inverse of `date_of`.
pub(crate) fn midnight(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March.
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) * 86_400
}

/// Parses the value of a browser's date field as UTC: `2026-11-15T01:41`, with or without seconds and a `Z`.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.strip_suffix('Z').unwrap_or(text).split_once('T')?;
    let numbers = |text: &str, mark: char| -> Option<Vec<i64>> {
        let good = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        text.split(mark).map(|part| if good(part) { part.parse().ok() } else { None }).collect()
    };
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let (hour, minute, second) = match numbers(time, ':')?[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let clock = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    if !clock || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let epoch = midnight(year, month, day) + hour * 3600 + minute * 60 + second;
    // Reject dates that do not exist: 31 April, for example, is read as another day.
    (date_of(epoch) == (year, month, day)).then_some(epoch)
}

/// Parses a time as programs write it: a date alone (midnight UTC), or a date and a time with `Z` or an offset. A time without
/// either is refused, because it is not known where it holds.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    let Some(time_at) = text.find(['T', 't', ' ']) else { return parse(&format!("{text}T00:00")) };
    let (date, time) = (text.get(..time_at)?, text.get(time_at + 1..)?);
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone_at);
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (sign, rest) = zone.split_at(1);
            let two = |part: &str| (part.len() == 2).then(|| part.parse::<i64>().ok()).flatten();
            let (hours, minutes) = (two(rest.get(..2)?)?, two(rest.get(2..)?.trim_start_matches(':'))?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if sign == "-" { -1 } else { 1 }
        }
    };
    let seconds = match clock.split_once('.') {
        Some((whole, fraction)) => {
            let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            is_fraction.then_some(whole)?
        }
        None => clock,
    };
    parse(&format!("{date}T{seconds}")).map(|epoch| epoch - offset)
}

#[cfg(test)]
mod tests {
    use super::{format, parse, parse_timestamp};

    #[test]
    fn times_of_programs_are_read_with_their_zone() {
        for text in [
            "2026-11-15T01:41:00Z",
            "2026-11-15t01:41:00.123z",
            "2026-11-15 01:41Z",
            "2026-11-15T02:41:00+01:00",
            "2026-11-14T20:11:00-0530",
        ] {
            assert_eq!(parse_timestamp(text), Some(1_794_706_860), "{text}");
        }
        assert_eq!(parse_timestamp("2026-11-15"), Some(1_794_700_800));
        for bad in [
            "",
            "tomorrow",
            "2026-11-15T01:41:00",
            "2026-11-15T01:41:00+1:00",
            "2026-11-15T01:41:00+24:00",
            "2026-11-15T01:41:00.Z",
            "2026-11-15T01:41:00Zulu",
            "2026-02-30",
            "15.11.2026",
            "2026-11-15T\u{e9}Z",
        ] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_date_is_read_back_as_it_was_written() {
        for epoch in [0, 951_782_400, 951_868_799, 1_794_706_860, 4_102_444_800] {
            assert_eq!(parse(&format(epoch)), Some(epoch));
        }
        assert_eq!(parse("2026-11-15T01:41"), Some(1_794_706_860));
        for bad in [
            "",
            "2026-11-15",
            "2026-02-30T00:00",
            "2026-13-01T00:00",
            "2026-01-01T24:00",
            "x-y-zT1:2",
            "2026-01-01T00",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn known_moments_are_written_right() {
        assert_eq!(format(0), "1970-01-01T00:00:00Z");
        assert_eq!(format(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(format(1_794_706_860), "2026-11-15T01:41:00Z");
        assert_eq!(format(-1), "1969-12-31T23:59:59Z");
    }
}
