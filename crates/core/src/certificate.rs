//! Certificates that the server obtains: when to renew, when to try again after a failure, when to warn, and the state that
//! owners see. Lifetimes come from the certificates themselves; authorities shorten them over the years.

/// What owners and operators see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CertificateState {
    /// Nothing is obtained yet because the name is not verified.
    None,
    /// An order is due or under way.
    Pending,
    Issued,
    /// The last order failed and no valid certificate is there; it is tried again.
    Failed,
    /// This server obtains no certificates: a reverse proxy or the operator's files provide them.
    External,
}

impl CertificateState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Issued => "issued",
            Self::Failed => "failed",
            Self::External => "external",
        }
    }
}

/// Challenges that a listener answers. RFC 8555 §8.3, RFC 8737.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChallengeKind {
    /// Stored under the token.
    Http01,
    /// Stored under the host name.
    TlsAlpn01,
}

impl ChallengeKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http01 => "http-01",
            Self::TlsAlpn01 => "tls-alpn-01",
        }
    }
}

/// One managed name with its newest certificate, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// A host name, or a wildcard such as `*.example.com`.
    pub name: String,
    pub serial: Option<String>,
    pub not_before: Option<i64>,
    pub not_after: Option<i64>,
    pub renew_at: Option<i64>,
    /// When the authority is asked again when to renew.
    pub window_check_at: Option<i64>,
    /// Failed orders since the last success.
    pub failures: i64,
    pub next_attempt_at: i64,
    /// Why the last order failed, for operators.
    pub last_error: Option<String>,
    /// The same for the owner of the name, without what only concerns the server.
    pub owner_error: Option<String>,
    pub warned_at: Option<i64>,
    /// Since when the name needs no certificate any more.
    pub unused_since: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

/// The first pause after a failed order, doubled with each further one, and the longest. Let's Encrypt allows five failed
/// validations per hour and name.
const FIRST_PAUSE: i64 = 15 * 60;
const LONGEST_PAUSE: i64 = 24 * 3600;
/// The longest pause that an authority can ask for.
const LONGEST_RETRY_AFTER: i64 = 7 * 86_400;
/// The shortest time from one certificate to the next for a name, in case an authority suggests renewal all the time.
pub const SHORTEST_INTERVAL: i64 = 3600;
/// How often the authority is asked when to renew, at least and at most. RFC 9773 §4.3.2.
const SHORTEST_CHECK: i64 = 60;
const LONGEST_CHECK: i64 = 86_400;
/// Operators are warned this long before a certificate expires, or a third of its lifetime before if that is shorter.
const WARN_BEFORE: i64 = 7 * 86_400;
/// A renewal without a failed order is overdue when this part of the lifetime has passed since its time.
const OVERDUE_PART: i64 = 12;
/// Names with more failed orders in a row than this wait for the others.
const FEW_FAILURES: i64 = 2;
/// The longest text of an error that is kept.
const ERROR_CHARS: usize = 500;

/// The order in which due certificates are ordered. A name whose orders keep failing must not delay the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderUrgency {
    OwnName,
    ExpiresSoon,
    NoCertificate,
    Renewal,
    FailsRepeatedly,
}

impl Certificate {
    /// A name without a certificate, whose order is due at once.
    pub const fn new(name: String, now: i64) -> Self {
        Self {
            name,
            serial: None,
            not_before: None,
            not_after: None,
            renew_at: None,
            window_check_at: None,
            failures: 0,
            next_attempt_at: now,
            last_error: None,
            owner_error: None,
            warned_at: None,
            unused_since: None,
            created_at: now,
            updated_at: now,
        }
    }

    pub fn state(&self, now: i64) -> CertificateState {
        match self.not_after {
            Some(end) if end > now => CertificateState::Issued,
            _ if self.failures > 0 => CertificateState::Failed,
            _ => CertificateState::Pending,
        }
    }

