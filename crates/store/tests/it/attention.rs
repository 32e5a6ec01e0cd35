//! Signals: what is noted for a check, the report that a signal makes, and the warning before a page.

use crate::harness::for_each_database;
use dropleaf_core::attention::Signal;
use dropleaf_core::report::{Outcome, Reason, Report, ReportContent};
use dropleaf_store::attention::{self, AttentionCheck};
use dropleaf_store::{DbError, Stmt, Store, reports};

const DOCUMENT: [u8; 32] = [7; 32];

/// A live page without an account that was published at this time and viewed so often.
fn site(id: &str, created_at: i64, views: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO sites (id, token, host_label, visibility, state, title, version, bundle_id, byte_size, created_at, \
         updated_at, agentation, csp_strict, e2e, gate_version, counted, view_count) \
         VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 'bundle', 0, $3, 0, 0, 0, 0, 0, 0, $4)",
        vec![id.into(), id.into(), created_at.into(), views.into()],
    )
}

fn report(id: &str, signal: Option<Signal>) -> Report {
    Report {
        id: id.into(),
        site_id: "a".into(),
        content: ReportContent { reason: Reason::Phishing, comment: None, contact: None },
        version: Some(1),
        created_at: 50,
        closed: None,
        signal,
    }
}

async fn due(store: &Store) -> Vec<AttentionCheck> {
    store.list_attention_checks(1000, 10).await.unwrap()
}

fn check(signal: Signal, subject: &str, changes: i64, noted_at: i64) -> AttentionCheck {
    AttentionCheck { signal, subject: subject.into(), changes, noted_at }
}

