//! View counts: documents only, no data about viewers, and a setting to disable them.

use crate::harness::{Form, NOW, Node, Setup, on_each_database, page, zip};
use serde_json::{Value, json};

#[tokio::test]
async fn only_whole_documents_are_counted() {
    on_each_database(Setup::new, async |node| {
        let archive = zip(&[("index.html", &page("Counted")), ("a.js", "1"), ("404.html", "<p>no")]);
        let site = node.publish(Form::file("s.zip", archive)).await;
        let url = site["url"].as_str().unwrap();
        node.clock.advance(7);
        node.get(url).send().await.expect(200);
        node.get(url).send().await.expect(200);
        node.head(url).send().await.expect(200);
        node.get(url).header("range", "bytes=0-3").send().await.expect(206);
        node.get(&format!("{url}a.js")).send().await.expect(200);
        node.get(&format!("{url}missing")).send().await.expect(404);
        node.get(url).browser().send().await.expect(307);
        let read = node.read_site(&site).await;
        assert_eq!((&read["view_count"], &read["last_viewed_at"]), (&json!(2), &json!(NOW + 7)));
        assert_eq!(read["updated_at"], site["updated_at"], "a view is no change");
        let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(list["sites"][0]["view_count"], 2, "seen before it is written");

        node.app().flush_views().await.unwrap();
        assert_eq!(node.read_site(&site).await["view_count"], 2);
        assert_eq!(node.count("SELECT view_count FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn counting_can_be_switched_off() {
    let node = Setup::new().set("views.count", "false").start().await;
    let site = node.publish_page("Uncounted").await;
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    let read = node.read_site(&site).await;
    assert_eq!((&read["view_count"], &read["last_viewed_at"]), (&json!(0), &Value::Null));
}

#[tokio::test]
async fn views_set_no_cookies_and_store_no_addresses() {
    let node = Node::start().await;
    let site = node.publish_page("Private").await;
    let view = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert!(!view.has("set-cookie"));
    node.app().flush_views().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM counters WHERE key LIKE '%127.0.0.1%'").await, 0);
}
