//! Which emails owners get about comments and pages that expire soon, and when.

use super::{OPERATOR, choose, comment, letter, publish, reply, sent, with_mail};
use crate::harness::{DAY, Form, HOUR, MailServer, Mood, Node, Seen, on_each_database, page, site_path};
use serde_json::{Value, json};

fn feedback_page(node: &Node, site: &Value) -> String {
    format!("{}/dashboard/pages/{}/feedback", node.base_url(), site["id"].as_str().unwrap())
}

#[tokio::test]
async fn comments_are_emailed_at_once_and_then_every_ten_minutes_for_each_page() {
    let mut mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let (one, two) = (publish(node, "One").await, publish(node, "Two").await);
            comment(node, &one).await;
            assert_eq!(sent(node).await, 0, "nobody confirmed the address or chose emails");
            choose(node, "instant").await;
            let first = comment(node, &one).await;
            // Of two concurrent runs, one sends the email.
            let (left, right) = tokio::join!(sent(node), sent(node));
            assert_eq!(left + right, 1);
            let text = letter(&mail).await;
            assert!(text.contains("Subject: 1 new comment on 1 page (localhost)\n"), "{text}");
            assert!(
                text.contains(&format!("\nOne\n  1 new comment: {}\n", feedback_page(node, &one))),
                "{text}"
            );
            assert!(text.contains("List-Unsubscribe: <") && text.contains("/unsubscribe/acct_"), "{text}");

            reply(node, &one, &first, false).await;
            comment(node, &one).await;
            assert_eq!(sent(node).await, 0, "the pause of the page is not over");
            comment(node, &two).await;
            assert_eq!(sent(node).await, 1, "another page has its own");
            assert!(letter(&mail).await.contains("\nTwo\n  1 new comment: "));
            let resolve = format!("/feedback/{}/resolve", first["id"].as_str().unwrap());
            node.post(&resolve).key(&node.key).send().await.expect(200);
            reply(node, &one, &first, true).await;
            node.clock.advance(599);
            assert_eq!(sent(node).await, 0);
            node.clock.advance(1);
            assert_eq!((sent(node).await, sent(node).await), (1, 0));
            let text = letter(&mail).await;
            let said = "Subject: 1 new comment, 1 new reply, 1 comment reopened on 1 page (localhost)\n";
            assert!(text.contains(said), "{text}");

            // The owner's own replies are no news, and neither is what is gone.
            node.clock.advance(600);
            let answer = format!("{}/feedback/{}/replies", site_path(&one), first["id"].as_str().unwrap());
            node.post(&answer).key(&node.key).json(&json!({"text": "Done."})).send().await.expect(201);
            let gone = comment(node, &one).await;
            let path = format!("/feedback/{}", gone["id"].as_str().unwrap());
            node.delete(&path).key(&node.key).send().await.expect(200);
            comment(node, &two).await;
            node.delete(&site_path(&two)).key(&node.key).send().await.expect(200);
            assert_eq!(sent(node).await, 0);
            assert_eq!(node.count("SELECT COUNT(*) FROM email_notices").await, 0);
        },
    )
    .await;
    assert!(!matches!(mail.unread(), Some(Seen::Letter { .. })));
}

#[tokio::test]
async fn digest_is_one_email_a_day_at_seven() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail).at(1_699_920_000),
        async |node| {
            choose(node, "daily").await;
            let (one, two) = (publish(node, "One").await, publish(node, "Two").await);
            comment(node, &one).await;
            assert_eq!(sent(node).await, 0, "it is midnight");
            node.clock.advance(7 * HOUR - 1);
            comment(node, &two).await;
            comment(node, &two).await;
            assert_eq!(sent(node).await, 0);
            node.clock.advance(1);
            let (left, right) = tokio::join!(sent(node), sent(node));
            assert_eq!(left + right, 1);
            let text = letter(&mail).await;
            assert!(text.contains("Subject: 3 new comments on 2 pages (localhost)\n"), "{text}");
            assert!(text.contains("once a day"), "{text}");
            comment(node, &one).await;
            node.clock.advance(DAY - 1);
            assert_eq!(sent(node).await, 0);
            node.clock.advance(1);
            assert_eq!((sent(node).await, sent(node).await), (1, 0));
            letter(&mail).await;
            node.clock.advance(DAY);
            assert_eq!(sent(node).await, 0, "there is nothing new");
        },
    )
    .await;
}