#[tokio::test(flavor = "multi_thread")]
async fn views_are_noted_at_the_threshold_for_young_pages_and_once_for_each_version() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![site("a", 100, 9), site("b", 100, 10), site("c", 90, 10)]).await.unwrap();
        let note = async || {
            let noted = ["a", "b", "c", "gone"].map(|id| attention::note_views(id, 10, 90, 200));
            store.commit(noted.into()).await.unwrap();
        };
        note().await;
        note().await;
        let found = due(&store).await;
        assert_eq!(found, [check(Signal::ManyViews, "b", 1, 200)]);
        store.commit(vec![attention::finish(&found[0], 300)]).await.unwrap();
        note().await;
        assert!(due(&store).await.is_empty(), "this version was checked");
        store.commit(vec![Stmt::new("UPDATE sites SET version = 2 WHERE id = 'b'", [])]).await.unwrap();
        note().await;
        assert_eq!(due(&store).await.len(), 1);
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_during_a_check_is_checked_too_and_a_failed_check_waits() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![attention::note_report("a", 10), attention::note_report("b", 11)]).await.unwrap();
        let found = due(&store).await;
        assert_eq!(found.len(), 2);
        store.commit(vec![attention::note_report("a", 20), attention::finish(&found[0], 20)]).await.unwrap();
        store.commit(vec![attention::postpone(&found[1], 500)]).await.unwrap();
        let again = check(Signal::ManyReports, "a", 2, 20);
        assert_eq!(store.list_attention_checks(499, 10).await.unwrap(), std::slice::from_ref(&again));
        let one = store.list_attention_checks(500, 1).await.unwrap();
        assert_eq!(one, std::slice::from_ref(&again), "bounded");
        store.commit(vec![attention::finish(&again, 30)]).await.unwrap();
        assert_eq!(due(&store).await, [check(Signal::ManyReports, "b", 1, 11)]);
        store.commit(vec![attention::delete_old(29)]).await.unwrap();
        let rows = async || {
            let sql = "SELECT COUNT(*) FROM attention_checks";
            store.db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
        };
        assert_eq!(rows().await, 2);
        store.commit(vec![attention::delete_old(30)]).await.unwrap();
        assert_eq!(rows().await, 1, "what waits is kept");
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_are_noted_by_bundles_and_listed_with_their_networks() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let mut stmts = vec![
            Stmt::new(
                "INSERT INTO blobs (hash, encoding, size_bytes, stored_bytes, refs, touched_at, body) \
                 VALUES ($1, 'identity', 0, 0, 2, 0, $2)",
                vec![DOCUMENT.into(), DOCUMENT.into()],
            ),
            Stmt::new(
                "INSERT INTO bundles (id, kind, entry, root_paths, client_routes, spa, sandboxed_frames, refs, touched_at) \
                 VALUES ('bundle', 'html', 'index.html', 0, 0, 0, 0, 2, 0)",
                [],
            ),
            Stmt::new(
                "INSERT INTO bundle_files (bundle_id, path, mime, blob_hash, size_bytes) \
                 VALUES ('bundle', 'index.html', 'text/html', $1, 0)",
                vec![DOCUMENT.into()],
            ),
        ];
        for (id, wide) in [("a", "net1"), ("b", "net2"), ("c", "net1"), ("d", "net3")] {
            stmts.push(site(id, 100, 0));
            stmts.push(Stmt::new(
                "INSERT INTO anonymous_sites (site_id, network, wide, bytes) VALUES ($1, 'x', $2, 0)",
                vec![id.into(), wide.into()],
            ));
        }
        stmts.push(Stmt::new("UPDATE sites SET state = 'expired' WHERE id = 'd'", []));
        stmts.push(reports::insert_signal(&report("r1", Some(Signal::ManyCopies))));
        store.commit(stmts).await.unwrap();
        let note = |threshold| attention::note_copy(&DOCUMENT, "0707".into(), threshold, 60);
        store.commit(vec![note(3)]).await.unwrap();
        assert!(due(&store).await.is_empty(), "only two bundles hold it");
        store.commit(vec![note(2), note(2)]).await.unwrap();
        let found = due(&store).await;
        assert_eq!(found, [check(Signal::ManyCopies, "0707", 2, 60)]);

        let copies = store.list_anonymous_copies(&DOCUMENT, 10).await.unwrap();
        let copies: Vec<_> =
            copies.iter().map(|copy| (copy.site_id.as_str(), copy.network.as_str(), copy.is_raised)).collect();
        assert_eq!(copies, [("c", "net1", false), ("b", "net2", false), ("a", "net1", true)]);

        store.commit(vec![attention::dismiss_copies("0707".into(), 70), note(2)]).await.unwrap();
        assert!(due(&store).await.is_empty(), "the content was dismissed");
        store.commit(vec![attention::delete_old(1000), note(2)]).await.unwrap();
        assert!(due(&store).await.is_empty(), "this is remembered");
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_is_reported_once_for_a_version_and_counts_apart_from_viewers_reports() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        store.commit(vec![site("a", 100, 0)]).await.unwrap();
        for (id, network) in [("v1", Some("net1")), ("v2", Some("net1")), ("v3", Some("net2")), ("v4", None)]
        {
            store.commit(vec![reports::insert(&report(id, None), network)]).await.unwrap();
        }
        assert_eq!(store.count_report_networks("a").await.unwrap(), 2);
        let signal = report("s1", Some(Signal::ManyReports));
        let batch = || vec![reports::insert_signal(&signal), attention::warn("a", 60)];
        store.commit(batch()).await.unwrap();
        assert_eq!(store.list_open_signals("a").await.unwrap(), std::slice::from_ref(&signal));
        assert_eq!(store.list_reasons_of_pages(None, 9).await.unwrap(), [("a".into(), Reason::Phishing, 4)]);
        assert_eq!(store.count_open_reasons("a").await.unwrap(), [(Reason::Phishing, 4)]);
        let newest = store.list_newest_of_pages(None, 9, 1).await.unwrap();
        assert_eq!(newest, std::slice::from_ref(&signal), "a signal is listed first");
        let queue = store.count_unnotified().await.unwrap();
        assert_eq!((queue.reports, queue.pages, queue.signals), (4, 1, 1));

        store.commit(vec![attention::end_warning("a")]).await.unwrap();
        let warned_at = async || store.find_site("a").await.unwrap().unwrap().warned_at;
        assert_eq!(warned_at().await, Some(60), "the signal is open");
        assert!(store.list_closed_with_warning(0, 9).await.unwrap().is_empty());
        store.commit(vec![reports::close("a", Outcome::Dismissed, 70)]).await.unwrap();
        assert_eq!(store.list_closed_with_warning(71, 9).await.unwrap().len(), 0);
        assert_eq!(store.list_closed_with_warning(70, 9).await.unwrap().len(), 1);
        store.commit(vec![attention::end_warning("a")]).await.unwrap();
        assert_eq!(warned_at().await, None);
        let again = Report { id: "s2".into(), ..signal };
        let refused = store.commit(vec![reports::insert_signal(&again)]).await;
        assert!(matches!(refused, Err(DbError::Guard(reports::FIRED))), "{refused:?}");
        let next = Report { version: Some(2), ..again };
        store.commit(vec![reports::insert_signal(&next)]).await.unwrap();

        let networks = "SELECT COUNT(*) FROM reports WHERE network IS NOT NULL";
        assert_eq!(
            store.db.get(networks, &[], |row| row.int(0)).await.unwrap(),
            Some(0),
            "they are forgotten"
        );
        let stale = "UPDATE reports SET network = 'left' WHERE id = 'v1'";
        store.commit(vec![Stmt::new(stale, []), reports::forget_networks(70)]).await.unwrap();
        assert_eq!(store.db.get(networks, &[], |row| row.int(0)).await.unwrap(), Some(0));
        store.db.close().await;
    })
    .await;
}
