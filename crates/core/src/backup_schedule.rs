//! When a backup is due and which old backups may be deleted.

/// How often backups are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupSchedule {
    /// This many seconds after the last one.
    Every(i64),
    /// Daily, this many seconds after midnight UTC.
    DailyAt(i64),
}

/// Which backups are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupRetention {
    /// The newest ones.
    Count(usize),
    /// Those that are younger than this many seconds.
    Age(i64),
}

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// More frequent backups would hardly finish before the next is due.
const SHORTEST: i64 = 5 * MINUTE;
const LONGEST: i64 = 366 * DAY;
const MOST_KEPT: usize = 1000;
/// How long to wait after a failure, unless the next backup is due earlier.
const RETRY: i64 = HOUR;

impl BackupSchedule {
    /// `30m`, `24h`, `7d`, or a time of day in UTC such as `03:15`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((hours, minutes)) = text.split_once(':') {
            let number = |part: &str, most: i64| {
                let is_number = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
                part.parse().ok().filter(|n| is_number && (0..most).contains(n))
            };
            return Some(Self::DailyAt(number(hours, 24)? * HOUR + number(minutes, 60)? * MINUTE));
        }
        let seconds = parse_duration(text)?;
        (SHORTEST..=LONGEST).contains(&seconds).then_some(Self::Every(seconds))
    }

    /// The time between two backups.
    pub const fn interval(self) -> i64 {
        match self {
            Self::Every(seconds) => seconds,
            Self::DailyAt(_) => DAY,
        }
    }

    /// When the next backup is due; at once if there was none.
    pub fn next_after(self, last: Option<i64>, now: i64) -> i64 {
        match (self, last) {
            (_, None) => now,
            (Self::Every(seconds), Some(last)) => last + seconds,
            (Self::DailyAt(second), Some(last)) => {
                let today = last - last.rem_euclid(DAY) + second;
                if today > last { today } else { today + DAY }
            }
        }
    }

    /// The same after a failed attempt: not at once again.
    pub fn retry_after(self, failed_at: i64) -> i64 {
        failed_at + RETRY.min(self.interval() / 4).max(MINUTE)
    }
}

impl BackupRetention {
    /// A number of backups such as `14`, or an age such as `30d`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(count) = text.parse() {
            return (1..=MOST_KEPT).contains(&count).then_some(Self::Count(count));
        }
        let seconds = text.strip_suffix('d').and_then(|_| parse_duration(text))?;
        (DAY..=50 * LONGEST).contains(&seconds).then_some(Self::Age(seconds))
    }

    /// Which of these may be deleted, given when they were made, newest first. Never the first.
    pub fn expired(self, newest_first: &[i64], now: i64) -> Vec<usize> {
        let is_expired = |at: usize, taken_at: i64| match self {
            Self::Count(count) => at >= count,
            Self::Age(seconds) => taken_at < now - seconds,
        };
        let all = newest_first.iter().copied().enumerate().skip(1);
        all.filter(|(at, taken_at)| is_expired(*at, *taken_at)).map(|(at, _)| at).collect()
    }
}

fn parse_duration(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at(text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at))?);
    let seconds = match unit {
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        _ => return None,
    };
    let is_number = (1..=6).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    number.parse::<i64>().ok().filter(|_| is_number).map(|number| number * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_durations_or_a_time_of_day() {
        let good = [
            ("24h", BackupSchedule::Every(DAY)),
            ("30m", BackupSchedule::Every(1800)),
            ("7d", BackupSchedule::Every(7 * DAY)),
            ("03:15", BackupSchedule::DailyAt(3 * HOUR + 900)),
            ("00:00", BackupSchedule::DailyAt(0)),
        ];
        for (text, schedule) in good {
            assert_eq!(BackupSchedule::parse(text), Some(schedule), "{text}");
        }
        for bad in ["", "h", "24", "1m", "-1h", "+5h", "24:00", "3:15", "03:60", "1000000h", "2w", "é", "0d"]
        {
            assert_eq!(BackupSchedule::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_next_backup_follows_the_last_successful_one() {
        let midnight = 1_700_006_400;
        let every = BackupSchedule::Every(6 * HOUR);
        assert_eq!(every.next_after(None, 5), 5);
        assert_eq!(every.next_after(Some(100), 5), 100 + 6 * HOUR);
        let daily = BackupSchedule::DailyAt(3 * HOUR);
        assert_eq!(daily.next_after(Some(midnight + HOUR), 0), midnight + 3 * HOUR);
        assert_eq!(daily.next_after(Some(midnight + 3 * HOUR), 0), midnight + DAY + 3 * HOUR);
        assert_eq!(daily.next_after(Some(midnight + 4 * HOUR), 0), midnight + DAY + 3 * HOUR);
        assert_eq!(daily.retry_after(0), HOUR);
        assert_eq!(BackupSchedule::Every(8 * MINUTE).retry_after(0), 2 * MINUTE);
    }

    #[test]
    fn the_newest_backup_never_expires() {
        let made = [100 * DAY, 99 * DAY, 70 * DAY, 60 * DAY];
        let expired = |text: &str, now| BackupRetention::parse(text).unwrap().expired(&made, now);
        assert_eq!(expired("2", 100 * DAY), [2, 3]);
        assert_eq!(expired("1", 100 * DAY), [1, 2, 3]);
        assert_eq!(expired("14", 100 * DAY), [0; 0]);
        assert_eq!(expired("30d", 100 * DAY), [3]);
        assert_eq!(expired("30d", 900 * DAY), [1, 2, 3]);
        for bad in ["", "0", "0d", "1001", "30h", "-3", "d"] {
            assert_eq!(BackupRetention::parse(bad), None, "{bad}");
        }
    }
}
