//! The sweep deletes everything unreferenced, and nothing else.

use bytes::Bytes;
use dropleaf_core::ManualClock;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_store::blobs::{self, Collected, SweepLimits};
use dropleaf_store::bundles::{self, Bundle, BundleFile};
use dropleaf_store::{BlobError, Blobs, Db, DbError, Stmt, leases, site_versions};

use crate::harness::{FAR, INLINE, NOW, body_stores, for_each_database, noise, plain};

/// Selects everything that is unreferenced.
const ALL: SweepLimits = SweepLimits { now: NOW, older_than: FAR, limit: 100 };

async fn collect_garbage(db: &Db, blobs: &Blobs, limits: SweepLimits) -> Result<Collected, BlobError> {
    blobs::collect_garbage(db, blobs, limits, &ManualClock::at(limits.now)).await
}

/// Stores a body with one reference.
async fn stage(db: &Db, blobs: &Blobs, bytes: &Bytes, nonce: &str, at: i64) -> [u8; 32] {
    let row = blobs.stage(db, plain(bytes), nonce, at).await.unwrap();
    db.exec(row).await.unwrap();
    *blake3::hash(bytes).as_bytes()
}

/// Stores a body without references.
async fn stage_dead(db: &Db, blobs: &Blobs, bytes: &Bytes, nonce: &str, at: i64) -> [u8; 32] {
    let hash = stage(db, blobs, bytes, nonce, at).await;
    db.exec(Stmt::new("UPDATE blobs SET refs = refs - 1 WHERE hash = $1", [hash.into()])).await.unwrap();
    hash
}

fn bundle(id: &str, bodies: &[[u8; 32]], at: i64) -> Vec<Stmt> {
    let file = |n: usize, hash: &[u8; 32]| BundleFile {
        path: format!("{n}.html"),
        mime: "text/html".into(),
        blob_hash: *hash,
        size_bytes: 0,
    };
    let files = bodies.iter().enumerate().map(|(n, hash)| file(n, hash)).collect();
    let bundle =
        Bundle { id: id.into(), kind: "html".into(), entry: "0.html".into(), files, ..Bundle::default() };
    bundles::insert(&bundle, at)
}

fn site(id: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, updated_at, \
         agentation, csp_strict, e2e, gate_version, counted, view_count) \
         VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        vec![id.into(), id.into()],
    )
}

fn version(site_id: &str, version: i64, bundle_id: &str) -> Stmt {
    site_versions::insert(&SiteVersion {
        site_id: site_id.into(),
        version,
        bundle_id: bundle_id.into(),
        title: String::new(),
        byte_size: 0,
        file_count: 1,
        e2e: false,
        restored_from: None,
        maker: None,
        created_at: 0,
    })
}