    /// Whether an order is due. A pause longer than any that is ever made comes from a clock that was wrong, so it is over.
    pub fn is_due(&self, now: i64) -> bool {
        let is_paused = now < self.next_attempt_at && self.next_attempt_at <= now + LONGEST_RETRY_AFTER;
        self.unused_since.is_none() && !is_paused && self.renew_at.is_none_or(|at| now >= at)
    }

    /// Whether the authority should be asked when to renew; a check too far ahead comes from a clock that was wrong.
    pub fn is_window_check_due(&self, now: i64) -> bool {
        self.unused_since.is_none()
            && self.is_valid(now)
            && self.window_check_at.is_none_or(|at| at <= now || at > now + LONGEST_CHECK)
    }

    /// Whether there is a certificate that has not expired.
    pub fn is_valid(&self, now: i64) -> bool {
        self.not_after.is_some_and(|end| end > now)
    }

    /// Which of several due orders comes first.
    pub fn urgency(&self, is_own: bool, now: i64) -> OrderUrgency {
        if is_own {
            OrderUrgency::OwnName
        } else if self.is_valid(now) && self.is_near_end(now) {
            OrderUrgency::ExpiresSoon
        } else if self.failures > FEW_FAILURES {
            OrderUrgency::FailsRepeatedly
        } else if self.is_valid(now) {
            OrderUrgency::Renewal
        } else {
            OrderUrgency::NoCertificate
        }
    }

    fn is_near_end(&self, now: i64) -> bool {
        let (Some(start), Some(end)) = (self.not_before, self.not_after) else { return false };
        now > end - WARN_BEFORE.min((end - start) / 3)
    }

    /// When the next order is placed, if nothing changes.
    pub fn next_order_at(&self) -> i64 {
        self.next_attempt_at.max(self.renew_at.unwrap_or_default())
    }

    pub fn is_wildcard(&self) -> bool {
        self.name.starts_with("*.")
    }

    /// Whether operators should be warned: the certificate expires soon, and its renewal fails or is long overdue. Once per
    /// certificate, and once more when it has expired.
    pub fn needs_warning(&self, now: i64) -> bool {
        let (Some(start), Some(end)) = (self.not_before, self.not_after) else { return false };
        let is_overdue = self.renew_at.is_none_or(|at| now >= at + (end - start) / OVERDUE_PART);
        if self.unused_since.is_some() || (self.failures == 0 && !is_overdue) {
            return false;
        }
        let is_expired = end <= now;
        match self.warned_at {
            None => self.is_near_end(now),
            Some(at) => is_expired && at < end,
        }
    }
}

/// How long to wait after this many failed orders in a row.
pub fn pause_after(failures: i64) -> i64 {
    let doublings = u32::try_from(failures.clamp(1, 16) - 1).unwrap_or_default();
    (FIRST_PAUSE << doublings).min(LONGEST_PAUSE)
}

/// When to try again after this many failed orders in a row. A pause that the authority asks for is respected, up to a week.
pub fn next_attempt(now: i64, failures: i64, retry_after: Option<i64>) -> i64 {
    let requested_pause = retry_after.unwrap_or_default().clamp(0, LONGEST_RETRY_AFTER);
    now.saturating_add(pause_after(failures).max(requested_pause))
}

/// When to renew a certificate whose authority suggests nothing: after two thirds of its lifetime.
pub const fn default_renewal(not_before: i64, not_after: i64) -> i64 {
    not_before + (not_after - not_before) / 3 * 2
}

/// The times between which an authority suggests to renew. RFC 9773.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewalWindow {
    pub start: i64,
    pub end: i64,
}

