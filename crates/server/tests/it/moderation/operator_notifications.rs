//! Operator notifications by email: open reports and appeals, and decisions about appeals.

use crate::access::email_gate::with_mail;
use crate::harness::{DAY, Form, HOUR, MailServer, Mood, Node, Seen, Setup, on_each_database};
use dropleaf_core::appeal::Decision;
use serde_json::Value;

const OPERATOR: &str = "operator@localhost";
const SAM: &str = "sam@example.org";
const FORM: &str = "application/x-www-form-urlencoded";

async fn report(node: &Node, site: &Value) {
    let report = format!("/p/{}/_dropleaf/report", site["unlisted_token"].as_str().unwrap());
    let said = "reason=phishing&comment=Hostile+words&contact=eve%40evil.example";
    node.post(&report).body(FORM, said).send().await.expect(200);
}

/// An appeal about the page with this number.
async fn appeal(node: &Node, number: usize, contact: &str) -> Value {
    let page = format!("<title>PayPal login</title><form><input type=password></form><p>{number}</p>");
    let form = Form::file("page.html", page).field("comment", "Hostile words").field("contact", contact);
    node.post("/appeals").form(form).send().await.expect(201).json()
}

async fn decide(node: &Node, appeal: &Value, decision: Decision, answer: &str) {
    node.app().decide_appeal("op", appeal["id"].as_str().unwrap(), decision, answer).await.unwrap();
}

async fn told(node: &Node) -> bool {
    node.app().notify_operators().await.unwrap()
}

async fn sent(node: &Node) -> usize {
    node.app().send_appeal_decisions(|| true).await.unwrap()
}

async fn letter(mail: &MailServer, whom: &str) -> String {
    let Seen::Letter { to, text } = mail.next().await else { panic!("a letter") };
    assert_eq!(to, whom);
    assert!(!text.contains("ostile") && !text.contains("evil") && !text.contains("PayPal"), "{text}");
    text
}

#[tokio::test]
async fn operators_hear_of_the_first_at_once_and_then_at_most_once_an_hour() {
    let mut mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            assert!(!told(node).await, "nothing waits");
            let (one, two) = (node.publish_page("One").await, node.publish_page("Two").await);
            report(node, &one).await;
            // Of two concurrent runs, one sends the email.
            let (first, second) = tokio::join!(told(node), told(node));
            assert!(first != second, "{first} {second}");
            let text = letter(&mail, OPERATOR).await;
            assert!(text.contains("Subject: New on localhost: 1 report about 1 page\n"), "{text}");
            let queue = format!("\n1 report about 1 page: {}/operator/reports\n", node.base_url());
            assert!(text.contains(&queue) && !text.contains("/operator/appeals"), "{text}");
            assert!(!told(node).await, "it was told");

            report(node, &one).await;
            report(node, &two).await;
            appeal(node, 1, "eve@evil.example").await;
            assert!(!told(node).await, "the hour is not over");
            node.clock.advance(HOUR);
            assert!(told(node).await);
            let text = letter(&mail, OPERATOR).await;
            assert!(text.contains("New on localhost: 2 reports about 2 pages and 1 appeal\n"), "{text}");
            assert!(text.contains("Open in total: 3 reports about 2 pages and 1 appeal, the oldest from"));
            assert!(text.contains(&format!("\n1 appeal: {}/operator/appeals\n", node.base_url())), "{text}");
            node.clock.advance(DAY);
            assert!(!told(node).await, "nothing is new");

            report(node, &two).await;
            node.app().dismiss_reports("op", two["id"].as_str().unwrap(), "fine").await.unwrap();
            assert!(!told(node).await, "what was dealt with is no news");
            report(node, &two).await;
            assert!(told(node).await);
            letter(&mail, OPERATOR).await;
        },
    )
    .await;
    assert!(!matches!(mail.unread(), Some(Seen::Letter { .. })));
}

#[tokio::test]
async fn what_operators_were_told_outlives_a_restart_and_what_did_not_leave_is_told_later() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let site = node.publish_page("One").await;
    report(&node, &site).await;
    assert!(told(&node).await);
    letter(&mail, OPERATOR).await;
    let node = with_mail(&mail).start_in(node.stop().await).await;
    assert!(!told(&node).await);
    report(&node, &site).await;
    assert!(!told(&node).await, "the hour goes on");

    node.clock.advance(HOUR);
    mail.becomes(Mood::IsBusy);
    assert!(!told(&node).await);
    assert_eq!(mail.next().await, Seen::Refused { to: OPERATOR.into() });
    mail.becomes(Mood::Takes);
    assert!(!told(&node).await, "not at once");
    report(&node, &site).await;
    node.clock.advance(HOUR / 4);
    assert!(told(&node).await);
    assert!(letter(&mail, OPERATOR).await.contains("New on localhost: 2 reports about 1 page"));

    mail.becomes(Mood::Refuses);
    node.clock.advance(HOUR);
    report(&node, &site).await;
    assert!(!told(&node).await);
    assert_eq!(mail.next().await, Seen::Refused { to: OPERATOR.into() });
    mail.becomes(Mood::Takes);
    node.clock.advance(HOUR - 1);
    assert!(!told(&node).await);
    node.clock.advance(1);
    assert!(told(&node).await);
}

