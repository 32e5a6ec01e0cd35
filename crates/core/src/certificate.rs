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
#[path = "certificate_tests.rs"]
mod tests;
