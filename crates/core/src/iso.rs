//! Epoch seconds as a date people can read: `2026-11-15T01:41:00Z`.

/// ISO 8601 in UTC.
pub fn format(epoch: i64) -> String {
    let (days, seconds) = (epoch.div_euclid(86_400), epoch.rem_euclid(86_400));
    // Days are counted from 1 March of year 0, so that leap days come last; eras have 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn known_moments_are_written_right() {
        assert_eq!(format(0), "1970-01-01T00:00:00Z");
        assert_eq!(format(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(format(1_794_706_860), "2026-11-15T01:41:00Z");
        assert_eq!(format(-1), "1969-12-31T23:59:59Z");
    }
}
