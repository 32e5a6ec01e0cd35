//! Certificates: one node at a time orders, what is stored is encrypted, and names that are no longer needed are forgotten.

use crate::fixture::{DAY, Fixture};
use dropleaf_app::{NewCertificate, OrderFailure};
use dropleaf_core::certificate::{CertificateState, ChallengeKind, RenewalWindow};
use dropleaf_store::Db;
use dropleaf_store::certificates::{self, Issued};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

const NAME: &str = "drop.example";

async fn open() -> Fixture {
    let fixture = Fixture::open_at("https://drop.example").await;
    fixture.app.update_required_names(false, |_| false).await.unwrap();
    fixture
}

fn new(fixture: &Fixture, serial: &str) -> NewCertificate {
    let now = fixture.app.now();
    let (not_before, not_after) = (now, now + 6 * DAY);
    NewCertificate {
        serial: serial.into(),
        not_before,
        not_after,
        chain_and_key_pem: b"chain and key".to_vec(),
    }
}

async fn names(fixture: &Fixture) -> Vec<String> {
    fixture.app.list_certificates().await.unwrap().into_iter().map(|it| it.name).collect()
}

#[tokio::test]
async fn names_are_managed_while_they_need_a_certificate() {
    let fixture = open().await;
    let app = &fixture.app;
    assert_eq!(names(&fixture).await, [NAME]);
    app.update_required_names(true, |name| name == NAME).await.unwrap();
    assert_eq!(names(&fixture).await, ["*.drop.example", NAME]);
    let due = app.list_due_certificates(9).await.unwrap();
    assert_eq!(due.len(), 1, "the operator's file covers the other");
    fixture.clock.advance(7 * DAY + 1);
    app.update_required_names(true, |name| name == NAME).await.unwrap();
    assert_eq!(names(&fixture).await, ["*.drop.example"]);
    app.update_required_names(false, |_| false).await.unwrap();
    assert_eq!(app.list_due_certificates(9).await.unwrap()[0].name, NAME);
}