async fn expiring(node: &Node, title: &str, hours: i64) -> Value {
    node.publish(Form::file("a.html", page(title)).field("expires_in_hours", &hours.to_string())).await
}

async fn swept(node: &Node) -> usize {
    node.app().sweep().await.unwrap();
    sent(node).await
}

#[tokio::test]
async fn pages_that_expire_soon_are_emailed_once_for_each_expiry() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            choose(node, "instant").await;
            let long = expiring(node, "Long", 480).await;
            expiring(node, "Short", 48).await;
            expiring(node, "Shortest", 23).await;
            node.clock.advance(36 * HOUR - 1);
            assert_eq!(swept(node).await, 0);
            node.clock.advance(1);
            assert_eq!(swept(node).await, 1);
            let text = letter(&mail).await;
            assert!(text.contains("Subject: 1 page expires soon (localhost)\n"), "{text}");
            assert!(text.contains("\nShort\n  expires ") && !text.contains("Long"), "{text}");
            node.clock.advance(17 * DAY - 36 * HOUR);
            assert_eq!((swept(node).await, swept(node).await), (1, 0));
            assert!(letter(&mail).await.contains("\nLong\n  expires "));
            node.patch_site(&long, json!({"expires_in_hours": 240})).await.expect(200);
            assert_eq!(swept(node).await, 0);
            node.clock.advance(7 * DAY);
            assert_eq!((swept(node).await, swept(node).await), (1, 0), "it is another expiry");
            letter(&mail).await;
        },
    )
    .await;
}

#[tokio::test]
async fn digest_announces_a_short_page_before_it_expires() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).at(1_699_920_000).start().await;
    choose(&node, "daily").await;
    node.clock.advance(6 * HOUR);
    expiring(&node, "Short", 24).await;
    assert_eq!(swept(&node).await, 0);
    node.clock.advance(HOUR);
    assert_eq!(swept(&node).await, 1);
    assert!(letter(&mail).await.contains("\nShort\n  expires 2023-11-15 06:00 UTC: "));
}

#[tokio::test]
async fn what_waits_outlives_a_restart_and_what_did_not_leave_is_sent_later() {
    let mail = MailServer::start(Mood::IsBusy).await;
    let node = with_mail(&mail).start().await;
    choose(&node, "instant").await;
    let (site, key) = (publish(&node, "One").await, node.key.clone());
    comment(&node, &site).await;
    let node = with_mail(&mail).start_in(node.stop().await).await;
    assert_eq!((sent(&node).await, sent(&node).await), (0, 0));
    assert_eq!(mail.next().await, Seen::Refused { to: OPERATOR.into() });
    mail.becomes(Mood::Takes);
    let node = with_mail(&mail).start_in(node.stop().await).await;
    node.clock.advance(899);
    assert_eq!(sent(&node).await, 0, "not at once");
    node.clock.advance(1);
    assert_eq!((sent(&node).await, sent(&node).await), (1, 0));
    assert!(letter(&mail).await.contains("1 new comment on 1 page"));

    mail.becomes(Mood::Refuses);
    node.clock.advance(HOUR);
    // The server listens on another port since it was restarted.
    let site: Value = node.get(&site_path(&site)).key(&key).send().await.expect(200).json();
    comment(&node, &site).await;
    assert_eq!(sent(&node).await, 0);
    assert_eq!(mail.next().await, Seen::Refused { to: OPERATOR.into() });
    mail.becomes(Mood::Takes);
    node.clock.advance(HOUR);
    assert_eq!(sent(&node).await, 0, "there is nobody at that address");

    // What was not sent for days is dropped by the sweep.
    comment(&node, &site).await;
    node.clock.advance(3 * DAY);
    assert_eq!(swept(&node).await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM email_notices").await, 0);
}

#[tokio::test]
async fn nobody_is_flooded_with_more_than_a_hundred_emails_a_day() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    choose(&node, "instant").await;
    let site = publish(&node, "One").await;
    for _ in 0..100 {
        comment(&node, &site).await;
        assert_eq!(sent(&node).await, 1);
        letter(&mail).await;
        node.clock.advance(600);
    }
    comment(&node, &site).await;
    assert_eq!(sent(&node).await, 0);
    node.clock.advance(DAY);
    assert_eq!(sent(&node).await, 1, "it is not lost");
}
