//! Custom domains: what each check means, and when the next one is due.

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
    assert!(target.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{target}");
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
