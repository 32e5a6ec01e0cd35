//! Tests of the last known rows: which are found, for how long, and how seldom the database is asked while it is away.

use super::*;
use dropleaf_core::access::AccessRules;
use dropleaf_core::site::{NewSite, Site, State, Visibility};

const AT: fn(u64) -> Duration = Duration::from_millis;
const NOW: i64 = 1000;

/// A moment so many milliseconds after the start, which was at `NOW`.
fn at(millis: u64) -> Moment {
    Moment { wall: NOW + i64::try_from(millis / 1000).unwrap(), monotonic: AT(millis) }
}

fn key(letter: char) -> PageKey {
    PageKey::token(&letter.to_string().repeat(22)).unwrap()
}

fn page(change: impl FnOnce(&mut AccessRules)) -> Arc<PageView> {
    let mut access_rules = AccessRules {
        state: State::Live,
        visibility: Visibility::Unlisted,
        expires_at: None,
        has_password: false,
        has_email_gate: false,
        is_suspended: false,
    };
    change(&mut access_rules);
    let site = Site::new(NewSite {
        id: "site_1".into(),
        token: "a".repeat(22),
        host_label: "s-1".into(),
        title: "A page".into(),
        bundle_id: "bundle_1".into(),
        byte_size: 1,
        spa: false,
        created_at: NOW,
    });
    Arc::new(PageView { site, access_rules, bundle: None })
}

fn known() -> LastKnownPages {
    LastKnownPages::new(Duration::from_secs(10), 1 << 20)
}

fn record(pages: &LastKnownPages, page: &Arc<PageView>, millis: u64) {
    pages.record(&key('a'), page, at(millis), pages.mark(&key('a')));
}

#[test]
fn a_row_is_used_until_the_limit_after_it_was_read() {
    let pages = known();
    record(&pages, &page(|_| {}), 500);
    let age = |millis| pages.find(&key('a'), at(millis), None).and_then(|found| found.stale_for);
    assert_eq!(age(500), Some(Duration::ZERO));
    assert_eq!(age(10_499), Some(AT(9999)));
    assert_eq!(age(10_500), None);
    assert!(pages.find(&key('b'), at(500), None).is_none());
}

#[test]
fn a_row_ages_while_the_machine_is_suspended() {
    let pages = known();
    record(&pages, &page(|_| {}), 500);
    let resumed = |seconds| Moment { wall: NOW + seconds, monotonic: AT(600) };
    assert!(pages.find(&key('a'), resumed(10), None).is_some());
    assert!(pages.find(&key('a'), resumed(11), None).is_none());
}

#[test]
fn an_address_that_was_confirmed_earlier_than_the_row_counts() {
    let pages = known();
    record(&pages, &page(|_| {}), 5000);
    let age = |millis, address| {
        pages.find(&key('a'), at(millis), Some(at(address))).and_then(|found| found.stale_for)
    };
    assert_eq!(age(6000, 4000), Some(AT(2000)));
    assert_eq!(age(6000, 5500), Some(AT(1000)));
    assert_eq!(age(14_000, 4000), None);
}

#[test]
fn nothing_is_recorded_while_it_is_off() {
    let pages = LastKnownPages::new(Duration::ZERO, 1 << 20);
    record(&pages, &page(|_| {}), 0);
    assert!(pages.find(&key('a'), at(0), None).is_none());
}

#[test]
fn only_pages_that_are_open_to_all_are_recorded_and_one_that_closes_is_forgotten() {
    let closing: [fn(&mut AccessRules); 7] = [
        |rules| rules.has_password = true,
        |rules| rules.has_email_gate = true,
        |rules| rules.visibility = Visibility::Burn,
        |rules| rules.is_suspended = true,
        |rules| rules.state = State::TakenDown,
        |rules| rules.state = State::Deleted,
        |rules| rules.expires_at = Some(NOW),
    ];
    for close in closing {
        let pages = known();
        record(&pages, &page(|_| {}), 0);
        assert!(pages.find(&key('a'), at(0), None).is_some());
        record(&pages, &page(close), 1);
        assert!(pages.find(&key('a'), at(1), None).is_none());
    }
}

#[test]
fn a_page_that_has_expired_since_is_not_found() {
    let pages = known();
    record(&pages, &page(|rules| rules.expires_at = Some(NOW + 2)), 0);
    assert!(pages.find(&key('a'), at(1000), None).is_some());
    assert!(pages.find(&key('a'), at(2000), None).is_none());
}

#[test]
fn a_row_read_before_a_change_is_not_recorded_after_it() {
    let forgetting: [fn(&LastKnownPages); 2] = [|pages| pages.forget(&key('a')), LastKnownPages::forget_all];
    for forget in forgetting {
        let pages = known();
        let before = pages.mark(&key('a'));
        forget(&pages);
        pages.record(&key('a'), &page(|_| {}), at(0), before);
        assert!(pages.find(&key('a'), at(0), None).is_none());
        record(&pages, &page(|_| {}), 0);
        forget(&pages);
        assert!(pages.find(&key('a'), at(0), None).is_none());
    }
}

#[test]
fn a_slower_read_does_not_replace_a_later_one() {
    let pages = known();
    let later = page(|_| {});
    record(&pages, &later, 2000);
    record(&pages, &page(|_| {}), 1000);
    let found = pages.find(&key('a'), at(2000), None).unwrap();
    assert!(Arc::ptr_eq(&found.page, &later));
}

#[test]
fn the_rows_have_a_bound() {
    let pages = known();
    for number in 0..10_000_u64 {
        let key = PageKey::token(&format!("{number:022}")).unwrap();
        pages.record(&key, &page(|_| {}), at(0), pages.mark(&key));
    }
    assert!(pages.rows.weight() <= 1 << 20);
}

#[test]
fn while_the_database_is_away_it_is_asked_once_a_second() {
    let outage = Outage::default();
    assert!(outage.may_try(AT(0)) && outage.may_try(AT(0)), "every view asks while it answers");
    outage.failed(AT(100));
    assert!(!outage.may_try(AT(1099)));
    assert!(outage.may_try(AT(1100)));
    assert!(!outage.may_try(AT(1100)) && !outage.may_try(AT(2099)), "one view is enough");
    outage.failed(AT(1400));
    assert!(!outage.may_try(AT(2399)) && outage.may_try(AT(2400)));
    outage.answered();
    assert!(outage.may_try(AT(2400)) && outage.may_try(AT(2400)));
}
