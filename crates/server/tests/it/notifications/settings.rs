//! Which emails an account gets: `PATCH /me`, the dashboard, the default, and the link in every email.

use super::{choose, chosen, comment, letter, publish, sent, with_mail};
use crate::accounts::sign_in::sign_in;
use crate::harness::{MailServer, Mood, Node, Setup, on_each_database};
use serde_json::json;

const FORM: &str = "application/x-www-form-urlencoded";

/// The path of the link in the next email.
async fn link(node: &Node, mail: &MailServer) -> String {
    let site = publish(node, "One").await;
    comment(node, &site).await;
    assert_eq!(sent(node).await, 1);
    let text = letter(mail).await;
    let line = text.lines().find_map(|line| line.strip_prefix("Unsubscribe: ")).unwrap();
    assert!(text.contains(&format!("\nList-Unsubscribe: <{line}>\n")), "{text}");
    line.strip_prefix(&node.base_url()).unwrap().to_owned()
}

#[tokio::test]
async fn link_in_an_email_ends_them_with_one_click_and_never_by_opening_it() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            choose(node, "instant").await;
            let link = link(node, &mail).await;
            for _ in 0..2 {
                let shown = node.get(&link).send().await.expect(200);
                assert!(shown.header("content-security-policy").contains("frame-ancestors 'none'"));
                let text = shown.text();
                assert!(text.contains("Unsubscribe from these emails?") && text.contains("method=\"post\""));
                assert!(!text.contains("operator@"), "the email may have been forwarded");
                node.head(&link).send().await.expect(200);
            }
            assert_eq!(chosen(node).await, "instant");
            // As mail programs send it (RFC 8058): no cookie, no origin; and again.
            for _ in 0..2 {
                let done = node.post(&link).body(FORM, "List-Unsubscribe=One-Click").send().await.expect(200);
                assert!(done.text().contains("You are unsubscribed") && done.text().contains("Undo"));
                assert_eq!(chosen(node).await, "off");
            }
            assert!(node.get(&link).send().await.expect(200).text().contains("turned off"));
            let undo = node.post(&link).body(FORM, "notify=daily").header("origin", &node.base_url());
            assert!(undo.send().await.expect(200).text().contains("daily digest"));
            assert_eq!(chosen(node).await, "daily");
            let parts = "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n";
            node.post(&link).body("multipart/form-data; boundary=x", parts).send().await.expect(200);
            assert_eq!(chosen(node).await, "off");
            let other = node.post(&link).body(FORM, "notify=daily").header("origin", "https://evil.example");
            other.send().await.refused(403, "cross_site");
            node.post(&link).body(FORM, "notify=hourly").send().await.expect(400);
            let (id, mac) = link.rsplit_once('.').unwrap();
            let foreign = node.newcomer("eve@example.org").await;
            for wrong in [
                format!("{id}.{}", "A".repeat(mac.len())),
                format!("{id}."),
                id.to_owned(),
                format!("/unsubscribe/{}.{mac}", foreign.account.id),
                "/unsubscribe/a%00b.c".to_owned(),
            ] {
                node.get(&wrong).send().await.expect(404);
                node.post(&wrong).body(FORM, "notify=daily").send().await.expect(404);
            }
            assert_eq!(chosen(node).await, "off");
        },
    )
    .await;
}

#[tokio::test]
async fn off_also_drops_what_waits() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            choose(node, "daily").await;
            let site = publish(node, "One").await;
            comment(node, &site).await;
            choose(node, "off").await;
            choose(node, "instant").await;
            assert_eq!(sent(node).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn emails_are_chosen_in_the_dashboard_and_with_the_api() {
    let node = Node::start().await;
    let tab = node.operator().await;
    assert!(tab.get("/dashboard/account").await.text().contains("value=\"off\" checked"));
    tab.submit("/dashboard/account/notifications", &[("notify", "daily")]).await.expect(303);
    let shown = tab.get("/dashboard/account?done=notify-saved").await.text();
    assert!(shown.contains("value=\"daily\" checked") && shown.contains("Saved."), "{shown}");
    tab.submit("/dashboard/account/notifications", &[("notify", "x")]).await.expect(400);
    tab.cannot_be_imitated("/dashboard/account/notifications", &[("notify", "off")]).await;
    assert_eq!(chosen(&node).await, "daily");
    for bad in [json!({"notify": "hourly"}), json!({"notify": null}), json!({}), json!({"notify": 1})] {
        node.patch("/me").key(&node.key).json(&bad).send().await.refused(400, "invalid_field");
    }
    let silent = Setup::new().set("mail.mode", "off").start().await;
    let shown = silent.operator().await.get("/dashboard/account").await.text();
    assert!(!shown.contains("Email notifications"), "no email can be sent");
}

#[tokio::test]
async fn an_address_that_was_confirmed_gets_emails_at_once_unless_its_owner_chose_otherwise() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let tab = sign_in(node, &mail, "ann@example.org").await;
            assert!(tab.get("/dashboard/account").await.text().contains("value=\"instant\" checked"));
            tab.submit("/dashboard/account/notifications", &[("notify", "off")]).await.expect(303);
            let again = sign_in(node, &mail, "ann@example.org").await;
            assert!(again.get("/dashboard/account").await.text().contains("value=\"off\" checked"));
            // A link that the operator made proves nothing about the address.
            let bob = node.app().create_account("bob@example.org", None, false).await.unwrap();
            let link = node.app().create_sign_in_link(&bob).await.unwrap();
            let (_, query) = link.split_once("/login/link").unwrap();
            let tab = crate::harness::Tab::new(node);
            tab.get(&format!("/login/link{query}")).await.expect(200);
            let token = query.strip_prefix("?token=").unwrap();
            tab.submit("/login/link", &[("token", token)]).await.expect(303);
            assert!(tab.get("/dashboard/account").await.text().contains("value=\"off\" checked"));
        },
    )
    .await;
}
