//! What nothing points at goes, and only that.

use bytes::Bytes;
use dropleaf_store::blobs::{self, Collected, collect_garbage};
use dropleaf_store::{BlobError, Blobs, Db, DbError, Stmt, leases};

use crate::harness::{FAR, INLINE, NOW, body_stores, for_each_place, noise, plain};

async fn stage(db: &Db, blobs: &Blobs, bytes: &Bytes, nonce: &str, at: i64) -> [u8; 32] {
    let row = blobs.stage(db, plain(bytes), nonce, at).await.unwrap();
    db.exec(row).await.unwrap();
    *blake3::hash(bytes).as_bytes()
}

fn bundle(hash: [u8; 32], blob: [u8; 32], at: i64) -> Vec<Stmt> {
    vec![
        Stmt::new(
            "INSERT INTO bundles (hash, kind, entry, touched_at) VALUES ($1, 'html', 'index.html', $2)",
            vec![hash.into(), at.into()],
        ),
        Stmt::new(
            "INSERT INTO bundle_files (bundle_hash, path, mime, blob_hash, size_bytes) \
             VALUES ($1, 'index.html', 'text/html', $2, 0)",
            vec![hash.into(), blob.into()],
        ),
    ]
}

fn site(id: &str, hash: [u8; 32]) -> Vec<Stmt> {
    vec![
        Stmt::new(
            "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, updated_at, \
             agentation, csp_strict, e2e, gate_version, counted, view_count) \
             VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            vec![id.into(), id.into()],
        ),
        Stmt::new(
            "INSERT INTO site_versions (site_id, version, bundle_hash, title, byte_size, file_count, e2e, created_at) \
             VALUES ($1, 1, $2, '', 0, 1, 0, 0)",
            vec![id.into(), hash.into()],
        ),
    ]
}

