//! What an account may have a number of: nodes that add at the same time do not exceed it.

use super::{Cluster, Node};
use crate::fixture::{PLACES, upload};
use dropleaf_app::{Caller, NewDomain, NewPasskey, NewWebhook};
use dropleaf_core::account::Account;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::plan::{Plan, Plans};
use dropleaf_core::{Result, api_key, passkey};
use futures_util::future::join_all;

/// Adds this many at once on each of two nodes, and returns how many were accepted.
async fn race(nodes: &[Node; 2], each: usize, add: impl AsyncFn(&Node, usize) -> Result<()>) -> usize {
    let all = nodes.iter().enumerate().flat_map(|(place, node)| {
        let add = &add;
        (0..each).map(move |n| add(node, place * each + n))
    });
    join_all(all).await.into_iter().flatten().count()
}

async fn publish(node: &Node, account: &Account) -> Result<()> {
    let caller = Caller { account: Some(account.clone()), grant_id: None, ip: None, maker: None };
    let options = UploadOptions::default();
    node.app.create_site(&caller, upload(1), options, None, |_| Vec::new()).await.map(|_| ())
}

#[tokio::test]
async fn active_pages() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let added = race(&nodes, 6, async |node, _| publish(node, &account).await).await;
    assert_eq!(added, PLACES);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM sites").await, 4);
    assert_eq!(cluster.count("SELECT active_pages FROM accounts").await, 4);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn publishes_a_day() {
    let cluster = Cluster::open(|settings| {
        let plan = Plan { name: "small".into(), publishes_a_day: Some(3), ..Plan::unlimited() };
        settings.plans = Plans::new([plan]);
    })
    .await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let added = race(&nodes, 6, async |node, _| publish(node, &account).await).await;
    assert_eq!(added, 3);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM sites").await, 3);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn api_keys() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let add =
        async |node: &Node, _| node.app.create_key(&account, None, None, |_| Vec::new()).await.map(|_| ());
    for n in 0..api_key::MOST - 3 {
        add(&nodes[0], usize::try_from(n).unwrap()).await.unwrap();
    }
    assert_eq!(race(&nodes, 5, add).await, 3);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM api_keys").await, api_key::MOST);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn webhooks() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let added = race(&nodes, 6, async |node, _| {
        let new = NewWebhook::default();
        node.app.create_webhook(&account, None, new, None, |_| Vec::new()).await.map(|_| ())
    })
    .await;
    assert_eq!(added, 3);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM webhook_endpoints").await, 3);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn custom_domains() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let site = nodes[0].publish(&account, UploadOptions::default()).await;
    let added = race(&nodes, 6, async |node, n| {
        let hostname = format!("page{n}.example.org");
        let new = NewDomain { hostname, site: site.id.clone(), primary: false };
        node.app.add_domain(&account, new, None, |_| Vec::new()).await.map(|_| ())
    })
    .await;
    assert_eq!(added, 5);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM custom_domains").await, 5);
    cluster.remove(nodes).await;
}

#[tokio::test]
async fn passkeys() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let account = nodes[0].account().await;
    let most = usize::try_from(passkey::MOST).unwrap();
    let added = race(&nodes, most, async |node, n| {
        let new = NewPasskey {
            credential_id: n.to_be_bytes().to_vec(),
            user_handle: vec![7; 16],
            credential: "{}".into(),
        };
        node.app.add_passkey(&account, new, format!("key {n}")).await
    })
    .await;
    assert_eq!(added, most);
    assert_eq!(cluster.count("SELECT COUNT(*) FROM passkeys").await, passkey::MOST);
    cluster.remove(nodes).await;
}
