//! `/dashboard/webhooks`: the list, the form, the secret that is shown once, deliveries and retries.

use super::setup;
use crate::harness::{HOUR, WebhookReceiver, on_each_database};

#[tokio::test(flavor = "multi_thread")]
async fn a_person_adds_tests_rotates_and_deletes_a_webhook() {
    on_each_database(setup, async |node| {
        let receiver = WebhookReceiver::start().await;
        let ada = node.newcomer("ada@example.org").await;
        assert!(ada.get("/dashboard/webhooks").await.expect(200).text().contains("No webhooks yet"));
        let wrong = ada
            .submit("/dashboard/webhooks", &[("url", "http://hooks.example.com/"), ("event", "site.burnt")]);
        let wrong = wrong.await.expect(400).text();
        assert!(wrong.contains("The address must begin with https://"), "{wrong}");
        assert!(wrong.contains("value=\"site.burnt\" checked"), "what was chosen is kept");
        let fields = [("url", receiver.url()), ("description", "<bot>".into())];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let made = ada.submit("/dashboard/webhooks", &fields).await.expect(200);
        assert_eq!(made.header("cache-control"), "no-store");
        let html = made.text();
        let at = html.find("whsec_").expect("the secret");
        let secret = html[at..].split('<').next().unwrap().to_owned();
        assert!(html.contains("&#60;bot&#62;"));
        let id = node.app().list_webhooks(&ada.account, None).await.unwrap()[0].id.clone();
        let here = format!("/dashboard/webhooks/{id}");
        assert!(!ada.get(&here).await.expect(200).text().contains("whsec_"), "shown once");
        let tested = ada.submit(&format!("{here}/test"), &[]).await.expect(303);
        assert_eq!(tested.header("location"), format!("{here}?done=webhook-tested#outcome"));
        let message = receiver.wait_for(1).await.remove(0);
        assert!(message.is_signed_by(&secret, node.app().now()));
        assert!(ada.get(&here).await.expect(200).text().contains("webhook.test"));
        let delivery = message.header("webhook-id").to_owned();
        crate::harness::in_time("the record", async {
            while !ada.get(&here).await.expect(200).text().contains("Delivered") {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        })
        .await;
        ada.submit(&format!("{here}/deliveries/{delivery}/retry"), &[]).await.expect(303);
        receiver.wait_for(2).await;
        let change =
            [("url", receiver.url()), ("description", "Build".into()), ("event", "site.burnt".into())];
        let change: Vec<(&str, &str)> = change.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let changed = ada.submit(&format!("{here}/change"), &change).await.expect(303);
        assert_eq!(changed.header("location"), format!("{here}?done=webhook-changed#outcome"));
        let shown = ada.get(&here).await.expect(200).text();
        assert!(
            shown.contains("<h1>Build</h1>") && shown.contains("value=\"site.burnt\" checked"),
            "{shown}"
        );
        assert!(!shown.contains("value=\"site.expired\" checked"));
        let wrong =
            [("url", "http://hooks.example.com/"), ("description", "Typed"), ("event", "site.expired")];
        let wrong = ada.submit(&format!("{here}/change"), &wrong).await.expect(400).text();
        assert!(wrong.contains("The address must begin with https://"), "{wrong}");
        assert!(
            wrong.contains("value=\"Typed\"") && wrong.contains("value=\"site.expired\" checked"),
            "{wrong}"
        );
        let rotated = ada.submit(&format!("{here}/rotate"), &[]).await.expect(200).text();
        assert!(rotated.contains("whsec_") && !rotated.contains(&secret));
        ada.submit(&format!("{here}/enabled"), &[("enabled", "no")]).await.expect(303);
        assert!(ada.get(&here).await.expect(200).text().contains("Paused"));
        ada.submit(&format!("{here}/test"), &[]).await.expect(409);
        let deleted = ada.submit(&format!("{here}/delete"), &[]).await.expect(303);
        assert_eq!(deleted.header("location"), "/dashboard/webhooks?done=webhook-deleted#outcome");
        ada.get(&here).await.expect(404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_secret_needs_a_recent_sign_in() {
    let node = setup().start().await;
    let ada = node.newcomer("ada@example.org").await;
    ada.submit("/dashboard/webhooks", &[("url", "https://hooks.example.com/")]).await.expect(200);
    let id = node.app().list_webhooks(&ada.account, None).await.unwrap()[0].id.clone();
    node.clock.advance(HOUR + 1);
    let here = format!("/dashboard/webhooks/{id}");
    assert!(ada.get(&here).await.expect(200).text().contains("sign in again"));
    let sent = ada.submit(&format!("{here}/rotate"), &[]).await.expect(303);
    assert!(sent.header("location").starts_with("/login?"));
    node.stop().await;
}
