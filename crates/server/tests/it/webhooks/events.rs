//! The events of a page's life, each written with the change it tells of, on both databases.

use super::{comment, create, publish, setup};
use crate::harness::{DAY, Form, ReceivedMessage, WebhookReceiver, on_each_database, page, site_path};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn views_comments_burns_takedowns_and_expiries_are_events() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        create(node, &receiver).await;
        let site = publish(node).await;
        let url = site["url"].as_str().unwrap();
        for _ in 0..3 {
            node.get(url).send().await.expect(200);
        }
        node.app().flush_views().await.unwrap();
        node.get(url).send().await.expect(200);
        node.app().flush_views().await.unwrap();
        let first = receiver.wait_for(1).await;
        assert_eq!(first[0].event_type(), "site.first_viewed");
        assert_eq!(first[0].json()["data"]["site_id"], site["id"]);
        let id = comment(node, &site).await;
        for _ in 0..2 {
            let resolve = format!("/feedback/{id}/resolve");
            node.post(&resolve).key(&node.key).json(&json!({})).send().await.expect(200);
        }
        receiver.wait_for(3).await;
        node.app().take_down("test", site["id"].as_str().unwrap(), "phishing").await.unwrap();
        receiver.wait_for(4).await;
        let burn = node.publish(Form::file("b.html", page("Once")).field("burn_after_read", "true")).await;
        // A program that is not a browser gets the page at once.
        node.get(burn["url"].as_str().unwrap()).send().await.expect(200);
        receiver.wait_for(5).await;
        let short = node.publish(Form::file("c.html", page("Short")).field("expires_in_hours", "240")).await;
        node.clock.advance(8 * DAY);
        node.app().sweep().await.unwrap();
        node.clock.advance(3 * DAY);
        node.app().sweep().await.unwrap();
        let is_short = |it: &ReceivedMessage| it.json()["data"]["site_id"] == short["id"];
        let received = receiver.wait_until(|all| all.iter().filter(|it| is_short(it)).count() == 2).await;
        let types: Vec<String> = received.iter().map(|it| it.event_type()).collect();
        let first =
            ["site.first_viewed", "feedback.created", "feedback.resolved", "site.taken_down", "site.burnt"];
        assert_eq!(types[..5], first);
        let of_short: Vec<_> = received.iter().filter(|it| is_short(it)).collect();
        assert_eq!([of_short[0].event_type(), of_short[1].event_type()], ["site.expiring", "site.expired"]);
        for message in &received {
            for hidden in ["private remark", site["unlisted_token"].as_str().unwrap(), "http", "@"] {
                assert!(!message.body.contains(hidden), "{}", message.body);
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_one_page_hears_of_that_page_only() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let (one, other) = (publish(node).await, publish(node).await);
        let body = json!({"url": receiver.url(), "site_id": one["id"], "events": ["feedback.created"]});
        node.post("/webhooks").key(&node.key).json(&body).send().await.expect(201);
        comment(node, &other).await;
        node.delete(&site_path(&other)).key(&node.key).send().await.expect(200);
        let id = comment(node, &one).await;
        let received = receiver.wait_for(1).await;
        assert_eq!(received[0].json()["data"]["feedback_id"], json!(id));
        assert_eq!(received[0].json()["data"]["site_id"], one["id"]);
        assert_eq!(received.len(), 1);
    })
    .await;
}
