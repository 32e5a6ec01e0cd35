//! Deliveries: signatures, a receiver that is down, order, rotation, retries, on both databases.

use super::{comment, create, deliveries, path, publish, setup, until};
use crate::harness::{HOUR, WebhookReceiver, on_each_database};
use dropleaf_core::Clock;
use serde_json::{Value, json};

fn feedback_ids(received: &[crate::harness::ReceivedMessage]) -> Vec<String> {
    received.iter().map(|it| it.json()["data"]["feedback_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_signed_with_both_secrets_during_a_rotation() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let webhook = create(node, &receiver).await;
        let old = webhook["secret"].as_str().unwrap();
        node.post(&path(&webhook, "/test")).key(&node.key).send().await.expect(200);
        let first = receiver.wait_for(1).await.remove(0);
        assert_eq!(first.event_type(), "webhook.test");
        assert_eq!(first.header("content-type"), "application/json");
        assert!(first.is_signed_by(old, node.clock.now()));
        let rotated: Value =
            node.post(&path(&webhook, "/rotate")).key(&node.key).send().await.expect(200).json();
        let new = rotated["secret"].as_str().unwrap();
        assert!(!first.is_signed_by(new, node.clock.now()));
        node.post(&path(&webhook, "/test")).key(&node.key).send().await.expect(200);
        let second = receiver.wait_for(2).await.remove(1);
        assert!(second.is_signed_by(old, node.clock.now()) && second.is_signed_by(new, node.clock.now()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_was_down_for_an_hour_gets_everything_in_order() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        receiver.answer(503);
        let webhook = create(node, &receiver).await;
        let site = publish(node).await;
        let mut made = vec![comment(node, &site).await];
        let attempted = |count: i64| {
            move |found: &[Value]| {
                let oldest = found.last().unwrap();
                oldest["attempts"] == count && oldest["status"] == 503 && oldest["next_attempt_at"].is_i64()
            }
        };
        until(node, &webhook, "the first attempt", attempted(1)).await;
        for attempt in 2..=4 {
            made.push(comment(node, &site).await);
            // Past the next attempt: 5 s, 5 min, 30 min with jitter.
            node.clock.advance([6, 330, 1980][usize::try_from(attempt).unwrap() - 2]);
            until(node, &webhook, "another attempt", attempted(attempt)).await;
        }
        assert_eq!(receiver.received().len(), 4, "only the first one was tried");
        receiver.answer(200);
        node.clock.advance(3 * HOUR);
        let messages = receiver.wait_for(8).await;
        assert_eq!(feedback_ids(&messages[4..]), made);
        let all_delivered = |found: &[Value]| found.iter().all(|it| it["state"] == "delivered");
        until(node, &webhook, "the records", all_delivered).await;
        assert_eq!(receiver.received().len(), 8, "nothing twice");
        for message in &messages {
            assert!(!message.body.contains("private remark"));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_can_be_retried_and_a_redirect_is_a_failure() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        receiver.answer(302);
        let webhook = create(node, &receiver).await;
        let sent: Value = node.post(&path(&webhook, "/test")).key(&node.key).send().await.expect(200).json();
        until(node, &webhook, "the failure", |found| found[0]["status"] == 302).await;
        receiver.answer(200);
        let retry = path(&webhook, &format!("/deliveries/{}/retry", sent["id"].as_str().unwrap()));
        node.post(&retry).key(&node.key).send().await.expect(200);
        let found = until(node, &webhook, "the delivery", |found| found[0]["state"] == "delivered").await;
        assert_eq!((&found[0]["attempts"], &found[0]["error"]), (&json!(2), &Value::Null));
        // Also a delivered one can be sent again, with the same id.
        node.post(&retry).key(&node.key).send().await.expect(200);
        let messages = receiver.wait_for(3).await;
        assert!(messages.iter().all(|it| it.header("webhook-id") == sent["id"]));
        until(node, &webhook, "the second delivery", |found| found[0]["state"] == "delivered").await;
        assert_eq!(deliveries(node, &webhook, "?state=dead").await.len(), 0);
        let unknown = path(&webhook, "/deliveries/evt_aaaaaaaaaaaaaaaaaaaa/retry");
        node.post(&unknown).key(&node.key).send().await.refused(404, "not_found");
        for query in ["?limit=0", "?limit=x", "?state=gone", "?before=x"] {
            let path = path(&webhook, &format!("/deliveries{query}"));
            node.get(&path).key(&node.key).send().await.refused(400, "invalid_field");
        }
    })
    .await;
}