#[tokio::test]
async fn the_setting_says_who_hears_of_it() {
    let mail = MailServer::start(Mood::Takes).await;
    for (notify, receivers) in [
        ("", &[][..]),
        ("Ops@Example.org,abuse@example.org", &["abuse@example.org", "ops@example.org"]),
        ("ops@example.org,operators", &["ada@example.org", OPERATOR, "ops@example.org"]),
    ] {
        let node = with_mail(&mail).set("safety.notify", notify).start().await;
        node.app().create_account("ada@example.org", None, true).await.unwrap();
        node.app().create_account("bob@example.org", None, false).await.unwrap();
        let site = node.publish_page("One").await;
        report(&node, &site).await;
        assert_eq!(told(&node).await, !receivers.is_empty(), "{notify}");
        for receiver in receivers {
            letter(&mail, receiver).await;
        }
    }
    let node = Setup::new().set("mail.mode", "off").start().await;
    let site = node.publish_page("One").await;
    report(&node, &site).await;
    assert!(!told(&node).await);
    let open = appeal(&node, 1, SAM).await;
    decide(&node, &open, Decision::Uphold, "No.").await;
    assert_eq!(node.count("SELECT COUNT(*) FROM appeals WHERE letter_at IS NOT NULL").await, 0);
}

#[tokio::test]
async fn whoever_appealed_hears_of_the_decision_once() {
    let mut mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let allowed = appeal(node, 1, " Sam@example.org ").await;
            assert_eq!(sent(node).await, 0, "nothing is decided");
            decide(node, &allowed, Decision::Allow, "Schöne Übung.\n-- \nFine.").await;
            let (first, second) = tokio::join!(sent(node), sent(node));
            assert_eq!((first + second, sent(node).await), (1, 0));
            let text = letter(&mail, SAM).await;
            assert!(text.contains("Subject: Your appeal was accepted\n"), "{text}");
            assert!(text.contains("> Sch=C3=B6ne =C3=9Cbung.\n> --=20\n> Fine.\n"), "{text}");
            let status_url = allowed["status_url"].as_str().unwrap();
            assert!(text.replace("=\n", "").contains(status_url), "{text}");

            let upheld = appeal(node, 2, SAM).await;
            decide(node, &upheld, Decision::Uphold, "It is a bank's page.").await;
            assert_eq!(sent(node).await, 1);
            let text = letter(&mail, SAM).await;
            assert!(text.contains(
                "The page still cannot be published. Message from the operator:\n\n> It is a bank's page.\n"
            ));
            assert!(text.contains(upheld["status_url"].as_str().unwrap()), "{text}");

            appeal(node, 3, SAM).await;
            node.clock.advance(31 * DAY);
            node.app().sweep().await.unwrap();
            assert_eq!(sent(node).await, 1);
            let text = letter(&mail, SAM).await;
            assert!(text.contains("Subject: Your appeal expired\n"), "{text}");
            assert!(
                text.contains("The operator did not decide within 30 days.")
                    && !text.contains("Message from the operator")
            );

            for contact in ["Sam <sam@example.org>", "by phone", "sam@example.org, eve@evil.example"] {
                let odd = appeal(node, 4, contact).await;
                decide(node, &odd, Decision::Uphold, "No.").await;
            }
            assert_eq!(sent(node).await, 0, "only an address by itself is written to");
        },
    )
    .await;
    assert!(!matches!(mail.unread(), Some(Seen::Letter { .. })));
}

#[tokio::test]
async fn an_account_that_gave_no_contact_hears_at_its_own_address() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let page = "<title>PayPal login</title><form><input type=password></form>";
    let open = node.post("/appeals").key(&node.key).form(Form::file("page.html", page)).send().await;
    let open = open.expect(201).json();
    decide(&node, &open, Decision::Uphold, "No.").await;
    assert_eq!(sent(&node).await, 1);
    assert!(letter(&mail, OPERATOR).await.contains(open["status_url"].as_str().unwrap()));
}

#[tokio::test]
async fn nobody_is_flooded_by_strangers_who_give_their_address() {
    let mut mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    for number in 0..12 {
        let open = appeal(&node, number, SAM).await;
        decide(&node, &open, Decision::Uphold, "No.").await;
    }
    assert_eq!((sent(&node).await, sent(&node).await), (10, 0));
    for _ in 0..10 {
        letter(&mail, SAM).await;
    }
    node.clock.advance(DAY);
    assert_eq!(sent(&node).await, 0, "what was too much is not sent later");
    let open = appeal(&node, 12, SAM).await;
    decide(&node, &open, Decision::Uphold, "No.").await;
    assert_eq!(sent(&node).await, 1);
    letter(&mail, SAM).await;
    while let Some(seen) = mail.unread() {
        assert!(!matches!(seen, Seen::Letter { .. }));
    }
}

#[tokio::test]
async fn a_decision_that_certainly_did_not_leave_is_sent_again_and_no_other() {
    let mail = MailServer::start(Mood::IsBusy).await;
    let node = with_mail(&mail).start().await;
    let open = appeal(&node, 1, SAM).await;
    decide(&node, &open, Decision::Uphold, "No.").await;
    assert_eq!((sent(&node).await, sent(&node).await), (0, 0));
    assert_eq!(mail.next().await, Seen::Refused { to: SAM.into() });
    node.clock.advance(300);
    mail.becomes(Mood::Takes);
    assert_eq!((sent(&node).await, sent(&node).await), (1, 0));
    letter(&mail, SAM).await;

    mail.becomes(Mood::Refuses);
    let open = appeal(&node, 2, SAM).await;
    decide(&node, &open, Decision::Uphold, "No.").await;
    assert_eq!(sent(&node).await, 0);
    assert_eq!(mail.next().await, Seen::Refused { to: SAM.into() });
    mail.becomes(Mood::Takes);
    node.clock.advance(DAY);
    assert_eq!(sent(&node).await, 0, "there is nobody at that address");

    // One that was not sent for days, as after restoring a backup, is dropped.
    let open = appeal(&node, 3, SAM).await;
    decide(&node, &open, Decision::Uphold, "No.").await;
    node.clock.advance(3 * DAY);
    assert_eq!(sent(&node).await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM appeals WHERE letter_at IS NOT NULL").await, 0);
}
