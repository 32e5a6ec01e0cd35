//! Backups: taken under load, restored into either database, refused if damaged.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dropleaf_store::backup::{BackupError, Progress, Report, backup, restore};
use dropleaf_store::{Blobs, Db, DbError, Stmt, Val, leases};
use tokio::sync::watch;

use crate::harness::{
    INLINE, NOW, TestDatabase, account, bucket, count_accounts, for_each_database, noise, plain, text,
};

async fn publish(db: &Db, blobs: &Blobs, n: usize) {
    let size = if n.is_multiple_of(2) { 500 } else { INLINE + 1 + n };
    let bytes = noise(&format!("body{n}"), size);
    let row = blobs.stage(db, plain(&bytes), "n", NOW).await.unwrap();
    db.batch(vec![account(&format!("a{n}")), row]).await.unwrap();
}

async fn filled(db: &Db, blobs: &Blobs) {
    for n in 0..12 {
        publish(db, blobs, n).await;
    }
    let odd = "UPDATE accounts SET email = $1, balance_minor = $2, plan = $3 WHERE id = 'a3'";
    db.exec(Stmt::new(odd, [Val::Null, Val::Int(-7), "Grüße\t\n\\N 🍃".into()]).one("there")).await.unwrap();
}

/// All rows and all bodies as comparable text.
async fn contents(db: &Db, blobs: &Blobs) -> Vec<String> {
    let mut all = db
        .list("SELECT id, email, plan, balance_minor, created_at FROM accounts ORDER BY id", vec![], |row| {
            Ok(format!(
                "{} {:?} {:?} {} {}",
                row.text(0)?,
                row.opt_text(1)?,
                row.text(2)?,
                row.int(3)?,
                row.int(4)?
            ))
        })
        .await
        .unwrap();
    let hashes = db.list("SELECT hash FROM blobs ORDER BY hash", vec![], |row| row.hash(0)).await.unwrap();
    for hash in hashes {
        let bytes = blobs.read(db, &hash).await.unwrap();
        all.push(format!("{} {}", blake3::hash(&bytes), bytes.len()));
    }
    all.extend(db.list("SELECT name FROM schema_migrations ORDER BY version", vec![], text).await.unwrap());
    all.extend(db.list("SELECT holder FROM leases WHERE holder <> ''", vec![], text).await.unwrap());
    all
}

async fn take(db: &Db, blobs: &Blobs, dir: &Path) -> Result<Report, BackupError> {
    backup(db, blobs, dir, NOW, &|_| {}).await
}

async fn bring(db: &Db, blobs: &Blobs, dir: &Path, replace: bool) -> Result<Report, BackupError> {
    restore(db, blobs, dir, replace, NOW, &|_| {}).await
}

