//! `dropleaf webhooks`: the real binary against a running server.

use super::pages_cli::{machine, text};
use crate::harness::{Dropleaf, WebhookReceiver};
use crate::webhooks::setup;
use serde_json::Value;

fn json(dropleaf: &Dropleaf, args: &[&str]) -> Value {
    serde_json::from_str(&dropleaf.prints(args)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_added_tested_paused_and_enabled() {
    let node = setup().start().await;
    let receiver = WebhookReceiver::start().await;
    let (_home, dropleaf) = machine(&node);
    assert!(dropleaf.prints(&["webhooks", "list"]).starts_with("No webhooks."));
    let added = json(&dropleaf, &["webhooks", "add", &receiver.url(), "--event", "site.burnt", "--json"]);
    let id = text(&added, "id");
    let tested = dropleaf.prints(&["webhooks", "test", id]);
    assert!(tested.contains(&format!("dropleaf webhooks deliveries {id}")), "{tested}");
    let received = receiver.wait_for(1).await.remove(0);
    assert!(received.is_signed_by(text(&added, "secret"), node.app().now()));
    assert!(tested.contains(received.header("webhook-id")), "{tested}");
    assert_eq!(dropleaf.prints(&["webhooks", "disable", id]), format!("{id} is disabled.\n"));
    assert_eq!(dropleaf.run(&["webhooks", "test", id]).status.code(), Some(1), "paused");
    assert_eq!(dropleaf.prints(&["webhooks", "enable", id]), format!("{id} is enabled.\n"));
    assert_eq!(json(&dropleaf, &["webhooks", "test", id, "--json"])["type"], "webhook.test");
    receiver.wait_for(2).await;
    let unknown = dropleaf.run(&["webhooks", "enable", "whk_aaaaaaaaaaaaaaaaaaaa"]);
    assert_eq!(unknown.status.code(), Some(1));
    node.stop().await;
}
