//! Custom domains: the states, the DNS records that prove a name, and when it is checked. Spec §2, §3.

use crate::hostname::Hostname;
use crate::secret::{self, Keys};

/// The label below which an owner of an apex domain proves it with a TXT record.
const TXT_LABEL: &str = "_dropleaf";
/// How long a verified name keeps working while its checks fail.
pub const GRACE_SECONDS: i64 = 3 * DAY;
/// The time between two automatic checks of a verified name.
pub const CHECK_EVERY_SECONDS: i64 = DAY;
/// The time until the next automatic check if a DNS server did not answer.
const RETRY_SECONDS: i64 = HOUR;
/// A name that is not proven in this time, or not proven again in this time after its checks began to fail, is checked only
/// when its owner requests it.
const UNPROVEN_SECONDS: i64 = 14 * DAY;
/// The longest time until an automatic check. A later one was planned by a clock that was wrong.
pub const LONGEST_PAUSE_SECONDS: i64 = CHECK_EVERY_SECONDS;
/// Why an account lost a name to another one. It does not mention the other account.
pub const LOST: &str = "The DNS records of the name no longer point to your account.";
/// The `next_check_at` of a name that is not checked automatically.
pub const NEVER: i64 = i64::MAX;

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainStatus {
    Pending,
    Verified,
    Failed,
}

impl DomainStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Verified => "verified",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pending, Self::Verified, Self::Failed].into_iter().find(|status| status.as_str() == text)
    }
}

/// An email that the owner is to get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainNotice {
    /// Checks of a verified name began to fail; it works for three more days.
    Failing,
    /// The name no longer works.
    Lapsed,
}

impl DomainNotice {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Lapsed => "lapsed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Failing, Self::Lapsed].into_iter().find(|notice| notice.as_str() == text)
    }
}

/// Why a name does not work or will stop working, which decides what its owner should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainProblem {
    /// Its DNS records do not prove it.
    Record,
    /// Neither the plan nor an unlock of the account includes custom domains.
    Plan,
    /// Another account has proven it.
    Lost,
}

/// A host name that an account binds to one of its sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomDomain {
    pub hostname: Hostname,
    pub account_id: String,
    pub site_id: String,
    pub status: DomainStatus,
    /// The URL of the site shows this name while it is verified.
    pub is_primary: bool,
    pub created_at: i64,
    pub verified_at: Option<i64>,
    pub last_checked_at: Option<i64>,
    pub last_error: Option<String>,
    /// The first of the failing checks since the name was last proven. `None` if it never was.
    pub failing_since: Option<i64>,
    /// [`NEVER`] if it is not checked automatically.
    pub next_check_at: i64,
    /// An email that was not sent yet.
    pub notice: Option<DomainNotice>,
}

/// What a check found out about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    Proven,
    /// There is no record yet. The texts are sentences for the owner.
    Missing(String),
    /// There are other records, or the account may not use custom domains.
    Refused(String),
    /// A DNS server did not answer, so nothing is known.
    Unknown(String),
}

impl CustomDomain {
    /// A name that was just added.
    pub fn new(hostname: Hostname, account_id: &str, site_id: &str, is_primary: bool, now: i64) -> Self {
        Self {
            hostname,
            account_id: account_id.to_owned(),
            site_id: site_id.to_owned(),
            status: DomainStatus::Pending,
            is_primary,
            created_at: now,
            verified_at: None,
            last_checked_at: None,
            last_error: None,
            failing_since: None,
            next_check_at: next_unproven_check(now, now),
            notice: None,
        }
    }

    pub fn is_verified(&self) -> bool {
        self.status == DomainStatus::Verified
    }

    /// What keeps the name from working, or will soon. `None` if nothing does, also while its first checks are under way.
    pub fn problem(&self, plan_includes_domains: bool) -> Option<DomainProblem> {
        let is_fine = match self.status {
            DomainStatus::Pending => true,
            DomainStatus::Verified => self.failing_since.is_none(),
            DomainStatus::Failed => false,
        };
        if !plan_includes_domains {
            return Some(DomainProblem::Plan);
        }
        (!is_fine).then_some(match self.last_error.as_deref() {
            Some(LOST) => DomainProblem::Lost,
            _ => DomainProblem::Record,
        })
    }

    /// When a verified name stops working if its checks go on failing.
    pub fn works_until(&self) -> Option<i64> {
        self.failing_since.filter(|_| self.is_verified()).map(|since| since + GRACE_SECONDS)
    }

    /// When the next automatic check is due, if there is one.
    pub fn next_automatic_check(&self) -> Option<i64> {
        Some(self.next_check_at).filter(|at| *at != NEVER)
    }

