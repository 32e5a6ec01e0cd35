//! Certificates that the server obtains: when to renew, when to try again after a failure, and the state that owners see.

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

/// One managed name with its newest certificate, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// A host name, or a wildcard such as `*.example.com`.
    pub name: String,
    pub serial: Option<String>,
    pub not_before: Option<i64>,
    pub not_after: Option<i64>,
    pub renew_at: Option<i64>,
    /// Failed orders since the last success.
    pub failures: i64,
    pub next_attempt_at: i64,
    pub last_error: Option<String>,
    pub warned_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

/// The first pause after a failed order, doubled with each further one, and the longest. Let's Encrypt allows five failed
/// validations per hour and name.
const FIRST_PAUSE: i64 = 15 * 60;
const LONGEST_PAUSE: i64 = 24 * 3600;

impl Certificate {
    pub fn state(&self, now: i64) -> CertificateState {
        match self.not_after {
            Some(end) if end > now => CertificateState::Issued,
            _ if self.failures > 0 => CertificateState::Failed,
            _ => CertificateState::Pending,
        }
    }

    /// Whether an order is due.
    pub fn is_due(&self, now: i64) -> bool {
        now >= self.next_attempt_at && self.renew_at.is_none_or(|at| now >= at)
    }
}

/// How long to wait after this many failed orders in a row.
pub fn pause_after(failures: i64) -> i64 {
    let doublings = u32::try_from(failures.clamp(1, 16) - 1).unwrap_or_default();
    (FIRST_PAUSE << doublings).min(LONGEST_PAUSE)
}

/// When to renew a certificate whose authority suggests nothing: after two thirds of its lifetime.
pub const fn default_renewal(not_before: i64, not_after: i64) -> i64 {
    not_before + (not_after - not_before) / 3 * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_day() {
        let minutes = |failures| pause_after(failures) / 60;
        assert_eq!([1, 2, 3, 4].map(minutes), [15, 30, 60, 120]);
        assert_eq!(minutes(8), 24 * 60);
        assert_eq!(minutes(i64::MAX), 24 * 60);
    }

    #[test]
    fn renewal_follows_the_lifetime_whatever_it_is() {
        let day = 86_400;
        assert_eq!(default_renewal(0, 90 * day), 60 * day);
        assert_eq!(default_renewal(100, 100 + 6 * day), 100 + 4 * day);
    }
}
