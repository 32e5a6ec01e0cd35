//! Tests of webhooks against a receiver on this machine.

mod changes;
mod dashboard;
mod delivery;
mod endpoints;
mod events;
mod guarded;
mod listen;

use crate::harness::{Form, Node, Setup, WebhookReceiver, page};
use serde_json::{Value, json};

pub(crate) fn setup() -> Setup {
    Setup::new().set("webhooks.allow_loopback", "true")
}

/// A webhook for all events; with its secret.
pub(crate) async fn create(node: &Node, receiver: &WebhookReceiver) -> Value {
    let body = json!({"url": receiver.url()});
    node.post("/webhooks").key(&node.key).json(&body).send().await.expect(201).json()
}

/// A page that takes comments.
pub(crate) async fn publish(node: &Node) -> Value {
    node.publish(Form::file("a.html", page("Commented")).field("agentation", "true")).await
}

/// Leaves a comment as a viewer; returns its id.
pub(crate) async fn comment(node: &Node, site: &Value) -> String {
    let url = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let body = json!({"comment": "A private remark"});
    let answer = node.post(&url).json(&body).send().await.expect(201).json();
    answer["id"].as_str().unwrap().to_owned()
}

/// `/webhooks/{id}` with something after it.
pub(crate) fn path(webhook: &Value, rest: &str) -> String {
    format!("/webhooks/{}{rest}", webhook["id"].as_str().unwrap())
}

pub(crate) async fn deliveries(node: &Node, webhook: &Value, query: &str) -> Vec<Value> {
    let path = path(webhook, &format!("/deliveries{query}"));
    let list: Value = node.get(&path).key(&node.key).send().await.expect(200).json();
    list["deliveries"].as_array().unwrap().clone()
}

/// Waits until the newest deliveries satisfy a condition.
pub(crate) async fn until(
    node: &Node,
    webhook: &Value,
    what: &str,
    is: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    crate::harness::in_time(what, async {
        loop {
            let found = deliveries(node, webhook, "").await;
            if is(&found) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await
}
