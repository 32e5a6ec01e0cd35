//! Counters, token buckets and reserved portions, on both databases, with nodes whose clocks differ.

use crate::harness::{NOW, TestDatabase, for_each_database, for_each_db};
use dropleaf_core::bucket::Bucket;
use dropleaf_core::portion::Reserved;
use dropleaf_core::rate::Rate;
use dropleaf_store::{Db, DbError, Store, counters, token_buckets, view_flushes};

const THREE: Rate = Rate { name: "three", limit: 3, window_seconds: 60 };
const FIVE: Bucket = Bucket { name: "five", burst: 5, refill_seconds: 10 };
/// The start of a window.
const START: i64 = NOW - NOW % 60;

async fn take(db: &Db, now: i64) -> bool {
    match db.batch(vec![counters::take("k", &THREE, now)]).await {
        Ok(_) => true,
        Err(DbError::Guard("three")) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn take_token(db: &Db, now: i64) -> bool {
    match db.batch(vec![token_buckets::take("b", &FIVE, now)]).await {
        Ok(_) => true,
        Err(DbError::Guard("five")) => false,
        Err(error) => panic!("{error}"),
    }
}

fn store(database: &TestDatabase, db: &Db) -> Store {
    Store::new(db.clone(), database.blobs())
}

#[tokio::test]
async fn a_window_is_full_until_it_ends() {
    for_each_database(async |database| {
        let db = database.open().await;
        let store = store(database, &db);
        for _ in 0..3 {
            assert!(take(&db, START).await);
        }
        assert!(!take(&db, START + 59).await);
        assert_eq!(store.count_used("k", &THREE, START + 59).await.unwrap(), 3);
        db.batch(vec![counters::give_back("k", &THREE, START + 59)]).await.unwrap();
        assert!(take(&db, START + 59).await);
        assert!(!take(&db, START + 59).await);
        assert!(take(&db, START + 60).await, "the next window");
        assert_eq!(store.count_used("k", &THREE, START + 60).await.unwrap(), 1);
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_node_that_is_behind_counts_in_the_window_that_another_began() {
    for_each_database(async |database| {
        let db = database.open().await;
        let store = store(database, &db);
        assert!(take(&db, START - 1).await);
        assert!(take(&db, START).await);
        // One node still sees the last minute. Alternating, they would each begin their own window again.
        for now in [START - 1, START] {
            assert!(take(&db, now).await);
        }
        for now in [START - 1, START, START - 3600] {
            assert!(!take(&db, now).await);
            assert_eq!(store.count_used("k", &THREE, now).await.unwrap(), 3);
        }
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_bucket_holds_its_burst_and_refills() {
    for_each_database(async |database| {
        let db = database.open().await;
        let store = store(database, &db);
        for _ in 0..5 {
            assert!(take_token(&db, NOW).await);
        }
        assert!(!take_token(&db, NOW + 9).await);
        assert_eq!(store.find_bucket("b").await.unwrap(), Some(NOW + 50));
        assert!(take_token(&db, NOW + 10).await);
        assert!(!take_token(&db, NOW + 10).await);
        db.batch(vec![token_buckets::give_back("b", &FIVE)]).await.unwrap();
        assert!(take_token(&db, NOW + 10).await);
        // A node that is behind gives out nothing that the others would not.
        assert!(!take_token(&db, NOW - 100).await);
        // After a pause it holds five again, and no more.
        for _ in 0..5 {
            assert!(take_token(&db, NOW + 1000).await);
        }
        assert!(!take_token(&db, NOW + 1000).await);
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn portions_add_up_to_the_limit() {
    for_each_database(async |database| {
        let db = database.open().await;
        let store = store(database, &db);
        let ten = Rate { name: "ten", limit: 10, window_seconds: 60 };
        let reserve = async |asked, now| store.reserve_portion("p", &ten, asked, now, "p").await.unwrap();
        let reserved = |used| Some(Reserved { window_at: START, used });
        assert_eq!(reserve(4, START).await, reserved(4));
        assert_eq!(reserve(4, START + 1).await, reserved(8));
        // Two of these four; the caller knows from the limit.
        assert_eq!(reserve(4, START - 1).await, reserved(12), "a node that is behind");
        assert_eq!(reserve(1, START + 59).await, None);
        let next = Some(Reserved { window_at: START + 60, used: 1 });
        assert_eq!(reserve(1, START + 60).await, next);
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn the_sweep_keeps_what_a_slower_clock_still_needs() {
    for_each_db(async |db| {
        let count = async || {
            let sql = "SELECT COUNT(*) FROM counters";
            db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
        };
        assert!(take(db, START).await);
        db.batch(vec![counters::delete_ended(START + 3600)]).await.unwrap();
        assert_eq!(count().await, 1);
        db.batch(vec![counters::delete_ended(START + 60 + 3600)]).await.unwrap();
        assert_eq!(count().await, 0);
        // A clock that was years ahead would stop the counter until then.
        assert!(take(db, START + 1_000_000_000).await);
        db.batch(vec![counters::delete_ended(START)]).await.unwrap();
        assert_eq!(count().await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_numbered_batch_of_views_is_accepted_once() {
    for_each_db(async |db| {
        let record = async |node, number| db.batch(vec![view_flushes::record(node, number, NOW)]).await;
        let is_written = |done| matches!(done, Err(DbError::Guard(view_flushes::WRITTEN)));
        record("a", 1).await.unwrap();
        assert!(is_written(record("a", 1).await));
        record("b", 1).await.unwrap();
        record("a", 2).await.unwrap();
        assert!(is_written(record("a", 2).await) && is_written(record("a", 1).await));
    })
    .await;
}
