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
        let messages = receiver.wait_until(|all| all.iter().filter(|it| is_short(it)).count() == 2).await;
        let types: Vec<String> = messages.iter().map(ReceivedMessage::event_type).collect();
        let first =
            ["site.first_viewed", "feedback.created", "feedback.resolved", "site.taken_down", "site.burnt"];
        assert_eq!(types[..5], first);
        let of_short: Vec<_> = messages.iter().filter(|it| is_short(it)).collect();
        assert_eq!([of_short[0].event_type(), of_short[1].event_type()], ["site.expiring", "site.expired"]);
        for message in &messages {
            for hidden in ["private remark", site["unlisted_token"].as_str().unwrap(), "http", "@"] {
                assert!(!message.body.contains(hidden), "{}", message.body);
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_reopenings_and_bulk_changes_of_comments_are_events() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let body = json!({"url": receiver.url(), "events": ["feedback.replied", "feedback.reopened", "feedback.resolved"]});
        node.post("/webhooks").key(&node.key).json(&body).send().await.expect(201);
        let site = publish(node).await;
        let path = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
        let made = node.post(&path).json(&json!({"comment": "A private remark"})).send().await.expect(201).json();
        let (id, token) = (made["id"].as_str().unwrap(), made["viewer_token"].as_str().unwrap());
        let own = async |rest: &str, body: serde_json::Value| {
            let path = format!("{}/feedback{rest}", site_path(&site));
            node.post(&path).key(&node.key).json(&body).send().await
        };
        own(&format!("/{id}/replies"), json!({"text": "A private answer", "resolve": true})).await.expect(201);
        let reply = async |reopens: bool| {
            let ask = node.post(&format!("{path}/{id}/replies")).header("feedback-tokens", &format!("{id}:{token}"));
            ask.json(&json!({"text": "Private", "still_a_problem": reopens})).send().await.expect(201);
        };
        reply(false).await;
        reply(true).await;
        own("/resolve", json!({"ids": [id]})).await.expect(200);
        own("/resolve", json!({"ids": [id]})).await.expect(200);
        own(&format!("/{id}/reopen"), json!({})).await.expect(200);
        own(&format!("/{id}/reopen"), json!({})).await.expect(200);
        let other = comment(node, &site).await;
        let done = own("/resolve", json!({"ids": [id, other]})).await.expect(200).json();
        let account = node.app().get_account_by_email("operator@localhost").await.unwrap();
        let (ids, at) = (vec![id.to_owned(), other.clone()], done["resolved_at"].as_i64().unwrap());
        let undone = node.app().undo_resolve_feedback(&account, site["id"].as_str().unwrap(), ids, at).await;
        assert_eq!(undone.unwrap(), 2);
        // Refused, so there is no event either.
        own("/resolve", json!({"ids": [id, "fb_00000000000000000000"]})).await.refused(404, "not_found");
        let messages = receiver.wait_for(11).await;
        let types: Vec<String> = messages.iter().map(ReceivedMessage::event_type).collect();
        let expected = [
            "feedback.replied",
            "feedback.resolved",
            "feedback.replied",
            "feedback.replied",
            "feedback.reopened",
            "feedback.resolved",
            "feedback.reopened",
            "feedback.resolved",
            "feedback.resolved",
            "feedback.reopened",
            "feedback.reopened",
        ];
        assert_eq!(types, expected);
        for message in &messages {
            let data = &message.json()["data"];
            assert_eq!(data["site_id"], site["id"]);
            assert!(data["feedback_id"] == id || data["feedback_id"] == other.as_str(), "{data}");
            assert!(!message.body.to_lowercase().contains("private"), "{}", message.body);
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
        let messages = receiver.wait_for(1).await;
        assert_eq!(messages[0].json()["data"]["feedback_id"], json!(id));
        assert_eq!(messages[0].json()["data"]["site_id"], one["id"]);
        assert_eq!(messages.len(), 1);
    })
    .await;
}
