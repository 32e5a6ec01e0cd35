//! Backups in a place that holds many: incremental, encrypted or not, verified, restored, and deleted only when it is safe.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use dropleaf_core::backup_schedule::BackupRetention;
use dropleaf_core::{ManualClock, Minter};
use dropleaf_store::backup::{
    BackupError, BackupInfo, BackupKey, Depth, Destination, NewBackup, Progress, Pruned, Repository,
    backup_to, prune, restore_from, verify_in,
};
use dropleaf_store::{Blobs, Db};
use tempfile::TempDir;

use crate::harness::{
    INLINE, NOW, TestDatabase, account, bucket, count_accounts, for_each_database, from_first_process, noise,
    plain, second_process, setting, unique,
};

const DAY: i64 = 86_400;
const SERVICE: &str = "https://drop.example";

fn key(digit: &str) -> Option<BackupKey> {
    BackupKey::parse(&digit.repeat(64))
}

fn folder(dir: &Path, key: Option<BackupKey>) -> Repository {
    Repository::open(&Destination { url: format!("file:{}", dir.display()), credentials: None, key }).unwrap()
}

/// A new prefix of the test bucket.
fn s3_url() -> String {
    let url = setting("DROPLEAF_TEST_S3");
    let (bucket, options) = url.split_once('?').unwrap();
    format!("{bucket}/{}?{options}", unique("backup-test"))
}

fn in_bucket(url: &str, key: Option<BackupKey>) -> Repository {
    // Installs the provider of TLS.
    drop(bucket(INLINE));
    Repository::open(&Destination { url: url.to_owned(), credentials: None, key }).unwrap()
}

/// An account and a body: small ones go into the database, others become objects, one of several parts.
async fn publish(db: &Db, blobs: &Blobs, n: usize) {
    let size = match n % 8 {
        0 | 4 => 500,
        3 => (9 << 20) + n,
        _ => INLINE + 1 + n,
    };
    let bytes = noise(&format!("body{n}"), size);
    let row = blobs.stage(db, plain(&bytes), "n", NOW).await.unwrap();
    db.batch(vec![account(&format!("a{n}")), row]).await.unwrap();
}

async fn take(
    db: &Db,
    blobs: &Blobs,
    to: &Repository,
    work: &Path,
    now: i64,
) -> Result<BackupInfo, BackupError> {
    static SEED: AtomicU64 = AtomicU64::new(1);
    let minter = Minter::seeded(SEED.fetch_add(1, Ordering::Relaxed));
    let clock = ManualClock::at(now);
    let new = NewBackup { clock: &clock, work_dir: &work.join("work"), service: SERVICE, minter: &minter };
    Box::pin(backup_to(db, blobs, to, new, std::future::pending(), &|_| {})).await
}

async fn check(repository: &Repository, info: &BackupInfo, depth: Depth) -> Result<(), BackupError> {
    let work = TempDir::new().unwrap();
    Box::pin(verify_in(repository, info, depth, work.path(), &|_| {})).await
}

async fn contents(db: &Db, blobs: &Blobs) -> Vec<String> {
    let ids = db.list("SELECT id FROM accounts ORDER BY id", vec![], |row| row.string(0)).await.unwrap();
    let hashes = db.list("SELECT hash FROM blobs ORDER BY hash", vec![], |row| row.hash(0)).await.unwrap();
    let mut all = ids;
    for hash in hashes {
        let bytes = blobs.read(db, &hash).await.unwrap();
        all.push(format!("{} {}", blake3::hash(&bytes), bytes.len()));
    }
    all
}

async fn bring(db: &Db, blobs: &Blobs, from: &Repository, info: &BackupInfo) -> Result<(), BackupError> {
    let work = TempDir::new().unwrap();
    Box::pin(restore_from(db, blobs, (from, info), false, NOW, work.path(), &|_| {})).await
}