async fn sample() -> (TestDatabase, PathBuf) {
    let database = TestDatabase::sqlite();
    let (db, blobs) = (database.open().await, database.blobs());
    filled(&db, &blobs).await;
    let dir = database.dir.path().join("copy");
    take(&db, &blobs, &dir).await.unwrap();
    (database, dir)
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_comes_back_the_same_on_every_pair_of_databases() {
    for_each_database(async |from| {
        let (db, blobs) = (from.open().await, from.blobs());
        filled(&db, &blobs).await;
        let dir = from.dir.path().join("backups/today");
        std::fs::create_dir_all(dir.parent().unwrap()).unwrap();
        let steps = Mutex::new(Vec::new());
        let report = backup(&db, &blobs, &dir, NOW, &|step| steps.lock().unwrap().push(step)).await.unwrap();
        assert_eq!(report.objects, 6);
        assert!(report.rows["accounts"] == 12, "{report:?}");
        assert_eq!(steps.lock().unwrap().last(), Some(&Progress::Objects { done: 6, total: 6 }));
        let expected = contents(&db, &blobs).await;

        for_each_database(async |to| {
            let (target, store) = (to.open_bare().await, bucket(INLINE));
            assert_eq!(bring(&target, &store, &dir, false).await.unwrap(), report);
            assert_eq!(contents(&target, &store).await, expected);
            publish(&target, &store, 100).await;
        })
        .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_been_revoked_since_does_not_come_back() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        let sql = [
            "INSERT INTO sign_ins VALUES ('\\x01', '\\x02', 'a@example.org', '\\x03', 5, '/', 9)",
            "INSERT INTO sessions VALUES ('s', 'a', '\\x01', 'd', 'code', 1, 1, 1, 9)",
            "INSERT INTO passkey_ceremonies VALUES ('\\x01', NULL, '{}', 9)",
            "INSERT INTO device_logins VALUES ('\\x01', 'C', 'c', 'n', 'key', '', '', 'allowed', 'a', 5, NULL, 1, 9)",
            "INSERT INTO oauth_requests VALUES ('\\x01', 's', 'c', 'n', 'u', '', '', 'x', NULL, 9)",
            "INSERT INTO oauth_grants VALUES ('g', 'c', 'n', 'a', '', '', 1, NULL, 9, NULL)",
            "INSERT INTO oauth_codes VALUES ('\\x01', 'g', 'u', 'x', 9, NULL)",
            "INSERT INTO oauth_tokens VALUES ('\\x01', 'g', 'refresh', '', 1, 9, NULL, NULL, NULL)",
        ];
        let key = |id: &str, grant: Option<&str>| {
            let sql = "INSERT INTO api_keys (id, account_id, name, prefix, key_hash, created_at, grant_id) \
                       VALUES ($1, 'a', 'n', 'p', $2, 1, $3)";
            Stmt::new(sql, vec![id.into(), id.as_bytes().into(), grant.into()])
        };
        let mut stmts = vec![account("a")];
        stmts.extend(sql.map(|sql| Stmt::new(sql, [])));
        stmts.extend([key("own", None), key("granted", Some("g"))]);
        db.batch(stmts).await.unwrap();
        let dir = database.dir.path().join("copy");
        take(&db, &blobs, &dir).await.unwrap();
        bring(&db, &blobs, &dir, true).await.unwrap();
        let left = "SELECT (SELECT COUNT(*) FROM sign_ins) + (SELECT COUNT(*) FROM sessions) \
                    + (SELECT COUNT(*) FROM passkey_ceremonies) + (SELECT COUNT(*) FROM device_logins) \
                    + (SELECT COUNT(*) FROM oauth_requests) + (SELECT COUNT(*) FROM oauth_grants) \
                    + (SELECT COUNT(*) FROM oauth_codes) + (SELECT COUNT(*) FROM oauth_tokens)";
        assert_eq!(db.get(left, &[], |row| row.int(0)).await.unwrap(), Some(0));
        let keys = db.list("SELECT id FROM api_keys", vec![], text).await.unwrap();
        assert_eq!((keys, count_accounts(&db).await), (vec!["own".to_owned()], 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_payments_that_may_have_been_settled_since_are_unknown() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        for state in ["verified", "settling", "settled", "fulfilled", "refused", "unknown"] {
            let sql = "INSERT INTO payments (id, payment_key, item, protocol, generation, network, asset, payer, pay_to, \
                       amount, payer_is_eoa, sandbox, request_hash, client, state, ask, attempts, held_until, valid_until, \
                       created_at, updated_at) VALUES ($1, $1, 'publish', 'x402', 2, 'n', 'a', 'p', 't', 1, 1, 0, $2, 'c', \
                       $3, 'the bytes', 0, $4, 9, 1, 1)";
            let args = vec![state.into(), state.as_bytes().into(), state.into(), (NOW + 1000).into()];
            db.exec(Stmt::new(sql, args)).await.unwrap();
        }
        let dir = database.dir.path().join("copy");
        take(&db, &blobs, &dir).await.unwrap();
        bring(&db, &blobs, &dir, true).await.unwrap();
        let sql = "SELECT id, state, ask, attempts, held_until FROM payments ORDER BY created_at, id";
        let rows = db.list(sql, vec![], |row| {
            Ok(format!("{} {} {} {}", row.text(0)?, row.text(1)?, row.int(3)?, row.int(4)? - NOW))
        });
        let kept = ["fulfilled", "refused", "settled"].map(|state| format!("{state} {state} 0 1000"));
        let asked = ["settling", "verified"].map(|state| format!("{state} unknown 1 0"));
        let mut expected = [kept.to_vec(), asked.to_vec(), vec!["unknown unknown 0 1000".to_owned()]].concat();
        expected.sort();
        assert_eq!(rows.await.unwrap(), expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_can_be_read_by_its_owner_alone() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        filled(&db, &blobs).await;
        // Permissions of an existing empty folder are restricted.
        let dir = database.dir.path().join("copy");
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        take(&db, &blobs, &dir).await.unwrap();
        let (mut open, mut files) = (vec![dir], 0);
        while let Some(path) = open.pop() {
            let about = std::fs::metadata(&path).unwrap();
            let expected = if about.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(about.permissions().mode() & 0o777, expected, "{}", path.display());
            files += usize::from(about.is_file());
            if about.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        assert_eq!(files, 8, "the rows, the manifest and six objects");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_under_load_is_one_moment() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        // Simulates a backup from another process.
        let (other, other_blobs) = (database.open().await, database.blobs());
        let (stop, written) = (AtomicBool::new(false), watch::Sender::new(0));
        let writing = async {
            while !stop.load(Ordering::Relaxed) {
                let n = *written.borrow();
                publish(&db, &blobs, n).await;
                written.send_replace(n + 1);
            }
        };
        let copying = async {
            let mut dirs = Vec::new();
            for n in 0..3 {
                // Each backup starts when there is more to copy.
                let more = *written.borrow() + 2;
                written.subscribe().wait_for(|n| *n >= more).await.unwrap();
                let dir = database.dir.path().join(format!("copy{n}"));
                take(&other, &other_blobs, &dir).await.unwrap();
                dirs.push(dir);
            }
            stop.store(true, Ordering::Relaxed);
            dirs
        };
        let ((), dirs) = tokio::join!(writing, copying);
        assert!(*written.borrow() >= 6);
        for dir in dirs {
            let target = TestDatabase::sqlite();
            let (copy, store) = (target.open_bare().await, target.blobs());
            bring(&copy, &store, &dir, false).await.unwrap();
            let bodies = contents(&copy, &store).await.len();
            let migrations =
                copy.list("SELECT name FROM schema_migrations", vec![], text).await.unwrap().len();
            // Each publish wrote one account and one body, so each snapshot has the same number of both.
            let acts = i64::try_from(bodies - migrations).unwrap();
            assert_eq!(acts, 2 * count_accounts(&copy).await);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_replaces_only_when_told_and_under_a_running_server() {
    let (_keep, dir) = sample().await;
    for_each_database(async |database| {
        let (server, blobs) = (database.open().await, database.blobs());
        for n in 0..40 {
            server.exec(account(&format!("old{n}"))).await.unwrap();
        }
        assert_eq!(count_accounts(&server).await, 40);
        let (tool, tool_blobs) = (database.open().await, database.blobs());
        let refused = bring(&tool, &tool_blobs, &dir, false).await;
        assert!(matches!(refused, Err(BackupError::Refused(_))), "{refused:?}");
        assert_eq!(count_accounts(&server).await, 40);

        bring(&tool, &tool_blobs, &dir, true).await.unwrap();
        assert_eq!(count_accounts(&server).await, 12);
        assert_eq!(contents(&server, &blobs).await, contents(&tool, &tool_blobs).await);
        publish(&server, &blobs, 200).await;
        assert_eq!(count_accounts(&tool).await, 13);
    })
    .await;
}

#[tokio::test]
async fn damaged_backup_is_refused_before_anything_changes() {
    let (_keep, dir) = sample().await;
    let object = std::fs::read_dir(dir.join("blobs")).unwrap().next().unwrap().unwrap().path();
    let object = std::fs::read_dir(object).unwrap().next().unwrap().unwrap().path();
    for (path, name) in [
        (object, "object"),
        (dir.join("dropleaf.db"), "dropleaf.db"),
        (dir.join("manifest.json"), "manifest"),
    ] {
        let whole = std::fs::read(&path).unwrap();
        let mut broken = whole.clone();
        let middle = broken.len() / 2;
        broken[middle..].fill(b'x');
        std::fs::write(&path, broken).unwrap();
        let target = TestDatabase::sqlite();
        let (db, blobs) = (target.open_bare().await, target.blobs());
        let refused = bring(&db, &blobs, &dir, true).await;
        assert!(matches!(&refused, Err(BackupError::Damaged(why)) if why.contains(name)), "{refused:?}");
        std::fs::write(&path, whole).unwrap();
    }
    std::fs::remove_file(dir.join("manifest.json")).unwrap();
    let target = TestDatabase::sqlite();
    let refused = bring(&target.open_bare().await, &target.blobs(), &dir, true).await;
    assert!(matches!(refused, Err(BackupError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn target_folder_must_be_free() {
    let database = TestDatabase::sqlite();
    let (db, blobs) = (database.open().await, database.blobs());
    filled(&db, &blobs).await;
    let dir = database.dir.path().join("copy");
    std::fs::create_dir(&dir).unwrap();
    take(&db, &blobs, &dir).await.unwrap();
    let refused = take(&db, &blobs, &dir).await;
    assert!(matches!(refused, Err(BackupError::Refused(_))), "{refused:?}");
    // Leftovers of a killed backup do not prevent the next.
    let partial = database.dir.path().join("next.partial/blobs");
    std::fs::create_dir_all(partial).unwrap();
    take(&db, &blobs, &database.dir.path().join("next")).await.unwrap();
    assert!(!database.dir.path().join("next.partial").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_object_fails_the_backup_and_leaves_nothing() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        filled(&db, &blobs).await;
        let sql = "SELECT object_key FROM blobs WHERE object_key IS NOT NULL";
        let key = db.get(sql, &[], text).await.unwrap().unwrap();
        blobs.delete(&key).await.unwrap();
        let dir = database.dir.path().join("copy");
        let failed = take(&db, &blobs, &dir).await;
        assert!(matches!(&failed, Err(BackupError::Damaged(why)) if why.contains(&key)), "{failed:?}");
        assert!(!dir.exists() && !database.dir.path().join("copy.partial").exists());
        // The lease was released.
        db.exec(leases::take("backup", "next", NOW + 1, NOW)).await.unwrap();
    })
    .await;
}

/// A node of the previous release keeps running during an upgrade; its backup would lack the newer tables.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_a_newer_schema_is_not_backed_up() {
    for_each_database(async |database| {
        let (db, blobs) = (database.open().await, database.blobs());
        let newer = "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'future', 0)";
        db.exec(Stmt::new(newer, vec![])).await.unwrap();
        let dir = database.dir.path().join("backup");
        let refused = take(&db, &blobs, &dir).await.unwrap_err();
        assert!(matches!(refused, BackupError::Db(DbError::NewerSchema { found: 9999, .. })), "{refused}");
        assert!(!dir.exists());
        db.close().await;
    })
    .await;
}
