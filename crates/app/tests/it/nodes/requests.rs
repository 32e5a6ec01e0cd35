//! The rate limits of keys, accounts and anonymous clients: nodes together never allow more than the limit.

use super::{Cluster, Node, viewer};
use dropleaf_app::Identity;
use dropleaf_core::account::Account;
use dropleaf_core::network::client_network;
use dropleaf_core::rate::Rate;
use dropleaf_core::scope::Scopes;
use dropleaf_core::version_maker::VersionMaker;
use dropleaf_core::{Code, Error};
use dropleaf_store::{Db, Stmt};
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const TWENTY: Rate = Rate { name: "key_minute", limit: 20, window_seconds: 60 };

fn identity(account: &Account, key: &str) -> Identity {
    Identity {
        account: account.clone(),
        scopes: Scopes::ALL,
        rate_limit_key: key.into(),
        grant_id: None,
        maker: VersionMaker::api_key(key, "laptop"),
    }
}

/// What is left after the request; `None` if it was refused.
async fn take(node: &Node, who: &Identity) -> Option<i64> {
    match node.app.take_request(who, viewer(1)).await {
        Ok(standing) => Some(standing.unwrap().remaining),
        Err(Error { code: Code::RateLimited, .. }) => None,
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn one_node_allows_the_whole_limit_with_exact_headers() {
    let cluster = Cluster::open(|settings| settings.rates.key_minute = TWENTY).await;
    let node = cluster.node(0).await;
    let who = identity(&node.account().await, "key_a");
    for n in 1..=20 {
        assert_eq!(take(&node, &who).await, Some(20 - n));
    }
    assert_eq!(take(&node, &who).await, None);
    node.clock.advance(60);
    assert_eq!(take(&node, &who).await, Some(19));
    cluster.remove([node]).await;
}

#[tokio::test]
async fn two_nodes_never_allow_more_than_the_limit() {
    let cluster = Cluster::open(|settings| settings.rates.key_minute = TWENTY).await;
    let nodes = cluster.two().await;
    let who = identity(&nodes[0].account().await, "key_a");
    for _ in 0..3 {
        let all = nodes.iter().flat_map(|node| (0..40).map(|_| take(node, &who)));
        let allowed = join_all(all).await.into_iter().flatten().count();
        // What one node has reserved and not spent is little when the limit is near.
        assert!((18..=20).contains(&allowed), "{allowed}");
        for node in &nodes {
            node.clock.advance(60);
        }
    }
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn keys_share_the_limit_of_their_account_on_all_nodes() {
    let six = Rate { name: "account_minute", limit: 6, window_seconds: 60 };
    let cluster = Cluster::open(|settings| settings.rates.account_minute = six).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let mut allowed = 0;
    for n in 0..12 {
        let who = identity(&account, if n % 3 == 0 { "key_a" } else { "key_b" });
        allowed += i32::from(take(&nodes[n % 2], &who).await.is_some());
    }
    assert_eq!(allowed, 6);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn a_node_in_another_minute_does_not_reset_the_count() {
    let cluster = Cluster::open(|settings| settings.rates.key_minute = TWENTY).await;
    let nodes = [cluster.node(0).await, cluster.node(60).await];
    let who = identity(&nodes[0].account().await, "key_a");
    let mut allowed = 0;
    for n in 0..200 {
        allowed += i32::from(take(&nodes[n % 2], &who).await.is_some());
    }
    assert!((20..=40).contains(&allowed), "two minutes at most, not {allowed} requests");
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn what_is_reserved_is_spent_without_the_database_and_no_more() {
    let cluster = Cluster::open(|settings| settings.rates.key_minute = TWENTY).await;
    let node = cluster.node(0).await;
    let who = identity(&node.account().await, "key_a");
    assert_eq!(take(&node, &who).await, Some(19));
    cluster.database.remove().await;
    // Two were reserved.
    assert_eq!(take(&node, &who).await, Some(18));
    let error = node.app.take_request(&who, viewer(1)).await.unwrap_err();
    assert_eq!(error.code, Code::StorageUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn anonymous_callers_do_not_hold_up_those_that_are_signed_in() {
    let attempts = Rate { name: "paid_attempts", limit: 20, window_seconds: 60 };
    let cluster = Cluster::open(|settings| {
        settings.rates.key_minute = TWENTY;
        settings.rates.paid_attempts = attempts;
    })
    .await;
    let node = cluster.node(0).await;
    let who = identity(&node.account().await, "key_a");
    // Rows of four networks that are not committed, so that counting their requests waits.
    let mut stmts: Vec<Stmt> = (0..4)
        .map(|n| {
            let network = node.app.hash_client(&client_network(viewer(n).unwrap()));
            let key = format!("{}:{network}", attempts.name);
            let sql = "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, 0, 0, 0)";
            Stmt::new(sql, [key.into()])
        })
        .collect();
    stmts.push(Stmt::new("SELECT CAST(pg_sleep(600) AS TEXT)", []).slow());
    let observer = Db::open(cluster.url()).await.unwrap();
    let wait_for = async |sql: &'static str, expected: i64| {
        while observer.get(sql, &[], |row| row.int(0)).await.unwrap() != Some(expected) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let mut blocker = JoinSet::new();
    blocker.spawn({
        let db = Db::open(cluster.url()).await.unwrap();
        async move { db.batch(stmts).await.map(|_| ()) }
    });
    wait_for(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
        1,
    )
    .await;
    let flood = join_all((0..12).map(|n| node.app.take_paid_attempt(viewer(n))));
    let signed_in = async {
        wait_for(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
            4,
        )
        .await;
        let begun = Instant::now();
        assert_eq!(take(&node, &who).await, Some(19));
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        // Not repeated when its connection is lost.
        blocker.shutdown().await;
        wait_for(
            "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event = 'PgSleep'",
            0,
        )
        .await;
    };
    let (answers, ()) = tokio::join!(flood, signed_in);
    assert!(answers.iter().any(Result::is_ok), "they are served when the rows are free");
    observer.close().await;
    cluster.remove([node]).await;
}
