//! Another process, such as the command line, writes to the same SQLite file.

use std::process::Stdio;

use dropleaf_store::{Db, Stmt};

use crate::harness::{TestDatabase, account, count_accounts, from_first_process, second_process};

const EACH: i64 = 200;

async fn write(db: &Db, name: &str) {
    for round in 0..EACH / 10 {
        let writes =
            (0..10).map(|n| db.batch(vec![account(&format!("{name}-{round}-{n}")).one("new"), count_up()]));
        for answer in futures_util::future::join_all(writes).await {
            answer.unwrap();
        }
    }
}

fn count_up() -> Stmt {
    let sql = "INSERT INTO counters (key, window_at, used, ends_at) VALUES ('all', 0, 1, 0) \
               ON CONFLICT (key) DO UPDATE SET used = counters.used + 1";
    Stmt::new(sql, vec![])
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_write_one_file_and_nothing_is_lost() {
    match from_first_process() {
        None => first_process().await,
        Some(url) => {
            let db = Db::open(&url).await.unwrap();
            db.migrate(0).await.unwrap();
            write(&db, "there").await;
            db.close().await;
        }
    }
}

async fn first_process() {
    let database = TestDatabase::sqlite();
    let db = database.open().await;
    let mut other =
        second_process(&[], "processes::two_processes_write_one_file_and_nothing_is_lost", &database.url)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
    write(&db, "here").await;
    assert!(tokio::task::spawn_blocking(move || other.wait()).await.unwrap().unwrap().success());
    assert_eq!(count_accounts(&db).await, 2 * EACH);
    let used = db.get("SELECT used FROM counters", &[], |row| row.int(0)).await.unwrap();
    assert_eq!(used, Some(2 * EACH));
}

#[tokio::test]
async fn writes_of_others_are_told_from_our_own() {
    let database = TestDatabase::sqlite();
    let (here, there) = (database.open().await, database.open().await);
    let ask = async || here.data_version().await.unwrap().unwrap();
    let before = ask().await;
    write(&here, "here").await;
    assert!(here.batch(vec![account("here-0-0").one("new")]).await.is_err());
    assert_eq!(ask().await, before);
    there.batch(vec![account("there")]).await.unwrap();
    // Even with a write of our own in between.
    here.batch(vec![account("after")]).await.unwrap();
    let after = ask().await;
    assert_ne!(after, before);
    assert!(here.truncate_log().await.unwrap());
    here.batch(vec![account("last")]).await.unwrap();
    assert_eq!(ask().await, after);
    there.close().await;
    here.close().await;
}
