//! Guesses at a password: counted for all nodes together, before anything is hashed.

use super::{Cluster, Node, viewer};
use dropleaf_app::Browser;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::rate::Rate;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error};

const RIGHT: &str = "correct horse";

async fn gated_page(node: &Node) -> Site {
    let account = node.account().await;
    let options = UploadOptions { password: Some(RIGHT.into()), ..UploadOptions::default() };
    node.publish(&account, options).await
}

/// Whether the guess was checked; otherwise after how many seconds it may be repeated.
async fn guess(node: &Node, site: &Site, password: &str, from: u8) -> Result<bool, Option<i64>> {
    match node.app.check_password(site, password, viewer(from)).await {
        Ok(is_right) => Ok(is_right),
        Err(Error { code: Code::RateLimited, retry_after, .. }) => Err(retry_after),
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn a_network_has_five_guesses_on_all_nodes_together() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let site = gated_page(&nodes[0]).await;
    for n in 0..5 {
        assert_eq!(guess(&nodes[n % 2], &site, "wrong", 1).await, Ok(false));
    }
    let hashed = nodes[0].app.hashed_passwords() + nodes[1].app.hashed_passwords();
    for node in &nodes {
        assert_eq!(guess(node, &site, "wrong", 1).await, Err(Some(10)));
        assert_eq!(guess(node, &site, RIGHT, 1).await, Err(Some(10)), "not even the right one");
    }
    let after = nodes[0].app.hashed_passwords() + nodes[1].app.hashed_passwords();
    assert_eq!(after, hashed, "nothing was hashed");
    assert_eq!(guess(&nodes[1], &site, "wrong", 2).await, Ok(false), "another network");

    // One more every ten seconds, on one of the nodes.
    for node in &nodes {
        node.clock.advance(10);
    }
    assert_eq!(guess(&nodes[1], &site, "wrong", 1).await, Ok(false));
    assert_eq!(guess(&nodes[0], &site, "wrong", 1).await, Err(Some(10)));
    let keys = cluster.rows("SELECT key FROM counters", |row| row.string(0)).await;
    assert!(keys.iter().any(|key| key.starts_with("gate_guesses:")), "{keys:?}");
    assert!(keys.iter().all(|key| !key.contains("203.0")), "no address is stored: {keys:?}");

    // Full buckets leave no rows.
    for node in &nodes {
        node.clock.advance(2 * 86_400);
    }
    nodes[0].app.sweep().await.unwrap();
    assert_eq!(cluster.count("SELECT COUNT(*) FROM counters").await, 0);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn a_right_password_is_no_guess_on_any_node() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let site = gated_page(&nodes[0]).await;
    for n in 0..4 {
        assert_eq!(guess(&nodes[n % 2], &site, "wrong", 1).await, Ok(false));
    }
    for _ in 0..3 {
        assert_eq!(guess(&nodes[0], &site, RIGHT, 1).await, Ok(true));
        assert_eq!(guess(&nodes[1], &site, RIGHT, 1).await, Ok(true));
    }
    assert_eq!(guess(&nodes[1], &site, "wrong", 1).await, Ok(false), "the fifth wrong one");
    assert_eq!(guess(&nodes[0], &site, "wrong", 1).await, Err(Some(10)));
    assert_eq!(guess(&nodes[0], &site, RIGHT, 1).await, Ok(true), "remembered for this network");
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn sign_in_codes_are_tried_five_times_on_all_nodes_together() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let browser = Browser { ip: viewer(1), ..Browser::default() };
    let mut codes = Vec::new();
    for n in 0..8 {
        let refused = nodes[n % 2].app.sign_in_by_code("visit", "12345678", &browser).await.unwrap_err();
        codes.push(refused.code);
    }
    assert_eq!(codes[..5], [Code::InvalidCode; 5]);
    assert_eq!(codes[5..], [Code::RateLimited; 3]);
    let elsewhere = Browser { ip: viewer(2), ..Browser::default() };
    let refused = nodes[0].app.sign_in_by_code("visit", "12345678", &elsewhere).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidCode);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn a_page_has_so_many_guesses_a_minute_on_all_nodes_together() {
    let three = Rate { name: "gate_site_minute", limit: 3, window_seconds: 60 };
    let cluster = Cluster::open(|settings| settings.rates.gate_site_minute = three).await;
    let nodes = cluster.two().await;
    let site = gated_page(&nodes[0]).await;
    for from in 0..3 {
        assert_eq!(guess(&nodes[usize::from(from) % 2], &site, "wrong", from).await, Ok(false));
    }
    for node in &nodes {
        assert!(guess(node, &site, "wrong", 9).await.is_err());
        node.clock.advance(60);
    }
    // What was refused did not count against the network.
    for n in 0..3 {
        assert_eq!(guess(&nodes[n % 2], &site, "wrong", 9).await, Ok(false));
    }
    assert!(guess(&nodes[1], &site, "wrong", 8).await.is_err());
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn different_clocks_do_not_open_the_limit() {
    let minute = Rate { name: "gate_site_minute", limit: 4, window_seconds: 60 };
    for (ahead, most_by_network) in [(30, 8), (-30, 5), (600, 65), (-600, 5)] {
        let cluster = Cluster::open(|_| {}).await;
        let nodes = [cluster.node(0).await, cluster.node(ahead).await];
        let site = gated_page(&nodes[0]).await;
        let mut checked = 0;
        // Five per node at most, because each has its own bucket too.
        for n in 0..20 {
            checked += i32::from(guess(&nodes[n % 2], &site, "wrong", 1).await.is_ok());
        }
        assert!((5..=most_by_network).contains(&checked), "{checked} guesses with {ahead} s");
        cluster.remove(nodes).await;

        // A node in another minute does not begin the minute of the others again and again.
        let cluster = Cluster::open(|settings| settings.rates.gate_site_minute = minute).await;
        let nodes = [cluster.node(0).await, cluster.node(ahead).await];
        let site = gated_page(&nodes[0]).await;
        let mut checked = 0;
        for from in 0..20 {
            checked += i32::from(guess(&nodes[usize::from(from) % 2], &site, "wrong", from).await.is_ok());
        }
        assert!((4..=8).contains(&checked), "{checked} guesses in two minutes with {ahead} s");
        cluster.remove(nodes).await;
    }
}

#[tokio::test]
async fn nothing_can_be_guessed_without_the_database() {
    let cluster = Cluster::open(|_| {}).await;
    let node = cluster.node(0).await;
    let site = gated_page(&node).await;
    assert_eq!(guess(&node, &site, RIGHT, 1).await, Ok(true));
    let hashed = node.app.hashed_passwords();
    cluster.database.remove().await;
    for password in ["wrong", RIGHT] {
        let error = node.app.check_password(&site, password, viewer(2)).await.unwrap_err();
        assert_eq!(error.code, Code::StorageUnavailable);
    }
    assert_eq!(node.app.hashed_passwords(), hashed);
    assert_eq!(guess(&node, &site, RIGHT, 1).await, Ok(true), "this network had entered it before");
}
