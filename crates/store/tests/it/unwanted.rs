//! SQL for `unwanted`, and which bodies of a page other accounts have too.

use crate::harness::{NOW, for_each_database, plain};
use bytes::Bytes;
use dropleaf_store::blocked_content::{self, BlockedContent, Mark};
use dropleaf_store::bundles::{self, Bundle, BundleFile};
use dropleaf_store::{DbError, Stmt, Store};

/// A version of a page that shows these bodies.
async fn shown(store: &Store, site_id: &str, version: i64, bodies: &[&'static str]) {
    let bundle_id = format!("{site_id}_{version}");
    let (mut stmts, mut files) = (Vec::new(), Vec::new());
    for text in bodies {
        let blob = plain(&Bytes::from_static(text.as_bytes()));
        let file = BundleFile {
            path: format!("{text}.html"),
            mime: "text/html".into(),
            blob_hash: blob.hash,
            size_bytes: 0,
        };
        files.push(file);
        stmts.push(store.blobs.stage(&store.db, blob, &bundle_id, NOW).await.unwrap());
    }
    let entry = files[0].path.clone();
    let bundle = Bundle { id: bundle_id.clone(), kind: "html".into(), entry, files, ..Bundle::default() };
    stmts.extend(bundles::insert(&bundle, NOW));
    if version == 1 {
        stmts.push(Stmt::new(
            "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, updated_at, \
             agentation, csp_strict, e2e, gate_version, counted, view_count) \
             VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            vec![site_id.into(), site_id.into()],
        ));
    }
    stmts.push(Stmt::new(
        "INSERT INTO site_versions (site_id, version, bundle_id, title, byte_size, file_count, e2e, created_at) \
         VALUES ($1, $2, $3, '', 0, 1, 0, 0)",
        vec![site_id.into(), version.into(), bundle_id.as_str().into()],
    ));
    store.commit(stmts).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_two_versions_of_one_page_are_shared_with_nobody() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        shown(&store, "a", 1, &["one", "style"]).await;
        shown(&store, "a", 2, &["two", "style"]).await;
        assert!(!store.shares_bodies("a").await.unwrap(), "both are its own");
        shown(&store, "b", 1, &["other", "style"]).await;
        assert!(store.shares_bodies("a").await.unwrap() && store.shares_bodies("b").await.unwrap());
        store.db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_stays_noted_and_is_seen_by_nobody() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let noted = |id: &str| BlockedContent {
            id: id.into(),
            site_id: "a".into(),
            reason: "fraud".into(),
            created_at: NOW,
        };
        let marks = || vec![(None, Mark::Exact([7; 32]))];
        store.commit(blocked_content::insert(&noted("unw_1"), marks())).await.unwrap();
        assert!(
            store.was_blocked("a").await.unwrap()
                && store.find_blocked_content("unw_1").await.unwrap().is_some()
        );
        let before = store.find_blocklist_generation().await.unwrap();
        store.commit(blocked_content::unblock("a", NOW).into()).await.unwrap();
        assert!(store.find_blocklist_generation().await.unwrap() > before);
        assert_eq!(store.list_blocked_content(9).await.unwrap(), []);
        assert_eq!(store.find_blocked_content("a").await.unwrap(), None);
        assert_eq!(store.list_marks().await.unwrap(), []);
        assert!(store.was_blocked("a").await.unwrap());
        let again = store.commit(blocked_content::insert(&noted("unw_2"), marks())).await;
        assert!(matches!(again, Err(DbError::Guard(blocked_content::ALREADY_BLOCKED))), "{again:?}");
        let twice = store.commit(blocked_content::unblock("a", NOW).into()).await;
        assert!(matches!(twice, Err(DbError::Guard(blocked_content::NOT_BLOCKED))), "{twice:?}");
        store.db.close().await;
    })
    .await;
}
