//! Certificates: reserved by one node at a time, stored encrypted, and deleted a while after they are no longer needed; the
//! accounts and challenges that belong to them.

use crate::harness::{NOW, for_each_database};
use bytes::Bytes;
use dropleaf_core::certificate::{Certificate, ChallengeKind};
use dropleaf_store::certificates::{self, CHANGED, FailedOrder, Issued, UNKNOWN};
use dropleaf_store::{DbError, Store, acme_accounts, acme_challenges};

async fn for_each_store(test: impl AsyncFn(&Store)) {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        test(&store).await;
        store.db.close().await;
    })
    .await;
}

fn issued<'a>(name: &'a str, serial: &'a str) -> Issued<'a> {
    Issued {
        name,
        sealed: Bytes::from_static(b"sealed"),
        serial,
        not_before: NOW,
        not_after: NOW + 1000,
        renew_at: NOW + 600,
        window_check_at: NOW,
        next_attempt_at: NOW + 100,
    }
}

async fn find(store: &Store, name: &str) -> Certificate {
    store.find_certificate(name).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_goes_from_required_to_issued() {
    for_each_store(async |store| {
        store.commit(vec![certificates::require("a.example", NOW)]).await.unwrap();
        assert_eq!(find(store, "a.example").await, Certificate::new("a.example".into(), NOW));
        assert!(store.find_sealed_certificate("a.example").await.unwrap().is_none());
        let failed = certificates::record_failure(
            &FailedOrder {
                name: "a.example",
                failures: 2,
                next_attempt_at: NOW + 50,
                error: "refused",
                owner_error: "wait",
            },
            NOW + 1,
        );
        store.commit(vec![failed, certificates::mark_warned("a.example", NOW)]).await.unwrap();
        let row = find(store, "a.example").await;
        assert_eq!((row.failures, row.next_attempt_at, row.warned_at), (2, NOW + 50, Some(NOW)));
        assert_eq!(row.last_error.as_deref(), Some("refused"));
        assert_eq!(row.owner_error.as_deref(), Some("wait"));
        store.commit(vec![certificates::record_issued(&issued("a.example", "01"), NOW + 2)]).await.unwrap();
        let row = find(store, "a.example").await;
        assert_eq!((row.failures, row.last_error.as_deref(), row.warned_at), (0, None, None));
        assert_eq!((row.serial.as_deref(), row.not_after), (Some("01"), Some(NOW + 1000)));
        let (serial, sealed) = store.find_sealed_certificate("a.example").await.unwrap().unwrap();
        assert_eq!((serial.as_str(), &sealed[..]), ("01", &b"sealed"[..]));
        assert_eq!(store.list_certificate_serials().await.unwrap(), [("a.example".into(), "01".into())]);
        // Requiring it again changes nothing about it.
        store.commit(vec![certificates::require("a.example", NOW + 9)]).await.unwrap();
        assert_eq!(find(store, "a.example").await.serial.as_deref(), Some("01"));
        let unknown = store.commit(vec![certificates::record_issued(&issued("b.example", "02"), NOW)]).await;
        assert!(matches!(unknown, Err(DbError::Guard(UNKNOWN))));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_reserved_once() {
    for_each_store(async |store| {
        store.commit(vec![certificates::require("a.example", NOW)]).await.unwrap();
        let seen = find(store, "a.example").await;
        let begin = || store.commit(vec![certificates::begin_attempt(&seen, NOW + 900, NOW)]);
        begin().await.unwrap();
        assert!(matches!(begin().await, Err(DbError::Guard(CHANGED))));
        store.commit(vec![certificates::set_next_attempt("a.example", NOW)]).await.unwrap();
        store.commit(vec![certificates::mark_unused("a.example", NOW)]).await.unwrap();
        assert!(matches!(begin().await, Err(DbError::Guard(CHANGED))), "no longer needed");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_is_due_when_it_is_requested() {
    for_each_store(async |store| {
        let require = |name| certificates::require(name, NOW);
        store.commit(vec![require("a.example"), require("b.example")]).await.unwrap();
        store.commit(vec![certificates::record_issued(&issued("a.example", "01"), NOW)]).await.unwrap();
        let due = |name| store.commit(vec![certificates::make_due(name, NOW + 5)]);
        due("a.example").await.unwrap();
        due("b.example").await.unwrap();
        let row = find(store, "a.example").await;
        assert_eq!((row.next_attempt_at, row.renew_at), (NOW + 5, Some(NOW + 5)));
        assert_eq!(find(store, "b.example").await.renew_at, None, "there is nothing to renew yet");
        assert!(matches!(due("c.example").await, Err(DbError::Guard(UNKNOWN))));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_certificate_is_forgotten_unless_it_was_replaced() {
    for_each_store(async |store| {
        store.commit(vec![certificates::require("a.example", NOW)]).await.unwrap();
        store.commit(vec![certificates::record_issued(&issued("a.example", "02"), NOW)]).await.unwrap();
        let forget =
            |serial| store.commit(vec![certificates::forget_unreadable("a.example", serial, "lost", NOW)]);
        forget("01").await.unwrap();
        assert_eq!(find(store, "a.example").await.serial.as_deref(), Some("02"));
        forget("02").await.unwrap();
        let row = find(store, "a.example").await;
        assert_eq!((row.serial, row.not_after, row.renew_at), (None, None, None));
        assert_eq!((row.next_attempt_at, row.last_error.as_deref()), (NOW + 100, Some("lost")));
        assert!(store.find_sealed_certificate("a.example").await.unwrap().is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_time_for_an_older_certificate_is_ignored() {
    for_each_store(async |store| {
        store.commit(vec![certificates::require("a.example", NOW)]).await.unwrap();
        store.commit(vec![certificates::record_issued(&issued("a.example", "01"), NOW)]).await.unwrap();
        let old = find(store, "a.example").await;
        store.commit(vec![certificates::record_window(&old, Some(NOW + 7), NOW + 8)]).await.unwrap();
        let row = find(store, "a.example").await;
        assert_eq!((row.renew_at, row.window_check_at), (Some(NOW + 7), Some(NOW + 8)));
        store.commit(vec![certificates::record_issued(&issued("a.example", "02"), NOW)]).await.unwrap();
        store.commit(vec![certificates::record_window(&old, Some(NOW + 1), NOW + 1)]).await.unwrap();
        assert_eq!(find(store, "a.example").await.renew_at, Some(NOW + 600));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_that_are_not_needed_are_deleted_a_batch_at_a_time() {
    for_each_store(async |store| {
        for (at, name) in (NOW..).zip(["a.example", "b.example", "c.example"]) {
            let stmts = vec![
                certificates::require(name, NOW),
                certificates::record_issued(&issued(name, "01"), NOW),
                certificates::mark_unused(name, at),
            ];
            store.commit(stmts).await.unwrap();
        }
        let names = async || {
            let all = store.list_certificates().await.unwrap();
            all.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        store.commit(vec![certificates::delete_unused(NOW, 9)]).await.unwrap();
        assert_eq!(names().await.len(), 3, "too early");
        store.commit(vec![certificates::delete_unused(NOW + 3, 2)]).await.unwrap();
        assert_eq!(names().await, ["c.example"]);
        store.commit(vec![certificates::require("c.example", NOW)]).await.unwrap();
        store.commit(vec![certificates::delete_unused(NOW + 9, 2)]).await.unwrap();
        assert_eq!(names().await, ["c.example"], "needed again");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_and_challenges_are_found_until_they_end() {
    for_each_store(async |store| {
        let bytes = Bytes::from_static;
        store.commit(vec![acme_accounts::put("https://ca.example", bytes(b"1"), NOW)]).await.unwrap();
        store.commit(vec![acme_accounts::put("https://ca.example", bytes(b"2"), NOW)]).await.unwrap();
        assert_eq!(store.find_acme_account("https://ca.example").await.unwrap().unwrap(), "2");
        assert!(store.find_acme_account("https://other.example").await.unwrap().is_none());
        store.commit(vec![acme_accounts::delete("https://ca.example")]).await.unwrap();
        assert!(store.find_acme_account("https://ca.example").await.unwrap().is_none());

        let (http, tls) = (ChallengeKind::Http01, ChallengeKind::TlsAlpn01);
        let put = |kind, name| acme_challenges::put(kind, name, bytes(b"x"), NOW + 10);
        store.commit(vec![put(http, "token"), put(tls, "a.example"), put(tls, "b.example")]).await.unwrap();
        assert_eq!(store.find_challenge(http, "token", NOW).await.unwrap().unwrap(), "x");
        assert!(store.find_challenge(tls, "token", NOW).await.unwrap().is_none());
        assert!(store.find_challenge(http, "token", NOW + 10).await.unwrap().is_none(), "expired");
        store.commit(vec![acme_challenges::delete(tls, "a.example")]).await.unwrap();
        assert!(store.find_challenge(tls, "a.example", NOW).await.unwrap().is_none());
        store.commit(vec![acme_challenges::delete_expired(NOW + 10)]).await.unwrap();
        assert!(store.find_challenge(tls, "b.example", NOW).await.unwrap().is_none());
    })
    .await;
}