/// Every file of a folder, with its path below it.
fn files_in(dir: &Path) -> Vec<String> {
    let (mut open, mut found) = (vec![dir.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(dir).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

const DEEP: Depth = Depth::Contents { delete_damaged: false };

#[tokio::test(flavor = "multi_thread")]
async fn backups_share_bodies_and_come_back_the_same_on_every_pair_of_databases() {
    for_each_database(async |from| {
        let (db, blobs) = (from.open().await, from.blobs());
        let place = TempDir::new().unwrap();
        let url = s3_url();
        for n in 0..8 {
            publish(&db, &blobs, n).await;
        }
        for (n, repository) in [folder(place.path(), None), in_bucket(&url, key("a"))].into_iter().enumerate()
        {
            let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
            assert_eq!(first.new_objects, first.report.objects);
            assert_eq!(first.key_id.is_some(), n == 1);
            let before = contents(&db, &blobs).await;
            publish(&db, &blobs, 10 + n).await;
            let second = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
            assert_eq!((second.new_objects, second.report.objects), (1, first.report.objects + 1));
            assert!(!from.dir.path().join("work").exists(), "temporary files are removed");
            let list = repository.list().await.unwrap();
            assert_eq!(list.complete, [second.clone(), first.clone()], "newest first");
            assert!(list.incomplete.is_empty());
            check(&repository, &first, DEEP).await.unwrap();

            for_each_database(async |to| {
                let (target, store) = (to.open_bare().await, bucket(INLINE));
                bring(&target, &store, &repository, &first).await.unwrap();
                assert_eq!(contents(&target, &store).await, before);
                publish(&target, &store, 100).await;
                let refused = bring(&target, &store, &repository, &second).await;
                assert!(matches!(refused, Err(BackupError::Refused(_))), "{refused:?}");
            })
            .await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn encrypted_backup_shows_no_content_and_needs_its_key() {
    let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
    let (db, blobs) = (from.open().await, from.blobs());
    let text = bytes::Bytes::from("A sentence that nobody else may read. ".repeat(5000));
    let row = blobs.stage(&db, plain(&text), "n", NOW).await.unwrap();
    db.batch(vec![account("secretive"), row]).await.unwrap();
    let repository = folder(place.path(), key("a"));
    let info = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
    let hash = blake3::hash(&text).to_hex();
    for file in files_in(place.path()) {
        let bytes = std::fs::read(place.path().join(&file)).unwrap();
        for word in [&b"nobody else"[..], b"secretive", b"SQLite format"] {
            assert!(!bytes.windows(word.len()).any(|part| part == word), "{file}");
        }
        assert!(!file.contains(hash.as_str()), "the name would reveal known content");
    }
    for (key, problem) in [(None, "set `backup.key_file`"), (key("b"), "`backup.key_file` has the key")] {
        let other = folder(place.path(), key);
        assert_eq!(other.find(None).await.unwrap(), info, "listing needs no key");
        let refused = check(&other, &info, DEEP).await;
        assert!(matches!(&refused, Err(BackupError::Refused(why)) if why.contains(problem)), "{refused:?}");
    }
    check(&repository, &info, DEEP).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn unencrypted_backup_is_refused_if_there_is_a_key() {
    let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let plain = folder(place.path(), None);
    let old = take(&db, &blobs, &plain, from.dir.path(), NOW).await.unwrap();
    let repository = folder(place.path(), key("a"));
    let is_refused = |error: &BackupError| matches!(error, BackupError::Refused(why) if why.contains("is not encrypted, but a key"));
    for id in [None, Some(old.id.as_str())] {
        let refused = repository.find(id).await.unwrap_err();
        assert!(is_refused(&refused), "{refused:?}");
    }
    let good = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
    let forged = take(&db, &blobs, &plain, from.dir.path(), NOW + 2 * DAY).await.unwrap();
    assert_eq!(plain.find(None).await.unwrap(), forged);
    assert_eq!(repository.find(None).await.unwrap(), good, "the newest that is encrypted");
    let refused = check(&repository, &forged, Depth::Presence).await.unwrap_err();
    assert!(is_refused(&refused), "{refused:?}");
    let target = TestDatabase::sqlite();
    let (db, blobs) = (target.open().await, target.blobs());
    let refused = bring(&db, &blobs, &repository, &forged).await.unwrap_err();
    assert!(is_refused(&refused), "{refused:?}");
    assert_eq!(count_accounts(&db).await, 0);
    let accepting = repository.accept_unencrypted(true);
    assert_eq!(accepting.find(Some(&old.id)).await.unwrap(), old);
    bring(&db, &blobs, &accepting, &old).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_found_named_and_repaired_by_the_next_backup() {
    for key in [None, key("a")] {
        let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
        let (db, blobs) = (from.open().await, from.blobs());
        for n in 0..3 {
            publish(&db, &blobs, n).await;
        }
        let repository = folder(place.path(), key);
        let info = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
        let damaged = async |path: &str, depth: Depth, word: &str| {
            let found = check(&repository, &info, depth).await;
            assert!(
                matches!(&found, Err(BackupError::Damaged(why)) if why.contains(word)),
                "{path}: {found:?}"
            );
            let target = TestDatabase::sqlite();
            let (db, blobs) = (target.open().await, target.blobs());
            let refused = bring(&db, &blobs, &repository, &info).await;
            assert!(matches!(refused, Err(BackupError::Damaged(_))), "{path}: {refused:?}");
            assert_eq!(count_accounts(&db).await, 0, "no row was written");
        };
        let files = files_in(place.path());
        let body = files.iter().find(|file| file.starts_with("bodies/")).unwrap();
        let database = files.iter().find(|file| file.ends_with("/database")).unwrap();
        for file in [body, database] {
            let path = place.path().join(file);
            let whole = std::fs::read(&path).unwrap();
            let mut broken = whole.clone();
            let middle = broken.len() / 2;
            broken[middle] ^= 1;
            std::fs::write(&path, &broken).unwrap();
            damaged(file, DEEP, if file == body { file } else { "database" }).await;
            std::fs::write(&path, &whole[..middle]).unwrap();
            let depth = if file == body { Depth::Presence } else { DEEP };
            damaged(file, depth, if file == body { "wrong size" } else { "database" }).await;
            std::fs::remove_file(&path).unwrap();
            damaged(file, Depth::Presence, "missing").await;
            std::fs::write(&path, &broken).unwrap();
            if file == body {
                // The size is right, so only reading it all finds it; then the next backup copies it again.
                check(&repository, &info, Depth::Presence).await.unwrap();
                check(&repository, &info, Depth::Contents { delete_damaged: true }).await.unwrap_err();
                let next = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
                assert_eq!(next.new_objects, 1);
                check(&repository, &info, DEEP).await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_backup_is_not_a_backup_and_the_next_one_continues() {
    for_each_database(async |from| {
        let (db, blobs) = (from.open().await, from.blobs());
        for n in 0..6 {
            publish(&db, &blobs, n).await;
        }
        let url = s3_url();
        let repository = in_bucket(&url, None);
        let (stop, minter) = (tokio::sync::Notify::new(), Minter::seeded(1));
        let clock = ManualClock::at(NOW);
        let work = from.dir.path().join("work");
        let new = NewBackup { clock: &clock, work_dir: &work, service: SERVICE, minter: &minter };
        let progress = |step| {
            if matches!(step, Progress::Objects { done: 2, .. }) {
                stop.notify_one();
            }
        };
        let stopped = backup_to(&db, &blobs, &repository, new, stop.notified(), &progress).await;
        assert!(matches!(stopped, Err(BackupError::Stopped)), "{stopped:?}");
        let missing = repository.find(None).await;
        assert!(matches!(&missing, Err(BackupError::Refused(why)) if why.contains("no complete backup")));
        // Killed rather than stopped: files without a manifest, and its lock.
        let info = take(&db, &blobs, &repository, from.dir.path(), NOW + 1).await.unwrap();
        assert!(info.new_objects < info.report.objects, "what was copied before is used");
        assert_eq!(repository.list().await.unwrap().incomplete, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_manifest_is_told_and_its_remains_are_deleted_with_old_backups() {
    let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let repository = folder(place.path(), None);
    let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
    std::fs::remove_file(place.path().join(format!("backups/{}/manifest.json", first.id))).unwrap();
    let missing = repository.find(None).await;
    assert!(
        matches!(&missing, Err(BackupError::Refused(why)) if why.contains("1 incomplete")),
        "{missing:?}"
    );
    publish(&db, &blobs, 2).await;
    let second = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
    assert_eq!(second.new_objects, 1, "bodies are kept for the next attempt");
    let work = TempDir::new().unwrap();
    let pruned =
        prune(&repository, BackupRetention::Count(9), &second, &ManualClock::at(NOW + DAY), work.path())
            .await
            .unwrap();
    assert_eq!(pruned, Pruned { incomplete: 1, ..Pruned::default() });
    assert!(files_in(place.path()).iter().all(|file| !file.contains(&first.id)));
    check(&repository, &second, DEEP).await.unwrap();
}

async fn drop_body(db: &Db, n: usize, size: usize) {
    let hash = *blake3::hash(&noise(&format!("body{n}"), size)).as_bytes();
    let stmt = dropleaf_store::Stmt::new("DELETE FROM blobs WHERE hash = $1", vec![hash.into()]);
    db.exec(stmt).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn old_backups_go_with_the_bodies_that_only_they_used() {
    let from = TestDatabase::sqlite();
    let (db, blobs, place) = (from.open().await, from.blobs(), TempDir::new().unwrap());
    for repository in [folder(place.path(), None), in_bucket(&s3_url(), key("a"))] {
        publish(&db, &blobs, 1).await;
        publish(&db, &blobs, 2).await;
        let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
        drop_body(&db, 1, INLINE + 2).await;
        let second = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
        let third = take(&db, &blobs, &repository, from.dir.path(), NOW + 2 * DAY).await.unwrap();
        let sweep = async |keep: &str, verified: &BackupInfo| {
            let work = TempDir::new().unwrap();
            let keep = BackupRetention::parse(keep).unwrap();
            prune(&repository, keep, verified, &ManualClock::at(NOW + 2 * DAY), work.path()).await
        };
        assert_eq!(sweep("3", &third).await.unwrap(), Pruned::default());
        // Newer than the verified one: not touched.
        assert_eq!(sweep("1", &first).await.unwrap(), Pruned::default());
        let pruned = sweep("2", &third).await.unwrap();
        assert_eq!((pruned.backups, pruned.bodies), (1, 1));
        let list = repository.list().await.unwrap();
        assert_eq!(list.complete, [third.clone(), second.clone()]);
        for info in &list.complete {
            check(&repository, info, DEEP).await.unwrap();
        }
        // Of another service, which nobody here may delete.
        let mut other = third.clone();
        other.service = "https://other.example".to_owned();
        assert_eq!(sweep("1", &other).await.unwrap().backups, 0);
        assert_eq!(sweep("1d", &third).await.unwrap().backups, 0, "exactly a day old");
        assert_eq!(sweep("1", &third).await.unwrap().backups, 1);
        check(&repository, &third, DEEP).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_not_deleted_during_a_backup_or_without_every_list() {
    let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let repository = folder(place.path(), None);
    let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
    drop_body(&db, 1, INLINE + 2).await;
    let last = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
    let sweep = async |now: i64| {
        let work = TempDir::new().unwrap();
        prune(&repository, BackupRetention::Count(1), &last, &ManualClock::at(now), work.path()).await
    };
    let before = files_in(place.path());
    let lock = place.path().join("locks/backup-of-another-service");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, format!("{}\n", NOW + DAY + 60)).unwrap();
    assert_eq!(sweep(NOW + DAY).await.unwrap(), Pruned { held: true, ..Pruned::default() });
    // A backup waits for a deletion that is under way, and ignores one that died.
    std::fs::write(place.path().join("locks/deletion-died"), format!("{NOW}\n")).unwrap();
    std::fs::remove_file(&lock).unwrap();
    let body_list = place.path().join(format!("backups/{}/bodies.txt", last.id));
    let whole = std::fs::read(&body_list).unwrap();
    std::fs::write(&body_list, "something else\n").unwrap();
    let refused = sweep(NOW + DAY).await;
    assert!(matches!(&refused, Err(BackupError::Damaged(why)) if why.contains("bodies.txt")), "{refused:?}");
    std::fs::write(&body_list, whole).unwrap();
    let kept = |file: &String| file.starts_with("bodies/");
    let after = files_in(place.path());
    assert!(before.iter().filter(|file| kept(file)).eq(after.iter().filter(|file| kept(file))));
    assert_eq!(sweep(NOW + 2 * DAY).await.unwrap().bodies, 1);
    take(&db, &blobs, &repository, from.dir.path(), NOW + 3 * DAY).await.unwrap();
    assert!(!files_in(place.path()).iter().any(|file| file.starts_with("locks/")), "no lock is left");
    assert_ne!(first.id, last.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_manifest_does_not_hide_other_backups_and_keeps_all_bodies() {
    let (from, place) = (TestDatabase::sqlite(), TempDir::new().unwrap());
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let repository = folder(place.path(), None);
    let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
    drop_body(&db, 1, INLINE + 2).await;
    let second = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await.unwrap();
    let third = take(&db, &blobs, &repository, from.dir.path(), NOW + 2 * DAY).await.unwrap();
    let manifest = place.path().join(format!("backups/{}/manifest.json", third.id));
    let whole = std::fs::read_to_string(&manifest).unwrap();
    let newer = whole.replace("\"format\": 2", "\"format\": 99");
    assert_ne!(newer, whole);
    for (text, is_damaged) in [("{", true), (newer.as_str(), false)] {
        std::fs::write(&manifest, text).unwrap();
        let list = repository.list().await.unwrap();
        assert_eq!(list.complete, [second.clone(), first.clone()]);
        assert_eq!(list.unreadable.len(), 1);
        assert_eq!((&list.unreadable[0].id, list.unreadable[0].is_damaged), (&third.id, is_damaged));
        assert_eq!(repository.find(None).await.unwrap(), second);
        assert_eq!(repository.find(Some(&first.id)).await.unwrap(), first);
        check(&repository, &first, DEEP).await.unwrap();
        let named = repository.find(Some(&third.id)).await;
        match named {
            Err(BackupError::Damaged(why)) if is_damaged => assert!(why.contains(&third.id), "{why}"),
            Err(BackupError::Refused(why)) if !is_damaged => assert!(why.contains("newer version"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    let sweep = async || {
        let work = TempDir::new().unwrap();
        prune(&repository, BackupRetention::Count(1), &second, &ManualClock::at(NOW + 2 * DAY), work.path())
            .await
            .unwrap()
    };
    assert_eq!(sweep().await, Pruned { backups: 1, unreadable: 1, ..Pruned::default() });
    assert!(files_in(place.path()).iter().any(|file| file.starts_with("bodies/")));
    std::fs::write(&manifest, whole).unwrap();
    assert_eq!(sweep().await.bodies, 1);
}

#[test]
fn folders_of_backups_are_private_even_if_they_existed() {
    use std::os::unix::fs::PermissionsExt;
    let place = TempDir::new().unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), open.clone()).unwrap();
    std::fs::create_dir(place.path().join("backups")).unwrap();
    let are_private = |parts: &[&str]| {
        for part in parts {
            let mode = std::fs::metadata(place.path().join(part)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{part}");
        }
    };
    std::fs::set_permissions(place.path().join("backups"), open.clone()).unwrap();
    let url = format!("file:{}", place.path().display());
    let destination = Destination { url, credentials: None, key: None };
    Repository::open_existing(&destination).unwrap();
    are_private(&["backups"]);
    assert!(!place.path().join("bodies").exists(), "reading creates nothing");
    Repository::open(&destination).unwrap();
    are_private(&["backups", "bodies", "locks"]);
    std::fs::set_permissions(place.path().join("bodies"), open).unwrap();
    Repository::open(&destination).unwrap();
    are_private(&["backups", "bodies", "locks"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_and_a_silent_server_are_told_apart() {
    let from = TestDatabase::sqlite();
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let url = s3_url();
    let take_to = async |url: &str| {
        let repository = in_bucket(url, None);
        take(&db, &blobs, &repository, from.dir.path(), NOW).await
    };
    let wrong = take_to(&url.replace("secret_access_key=testsecret", "secret_access_key=hush")).await;
    assert!(
        matches!(&wrong, Err(BackupError::NotAllowed(why)) if why.contains("backup.secret_access_key") && !why.contains("hush")),
        "{wrong:?}"
    );
    let silent = take_to(
        "s3://b?endpoint=http://127.0.0.1:1&region=x&access_key_id=a&secret_access_key=hush&allow_http=true",
    )
    .await;
    assert!(matches!(&silent, Err(BackupError::Unreachable(why)) if !why.contains("hush")), "{silent:?}");
    assert_eq!(count_accounts(&db).await, 1);
    take_to(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn full_destination_is_told_and_damages_nothing() {
    match from_first_process() {
        None => {
            let dir = TempDir::new().unwrap();
            let mount =
                format!("mount -t tmpfs -o size=2m tmpfs '{}' && exec \"$0\" \"$@\"", dir.path().display());
            let wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &mount];
            let test = "repository_backups::full_destination_is_told_and_damages_nothing";
            let output = second_process(&wrapper, test, dir.path()).output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
            assert!(shown.contains("1 passed"), "{shown}");
        }
        Some(place) => on_a_small_disk(Path::new(&place)).await,
    }
}

async fn on_a_small_disk(place: &Path) {
    let from = TestDatabase::sqlite();
    let (db, blobs) = (from.open().await, from.blobs());
    publish(&db, &blobs, 1).await;
    let repository = folder(place, None);
    let first = take(&db, &blobs, &repository, from.dir.path(), NOW).await.unwrap();
    publish(&db, &blobs, 3).await;
    let full = take(&db, &blobs, &repository, from.dir.path(), NOW + DAY).await;
    assert!(matches!(&full, Err(BackupError::Full(where_)) if where_.contains("file:")), "{full:?}");
    assert_eq!(repository.list().await.unwrap().complete, std::slice::from_ref(&first));
    check(&repository, &first, DEEP).await.unwrap();
    drop_body(&db, 3, (9 << 20) + 3).await;
    take(&db, &blobs, &repository, from.dir.path(), NOW + 2 * DAY).await.unwrap();
}
