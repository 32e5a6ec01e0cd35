//! What adding and enabling a webhook needs, and what a suspended account can still do with it.

use super::{path, setup};
use crate::harness::oauth::let_in;
use crate::harness::{HOUR, on_each_database};
use crate::moderation::suspension::key_of;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn adding_and_enabling_need_a_recent_sign_in_and_pausing_does_not() {
    let node = setup().start().await;
    let ada = node.newcomer("ada@example.org").await;
    let list = "/dashboard/webhooks";
    let address = [("url", "https://hooks.example.com/")];
    ada.submit(list, &address).await.expect(200);
    let id = node.app().list_webhooks(&ada.account, None).await.unwrap()[0].id.clone();
    let enabled = format!("{list}/{id}/enabled");
    node.clock.advance(HOUR + 1);
    let shown = ada.get(list).await.expect(200).text();
    assert!(shown.contains("sign in again before you add one") && !shown.contains("name=\"url\""), "{shown}");
    ada.submit(&enabled, &[("enabled", "no")]).await.expect(303);
    for (form, fields) in [(list, &address[..]), (enabled.as_str(), &[("enabled", "yes")][..])] {
        let sent = ada.submit(form, fields).await.expect(303);
        assert!(sent.header("location").starts_with("/login?"), "{form}: {}", sent.header("location"));
    }
    let all = node.app().list_webhooks(&ada.account, None).await.unwrap();
    assert_eq!((all.len(), all[0].state.as_str()), (1, "disabled"));
    let again = node.signed_in(&ada.account).await;
    again.submit(&enabled, &[("enabled", "yes")]).await.expect(303);
    again.submit(list, &address).await.expect(200);
    let all = node.app().list_webhooks(&ada.account, None).await.unwrap();
    assert!(all.len() == 2 && all.iter().all(|webhook| webhook.state.as_str() == "enabled"));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn suspended_account_deletes_its_webhooks_and_a_program_only_its_own() {
    on_each_database(setup, async |node| {
        let person = node.newcomer_on("pro").await;
        let (key, app) = (key_of(node, &person).await, let_in(&person, "").await);
        let create = async |credential: &str| -> Value {
            let body = json!({"url": "https://hooks.example.com/"});
            node.post("/webhooks").key(credential).json(&body).send().await.expect(201).json()
        };
        let (own, apps, shown) = (create(&key).await, create(&app.access).await, create(&key).await);
        node.app().suspend_account("operator", &person.account.id, "spam").await.unwrap();
        let delete = async |webhook: &Value, credential: &str| {
            node.delete(&path(webhook, "")).key(credential).send().await
        };
        delete(&own, &app.access).await.refused(404, "not_found");
        delete(&own, &key).await.expect(200);
        delete(&apps, &app.access).await.expect(200);
        let page = format!("/dashboard{}", path(&shown, ""));
        let html = person.get(&page).await.expect(200).text();
        assert!(
            html.contains(&format!("{page}/delete")) && !html.contains(&format!("{page}/test")),
            "{html}"
        );
        person.submit(&format!("{page}/delete"), &[]).await.expect(303);
        assert_eq!(node.count("SELECT COUNT(*) FROM webhook_endpoints").await, 0);
    })
    .await;
}