async fn count(db: &Db, sql: &'static str) -> i64 {
    db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_goes_and_used_or_fresh_stays() {
    for_each_place(async |place| {
        let db = place.open().await;
        for (n, blobs) in body_stores(place, INLINE).into_iter().enumerate() {
            let body = |name: &str, size| noise(&format!("{n}{name}"), size);
            let (small, large) = (body("small", 10), body("large", INLINE + 1));
            let (used, fresh) = (body("used", INLINE + 2), body("fresh", INLINE + 3));
            let dead_small = stage(&db, &blobs, &small, "n", NOW).await;
            let dead_large = stage(&db, &blobs, &large, "n", NOW).await;
            let used_hash = stage(&db, &blobs, &used, "n", NOW).await;
            let fresh_hash = stage(&db, &blobs, &fresh, "n", NOW + 100).await;
            let id = u8::try_from(n).unwrap();
            let (dead_bundle, live_bundle) = ([id; 32], [100 + id; 32]);
            db.batch(bundle(dead_bundle, dead_small, NOW)).await.unwrap();
            db.batch([bundle(live_bundle, used_hash, NOW), site(&format!("site{n}"), live_bundle)].concat())
                .await
                .unwrap();

            let early = collect_garbage(&db, &blobs, NOW, NOW, 100).await.unwrap();
            assert_eq!(early, Collected::default());
            let collected = collect_garbage(&db, &blobs, NOW + 50, NOW + 50, 100).await.unwrap();
            assert_eq!(collected, Collected { bundles: 1, blobs: 2, orphans: 0, held: false });
            assert!(matches!(blobs.read(&db, &dead_large).await, Err(BlobError::Missing)));
            assert_eq!(blobs.read(&db, &used_hash).await.unwrap(), used);
            assert_eq!(blobs.read(&db, &fresh_hash).await.unwrap(), fresh);
            let again = collect_garbage(&db, &blobs, NOW + 50, NOW + 50, 100).await.unwrap();
            assert_eq!(again, Collected::default());
            db.exec(Stmt::new("DELETE FROM blobs WHERE hash = $1", [fresh_hash.into()])).await.unwrap();
        }
        assert_eq!(count(&db, "SELECT COUNT(*) FROM bundles").await, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_bounds_one_sweep() {
    for_each_place(async |place| {
        let db = place.open().await;
        let blobs = place.blobs();
        for n in 0..5 {
            stage(&db, &blobs, &noise(&n.to_string(), 10), "n", NOW).await;
        }
        assert_eq!(collect_garbage(&db, &blobs, NOW, FAR, 3).await.unwrap().blobs, 3);
        assert_eq!(collect_garbage(&db, &blobs, NOW, FAR, 3).await.unwrap().blobs, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staging_protects_a_body_from_the_sweep() {
    for_each_place(async |place| {
        let db = place.open().await;
        let blobs = place.blobs();
        let bytes = noise("old", INLINE + 1);
        let hash = stage(&db, &blobs, &bytes, "first", NOW).await;
        let row = blobs.stage(&db, plain(&bytes), "second", NOW + 100).await.unwrap();
        collect_garbage(&db, &blobs, NOW + 100, NOW + 50, 100).await.unwrap();
        db.exec(row).await.unwrap();
        assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn body_swept_before_its_batch_fails_the_batch() {
    for_each_place(async |place| {
        let db = place.open().await;
        let blobs = place.blobs();
        let bytes = noise("old", INLINE + 1);
        let hash = stage(&db, &blobs, &bytes, "first", NOW).await;
        let row = blobs.stage(&db, plain(&bytes), "second", NOW).await.unwrap();
        collect_garbage(&db, &blobs, NOW, FAR, 100).await.unwrap();
        let refused = db.batch(vec![row, crate::harness::account("a")]).await;
        assert!(matches!(refused, Err(DbError::Guard(blobs::GONE))), "{refused:?}");
        // Staging again uploads again, under a key of its own.
        assert_eq!(stage(&db, &blobs, &bytes, "third", NOW).await, hash);
        let key = db.get("SELECT object_key FROM blobs", &[], crate::harness::text).await.unwrap().unwrap();
        assert_eq!(key.rsplit('.').next(), Some("third"));
        assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_and_sweeps_at_once_lose_nothing_that_was_acknowledged() {
    for_each_place(async |place| {
        let db = place.open().await;
        let blobs = place.blobs();
        let bytes = noise("contested", INLINE + 1);
        let hash = *blake3::hash(&bytes).as_bytes();
        // The worst sweep there is: nothing is ever fresh.
        let sweeping = async {
            for _ in 0..60 {
                blobs::collect_rows(&db, &blobs, NOW, FAR, 100).await.unwrap();
            }
        };
        let publishing = async {
            let mut kept = 0;
            for n in 0..60_u8 {
                let Ok(row) = blobs.stage(&db, plain(&bytes), &format!("n{n}"), NOW).await else { continue };
                let name = [n; 32];
                let batch = [vec![row], bundle(name, hash, NOW), site(&format!("s{n}"), name)].concat();
                match db.batch(batch).await {
                    Ok(_) => kept += 1,
                    Err(DbError::Guard(blobs::GONE)) => continue,
                    Err(other) => panic!("{other:?}"),
                }
                let undo = [
                    Stmt::new("DELETE FROM site_versions WHERE bundle_hash = $1", [name.into()]),
                    Stmt::new("DELETE FROM bundle_files WHERE bundle_hash = $1", [name.into()]),
                ];
                assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
                db.batch(undo.to_vec()).await.unwrap();
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
    for_each_place(async |place| {
        let db = place.open().await;
        for (n, blobs) in body_stores(place, INLINE).into_iter().enumerate() {
            let (lost, kept) =
                (noise(&format!("lost{n}"), INLINE + 1), noise(&format!("kept{n}"), INLINE + 1));
            // The process died between body and row.
            drop(blobs.stage(&db, plain(&lost), "n", NOW).await.unwrap());
            let hash = stage(&db, &blobs, &kept, "n", FAR).await;
            assert_eq!(collect_garbage(&db, &blobs, NOW, NOW / 2, 100).await.unwrap().orphans, 0);
            assert_eq!(collect_garbage(&db, &blobs, NOW, FAR, 100).await.unwrap().orphans, 1);
            assert_eq!(collect_garbage(&db, &blobs, NOW, FAR, 100).await.unwrap().orphans, 0);
            assert_eq!(blobs.read(&db, &hash).await.unwrap(), kept);
            assert_eq!(count(&db, "SELECT COUNT(*) FROM leases WHERE holder <> ''").await, 0);
        }
    })
    .await;
}

#[tokio::test]
async fn half_written_and_foreign_files_are_told_apart() {
    let place = crate::harness::Place::sqlite();
    let (db, blobs) = (place.open().await, place.blobs());
    let folder = place.dir.path().join("blobs/ab");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{}.n#1", "ab".repeat(32))), "torn").unwrap();
    std::fs::write(folder.join("notes.txt"), "not ours").unwrap();
    assert_eq!(collect_garbage(&db, &blobs, NOW, NOW / 2, 100).await.unwrap().orphans, 0);
    assert_eq!(collect_garbage(&db, &blobs, NOW, FAR, 100).await.unwrap().orphans, 1);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_backup_holds_the_sweep_back() {
    for_each_place(async |place| {
        let db = place.open().await;
        let blobs = place.blobs();
        let hash = stage(&db, &blobs, &noise("dead", INLINE + 1), "n", NOW).await;
        drop(blobs.stage(&db, plain(&noise("orphan", INLINE + 1)), "n", NOW).await.unwrap());
        db.exec(leases::take("backup", "me", NOW + 60, NOW)).await.unwrap();
        let held = collect_garbage(&db, &blobs, NOW, FAR, 100).await.unwrap();
        assert_eq!(held, Collected { held: true, ..Collected::default() });
        blobs.read(&db, &hash).await.unwrap();
        // A lease that has run out holds nothing back.
        let collected = collect_garbage(&db, &blobs, NOW + 61, FAR, 100).await.unwrap();
        assert_eq!(collected, Collected { blobs: 1, orphans: 1, ..Collected::default() });
    })
    .await;
}
