//! Changes of webhooks: lists of events that say nothing, and the form of the dashboard.

use super::{create, path, publish, setup};
use crate::harness::{WebhookReceiver, on_each_database, site_path};
use dropleaf_core::webhook::EventFilter;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_list_of_events_is_refused() {
    let node = setup().start().await;
    let receiver = WebhookReceiver::start().await;
    let empty = json!({"url": receiver.url(), "events": []});
    let refused = node.post("/webhooks").key(&node.key).json(&empty).send().await.expect(400);
    assert!(refused.text().contains("must name at least one event type"), "{}", refused.text());
    let made = create(&node, &receiver).await;
    let change = async |body: Value| node.patch(&path(&made, "")).key(&node.key).json(&body).send().await;
    change(json!({"events": ["site.burnt"]})).await.expect(200);
    change(json!({"events": []})).await.refused(400, "invalid_field");
    let read: Value = node.get(&path(&made, "")).key(&node.key).send().await.expect(200).json();
    assert_eq!(read["events"], json!(["site.burnt"]), "not all of them");
    let all: Value = change(json!({"events": ["*"]})).await.expect(200).json();
    assert_eq!(all["events"], json!(["*"]));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_limits_a_webhook_to_one_page_and_back() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let made = create(node, &receiver).await;
        let site = publish(node).await;
        let id = site["id"].as_str().unwrap();
        let tab = node.operator().await;
        let here = format!("/dashboard/webhooks/{}", made["id"].as_str().unwrap());
        let change = async |fields: &[(&str, &str)]| {
            let address = receiver.url();
            let fields = [&[("url", address.as_str()), ("description", "")], fields].concat();
            tab.submit(&format!("{here}/change"), &fields).await
        };
        let endpoint = async || node.app().list_webhooks(&tab.account, None).await.unwrap().remove(0);
        change(&[("site", id), ("event", "site.burnt")]).await.expect(303);
        let limited = endpoint().await;
        assert_eq!((limited.site_id.as_deref(), limited.events.names()), (Some(id), vec!["site.burnt"]));
        let selected = format!("<option value=\"{id}\" selected>");
        assert!(tab.get(&here).await.expect(200).text().contains(&selected));
        // A page that has ended stays selected, and the form can be saved.
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        assert!(tab.get(&here).await.expect(200).text().contains(&selected));
        change(&[("site", id)]).await.expect(303);
        let unlimited = endpoint().await;
        assert_eq!((unlimited.site_id.as_deref(), unlimited.events), (Some(id), EventFilter::All));
        change(&[("site", "site_aaaaaaaaaaaaaaaaaaaa")]).await.expect(404);
        change(&[("site", "")]).await.expect(303);
        assert_eq!(endpoint().await.site_id, None);
    })
    .await;
}