impl RenewalWindow {
    /// A random time in the window, or the time chosen before if it still lies in it. `None` for a window that makes no sense.
    /// A window in the past means at once: the certificate was revoked, or soon will be. Whatever the authority says, a
    /// tenth of the lifetime is left for attempts that fail.
    pub fn choose(self, certificate: &Certificate, random: u64) -> Option<i64> {
        let width = u64::try_from(self.end.checked_sub(self.start)?).ok().filter(|width| *width > 0)?;
        let latest = certificate.not_after? - (certificate.not_after? - certificate.not_before?) / 10;
        let kept = certificate.renew_at.filter(|at| (self.start..=self.end).contains(at));
        let chosen = kept.unwrap_or_else(|| self.start + i64::try_from(random % width).unwrap_or_default());
        Some(chosen.min(latest))
    }
}

/// When to ask the authority again when to renew.
pub fn next_window_check(now: i64, retry_after: Option<i64>) -> i64 {
    now + retry_after.unwrap_or(LONGEST_CHECK).clamp(SHORTEST_CHECK, LONGEST_CHECK)
}

/// An error as it is stored and shown: one line of limited length.
pub fn error_text(text: &str) -> String {
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = printable.take(ERROR_CHARS).collect();
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn issued(not_before: i64, not_after: i64) -> Certificate {
        Certificate {
            not_before: Some(not_before),
            not_after: Some(not_after),
            renew_at: Some(default_renewal(not_before, not_after)),
            ..Certificate::new("example.com".into(), not_before)
        }
    }

    #[test]
    fn pauses_double_up_to_a_day() {
        let minutes = |failures| pause_after(failures) / 60;
        assert_eq!([1, 2, 3, 4].map(minutes), [15, 30, 60, 120]);
        assert_eq!(minutes(8), 24 * 60);
        assert_eq!(minutes(i64::MAX), 24 * 60);
    }

    #[test]
    fn a_pause_that_the_authority_asks_for_is_respected_up_to_a_week() {
        assert_eq!(next_attempt(100, 1, None), 100 + 15 * 60);
        assert_eq!(next_attempt(100, 1, Some(60)), 100 + 15 * 60);
        assert_eq!(next_attempt(100, 1, Some(3 * DAY)), 100 + 3 * DAY);
        assert_eq!(next_attempt(100, 1, Some(i64::MAX)), 100 + 7 * DAY);
        assert_eq!(next_attempt(100, 1, Some(-5)), 100 + 15 * 60);
    }

    #[test]
    fn renewal_follows_the_lifetime_whatever_it_is() {
        assert_eq!(default_renewal(0, 90 * DAY), 60 * DAY);
        assert_eq!(default_renewal(100, 100 + 6 * DAY), 100 + 4 * DAY);
    }

    #[test]
    fn an_order_is_due_without_a_certificate_and_from_the_renewal_time() {
        let mut certificate = Certificate::new("example.com".into(), 100);
        assert!(certificate.is_due(100));
        certificate.next_attempt_at = 200;
        assert!(!certificate.is_due(199));
        let mut certificate = issued(0, 6 * DAY);
        assert!(!certificate.is_due(4 * DAY - 1));
        assert!(certificate.is_due(4 * DAY));
        certificate.next_attempt_at = 5 * DAY;
        assert!(!certificate.is_due(4 * DAY));
        assert_eq!(certificate.next_order_at(), 5 * DAY);
        certificate.unused_since = Some(1);
        assert!(!certificate.is_due(6 * DAY));
    }

    #[test]
    fn pauses_of_a_clock_that_was_wrong_are_over() {
        let mut certificate = Certificate { window_check_at: Some(DAY), ..issued(0, 90 * DAY) };
        assert!(!certificate.is_window_check_due(0));
        certificate.window_check_at = Some(365 * DAY);
        assert!(certificate.is_window_check_due(0));
        (certificate.renew_at, certificate.next_attempt_at) = (None, 7 * DAY);
        assert!(!certificate.is_due(0));
        certificate.next_attempt_at = 365 * DAY;
        assert!(certificate.is_due(0));
    }

    #[test]
    fn names_that_keep_failing_come_last() {
        let new = |failures| Certificate { failures, ..Certificate::new("example.com".into(), 0) };
        let mut expired = issued(0, 6 * DAY);
        expired.failures = 9;
        let order = [
            new(9).urgency(true, 0),
            issued(0, 6 * DAY).urgency(false, 5 * DAY),
            new(2).urgency(false, 0),
            issued(0, 90 * DAY).urgency(false, 61 * DAY),
            new(3).urgency(false, 0),
        ];
        assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
        assert_eq!(expired.urgency(false, 7 * DAY), OrderUrgency::FailsRepeatedly);
    }

    #[test]
    fn the_renewal_time_is_random_in_the_window_and_stays_while_the_window_holds() {
        let mut certificate = issued(0, 90 * DAY);
        let window = RenewalWindow { start: 58 * DAY, end: 59 * DAY };
        assert_eq!(window.choose(&certificate, 0), Some(58 * DAY));
        assert_eq!(window.choose(&certificate, 1234), Some(58 * DAY + 1234));
        let last = window.choose(&certificate, u64::MAX).unwrap();
        assert!((window.start..window.end).contains(&last));
        certificate.renew_at = Some(58 * DAY + 1234);
        assert_eq!(window.choose(&certificate, 99), Some(58 * DAY + 1234), "not drawn again");
        let revoked = RenewalWindow { start: -2 * DAY, end: -DAY };
        assert!(revoked.choose(&certificate, 5).unwrap() < 0, "at once");
        let late = RenewalWindow { start: 89 * DAY, end: 100 * DAY };
        assert_eq!(late.choose(&certificate, 0), Some(81 * DAY));
        for (start, end) in [(5, 5), (6, 5), (i64::MIN, i64::MAX)] {
            assert_eq!(RenewalWindow { start, end }.choose(&certificate, 0), None);
        }
    }

    #[test]
    fn the_authority_is_asked_about_the_window_at_least_daily() {
        assert_eq!(next_window_check(0, None), DAY);
        assert_eq!(next_window_check(0, Some(21_600)), 21_600);
        assert_eq!(next_window_check(0, Some(0)), 60);
        assert_eq!(next_window_check(0, Some(10 * DAY)), DAY);
    }

    #[test]
    fn operators_are_warned_once_before_and_once_after_the_end() {
        let mut certificate = issued(0, 90 * DAY);
        assert!(certificate.needs_warning(89 * DAY), "overdue, although no order failed");
        certificate.renew_at = Some(88 * DAY);
        assert!(!certificate.needs_warning(89 * DAY), "renewal does not fail");
        certificate.failures = 1;
        assert!(!certificate.needs_warning(83 * DAY));
        assert!(certificate.needs_warning(83 * DAY + 1));
        certificate.warned_at = Some(83 * DAY + 1);
        assert!(!certificate.needs_warning(89 * DAY));
        assert!(certificate.needs_warning(90 * DAY));
        certificate.warned_at = Some(90 * DAY);
        assert!(!certificate.needs_warning(95 * DAY));
        let mut short = issued(0, 6 * DAY);
        short.failures = 2;
        assert!(!short.needs_warning(4 * DAY));
        assert!(short.needs_warning(4 * DAY + 1));
        let mut never = Certificate::new("example.com".into(), 0);
        never.failures = 9;
        assert!(!never.needs_warning(90 * DAY), "nothing expires");
    }

    #[test]
    fn a_failed_renewal_is_shown_only_when_the_certificate_has_expired() {
        let mut certificate = issued(0, 6 * DAY);
        certificate.failures = 3;
        assert_eq!(certificate.state(5 * DAY), CertificateState::Issued);
        assert_eq!(certificate.state(6 * DAY), CertificateState::Failed);
        assert_eq!(Certificate::new("example.com".into(), 0).state(0), CertificateState::Pending);
    }

    #[test]
    fn an_error_is_one_line_of_limited_length() {
        assert_eq!(error_text("a\nb\u{1b}[31m "), "a b [31m");
        assert_eq!(error_text(&"é".repeat(1000)).chars().count(), 500);
    }
}
