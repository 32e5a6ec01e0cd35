//! The storage of pages without an account: totals stay right while pages are published and counted again.

use crate::harness::{TestDatabase, account, connect, for_each_database};
use dropleaf_store::anonymous_usage::{self, Networks, UsageLimits};
use dropleaf_store::{Db, Stmt, Store};
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const LIMITS: UsageLimits = UsageLimits { server_bytes: 1 << 40, network_bytes: 1 << 40 };
/// What a version counts besides its content.
const VERSION_BYTES: i64 = 4096;
/// Totals that differ from the pages they count. Those of networks without pages do not count.
const WRONG: &str = "SELECT COUNT(*) FROM anonymous_usage u WHERE u.bytes <> (SELECT COALESCE(SUM(a.bytes), 0) \
     FROM anonymous_sites a WHERE u.key = 'all' OR a.network = u.key OR a.wide = u.key)";
const ALL: &str = "SELECT bytes FROM anonymous_usage WHERE key = 'all'";

fn take(site: &str, network: &str, bytes: i64) -> Vec<Stmt> {
    let networks = Networks { own: network.to_owned(), wide: "wide".to_owned() };
    anonymous_usage::take(site, &networks, bytes, LIMITS)
}

fn version(site: &str, version: i64, bytes: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO site_versions (site_id, version, bundle_id, title, byte_size, file_count, e2e, created_at) \
         VALUES ($1, $2, 'b', '', $3, 1, 0, 0)",
        vec![site.into(), version.into(), bytes.into()],
    )
}

/// A new page, as it is published.
fn publish(site: &str, network: &str, bytes: i64) -> Vec<Stmt> {
    let mut stmts = vec![
        Stmt::new(
            "INSERT INTO sites (id, token, host_label, visibility, state, title, version, byte_size, created_at, \
             updated_at, agentation, csp_strict, e2e, gate_version, counted, view_count) \
             VALUES ($1, $2, '', 'unlisted', 'live', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            vec![site.into(), site.into()],
        ),
        version(site, 1, bytes),
    ];
    stmts.extend(take(site, network, bytes));
    stmts
}

async fn number(db: &Db, sql: &'static str) -> i64 {
    db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn recount_corrects_whatever_is_wrong() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let db = &store.db;
        store.recount_anonymous_usage().await.unwrap();
        // More than are read at once.
        for n in 0..450 {
            store.commit(publish(&format!("s{n:03}"), &format!("n{}", n % 3), 100)).await.unwrap();
        }
        let one = 100 + VERSION_BYTES;
        assert_eq!(number(db, ALL).await, 450 * one);
        store.recount_anonymous_usage().await.unwrap();
        assert_eq!((number(db, ALL).await, number(db, WRONG).await), (450 * one, 0), "nothing was wrong");
        let claim = "UPDATE sites SET account_id = 'a' WHERE id < 's300'";
        store.commit(vec![account("a"), Stmt::new(claim, [])]).await.unwrap();
        store.commit(vec![Stmt::new("UPDATE sites SET purged_at = 1 WHERE id = 's300'", [])]).await.unwrap();
        let forgotten = "DELETE FROM site_versions WHERE site_id = 's301'";
        store.commit(vec![Stmt::new(forgotten, []), version("s301", 2, 7)]).await.unwrap();
        let broken = "UPDATE anonymous_usage SET bytes = bytes + 5 WHERE key IN ('all', 'n1')";
        store.commit(vec![Stmt::new(broken, [])]).await.unwrap();
        store.recount_anonymous_usage().await.unwrap();
        assert_eq!(number(db, ALL).await, 148 * one + 7 + VERSION_BYTES);
        assert_eq!(number(db, WRONG).await, 0);
        store.commit(vec![Stmt::new("UPDATE sites SET purged_at = 1", [])]).await.unwrap();
        store.recount_anonymous_usage().await.unwrap();
        assert_eq!(number(db, "SELECT COUNT(*) FROM anonymous_usage").await, 1, "networks are forgotten");
        assert_eq!(number(db, ALL).await, 0);
        db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_are_right_while_pages_are_published_and_two_nodes_recount() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let db = &store.db;
        for n in 0..60 {
            store.commit(publish(&format!("old{n}"), &format!("n{}", n % 5), 1000)).await.unwrap();
        }
        store.commit(vec![account("a")]).await.unwrap();
        let publishing = join_all((0..4).map(|worker| {
            let store = &store;
            async move {
                for n in 0..40 {
                    let site = format!("new{worker}-{n}");
                    store.commit(publish(&site, &format!("n{}", n % 7), n)).await.unwrap();
                    let mut more = take(&site, &format!("n{}", n % 7), 3);
                    more.push(version(&site, 2, 3));
                    store.commit(more).await.unwrap();
                }
            }
        }));
        let claiming = async {
            for n in 0..60 {
                let claim = "UPDATE sites SET account_id = 'a' WHERE id = $1";
                store.commit(vec![Stmt::new(claim, [format!("old{n}").into()])]).await.unwrap();
            }
        };
        let recounting = async || {
            for _ in 0..15 {
                store.recount_anonymous_usage().await.unwrap();
            }
        };
        tokio::join!(publishing, claiming, recounting(), recounting());
        store.recount_anonymous_usage().await.unwrap();
        let right = "SELECT CAST(SUM(v.byte_size + 4096) AS BIGINT) FROM site_versions v JOIN sites s ON s.id = v.site_id \
                     WHERE s.account_id IS NULL";
        assert_eq!(number(db, ALL).await, number(db, right).await);
        assert_eq!(number(db, WRONG).await, 0);
        db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn publishing_without_an_account_leaves_connections_to_others() {
    let database = TestDatabase::postgres().await;
    let db = database.open().await;
    db.batch(publish("first", "n0", 1)).await.unwrap();
    let blocker = connect(&database.url).await;
    blocker.batch_execute("BEGIN; UPDATE anonymous_usage SET bytes = bytes WHERE key = 'all'").await.unwrap();
    let mut waiting = JoinSet::new();
    for n in 0..16 {
        let db = db.clone();
        waiting.spawn(async move { db.batch(publish(&format!("s{n}"), &format!("n{n}"), 1)).await });
    }
    // Nothing waits for a connection; those that are being opened count as waiting.
    let writes = |db: &Db| db.pool_use().into_iter().find(|pool| pool.work == "write").unwrap();
    while db.waiting_account_writes() < 12 || writes(&db).waiting > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let begun = Instant::now();
    db.batch(vec![account("a")]).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    blocker.batch_execute("COMMIT").await.unwrap();
    while let Some(answer) = waiting.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!(number(&db, ALL).await, 17 * (1 + VERSION_BYTES));
    db.close().await;
    database.remove().await;
}