#[tokio::test]
async fn one_worker_at_a_time_orders() {
    let fixture = open().await;
    let app = &fixture.app;
    let inner = app
        .with_certificate_lease(async { app.with_certificate_lease(async {}, || ()).await.unwrap() }, || ())
        .await;
    assert_eq!(inner.unwrap(), Some(None), "the lease is held");
    assert!(app.with_certificate_lease(async {}, || ()).await.unwrap().is_some(), "and released");
    let due = app.list_due_certificates(9).await.unwrap();
    assert!(app.begin_certificate_order(&due[0]).await.unwrap());
    assert!(!app.begin_certificate_order(&due[0]).await.unwrap(), "reserved");
    assert!(app.list_due_certificates(9).await.unwrap().is_empty());
    app.abandon_certificate_order(NAME).await.unwrap();
    assert_eq!(app.list_due_certificates(9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn node_that_was_stopped_for_longer_than_its_lease_does_not_go_on() {
    let fixture = open().await;
    let app = &fixture.app;
    let (begun, wake, is_lost) = (Notify::new(), Notify::new(), AtomicBool::new(false));
    let work = async {
        begun.notify_one();
        wake.notified().await;
        is_lost.load(Ordering::Relaxed)
    };
    let node = app.with_certificate_lease(work, || is_lost.store(true, Ordering::Relaxed));
    let meanwhile = async {
        begun.notified().await;
        fixture.clock.advance(121);
        let other = app.with_certificate_lease(async {}, || ()).await.unwrap();
        assert!(other.is_some(), "another node did the work, and has released the lease");
        wake.notify_one();
    };
    let (outcome, ()) = futures_util::future::join(node, meanwhile).await;
    assert_eq!(outcome.unwrap(), Some(true), "it learns of the loss before it goes on");
    assert!(app.with_certificate_lease(async {}, || ()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_certificate_is_stored_encrypted_and_announced() {
    let fixture = open().await;
    let app = &fixture.app;
    assert!(app.find_issued(NAME).await.unwrap().is_none());
    let before = app.certificates_revision().await.unwrap();
    app.record_certificate(NAME, &new(&fixture, "01")).await.unwrap();
    assert!(app.certificates_revision().await.unwrap() > before);
    let issued = app.find_issued(NAME).await.unwrap().unwrap();
    assert_eq!((issued.serial.as_str(), issued.chain_and_key_pem.as_slice()), ("01", &b"chain and key"[..]));
    assert!(!format!("{issued:?}").contains("chain and key"));
    let stored = std::fs::read(fixture.url.strip_prefix("sqlite:").unwrap()).unwrap();
    assert!(!stored.windows(13).any(|window| window == b"chain and key"));
    assert!(app.list_due_certificates(9).await.unwrap().is_empty());
    assert_eq!(app.list_issued_serials().await.unwrap(), [(NAME.to_owned(), "01".to_owned())]);
    // A name that was removed meanwhile is not an error.
    app.record_certificate("gone.example", &new(&fixture, "02")).await.unwrap();
    assert!(app.find_issued("gone.example").await.unwrap().is_none());
}

#[tokio::test]
async fn a_certificate_that_was_encrypted_with_another_secret_is_ordered_again() {
    let fixture = open().await;
    let app = &fixture.app;
    app.record_certificate(NAME, &new(&fixture, "01")).await.unwrap();
    fixture.clock.advance(3600);
    assert!(app.list_due_certificates(9).await.unwrap().is_empty());
    let issued = Issued {
        name: NAME,
        sealed: vec![7; 99].into(),
        serial: "02",
        not_before: app.now(),
        not_after: app.now() + 6 * DAY,
        renew_at: app.now() + 4 * DAY,
        window_check_at: app.now(),
        next_attempt_at: app.now(),
    };
    let db = Db::open(&fixture.url).await.unwrap();
    db.batch(vec![certificates::record_issued(&issued, app.now())]).await.unwrap();
    app.forget_unreadable_certificates().await.unwrap();
    let due = app.list_due_certificates(9).await.unwrap();
    assert_eq!((due[0].name.as_str(), due[0].state(app.now())), (NAME, CertificateState::Pending));
    assert!(due[0].last_error.as_deref().unwrap().contains("another secret"));
    assert!(app.find_issued(NAME).await.unwrap().is_none());
}

#[tokio::test]
async fn an_expired_certificate_is_retried_soon() {
    let fixture = open().await;
    let app = &fixture.app;
    app.record_certificate(NAME, &new(&fixture, "01")).await.unwrap();
    let fail = async || {
        let row = app.list_certificates().await.unwrap().remove(0);
        let text = String::from("refused");
        let failure =
            OrderFailure { owner_text: text.clone(), text, retry_after: Some(DAY), was_ordered: true };
        app.record_certificate_failure(&row, &failure).await.unwrap();
        app.retry_certificate_soon(NAME).await.unwrap();
        app.list_certificates().await.unwrap()[0].next_attempt_at - app.now()
    };
    assert_eq!(fail().await, DAY, "there is a valid one");
    fixture.clock.advance(6 * DAY);
    assert_eq!(fail().await, 15 * 60);
}

#[tokio::test]
async fn failures_back_off_and_cheap_checks_less() {
    let fixture = open().await;
    let app = &fixture.app;
    let failure = |was_ordered, retry_after| OrderFailure {
        text: "no\nway".into(),
        owner_text: "please wait".into(),
        retry_after,
        was_ordered,
    };
    let mut pauses = Vec::new();
    for (was_ordered, retry_after) in
        [(true, None), (true, None), (true, Some(DAY)), (false, None), (false, None)]
    {
        let row = app.list_certificates().await.unwrap().remove(0);
        let next = app.record_certificate_failure(&row, &failure(was_ordered, retry_after)).await.unwrap();
        pauses.push((next - app.now()) / 60);
    }
    assert_eq!(pauses, [15, 30, 24 * 60, 60, 60]);
    let row = app.list_certificates().await.unwrap().remove(0);
    assert_eq!((row.failures, row.last_error.as_deref()), (5, Some("no way")));
    assert_eq!(row.owner_error.as_deref(), Some("please wait"));
    // The owner has changed something: soon, but not at once.
    app.retry_certificate_soon(NAME).await.unwrap();
    let row = app.list_certificates().await.unwrap().remove(0);
    assert_eq!(row.next_attempt_at - app.now(), 15 * 60);
}

#[tokio::test]
async fn the_renewal_time_is_the_authoritys() {
    let fixture = open().await;
    let app = &fixture.app;
    app.record_certificate(NAME, &new(&fixture, "01")).await.unwrap();
    let due = app.list_due_window_checks(9).await.unwrap();
    assert_eq!(due.len(), 1);
    let window = RenewalWindow { start: app.now() + DAY, end: app.now() + 2 * DAY };
    let at = app.record_renewal_window(&due[0], Some(window), Some(3600)).await.unwrap().unwrap();
    assert!((window.start..window.end).contains(&at));
    assert!(app.list_due_window_checks(9).await.unwrap().is_empty());
    fixture.clock.advance(3600);
    assert_eq!(app.list_due_window_checks(9).await.unwrap()[0].renew_at, Some(at));
}

#[tokio::test]
async fn challenges_are_answered_until_they_are_removed() {
    let fixture = open().await;
    let app = &fixture.app;
    let (tls, http) = (ChallengeKind::TlsAlpn01, ChallengeKind::Http01);
    app.put_challenge(tls, "Drop.example", b"token.thumb").await.unwrap();
    assert_eq!(app.find_challenge(tls, "DROP.example.").await.unwrap().unwrap(), b"token.thumb");
    assert!(app.find_challenge(http, "drop.example").await.unwrap().is_none());
    app.put_challenge(http, "Token_1", b"Token_1.thumb").await.unwrap();
    assert!(app.find_challenge(http, "token_1").await.unwrap().is_none(), "tokens have case");
    fixture.clock.advance(3600);
    assert!(app.find_challenge(http, "Token_1").await.unwrap().is_none(), "left by a crash");
    app.remove_challenge(tls, "drop.example").await.unwrap();
    assert!(app.find_challenge(tls, "drop.example").await.unwrap().is_none());
    assert!(app.find_acme_account("https://ca.example").await.unwrap().is_none());
    app.save_acme_account("https://ca.example", b"key").await.unwrap();
    assert_eq!(app.find_acme_account("https://ca.example").await.unwrap().unwrap(), b"key");
    app.delete_acme_account("https://ca.example").await.unwrap();
    assert!(app.find_acme_account("https://ca.example").await.unwrap().is_none());
}
