//! `/webhooks/{id}/receive`: events for a program that fetches them.

use super::{comment, path, publish, setup};
use crate::harness::on_each_database;
use dropleaf_core::Clock;
use dropleaf_core::webhook::{Secret, verify};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn events_are_fetched_signed_until_they_are_acknowledged() {
    on_each_database(setup, async |node| {
        let made: Value = node
            .post("/webhooks")
            .key(&node.key)
            .json(&json!({"listen": true}))
            .send()
            .await
            .expect(201)
            .json();
        assert_eq!((&made["kind"], &made["url"]), (&json!("listen"), &Value::Null));
        let receive = async |body: Value| {
            let answer = node.post(&path(&made, "/receive")).key(&node.key).json(&body).send().await;
            answer.expect(200).json()["events"].as_array().unwrap().clone()
        };
        assert!(receive(json!({})).await.is_empty());
        let site = publish(node).await;
        let ids = [comment(node, &site).await, comment(node, &site).await];
        let events = receive(json!({"wait_seconds": 20})).await;
        assert_eq!(events.len(), 2);
        let secret = Secret::parse(made["secret"].as_str().unwrap()).unwrap();
        for (event, id) in events.iter().zip(&ids) {
            let payload = event["payload"].as_str().unwrap();
            assert!(payload.contains(id.as_str()));
            let (name, signature) = (event["webhook_id"].as_str(), event["webhook_signature"].as_str());
            let at = event["webhook_timestamp"].as_i64().unwrap();
            assert!(verify(&secret, signature.unwrap(), name.unwrap(), at, payload, node.clock.now()));
        }
        assert_eq!(receive(json!({})).await.len(), 2, "not acknowledged");
        assert_eq!(receive(json!({"received": events[0]["seq"]})).await.len(), 1);
        assert!(receive(json!({"received": events[1]["seq"]})).await.is_empty());
        let wrong = node.post(&path(&made, "/receive")).key(&node.key).json(&json!({"wait_seconds": 99}));
        wrong.send().await.refused(400, "invalid_field");
        node.clock.advance(601);
        let over = node.post(&path(&made, "/receive")).key(&node.key).json(&json!({}));
        over.send().await.refused(404, "not_found");
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM webhook_deliveries").await, 0);
    })
    .await;
}
