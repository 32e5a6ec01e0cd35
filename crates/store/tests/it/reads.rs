//! `get` and `list`: round trips of every type, several databases at once.

use dropleaf_store::{Db, DbError, Stmt, Val};

use crate::harness::{TestDatabase, account, count_accounts, for_each_db, text};

#[tokio::test(flavor = "multi_thread")]
async fn every_type_survives_the_way_there_and_back() {
    for_each_db(async |db| {
        let insert = "INSERT INTO blobs (hash, encoding, size_bytes, stored_bytes, body, object_key, touched_at, refs) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, 1)";
        let args: Vec<Val> = vec![
            [9; 32].into(),
            "Grüße 🍃 'quoted'".into(),
            i64::MAX.into(),
            i64::MIN.into(),
            vec![0, 255, 39].into(),
            Val::Null,
            u64::MAX.into(),
        ];
        db.exec(Stmt::new(insert, args)).await.unwrap();
        let sql = "SELECT hash, encoding, size_bytes, stored_bytes, body, object_key, touched_at, \
                   body IS NULL, 1 FROM blobs WHERE hash = $1 AND encoding = $2";
        let args = [[9; 32].into(), "Grüße 🍃 'quoted'".into()];
        let found = db
            .get(sql, &args, |row| {
                assert_eq!(row.hash(0)?, [9; 32]);
                assert_eq!(row.text(1)?, "Grüße 🍃 'quoted'");
                assert_eq!((row.int(2)?, row.int(3)?), (i64::MAX, i64::MIN));
                assert_eq!(row.bytes(4)?, [0, 255, 39]);
                assert_eq!((row.opt_text(5)?, row.int(6)?), (None, i64::MAX));
                assert_eq!((row.flag(7)?, row.int(8)?), (false, 1));
                assert!(row.text(5).is_err() && row.text(0).is_err() && row.int(1).is_err() && row.hash(4).is_err());
                Ok(())
            })
            .await;
        assert_eq!(found.unwrap(), Some(()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_takes_the_first_row_and_list_all() {
    for_each_db(async |db| {
        assert_eq!(db.get("SELECT id FROM accounts", &[], text).await.unwrap(), None);
        db.batch((0..50).map(|n| account(&format!("a{n:02}"))).collect()).await.unwrap();
        let first = db.get("SELECT id FROM accounts ORDER BY id", &[], text).await.unwrap();
        assert_eq!(first.as_deref(), Some("a00"));
        let some = db.list(
            "SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2",
            vec!["a10".into(), 3_i64.into()],
            text,
        );
        assert_eq!(some.await.unwrap(), ["a11", "a12", "a13"]);
        let lists = (0..20).map(|_| db.list("SELECT id FROM accounts", vec![], text));
        for list in futures_util::future::join_all(lists).await {
            assert_eq!(list.unwrap().len(), 50);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_see_every_acknowledged_write() {
    for_each_db(async |db| {
        for n in 1..=100 {
            db.exec(account(&format!("a{n}"))).await.unwrap();
            assert_eq!(count_accounts(db).await, n);
        }
        db.ping().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn databases_of_one_process_do_not_mix() {
    let databases: Vec<TestDatabase> = (0..3).map(|_| TestDatabase::sqlite()).collect();
    let mut dbs: Vec<Db> = Vec::new();
    for database in &databases {
        dbs.push(database.open().await);
    }
    for (n, db) in dbs.iter().enumerate() {
        db.exec(account(&format!("only{n}"))).await.unwrap();
    }
    for (n, db) in dbs.iter().enumerate() {
        let id = db.get("SELECT id FROM accounts", &[], text).await.unwrap();
        assert_eq!(id, Some(format!("only{n}")));
    }
}

#[tokio::test]
async fn file_is_private_and_its_folder_is_made() {
    use std::os::unix::fs::PermissionsExt;
    let database = TestDatabase::sqlite();
    let db = database.open().await;
    db.exec(account("a")).await.unwrap();
    for name in ["dropleaf.db", "dropleaf.db-wal", "dropleaf.db-shm"] {
        let mode =
            std::fs::metadata(database.dir.path().join("data").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn unreachable_databases_are_unavailable() {
    let nobody = Db::open("postgres://postgres@127.0.0.1:1/none").await;
    assert!(matches!(nobody, Err(DbError::Unavailable(_))), "{nobody:?}");
    let folder = tempfile::TempDir::new().unwrap();
    let not_a_file = Db::open(&format!("sqlite:{}", folder.path().display())).await;
    assert!(matches!(not_a_file, Err(DbError::Unavailable(_))), "{not_a_file:?}");
    assert!(matches!(Db::open("mysql://x").await, Err(DbError::Internal(_))));
}
