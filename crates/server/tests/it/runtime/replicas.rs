//! A server that reads from a replica: its own changes are in force at once, and pages outlive the primary for a while.

use crate::harness::{Database, Node, PgServer, Setup, in_time, site_path};
use dropleaf_app::PageKey;
use serde_json::{Value, json};

async fn start() -> (Node, PgServer, PgServer) {
    let primary = PgServer::start();
    let replica = primary.start_replica();
    let setup = Setup::new().set("database.read_urls", replica.url()).set("views.stale_seconds", "60");
    let node = setup.database(Database::Postgres(primary.url())).start().await;
    (node, primary, replica)
}

fn path(site: &Value) -> String {
    format!("/p/{}/", site["unlisted_token"].as_str().unwrap())
}

/// Views a page until it is shown although the primary is away: from a row that is current, or one that is known to be older.
async fn is_shown_by_the_replica(node: &Node, site: &Value) {
    in_time("the page of the replica", async {
        loop {
            let answer = node.get(&path(site)).send().await;
            if answer.status == 200 {
                return;
            }
            assert_eq!(answer.status, 503, "{}", answer.text());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn own_changes_are_in_force_at_once() {
    let (node, _primary, _replica) = start().await;
    let site = node.publish_page("Changed").await;
    for round in 0..40 {
        node.clock.advance(1);
        node.get(&path(&site)).send().await.expect(200);
        node.patch_site(&site, json!({"email_gate_domain": "example.org"})).await.expect(200);
        for _ in 0..3 {
            assert_ne!(node.get(&path(&site)).send().await.status, 200);
            node.clock.advance(1);
        }
        let title = format!("Round {round}");
        node.patch_site(&site, json!({"email_gate_domain": null, "title": title})).await.expect(200);
        let listed: Value = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(listed["sites"][0]["title"], title);
    }
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    let listed: Value = node.get("/sites").key(&node.key).send().await.expect(200).json();
    assert_eq!(listed["sites"], json!([]));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_this_node_never_showed_comes_from_the_replica_when_the_primary_is_killed() {
    let (node, primary, replica) = start().await;
    let (open, gated) = (node.publish_page("Open").await, node.publish_page("Gated").await);
    node.patch_site(&gated, json!({"password": "secret"})).await.expect(200);
    let other = node.publish_page("Other").await;
    in_time("a current replica", async {
        let key = |site: &Value| PageKey::token(site["unlisted_token"].as_str().unwrap()).unwrap();
        while ![&open, &gated, &other].into_iter().all(|site| node.app().has_replica_of(&key(site))) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    primary.kill();
    is_shown_by_the_replica(&node, &open).await;
    node.get(&path(&gated)).send().await.expect(503);
    node.clock.advance(1);
    is_shown_by_the_replica(&node, &other).await;
    drop(replica);
    node.stop().await;
}
