//! A full disk: no acknowledged write is lost, reads work, and freeing space is enough to recover.
//!
//! Each test runs itself again inside a small file system, which is unmounted with it.

use std::path::Path;

use dropleaf_store::{BlobError, Blobs, Db, DbError, Stmt};

use crate::harness::{NOW, account, count_accounts, from_first_process, noise, plain, second_process};

fn on_small_disk(test: &str) {
    let dir = tempfile::TempDir::new().unwrap();
    let mount = format!("mount -t tmpfs -o size=6m tmpfs '{}' && exec \"$0\" \"$@\"", dir.path().display());
    let wrapper = ["unshare", "--map-root-user", "--mount", "sh", "-c", &mount];
    let ran = second_process(&wrapper, test, dir.path()).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    // A filter that matches no test succeeds too.
    assert!(told.contains("1 passed"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_told_and_survived_by_the_database() {
    match from_first_process() {
        None => on_small_disk("disk_full::full_disk_is_told_and_survived_by_the_database"),
        Some(disk) => fill_the_database(&disk).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_told_and_survived_by_the_bodies() {
    match from_first_process() {
        None => on_small_disk("disk_full::full_disk_is_told_and_survived_by_the_bodies"),
        Some(disk) => fill_the_bodies(&disk).await,
    }
}

async fn fill_the_database(disk: &str) {
    let ballast = Path::new(disk).join("ballast");
    std::fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let db = Db::open(&format!("sqlite:{disk}/dropleaf.db")).await.unwrap();
    db.migrate(NOW).await.unwrap();

    let (mut kept, mut full) = (0, 0);
    for round in 0..40 {
        let writes =
            (0..8).map(|n| db.batch(vec![account(&format!("{round}-{n}")), body(&format!("{round}-{n}"))]));
        for answer in futures_util::future::join_all(writes).await {
            match answer {
                Ok(_) => kept += 1,
                Err(DbError::Full) => full += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(kept > 0 && full > 0, "{kept} kept, {full} refused");
    assert_eq!(count_accounts(&db).await, kept);
    assert_eq!(bodies(&db).await, kept);

    std::fs::remove_file(&ballast).unwrap();
    db.batch(vec![account("after"), body("after")]).await.unwrap();
    assert_eq!(count_accounts(&db).await, kept + 1);
    db.close().await;

    let again = Db::open(&format!("sqlite:{disk}/dropleaf.db")).await.unwrap();
    assert_eq!(count_accounts(&again).await, kept + 1);
    assert_eq!(bodies(&again).await, kept + 1);
}

fn body(seed: &str) -> Stmt {
    let sql = "INSERT INTO idempotency (scope, key_hash, request_hash, status, sealed, created_at) \
               VALUES ('', $1, $2, 0, $3, 0)";
    let sealed = noise(seed, 30_000);
    Stmt::new(sql, vec![blake3::hash(&sealed).as_bytes().into(), [0; 32].into(), sealed.into()])
}

async fn bodies(db: &Db) -> i64 {
    db.get("SELECT COUNT(*) FROM idempotency", &[], |row| row.int(0)).await.unwrap().unwrap()
}

async fn fill_the_bodies(disk: &str) {
    let outside = tempfile::TempDir::new().unwrap();
    let db = Db::open(&format!("sqlite:{}/dropleaf.db", outside.path().display())).await.unwrap();
    db.migrate(NOW).await.unwrap();
    let blobs = Blobs::open(&format!("file:{disk}/blobs"), 1000).unwrap();
    let ballast = Path::new(disk).join("ballast");
    std::fs::write(&ballast, vec![1; 5 << 20]).unwrap();

    let large = noise("large", 3 << 20);
    let refused = blobs.stage(&db, plain(&large), "n1", NOW).await;
    assert!(matches!(refused, Err(BlobError::Full)), "{refused:?}");
    let in_parts = noise("in parts", 9 << 20);
    let refused = blobs.stage(&db, plain(&in_parts), "n2", NOW).await;
    assert!(matches!(refused, Err(BlobError::Full)), "{refused:?}");

    std::fs::remove_file(&ballast).unwrap();
    let row = blobs.stage(&db, plain(&large), "n3", NOW).await.unwrap();
    db.exec(row).await.unwrap();
    assert_eq!(blobs.read(&db, blake3::hash(&large).as_bytes()).await.unwrap(), large);
}
