//! The `Date` header, rendered once a second.

use std::time::{Duration, UNIX_EPOCH};

/// The length of a date in the preferred format (RFC 9110 §5.6.7).
const DATE_BYTES: usize = 29;

#[derive(Debug)]
pub(super) struct DateHeader {
    second: Option<i64>,
    text: [u8; DATE_BYTES],
}

impl DateHeader {
    pub(super) const fn new() -> Self {
        Self { second: None, text: [b' '; DATE_BYTES] }
    }

    /// The date at this Unix time.
    pub(super) fn at(&mut self, now: i64) -> &[u8] {
        if self.second != Some(now) {
            let since = Duration::from_secs(u64::try_from(now).unwrap_or_default());
            let text = httpdate::fmt_http_date(UNIX_EPOCH + since);
            if let Ok(text) = text.as_bytes().try_into() {
                self.text = text;
            }
            self.second = Some(now);
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::DateHeader;

    #[test]
    fn the_date_follows_the_clock() {
        let mut date = DateHeader::new();
        for (now, text) in [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_700_000_000, "Tue, 14 Nov 2023 22:13:20 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] {
            assert_eq!(date.at(now), text.as_bytes());
        }
    }
}
