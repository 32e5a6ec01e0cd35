//! Limits over HTTP with two nodes on one database: what a caller may do does not depend on the node it reaches.

use crate::access::gates::{PASSWORD, basic, locked};
use crate::harness::{Database, Node, Setup};

const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

async fn two_nodes(database: &Database) -> [Node; 2] {
    let setup = || {
        Setup::new()
            .with_rates()
            .set("secret_key", SECRET)
            .set("trusted_proxies", "127.0.0.0/8")
            .set("limits.key_per_minute", "12")
            .database(database.clone())
    };
    [setup().start().await, setup().start().await]
}

async fn stop(nodes: [Node; 2], database: &Database) {
    for node in nodes {
        node.stop().await;
    }
    database.remove().await;
}

#[tokio::test]
async fn five_passwords_are_tried_on_two_nodes_not_ten() {
    let database = Database::postgres().await;
    let nodes = two_nodes(&database).await;
    let site = locked(&nodes[0], "Nodes").await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let guess = async |node: &Node, password: &str, from: &str| {
        node.get(&path)
            .from(from)
            .header("accept", "application/json")
            .header("authorization", &basic(password))
            .send()
            .await
    };
    for n in 0..5 {
        guess(&nodes[n % 2], "wrong", "203.0.113.7").await.refused(401, "wrong_password");
    }
    for node in &nodes {
        let refused = guess(node, PASSWORD, "203.0.113.7").await.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), "10");
        guess(node, PASSWORD, "203.0.113.8").await.expect(200);
    }
    let stored = nodes[0].rows("SELECT key FROM counters", vec![], |row| row.string(0)).await;
    assert!(stored.iter().all(|key| !key.contains("203.0")), "{stored:?}");
    stop(nodes, &database).await;
}

#[tokio::test]
async fn a_key_has_its_requests_on_two_nodes_together() {
    let database = Database::postgres().await;
    let nodes = two_nodes(&database).await;
    let key = nodes[0].key.clone();
    let mut allowed = 0;
    for n in 0..24 {
        let answer = nodes[n % 2].get("/me").key(&key).from("203.0.113.7").send().await;
        assert_eq!(answer.header("ratelimit-policy"), "\"key_minute\";q=12;w=60");
        match answer.status {
            200 => allowed += 1,
            _ => assert!(answer.refused(429, "rate_limited").header("ratelimit").contains(";r=0;")),
        }
    }
    // Portions are single requests here, so none is left unused on a node.
    assert_eq!(allowed, 12);
    stop(nodes, &database).await;
}
