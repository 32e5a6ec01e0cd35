//! Storage limits for pages without an account: per network, and in total.

use crate::harness::{Answer, DAY, Form, Node, Setup, on_each_database, site_path};
use serde_json::{Value, json};

/// With the overhead counted per version, a little more than 10,000 bytes.
const PAGE_BYTES: usize = 6000;

async fn publish(node: &Node, client: &str) -> Answer {
    let form = Form::file("a.html", vec![b'x'; PAGE_BYTES]);
    node.post("/sites").header("x-forwarded-for", client).form(form).send().await
}

/// Three pages fit per network, five in total.
fn narrow() -> Setup {
    Setup::new()
        .with_rates()
        .set("trusted_proxies", "127.0.0.0/8")
        .set("limits.anonymous_network_bytes", "32000")
        .set("limits.anonymous_bytes", "52000")
}

async fn used(node: &Node) -> i64 {
    node.count("SELECT COALESCE(MAX(bytes), 0) FROM anonymous_usage WHERE key = 'all'").await
}

#[tokio::test]
async fn network_and_server_hold_so_much_under_a_race() {
    on_each_database(narrow, async |node| {
        let race = futures_util::future::join_all((0..8).map(|_| publish(node, "203.0.113.7"))).await;
        assert_eq!(race.iter().filter(|answer| answer.status == 201).count(), 3);
        let refused = race.into_iter().find(|answer| answer.status != 201).unwrap();
        let refused = refused.refused(507, "anonymous_storage_full");
        assert!(refused.text().contains("from your network") && refused.has("retry-after"));
        let others = (0..6).map(|n| format!("198.51.100.{n}"));
        let others =
            futures_util::future::join_all(others.map(|ip| async move { publish(node, &ip).await })).await;
        assert_eq!(others.iter().filter(|answer| answer.status == 201).count(), 2);
        let refused = others.into_iter().find(|answer| answer.status != 201).unwrap();
        assert!(refused.refused(507, "anonymous_storage_full").text().contains("on this server"));
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 5, "what was refused left nothing");
        node.post("/sites").key(&node.key).form(Form::file("a.html", "owned")).send().await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn claimed_and_erased_pages_give_their_room_back() {
    on_each_database(narrow, async |node| {
        let mut sites: Vec<Value> = Vec::new();
        for _ in 0..3 {
            sites.push(publish(node, "203.0.113.7").await.expect(201).json());
        }
        publish(node, "203.0.113.7").await.refused(507, "anonymous_storage_full");
        let claim = json!({"claim_token": sites[0]["claim_token"]});
        let claimed = node.post(&format!("{}/claim", site_path(&sites[0]))).key(&node.key).json(&claim);
        claimed.send().await.expect(200);
        node.app().sweep().await.unwrap();
        publish(node, "203.0.113.7").await.expect(201);
        publish(node, "203.0.113.7").await.refused(507, "anonymous_storage_full");
        // Expired, then erased once it can no longer be restored.
        node.clock.advance(2 * DAY);
        node.app().sweep().await.unwrap();
        node.clock.advance(2 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(used(node).await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM anonymous_sites").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM anonymous_usage").await, 1, "networks are forgotten");
        publish(node, "203.0.113.7").await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn new_versions_count_too() {
    on_each_database(narrow, async |node| {
        let site = publish(node, "203.0.113.7").await.expect(201).json();
        let token = site["claim_token"].as_str().unwrap();
        let replace = async || {
            let form = Form::file("a.html", vec![b'y'; PAGE_BYTES]);
            // From another network: the one that published the page is charged.
            let ask = node.put(&site_path(&site)).claim(token);
            ask.header("x-forwarded-for", "198.51.100.1").form(form).send().await
        };
        for _ in 0..2 {
            replace().await.expect(200);
        }
        replace().await.refused(507, "anonymous_storage_full");
        let before = used(node).await;
        node.app().sweep().await.unwrap();
        assert_eq!(used(node).await, before, "counted again it is the same");
        assert_eq!(node.count("SELECT MAX(version) FROM sites").await, 3);
    })
    .await;
}

#[tokio::test]
async fn wide_ipv6_network_holds_four_times_as_much_as_one_of_its_networks() {
    let setup =
        || narrow().set("limits.anonymous_network_bytes", "12000").set("limits.anonymous_bytes", "500000");
    on_each_database(setup, async |node| {
        for n in 0..4 {
            publish(node, &format!("2001:db8:1:{n}::1")).await.expect(201);
            publish(node, &format!("2001:db8:1:{n}::2")).await.refused(507, "anonymous_storage_full");
        }
        publish(node, "2001:db8:1:4::1").await.refused(507, "anonymous_storage_full");
        publish(node, "2001:db8:2::1").await.expect(201);
        publish(node, "203.0.113.7").await.expect(201);
        publish(node, "203.0.113.7").await.refused(507, "anonymous_storage_full");
        // The total, five networks, two /48 networks, and one address that counts once.
        assert_eq!(node.count("SELECT COUNT(*) FROM anonymous_usage").await, 1 + 5 + 2 + 1);
        let total = "SELECT CAST(SUM(bytes) AS BIGINT) FROM anonymous_usage";
        let before = node.count(total).await;
        node.app().sweep().await.unwrap();
        assert_eq!(node.count(total).await, before, "counted again it is the same");
        publish(node, "2001:db8:1:4::1").await.refused(507, "anonymous_storage_full");
    })
    .await;
}