    /// The domain after a check.
    #[must_use]
    pub fn after_check(&self, result: &CheckResult, now: i64) -> Self {
        let next = Self { last_checked_at: Some(now), ..self.clone() };
        match (result, self.status) {
            (CheckResult::Proven, before) => Self {
                status: DomainStatus::Verified,
                verified_at: self.verified_at.filter(|_| before == DomainStatus::Verified).or(Some(now)),
                last_error: None,
                failing_since: None,
                next_check_at: now + CHECK_EVERY_SECONDS,
                notice: None,
                ..next
            },
            // An unanswered question changes nothing but the explanation and the time of the next check.
            (CheckResult::Unknown(why), before) => Self {
                last_error: Some(why.clone()),
                next_check_at: match before {
                    DomainStatus::Verified => now + RETRY_SECONDS,
                    DomainStatus::Pending | DomainStatus::Failed => self.next_unproven_check(now),
                },
                ..next
            },
            (CheckResult::Missing(why) | CheckResult::Refused(why), DomainStatus::Verified) => {
                next.failing(why, now)
            }
            (CheckResult::Missing(why), before) => Self {
                status: before,
                last_error: Some(why.clone()),
                next_check_at: self.next_unproven_check(now),
                ..next
            },
            // The checks go on: often the record is an old one that the owner is about to replace.
            (CheckResult::Refused(why), _) => Self {
                status: DomainStatus::Failed,
                last_error: Some(why.clone()),
                next_check_at: self.next_unproven_check(now),
                ..next
            },
        }
    }

    /// A verified domain after a check that failed.
    fn failing(self, why: &str, now: i64) -> Self {
        let since = self.failing_since.unwrap_or(now);
        if now >= since + GRACE_SECONDS {
            return self.lapsed(why, now);
        }
        let is_first = self.failing_since.is_none();
        Self {
            last_error: Some(why.to_owned()),
            failing_since: Some(since),
            next_check_at: (now + CHECK_EVERY_SECONDS).min(since + GRACE_SECONDS),
            notice: if is_first { Some(DomainNotice::Failing) } else { self.notice },
            ..self
        }
    }

    /// A verified domain that no longer works: its grace period is over, or another account proved the name.
    #[must_use]
    pub fn lapsed(self, why: &str, now: i64) -> Self {
        let lapsed = Self {
            status: DomainStatus::Failed,
            last_error: Some(why.to_owned()),
            failing_since: self.failing_since.or(Some(now)),
            notice: Some(DomainNotice::Lapsed),
            ..self
        };
        Self { next_check_at: lapsed.next_unproven_check(now), ..lapsed }
    }

    /// A domain that is not verified and may not be checked now, because of the plan or a suspension of the account.
    #[must_use]
    pub fn postponed(&self, why: &str, now: i64) -> Self {
        Self {
            last_error: Some(why.to_owned()),
            next_check_at: self.next_unproven_check(now),
            ..self.clone()
        }
    }

    /// When a name that is not verified is checked again.
    fn next_unproven_check(&self, now: i64) -> i64 {
        next_unproven_check(self.failing_since.unwrap_or(self.created_at), now)
    }
}

/// When a name that is unproven since `since` is checked again: every two minutes in the first hour, when the owner is
/// waiting, then less often.
fn next_unproven_check(since: i64, now: i64) -> i64 {
    match now - since {
        age if age < HOUR => now + 2 * 60,
        age if age < 2 * DAY => now + HOUR,
        age if age < UNPROVEN_SECONDS => now + 6 * HOUR,
        _ => NEVER,
    }
}

/// A DNS record that the owner enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsRecord {
    pub kind: &'static str,
    pub name: String,
    pub value: String,
}

/// The label of the CNAME target: different for each account and name, so that the record itself proves who owns it, and a
/// record that is left behind is of no use to another account.
pub fn target_label(keys: &Keys, account_id: &str, hostname: &Hostname) -> String {
    let name = secret::letters(&keys.mac("custom-domain", format!("{account_id}\0{hostname}").as_bytes()));
    format!("d-{}", &name[..20])
}

/// The name of the TXT record that proves a name.
pub fn txt_name(hostname: &Hostname) -> String {
    format!("{TXT_LABEL}.{hostname}")
}

/// The records of which one is enough. A CNAME comes first, except at an apex, where DNS does not allow it.
pub fn records(hostname: &Hostname, target: &str) -> Vec<DnsRecord> {
    let cname = DnsRecord { kind: "CNAME", name: hostname.to_string(), value: target.to_owned() };
    let txt = DnsRecord { kind: "TXT", name: txt_name(hostname), value: target.to_owned() };
    if hostname.is_apex() { vec![txt, cname] } else { vec![cname, txt] }
}

#[cfg(test)]
#[path = "custom_domain_tests.rs"]
mod tests;