async fn count(db: &Db, sql: &'static str) -> i64 {
    db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_goes_and_used_or_fresh_stays() {
    for_each_database(async |database| {
        let db = database.open().await;
        for (n, blobs) in body_stores(database, INLINE).into_iter().enumerate() {
            let body = |name: &str, size| noise(&format!("{n}{name}"), size);
            let (small, large) = (body("small", 10), body("large", INLINE + 1));
            let (used, fresh) = (body("used", INLINE + 2), body("fresh", INLINE + 3));
            let dead_small = stage(&db, &blobs, &small, "n", NOW).await;
            let dead_large = stage_dead(&db, &blobs, &large, "n", NOW).await;
            let used_hash = stage(&db, &blobs, &used, "n", NOW).await;
            let fresh_hash = stage_dead(&db, &blobs, &fresh, "n", NOW + 100).await;
            let (dead, live, id) = (format!("dead{n}"), format!("live{n}"), format!("site{n}"));
            let rows = [
                bundle(&dead, &[dead_small], NOW),
                bundle(&live, &[used_hash], NOW),
                vec![site(&id), version(&id, 1, &dead), version(&id, 2, &live)],
                site_versions::delete_up_to(&id, 1, NOW).into(),
            ];
            db.batch(rows.concat()).await.unwrap();

            let early = collect_garbage(&db, &blobs, SweepLimits { older_than: NOW, ..ALL }).await.unwrap();
            assert_eq!(early, Collected::default());
            let later = SweepLimits { now: NOW + 50, older_than: NOW + 50, ..ALL };
            let collected = collect_garbage(&db, &blobs, later).await.unwrap();
            assert_eq!(collected, Collected { bundles: 1, blobs: 2, orphans: 0, held: false });
            assert!(matches!(blobs.read(&db, &dead_large).await, Err(BlobError::Missing)));
            assert_eq!(blobs.read(&db, &used_hash).await.unwrap(), used);
            assert_eq!(blobs.read(&db, &fresh_hash).await.unwrap(), fresh);
            let again = collect_garbage(&db, &blobs, later).await.unwrap();
            assert_eq!(again, Collected::default());
            db.exec(Stmt::new("DELETE FROM blobs WHERE hash = $1", [fresh_hash.into()])).await.unwrap();
        }
        assert_eq!(count(&db, "SELECT COUNT(*) FROM bundles").await, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_are_counted_however_they_come_and_go() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let (one, two) = (noise("one", 10), noise("two", INLINE + 1));
        let publish = async |id: &str, version_no: i64, name: &str| {
            let rows = [
                blobs.stage(&db, plain(&one), "n", NOW).await.unwrap(),
                blobs.stage(&db, plain(&two), "n", NOW).await.unwrap(),
            ];
            // The same body under two paths counts as one reference.
            let (one, two) = (*blake3::hash(&one).as_bytes(), *blake3::hash(&two).as_bytes());
            let files = bundle(name, &[one, two, one], NOW);
            db.batch([rows.to_vec(), files, vec![version(id, version_no, name)]].concat()).await.unwrap();
        };
        db.batch(vec![site("a"), site("b")]).await.unwrap();
        publish("a", 1, "a1").await;
        publish("a", 2, "a2").await;
        publish("b", 1, "b1").await;
        db.batch(vec![bundles::add_reference("a1"), version("a", 3, "a1")]).await.unwrap();
        let refs = async || {
            let blobs = "SELECT refs FROM blobs ORDER BY size_bytes";
            let bundles = "SELECT refs FROM bundles ORDER BY id";
            let blobs = db.list(blobs, vec![], |row| row.int(0)).await.unwrap();
            (blobs, db.list(bundles, vec![], |row| row.int(0)).await.unwrap())
        };
        assert_eq!(refs().await, (vec![3, 3], vec![2, 1, 1]));
        // Two of these versions show the same bundle.
        db.batch(site_versions::delete_up_to("a", 3, NOW).into()).await.unwrap();
        assert_eq!(refs().await, (vec![3, 3], vec![0, 0, 1]));
        let revived = db.exec(bundles::add_reference("a1")).await;
        assert!(matches!(revived, Err(DbError::Guard(bundles::GONE))), "{revived:?}");
        assert_eq!(collect_garbage(&db, &blobs, ALL).await.unwrap().bundles, 2);
        assert_eq!(refs().await, (vec![1, 1], vec![1]));
        db.batch(site_versions::delete_up_to("b", 1, NOW).into()).await.unwrap();
        let last = collect_garbage(&db, &blobs, ALL).await.unwrap();
        assert_eq!(last, Collected { bundles: 1, blobs: 2, ..Collected::default() });
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_bounds_one_sweep() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        for n in 0..5 {
            stage_dead(&db, &blobs, &noise(&n.to_string(), 10), "n", NOW).await;
        }
        assert_eq!(collect_garbage(&db, &blobs, SweepLimits { limit: 3, ..ALL }).await.unwrap().blobs, 3);
        assert_eq!(collect_garbage(&db, &blobs, SweepLimits { limit: 3, ..ALL }).await.unwrap().blobs, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_protects_a_body_from_the_sweep() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let bytes = noise("old", INLINE + 1);
        let hash = stage_dead(&db, &blobs, &bytes, "first", NOW).await;
        let row = blobs.stage(&db, plain(&bytes), "second", NOW + 100).await.unwrap();
        collect_garbage(&db, &blobs, SweepLimits { now: NOW + 100, older_than: NOW + 50, ..ALL })
            .await
            .unwrap();
        db.exec(row).await.unwrap();
        assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn body_swept_before_its_batch_fails_the_batch() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let bytes = noise("old", INLINE + 1);
        let hash = stage_dead(&db, &blobs, &bytes, "first", NOW).await;
        let row = blobs.stage(&db, plain(&bytes), "second", NOW).await.unwrap();
        collect_garbage(&db, &blobs, ALL).await.unwrap();
        let refused = db.batch(vec![row, crate::harness::account("a")]).await;
        assert!(matches!(refused, Err(DbError::Guard(blobs::GONE))), "{refused:?}");
        // Staging again uploads again, under another key.
        assert_eq!(stage(&db, &blobs, &bytes, "third", NOW).await, hash);
        let key = db.get("SELECT object_key FROM blobs", &[], crate::harness::text).await.unwrap().unwrap();
        assert_eq!(key.rsplit('.').next(), Some("third"));
        assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_and_sweeps_at_once_lose_nothing_that_was_acknowledged() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let bytes = noise("contested", INLINE + 1);
        let hash = *blake3::hash(&bytes).as_bytes();
        // The most aggressive sweep: nothing counts as recent.
        let sweeping = async {
            for _ in 0..60 {
                blobs::collect_rows(&db, &blobs, ALL).await.unwrap();
            }
        };
        let publishing = async {
            let mut kept = 0;
            for n in 0..60_u8 {
                let Ok(row) = blobs.stage(&db, plain(&bytes), &format!("n{n}"), NOW).await else { continue };
                let (id, name) = (format!("s{n}"), format!("b{n}"));
                let rows = [vec![row], bundle(&name, &[hash], NOW), vec![site(&id), version(&id, 1, &name)]];
                match db.batch(rows.concat()).await {
                    Ok(_) => kept += 1,
                    Err(DbError::Guard(blobs::GONE)) => continue,
                    Err(other) => panic!("{other:?}"),
                }
                assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
                db.batch(site_versions::delete_up_to(&id, 1, NOW).into()).await.unwrap();
            }
            kept
        };
        let ((), kept) = tokio::join!(sweeping, publishing);
        assert!(kept > 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_of_a_crash_go_after_their_time() {
    for_each_database(async |database| {
        let db = database.open().await;
        for (n, blobs) in body_stores(database, INLINE).into_iter().enumerate() {
            let (lost, kept) =
                (noise(&format!("lost{n}"), INLINE + 1), noise(&format!("kept{n}"), INLINE + 1));
            // The process died between body and row.
            drop(blobs.stage(&db, plain(&lost), "n", NOW).await.unwrap());
            let hash = stage(&db, &blobs, &kept, "n", FAR).await;
            assert_eq!(
                collect_garbage(&db, &blobs, SweepLimits { older_than: NOW / 2, ..ALL })
                    .await
                    .unwrap()
                    .orphans,
                0
            );
            assert_eq!(collect_garbage(&db, &blobs, ALL).await.unwrap().orphans, 1);
            assert_eq!(collect_garbage(&db, &blobs, ALL).await.unwrap().orphans, 0);
            assert_eq!(blobs.read(&db, &hash).await.unwrap(), kept);
            assert_eq!(count(&db, "SELECT COUNT(*) FROM leases WHERE holder <> ''").await, 0);
        }
    })
    .await;
}

#[tokio::test]
async fn half_written_and_foreign_files_are_told_apart() {
    let database = crate::harness::TestDatabase::sqlite();
    let (db, blobs) = (database.open().await, database.blobs());
    let folder = database.dir.path().join("blobs/ab");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{}.n#1", "ab".repeat(32))), "torn").unwrap();
    std::fs::write(folder.join("notes.txt"), "not ours").unwrap();
    assert_eq!(
        collect_garbage(&db, &blobs, SweepLimits { older_than: NOW / 2, ..ALL }).await.unwrap().orphans,
        0
    );
    assert_eq!(collect_garbage(&db, &blobs, ALL).await.unwrap().orphans, 1);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_backup_holds_the_sweep_back() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let hash = stage_dead(&db, &blobs, &noise("dead", INLINE + 1), "n", NOW).await;
        drop(blobs.stage(&db, plain(&noise("orphan", INLINE + 1)), "n", NOW).await.unwrap());
        db.exec(leases::take("backup", "me", NOW + 60, NOW)).await.unwrap();
        let held = collect_garbage(&db, &blobs, ALL).await.unwrap();
        assert_eq!(held, Collected { held: true, ..Collected::default() });
        blobs.read(&db, &hash).await.unwrap();
        // An expired lease blocks nothing.
        let collected = collect_garbage(&db, &blobs, SweepLimits { now: NOW + 61, ..ALL }).await.unwrap();
        assert_eq!(collected, Collected { blobs: 1, orphans: 1, ..Collected::default() });
    })
    .await;
}
