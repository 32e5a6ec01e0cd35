//! `dropleaf webhooks`: the real binary against a running server.

use super::pages_cli::{machine, text};
use crate::harness::{Dropleaf, Setup, WebhookReceiver, in_time};
use crate::webhooks::{comment, publish, setup};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

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
    let message = receiver.wait_for(1).await.remove(0);
    assert!(message.is_signed_by(text(&added, "secret"), node.app().now()));
    assert!(tested.contains(message.header("webhook-id")), "{tested}");
    assert_eq!(dropleaf.prints(&["webhooks", "disable", id]), format!("{id} is disabled.\n"));
    assert_eq!(dropleaf.run(&["webhooks", "test", id]).status.code(), Some(1), "paused");
    assert_eq!(dropleaf.prints(&["webhooks", "enable", id]), format!("{id} is enabled.\n"));
    assert_eq!(json(&dropleaf, &["webhooks", "test", id, "--json"])["type"], "webhook.test");
    receiver.wait_for(2).await;
    let unknown = dropleaf.run(&["webhooks", "enable", "whk_aaaaaaaaaaaaaaaaaaaa"]);
    assert_eq!(unknown.status.code(), Some(1));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_added_listed_rotated_retried_and_deleted() {
    let node = Setup::new().set("webhooks.allow_loopback", "true").real_time().start().await;
    let (_home, dropleaf) = machine(&node);
    let receiver = WebhookReceiver::start().await;
    assert!(dropleaf.prints(&["webhooks", "list"]).contains("No webhooks."));
    let url = receiver.url();
    let add =
        ["webhooks", "add", &url, "--event", "feedback.created", "--description", "For \u{202e}me", "--json"];
    let made: Value = serde_json::from_str(&dropleaf.prints(&add)).unwrap();
    let id = text(&made, "id");
    assert!(text(&made, "secret").starts_with("whsec_"));
    let listed = dropleaf.prints(&["webhooks", "list"]);
    assert!(listed.contains(id) && listed.contains(&url) && listed.contains("feedback.created"), "{listed}");
    assert!(!listed.contains("whsec_"), "{listed}");
    let site = publish(&node).await;
    comment(&node, &site).await;
    receiver.wait_for(1).await;
    let deliveries = in_time("the record", async {
        loop {
            let found = dropleaf.prints(&["webhooks", "deliveries", id, "--state", "delivered", "--json"]);
            let found: Value = serde_json::from_str(&found).unwrap();
            if found["deliveries"].as_array().is_some_and(|all| !all.is_empty()) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    let delivery = text(&deliveries["deliveries"][0], "id").to_owned();
    assert!(dropleaf.prints(&["webhooks", "deliveries", id]).contains(&delivery));
    dropleaf.prints(&["webhooks", "retry", id, &delivery]);
    let messages = receiver.wait_for(2).await;
    assert!(messages.iter().all(|message| message.header("webhook-id") == delivery));
    let rotated: Value =
        serde_json::from_str(&dropleaf.prints(&["webhooks", "rotate", id, "--json"])).unwrap();
    assert_ne!(rotated["secret"], made["secret"]);
    dropleaf.prints(&["webhooks", "delete", id]);
    assert!(dropleaf.prints(&["webhooks", "list"]).contains("No webhooks."));
    for args in [
        &["webhooks", "delete", id][..],
        &["webhooks", "add", "http://169.254.169.254/latest"],
        &["webhooks", "add", &url, "--event", "site.created"],
    ] {
        assert_eq!(dropleaf.run(args).status.code(), Some(1), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_prints_verified_events_and_forwards_them() {
    // The signature has the server's time, which the command compares with that of the computer.
    let node = Setup::new().real_time().start().await;
    let (_home, dropleaf) = machine(&node);
    let receiver = WebhookReceiver::start().await;
    let site = publish(&node).await;
    let args =
        ["webhooks", "listen", "--forward", &receiver.url(), "--event", "feedback.created", "--count", "2"];
    let mut command = dropleaf.command(&args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let secret = line.trim().rsplit(' ').next().unwrap().to_owned();
    assert!(line.starts_with("Listening to ") && secret.starts_with("whsec_"), "{line}");
    let ids = [comment(&node, &site).await, comment(&node, &site).await];
    let messages = receiver.wait_for(2).await;
    let (mut printed, mut rest) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    said.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert_eq!(rest.matches("(signature verified)").count(), 2, "{rest}");
    for (event, id) in printed.lines().zip(&ids) {
        let event: Value = serde_json::from_str(event).unwrap();
        assert_eq!(event["data"]["feedback_id"], id.as_str());
    }
    assert_eq!(printed.lines().count(), 2, "{printed}");
    let now = dropleaf_core::Clock::now(&dropleaf_core::SystemClock::default());
    assert!(messages.iter().all(|message| message.is_signed_by(&secret, now)));
    let left = node.count("SELECT COUNT(*) FROM webhook_endpoints").await;
    assert_eq!(left, 0, "it is deleted at the end");
}
