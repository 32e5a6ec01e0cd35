//! `POST /webhooks/stripe`: only signed events have an effect.

use crate::harness::{Node, PayLink, Setup, VISA, on_each_database};
use dropleaf_pay::stripe::sandbox::{CardDetails, WebhookEvent};
use dropleaf_pay::stripe::sign;

/// The events of a card payment that are not delivered.
async fn pay_silently(node: &Node, link: &PayLink<'_>) -> Vec<WebhookEvent> {
    let form = link.open_form().await;
    let card = CardDetails { number: VISA, expiry: "12/34", cvc: "123" };
    let checkout = form.rsplit('/').next().unwrap();
    node.app().sandbox_processor().unwrap().submit(checkout, card, None).await.unwrap().1
}

fn secret(node: &Node) -> String {
    node.app().card_settings().unwrap().webhook_secrets[0].clone()
}

async fn status(node: &Node) -> (i64, i64) {
    let completed = "SELECT COUNT(*) FROM pay_sessions WHERE state = 'completed'";
    (node.count(completed).await, node.count("SELECT COUNT(*) FROM payments").await)
}

#[tokio::test]
async fn signed_events_complete_a_session_however_often_they_come() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let events = pay_silently(node, &link).await;
        assert_eq!(status(node).await, (0, 0));
        for event in events.iter().chain(&events) {
            let signature = sign(&secret(node), node.app().now(), event.body.as_bytes());
            let ask = node.post("/webhooks/stripe").header("stripe-signature", &signature);
            let answer = ask.body("application/json", event.body.clone()).send().await.expect(204);
            assert!(answer.body.is_empty());
        }
        assert_eq!(status(node).await, (1, 1));
        // Completed by the event alone; the key is delivered by polling.
        let polled = link.poll_now().send().await.expect(200).json();
        assert!(polled["api_key"].is_string(), "{polled}");
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn events_that_are_not_signed_by_the_processor_change_nothing() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let events = pay_silently(node, &link).await;
        let event = events.iter().find(|event| event.kind == "checkout.session.completed").unwrap();
        let (body, now, secret) = (event.body.as_str(), node.app().now(), secret(node));
        let right = sign(&secret, now, body.as_bytes());
        let (time, hex) = right.split_once(",v1=").unwrap();
        let changed = body.replace("\"amount_total\":600", "\"amount_total\":601");
        assert_ne!(changed, body);
        let padded = format!("{body} ");
        let bad = [
            ("another secret", sign("whsec_other", now, body.as_bytes()), body),
            ("an empty secret", sign("", now, body.as_bytes()), body),
            ("a changed body", right.clone(), changed.as_str()),
            ("a longer body", right.clone(), padded.as_str()),
            ("an empty body", right.clone(), ""),
            ("too old", sign(&secret, now - 301, body.as_bytes()), body),
            ("in the future", sign(&secret, now + 301, body.as_bytes()), body),
            ("another time", format!("t={},v1={hex}", now + 1), body),
            ("no time", format!("v1={hex}"), body),
            ("no signature", time.to_owned(), body),
            ("an old scheme", format!("{time},v0={hex}"), body),
            ("a cut signature", format!("{time},v1={}", &hex[..62]), body),
            ("two times", format!("{time},{right}"), body),
            ("garbage", "x".to_owned(), body),
            ("an empty header", String::new(), body),
            ("a long header", format!("{right},{}", "v1=00,".repeat(1000)), body),
            ("no event", sign(&secret, now, b"{}"), "{}"),
            ("no JSON", sign(&secret, now, b"<xml>"), "<xml>"),
        ];
        for (what, signature, body) in bad {
            let ask = node.post("/webhooks/stripe").header("stripe-signature", &signature);
            let answer = ask.body("application/json", body).send().await;
            assert_eq!(
                (answer.status, answer.json()["error"].as_str()),
                (400, Some("invalid_webhook")),
                "{what}"
            );
        }
        let ask = node.post("/webhooks/stripe").body("application/json", body);
        ask.send().await.refused(400, "invalid_webhook");
        let long = " ".repeat(300 * 1024);
        let signature = sign(&secret, now, long.as_bytes());
        let ask = node.post("/webhooks/stripe").header("stripe-signature", &signature);
        ask.body("application/json", long).send().await.refused(413, "too_large");
        assert_eq!(status(node).await, (0, 0));
        assert_eq!(node.count("SELECT COUNT(*) FROM processor_events").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions WHERE state = 'pending'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_secret_is_replaced_without_losing_events() {
    let setup = || Setup::new().set("stripe.webhook_secret", "whsec_new,whsec_old");
    on_each_database(setup, async |node| {
        for secret in ["whsec_new", "whsec_old"] {
            let link = node.key_link().await;
            for event in pay_silently(node, &link).await {
                let (now, body) = (node.app().now(), event.body);
                let both = format!("{},v1={}", sign(secret, now, body.as_bytes()), "0".repeat(64));
                let ask = node.post("/webhooks/stripe").header("stripe-signature", &both);
                ask.body("application/json", body).send().await.expect(204);
            }
        }
        assert_eq!(status(node).await, (2, 2));
    })
    .await;
}

#[tokio::test]
async fn an_operator_sees_a_payment_that_does_not_match() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let events = pay_silently(node, &link).await;
        let event = events.iter().find(|event| event.kind == "checkout.session.completed").unwrap();
        let body = event.body.replace("\"amount_total\":600", "\"amount_total\":1");
        let signature = sign(&secret(node), node.app().now(), body.as_bytes());
        let ask = node.post("/webhooks/stripe").header("stripe-signature", &signature);
        ask.body("application/json", body).send().await.expect(204);
        assert_eq!(status(node).await, (0, 1));
        let unknown = "SELECT id FROM payments WHERE state = 'unknown'";
        let id = node.rows(unknown, Vec::new(), |row| row.string(0)).await.remove(0);
        let operator = node.operator().await;
        for path in ["/operator/payments".to_owned(), format!("/operator/payments/{id}")] {
            assert!(operator.get(&path).await.expect(200).text().contains(&id), "{path}");
        }
        assert_eq!(link.page().await.expect(200).header("refresh"), "3", "it was paid, and is not decided");
        assert_eq!(node.count("SELECT COUNT(*) FROM api_keys WHERE name = 'provisioned'").await, 0);
    })
    .await;
}
