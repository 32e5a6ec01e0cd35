//! Reads the open reports of many pages with as few queries as for one.

use crate::harness::for_each_place;
use dropleaf_core::report::Reason;
use dropleaf_store::{Stmt, Store};

fn site(id: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, updated_at, \
         agentation, csp_strict, e2e, gate_version, counted, view_count) \
         VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        vec![id.into(), id.into()],
    )
}

fn report(id: &str, site_id: &str, reason: &str, at: i64, closed_at: Option<i64>) -> Stmt {
    Stmt::new(
        "INSERT INTO reports (id, site_id, reason, created_at, closed_at) VALUES ($1, $2, $3, $4, $5)",
        vec![id.into(), site_id.into(), reason.into(), at.into(), closed_at.into()],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_and_words_are_those_of_the_pages_that_are_listed() {
    for_each_place(async |place| {
        let store = Store::new(place.open().await, place.blobs());
        let mut stmts: Vec<Stmt> = ["a", "b", "c"].map(site).into();
        for (at, id) in (10..).zip(["a1", "a2", "a3"]) {
            stmts.push(report(id, "a", if id == "a1" { "phishing" } else { "malware" }, at, None));
        }
        stmts.push(report("a4", "a", "phishing", 9, Some(20)));
        stmts.push(report("b1", "b", "phishing", 11, None));
        stmts.push(report("c1", "c", "phishing", 12, None));
        store.commit(stmts).await.unwrap();
        let listed = store.list_waiting(None, 2).await.unwrap();
        assert_eq!(listed.iter().map(|page| page.site_id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let reasons = store.list_waiting_reasons(None, 2).await.unwrap();
        let given = |site: &str, reason, count| (site.to_owned(), reason, count);
        assert_eq!(
            reasons,
            [
                given("a", Reason::Malware, 2),
                given("a", Reason::Phishing, 1),
                given("b", Reason::Phishing, 1)
            ]
        );
        let words = store.list_waiting_words(None, 2, 2).await.unwrap();
        let ids = |found: &[dropleaf_core::report::Report]| {
            found.iter().map(|report| report.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&words), ["a3", "a2", "b1"]);
        let after = Some((10, "a"));
        assert_eq!(ids(&store.list_waiting_words(after, 5, 5).await.unwrap()), ["b1", "c1"]);
        assert_eq!(store.list_waiting_reasons(after, 1).await.unwrap(), [given("b", Reason::Phishing, 1)]);
        store.db.close().await;
    })
    .await;
}
