//! Reads the open reports of many pages with as few queries as for one.

use crate::harness::for_each_database;
use dropleaf_core::report::Reason;
use dropleaf_store::reports::PageWithReports;
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
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let mut stmts: Vec<Stmt> = ["a", "b", "c"].map(site).into();
        for (at, id) in (10..).zip(["a1", "a2", "a3"]) {
            stmts.push(report(id, "a", if id == "a1" { "phishing" } else { "malware" }, at, None));
        }
        stmts.push(report("a4", "a", "phishing", 9, Some(20)));
        stmts.push(report("b1", "b", "phishing", 11, None));
        stmts.push(report("c1", "c", "phishing", 12, None));
        store.commit(stmts).await.unwrap();
        let listed = store.list_pages_with_reports(None, 2).await.unwrap();
        assert_eq!(listed.iter().map(|page| page.site.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let reasons = store.list_reasons_of_pages(None, 2).await.unwrap();
        let given = |site: &str, reason, count| (site.to_owned(), reason, count);
        assert_eq!(
            reasons,
            [
                given("a", Reason::Malware, 2),
                given("a", Reason::Phishing, 1),
                given("b", Reason::Phishing, 1)
            ]
        );
        let words = store.list_newest_of_pages(None, 2, 2).await.unwrap();
        let ids = |found: &[dropleaf_core::report::Report]| {
            found.iter().map(|report| report.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&words), ["a3", "a2", "b1"]);
        let after = Some((10, "a"));
        assert_eq!(ids(&store.list_newest_of_pages(after, 5, 5).await.unwrap()), ["b1", "c1"]);
        assert_eq!(store.list_reasons_of_pages(after, 1).await.unwrap(), [given("b", Reason::Phishing, 1)]);
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_listed_with_their_owner_and_the_times_of_their_reports() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let owner = Stmt::new(
            "INSERT INTO accounts (id, email, plan, is_operator, balance_minor, active_pages, created_at) \
             VALUES ('acc', 'owner@example.org', 'free', 0, 0, 0, 0)",
            [],
        );
        let mut stmts = vec![owner];
        stmts.extend(["a", "b", "c"].map(site));
        stmts.push(Stmt::new("UPDATE sites SET account_id = 'acc' WHERE id <> 'b'", []));
        for (id, site_id, at) in [("c1", "c", 10), ("c2", "c", 30), ("b1", "b", 20), ("a1", "a", 20)] {
            stmts.push(report(id, site_id, "phishing", at, None));
        }
        store.commit(stmts).await.unwrap();
        let list = async |after, limit| {
            let pages = store.list_pages_with_reports(after, limit).await.unwrap();
            let fields = |page: PageWithReports| {
                (page.site.id, page.owner_email, page.open.count, page.open.first_at, page.open.last_at)
            };
            pages.into_iter().map(fields).collect::<Vec<_>>()
        };
        let email = || Some("owner@example.org".to_owned());
        let all = [
            ("c".to_owned(), email(), 2, 10, 30),
            ("a".to_owned(), email(), 1, 20, 20),
            ("b".to_owned(), None, 1, 20, 20),
        ];
        assert_eq!(list(None, 9).await, all);
        assert_eq!(list(Some((10, "c")), 1).await, all[1..2]);
        assert_eq!(list(Some((20, "a")), 9).await, all[2..]);
        store.db.close().await;
    })
    .await;
}
