//! Certificates: when one is ordered, renewed and warned of.

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
