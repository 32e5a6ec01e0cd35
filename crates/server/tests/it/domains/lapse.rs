//! Automatic checks: pending names are found, verified ones lapse after three failing days, and their owners get emails.

use super::{NAME, add, primary_of, publish, read, target, verified, with_dns, working};
use crate::harness::{
    DAY, DnsFault, DnsServer, HOUR, MailServer, Mood, NOW, Node, Seen, Setup, on_each_database,
};
use serde_json::{Value, json};

const ADA: &str = "ada@example.org";

async fn check(node: &Node) -> u64 {
    node.app().check_due_domains(std::future::pending()).await.unwrap()
}

async fn send_emails(node: &Node) -> usize {
    node.app().send_domain_notices(|| true).await.unwrap()
}

async fn received_email(mail: &MailServer) -> String {
    let Seen::Letter { to, text } = mail.next().await else { panic!("an email") };
    assert_eq!(to, ADA);
    text
}

#[tokio::test]
async fn a_verified_name_lapses_after_three_failing_days_and_its_owner_gets_emails() {
    let dns = DnsServer::start().await;
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_dns(&dns).set("mail.smtp_url", mail.url()),
        async |node| {
            let person = node.newcomer(ADA).await;
            let key = crate::moderation::suspension::key_of(node, &person).await;
            let (site, domain) = working(node, &dns, &key, NAME).await;
            let primary = json!({"primary": true});
            node.patch(&format!("/custom-domains/{NAME}")).key(&key).json(&primary).send().await.expect(200);
            assert_eq!((check(node).await, send_emails(node).await), (0, 0));
            dns.cname(NAME, "evil-words.example");
            for day in 1..=3 {
                node.clock.advance(DAY);
                assert_eq!((check(node).await, check(node).await), (1, 0), "day {day}");
                let shown = read(node, &key, NAME).await;
                assert_eq!(shown["status"], "verified", "day {day}");
                assert!(shown["last_error"].as_str().unwrap().contains("evil-words.example"));
                assert_eq!(send_emails(node).await, usize::from(day == 1));
            }
            let text = received_email(&mail).await;
            assert!(text.contains(&format!("Subject: Check the domain {NAME}\n")), "{text}");
            assert!(
                text.contains(&format!("/dashboard/domains/{NAME}\n")) && !text.contains("evil-words"),
                "{text}"
            );
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(NAME));
            node.clock.advance(DAY);
            assert_eq!(check(node).await, 1);
            let lapsed = read(node, &key, NAME).await;
            assert_eq!(lapsed["status"], "failed");
            assert!(lapsed["next_check_at"].is_i64(), "{lapsed}");
            assert_eq!(primary_of(node, &site).await, None);
            assert_eq!((send_emails(node).await, send_emails(node).await), (1, 0));
            let text = received_email(&mail).await;
            assert!(text.contains(&format!("Subject: The domain {NAME} stopped working\n")), "{text}");
            // It is checked for some more days, and then only on request.
            let mut checks = 0;
            for _ in 0..30 * 4 {
                node.clock.advance(6 * HOUR);
                checks += check(node).await;
            }
            assert!((40..50).contains(&checks), "{checks}");
            assert_eq!(read(node, &key, NAME).await["next_check_at"], Value::Null);
            dns.cname(NAME, target(&domain));
            assert_eq!((check(node).await, send_emails(node).await), (0, 0));
            assert_eq!(verified(node, &key, NAME).await.0, "verified");
            assert_eq!(primary_of(node, &site).await.as_deref(), Some(NAME));
        },
    )
    .await;
}

#[tokio::test]
async fn a_name_that_passes_again_in_time_keeps_working() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).start().await;
    let (_, domain) = working(&node, &dns, &node.key, NAME).await;
    for _ in 0..4 {
        dns.clear(NAME);
        for _ in 0..3 {
            node.clock.advance(DAY);
            assert_eq!(check(&node).await, 1);
        }
        dns.cname(NAME, target(&domain));
        node.clock.advance(DAY);
        assert_eq!(check(&node).await, 1);
        let shown = read(&node, &node.key, NAME).await;
        assert_eq!((&shown["status"], &shown["last_error"]), (&json!("verified"), &Value::Null));
        assert_eq!(shown["verified_at"], NOW);
    }
}

