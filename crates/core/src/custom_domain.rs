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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: i64 = 1_000_000;

    fn pending() -> CustomDomain {
        let name = Hostname::parse_stored("reports.customer.example".into());
        CustomDomain::new(name, "acct_1", "site_1", false, T)
    }

    fn missing() -> CheckResult {
        CheckResult::Missing("No record yet.".into())
    }

    fn refused() -> CheckResult {
        CheckResult::Refused("We found something else.".into())
    }

    fn unknown() -> CheckResult {
        CheckResult::Unknown("No answer.".into())
    }

    #[test]
    fn proof_verifies_in_every_state() {
        let verified = pending().after_check(&CheckResult::Proven, T + 5);
        assert!(verified.is_verified() && verified.last_error.is_none());
        assert_eq!((verified.verified_at, verified.next_check_at), (Some(T + 5), T + 5 + DAY));
        let again = verified.after_check(&CheckResult::Proven, T + DAY);
        assert_eq!(again.verified_at, Some(T + 5), "it was verified all the time");
        let failed = pending().after_check(&refused(), T);
        assert_eq!(failed.status, DomainStatus::Failed);
        assert_eq!(failed.after_check(&CheckResult::Proven, T + 9).verified_at, Some(T + 9));
    }

    #[test]
    fn a_pending_name_waits_for_a_record_and_fails_on_another_one() {
        let waiting = pending().after_check(&missing(), T + 60);
        assert_eq!((waiting.status, waiting.next_check_at), (DomainStatus::Pending, T + 180));
        assert_eq!(waiting.last_error.as_deref(), Some("No record yet."));
        let failed = waiting.after_check(&refused(), T + 180);
        assert_eq!((failed.status, failed.next_check_at), (DomainStatus::Failed, T + 300));
        assert_eq!(failed.notice, None, "it never worked, so nothing stopped working");
        assert_eq!(failed.after_check(&missing(), T + 200).status, DomainStatus::Failed);
        assert_eq!(failed.after_check(&unknown(), T + 2 * DAY).next_check_at, T + 2 * DAY + 6 * HOUR);
        assert_eq!(failed.after_check(&refused(), T + 14 * DAY).next_automatic_check(), None);
    }

    #[test]
    fn a_verified_name_lapses_after_three_failing_days() {
        let verified = pending().after_check(&CheckResult::Proven, T);
        let mut domain = verified.after_check(&missing(), T + DAY);
        assert_eq!((domain.failing_since, domain.notice), (Some(T + DAY), Some(DomainNotice::Failing)));
        domain.notice = None;
        for day in 2..4 {
            assert_eq!(domain.next_check_at, T + day * DAY);
            domain = domain.after_check(&refused(), domain.next_check_at);
            assert!(domain.is_verified() && domain.notice.is_none(), "day {day}");
        }
        assert_eq!(domain.next_check_at, T + 4 * DAY);
        assert!(domain.after_check(&CheckResult::Proven, T + 4 * DAY).failing_since.is_none());
        let lapsed = domain.after_check(&missing(), T + 4 * DAY);
        assert_eq!((lapsed.status, lapsed.notice), (DomainStatus::Failed, Some(DomainNotice::Lapsed)));
        // Its owner may restore the record without pressing a button.
        assert_eq!(lapsed.next_check_at, T + 4 * DAY + 6 * HOUR);
        assert_eq!(lapsed.after_check(&missing(), T + 15 * DAY).next_automatic_check(), None);
        let again = lapsed.after_check(&CheckResult::Proven, T + 5 * DAY);
        assert_eq!((again.failing_since, again.verified_at), (None, Some(T + 5 * DAY)));
    }

    #[test]
    fn the_problem_of_a_name_is_its_record_its_plan_or_another_account() {
        let verified = pending().after_check(&CheckResult::Proven, T);
        for (domain, problem) in [
            (pending(), None),
            (verified.clone(), None),
            (pending().after_check(&refused(), T), Some(DomainProblem::Record)),
            (verified.after_check(&missing(), T), Some(DomainProblem::Record)),
            (verified.clone().lapsed(LOST, T), Some(DomainProblem::Lost)),
        ] {
            assert_eq!(domain.problem(true), problem, "{domain:?}");
            assert_eq!(domain.problem(false), Some(DomainProblem::Plan), "{domain:?}");
        }
        assert_eq!(verified.after_check(&missing(), T).works_until(), Some(T + GRACE_SECONDS));
        assert_eq!((verified.works_until(), pending().works_until()), (None, None));
    }

    #[test]
    fn a_check_between_the_daily_ones_does_not_delay_the_lapse() {
        let verified = pending().after_check(&CheckResult::Proven, T);
        let failing = verified.after_check(&missing(), T + DAY);
        let later = failing.after_check(&missing(), T + 3 * DAY + HOUR);
        assert_eq!(later.next_check_at, T + 4 * DAY);
    }

    #[test]
    fn checks_of_a_pending_name_become_rarer_and_stop() {
        let steps = [(0, 120), (HOUR - 1, 120), (HOUR, HOUR), (2 * DAY, 6 * HOUR)];
        for (age, step) in steps {
            assert_eq!(next_unproven_check(T, T + age), T + age + step, "{age}");
        }
        assert_eq!(next_unproven_check(T, T + 14 * DAY), NEVER);
        let (mut domain, mut checks) = (pending(), 0);
        while let Some(at) = domain.next_automatic_check() {
            domain = domain.after_check(&missing(), at);
            checks += 1;
        }
        assert!((100..150).contains(&checks), "{checks}");
    }

    #[test]
    fn targets_differ_by_account_and_name() {
        let keys = Keys::new([7; 32]);
        let name = |text: &str| Hostname::parse_stored(text.into());
        let target = target_label(&keys, "acct_1", &name("a.example"));
        assert!(target.len() == 22 && target.starts_with("d-"), "{target}");
        assert!(
            target.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{target}"
        );
        assert_ne!(target, target_label(&keys, "acct_2", &name("a.example")));
        assert_ne!(target, target_label(&keys, "acct_1", &name("b.example")));
        assert_ne!(target, target_label(&Keys::new([8; 32]), "acct_1", &name("a.example")));
    }

    #[test]
    fn an_apex_is_proven_by_txt_first() {
        let kinds = |name: &str| {
            records(&Hostname::parse_stored(name.into()), "d-x.pages.example").into_iter().map(|it| it.kind)
        };
        assert!(kinds("customer.example").eq(["TXT", "CNAME"]));
        assert!(kinds("www.customer.example").eq(["CNAME", "TXT"]));
    }

    fn result() -> impl Strategy<Value = CheckResult> {
        prop_oneof![Just(CheckResult::Proven), Just(missing()), Just(refused()), Just(unknown())]
    }

    proptest! {
        #[test]
        fn a_name_works_only_after_proof_and_no_longer_than_the_grace_period_without(
            checks in prop::collection::vec((result(), 0..2 * DAY), 0..40),
        ) {
            let (mut domain, mut now) = (pending(), T);
            // The last proof, and the first refutation after it.
            let (mut proven, mut refuted): (bool, Option<i64>) = (false, None);
            for (result, pause) in checks {
                now += pause;
                let before = domain.clone();
                domain = before.after_check(&result, now);
                match result {
                    CheckResult::Proven => (proven, refuted) = (true, None),
                    CheckResult::Unknown(_) => {
                        prop_assert_eq!(domain.status, before.status);
                        prop_assert_eq!(domain.failing_since, before.failing_since);
                    }
                    CheckResult::Missing(_) | CheckResult::Refused(_) => refuted = refuted.or(Some(now)),
                }
                let within_grace = refuted.is_none_or(|since| now < since + GRACE_SECONDS);
                prop_assert!(!domain.is_verified() || proven);
                if matches!(result, CheckResult::Missing(_) | CheckResult::Refused(_)) {
                    prop_assert!(!domain.is_verified() || within_grace);
                    prop_assert!(!before.is_verified() || domain.is_verified() || !within_grace);
                }
                prop_assert!(domain.next_check_at > now);
                prop_assert!(domain.next_automatic_check().is_none_or(|at| at <= now + LONGEST_PAUSE_SECONDS));
            }
        }
    }
}
