//! View counts are written once, even if the node does not learn whether a batch was committed.

use super::pg_proxy::{NextCommit, PgProxy};
use super::{Cluster, Node};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::Site;

async fn views(cluster: &Cluster) -> i64 {
    cluster.count("SELECT view_count FROM sites").await
}

fn view(node: &Node, site: &Site, times: usize) {
    for _ in 0..times {
        node.app.count_view(site);
    }
}

#[tokio::test]
async fn views_are_counted_once_whatever_became_of_the_commit() {
    for next in [NextCommit::IsLost, NextCommit::LosesAnswer] {
        let cluster = Cluster::open(|_| {}).await;
        let proxy = PgProxy::start(cluster.url()).await;
        proxy.stay_silent_after_commit();
        let node = cluster.node_at(&proxy.url, 0).await;
        let site = node.publish(&node.account().await, UploadOptions::default()).await;
        view(&node, &site, 3);
        proxy.set_next_commit(next);
        tokio::select! {
            written = node.app.flush_views() => panic!("the answer was lost: {written:?}"),
            () = proxy.commit_lost() => {}
        }
        let expected = if next == NextCommit::LosesAnswer { 3 } else { 0 };
        assert_eq!(views(&cluster).await, expected, "{next:?}");
        view(&node, &site, 2);
        node.app.flush_views().await.unwrap();
        assert_eq!(views(&cluster).await, 5, "{next:?}");
        node.app.flush_views().await.unwrap();
        assert_eq!(views(&cluster).await, 5, "nothing is left");
        cluster.remove([node]).await;
    }
}

#[tokio::test]
async fn nodes_add_their_views() {
    let cluster = Cluster::open(|_| {}).await;
    let nodes = cluster.two().await;
    let site = nodes[0].publish(&nodes[0].account().await, UploadOptions::default()).await;
    for round in 1..=3 {
        for node in &nodes {
            view(node, &site, 2);
            node.app.flush_views().await.unwrap();
        }
        assert_eq!(views(&cluster).await, 4 * round);
    }
    cluster.remove(nodes).await;
}