#[tokio::test]
async fn a_dns_server_that_fails_never_fails_a_domain() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let pending = "www.customer.example";
            let (site, _) = working(node, &dns, &node.key, NAME).await;
            add(node, &node.key, pending, &site).await;
            for fault in [DnsFault::ServFail, DnsFault::Refused] {
                for name in [NAME, pending] {
                    dns.fails(name, fault);
                    dns.fails(&format!("_dropleaf.{name}"), fault);
                }
                for _ in 0..8 {
                    node.clock.advance(DAY);
                    check(node).await;
                    let shown = read(node, &node.key, NAME).await;
                    assert_eq!(shown["status"], "verified", "{shown}");
                    assert!(
                        shown["last_error"].as_str().unwrap().contains("could not be checked"),
                        "{shown}"
                    );
                    assert_eq!(verified(node, &node.key, pending).await.0, "pending");
                }
            }
            assert_eq!(
                node.count("SELECT COUNT(*) FROM custom_domains WHERE failing_since IS NOT NULL").await,
                0
            );
            for name in [NAME, pending] {
                dns.clear(name);
                dns.clear(&format!("_dropleaf.{name}"));
            }
        },
    )
    .await;
}

#[tokio::test]
async fn a_dns_server_that_does_not_answer_never_fails_a_domain() {
    let dns = DnsServer::start().await;
    let setup = Setup::new().set("dns.servers", dns.address()).set("dns.timeout_seconds", "1");
    let node = setup.start().await;
    working(&node, &dns, &node.key, NAME).await;
    for name in [NAME.to_owned(), format!("_dropleaf.{NAME}")] {
        dns.fails(&name, DnsFault::Silent);
    }
    node.clock.advance(DAY);
    assert_eq!(check(&node).await, 1);
    let shown = read(&node, &node.key, NAME).await;
    assert_eq!(shown["status"], "verified", "{shown}");
    assert!(shown["last_error"].as_str().unwrap().contains("could not be checked"), "{shown}");
}

#[tokio::test]
async fn a_pending_name_is_found_without_its_owner_and_is_not_checked_for_ever() {
    let dns = DnsServer::start().await;
    on_each_database(
        || with_dns(&dns),
        async |node| {
            dns.clear(NAME);
            let site = publish(node, &node.key).await;
            let domain = add(node, &node.key, NAME, &site).await;
            add(node, &node.key, "never.customer.example", &site).await;
            assert_eq!(check(node).await, 0);
            node.clock.advance(120);
            assert_eq!(check(node).await, 2);
            dns.cname(NAME, target(&domain));
            node.clock.advance(120);
            assert_eq!(check(node).await, 2);
            assert_eq!(read(node, &node.key, NAME).await["status"], "verified");
            node.delete(&format!("/custom-domains/{NAME}")).key(&node.key).send().await.expect(200);
            let mut checks = 0;
            for _ in 0..20 * 24 {
                node.clock.advance(HOUR);
                checks += check(node).await;
            }
            assert!((80..120).contains(&checks), "{checks}");
            let left = read(node, &node.key, "never.customer.example").await;
            assert_eq!((&left["status"], &left["next_check_at"]), (&json!("pending"), &Value::Null));
        },
    )
    .await;
}

#[tokio::test]
async fn an_email_that_could_not_be_sent_is_sent_later() {
    let dns = DnsServer::start().await;
    let mail = MailServer::start(Mood::IsBusy).await;
    let node = with_dns(&dns).set("mail.smtp_url", mail.url()).start().await;
    let person = node.newcomer(ADA).await;
    let key = crate::moderation::suspension::key_of(&node, &person).await;
    working(&node, &dns, &key, NAME).await;
    dns.clear(NAME);
    node.clock.advance(DAY);
    assert_eq!((check(&node).await, send_emails(&node).await), (1, 0));
    mail.becomes(Mood::Takes);
    assert_eq!((send_emails(&node).await, send_emails(&node).await), (1, 0));
}

#[tokio::test]
async fn without_mail_nothing_is_sent_and_names_lapse_all_the_same() {
    let dns = DnsServer::start().await;
    let node = with_dns(&dns).set("mail.mode", "off").start().await;
    working(&node, &dns, &node.key, NAME).await;
    dns.clear(NAME);
    for _ in 0..4 {
        node.clock.advance(DAY);
        check(&node).await;
        assert_eq!(send_emails(&node).await, 0);
    }
    assert_eq!(read(&node, &node.key, NAME).await["status"], "failed");
    assert_eq!(node.count("SELECT COUNT(*) FROM custom_domains WHERE notice IS NOT NULL").await, 0);
}
