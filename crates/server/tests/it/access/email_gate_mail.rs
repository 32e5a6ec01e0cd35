//! The emails of the e-mail gate: who gets one, how many, and how they are sent.

use crate::access::email_gate::{ANN, ask, enter, gated, url, with_mail};
use crate::harness::{Answer, HOUR, MailServer, Mood, Node, Seen, Setup, code_in, on_each_database};
use serde_json::Value;
use std::fs;

const STRANGER: &str = "eve@evil.example";

#[tokio::test]
async fn nobody_learns_whether_an_address_may_pass() {
    let mut mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail).with_rates().set("trusted_proxies", "127.0.0.1"),
        async |node| {
            let site = gated(node, "Secret").await;
            let root = node.get(url(&site)).browser().send().await.expect(307).header("location").to_owned();
            let plain = |answer: Answer, address: &str| {
                let mut headers = answer.headers.clone();
                headers.remove("date");
                headers.remove("content-length");
                (answer.status, headers, answer.text().replace(address, "ADDRESS"))
            };
            for kind in ["text/html", "application/json", "*/*"] {
                let of = async |address: &str, ip: &str| {
                    let answer = ask(node, &root, address).header("accept", kind).from(ip).send().await;
                    plain(answer, address)
                };
                assert_eq!(of(STRANGER, "203.0.113.1").await, of(ANN, "203.0.113.2").await);
            }
            // The fourth request is refused for both addresses alike.
            let fourth = async |address: &str, ip: &str| {
                plain(ask(node, &root, address).browser().from(ip).send().await.expect(429), address)
            };
            assert_eq!(fourth(STRANGER, "203.0.113.1").await, fourth(ANN, "203.0.113.2").await);
            let wrong = async |address: &str, ip: &str| {
                let answer = enter(node, &root, address, "00000000").from(ip).send().await;
                plain(answer.expect(401), address)
            };
            assert_eq!(wrong(STRANGER, "203.0.113.1").await, wrong(ANN, "203.0.113.2").await);
            // Both have left the same rows.
            assert_eq!(node.count("SELECT COUNT(*) FROM email_codes WHERE tries_left = 4").await, 2);
            let traces = node
                .rows("SELECT key FROM counters", vec![], |row| Ok(row.text(0)?.to_owned()))
                .await
                .join(" ");
            assert!(!traces.contains("example") && !traces.contains("203.0"), "{traces}");
            // Only one of them got emails.
            for _ in 0..3 {
                assert_eq!(mail.next_code().await.0, ANN);
            }
        },
    )
    .await;
    assert!(!matches!(mail.unread(), Some(Seen::Letter { .. })));
}

#[tokio::test]
async fn answer_does_not_wait_for_the_mail_server() {
    let mut mail = MailServer::start(Mood::Stalls).await;
    let node = with_mail(&mail).start().await;
    let site = gated(&node, "Stalled").await;
    ask(&node, url(&site), ANN).send().await.expect(200);
    // The email is being sent: the response did not wait for it.
    assert_eq!(mail.next_of_all().await, Seen::Connected);
    assert_eq!(mail.unread(), None);
    node.get(url(&site)).send().await.expect(401);
    mail.stop().await;
    node.stop().await;
}

#[tokio::test]
async fn mail_server_that_refuses_shows_nowhere() {
    let mail = MailServer::start(Mood::Refuses).await;
    let node = with_mail(&mail).start().await;
    let site = gated(&node, "Refused").await;
    let answer = ask(&node, url(&site), ANN).send().await.expect(200);
    assert_eq!(mail.next().await, Seen::Refused { to: ANN.into() });
    let stranger = ask(&node, url(&site), STRANGER).send().await.expect(200);
    assert_eq!(answer.text(), stranger.text());
    mail.becomes(Mood::Takes);
    ask(&node, url(&site), ANN).send().await.expect(200);
    let (_, code) = mail.next_code().await;
    enter(&node, url(&site), ANN, &code).send().await.expect(303);
}

#[tokio::test]
async fn mail_server_that_is_down_shows_nowhere() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    mail.stop().await;
    let site = gated(&node, "Down").await;
    ask(&node, url(&site), ANN).send().await.expect(200);
    node.get(url(&site)).send().await.expect(401);
}

#[tokio::test]
async fn without_a_mail_server_letters_are_files_in_the_outbox() {
    let node = Node::start().await;
    let site = gated(&node, "Laptop").await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    ask(&node, &path, STRANGER).send().await.expect(200);
    ask(&node, &path, ANN).send().await.expect(200);
    // Shutdown waits for running deliveries.
    let dir = node.stop().await;
    let outbox = dir.path().join("data/outbox");
    let letters: Vec<_> = fs::read_dir(&outbox).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(letters.len(), 1, "{letters:?}");
    assert_eq!(letters[0].extension().unwrap(), "eml");
    let letter = fs::read_to_string(&letters[0]).unwrap();
    assert!(letter.contains("To: ann@example.org\r\n") && letter.contains("Message-ID: <"), "{letter}");
    let mode = |path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
    assert_eq!((mode(&outbox) & 0o777, mode(&letters[0]) & 0o777), (0o700, 0o600));

    let node = Setup::new().start_in(dir).await;
    enter(&node, &path, ANN, &code_in(&letter)).send().await.expect(303);
}

#[tokio::test]
async fn without_any_way_to_send_mail_the_page_stays_shut() {
    let off = Setup::new().set("mail.mode", "off").start().await;
    let blocked = Node::start().await;
    fs::write(blocked.data_dir().join("outbox"), "a file in the way").unwrap();
    for node in [off, blocked] {
        let site = gated(&node, "Shut").await;
        let json = node.get(url(&site)).header("accept", "application/json").send().await;
        json.refused(503, "mail_not_configured");
        let root = node.get(url(&site)).browser().send().await.expect(307).header("location").to_owned();
        let page = node.get(&root).browser().send().await.expect(503);
        assert!(!page.text().contains("Shut") && page.header("content-type").starts_with("text/html"));
        for address in [ANN, STRANGER] {
            let answer = ask(&node, &root, address).header("accept", "application/json").send().await;
            answer.refused(503, "mail_not_configured");
        }
    }
}

#[tokio::test]
async fn codes_are_limited_by_address_by_page_and_by_client() {
    let mail = MailServer::start(Mood::Takes).await;
    let setup = || {
        let setup = with_mail(&mail).with_rates().set("trusted_proxies", "127.0.0.1");
        setup.set("limits.key_per_minute", "1000")
    };
    on_each_database(setup, async |node| {
        let (a, b) = (gated(node, "A").await, gated(node, "B").await);
        let sent = async |site: &Value, email: &str, ip: &str| {
            ask(node, url(site), email).from(ip).header("accept", "application/json").send().await
        };
        // An address is counted over all pages, however it is written.
        for email in [ANN, "ANN@example.org", "ann@EXAMPLE.ORG"] {
            sent(&a, email, "203.0.113.1").await.expect(200);
        }
        let refused = sent(&b, ANN, "203.0.113.2").await.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), "3600");
        assert_eq!(refused.header("ratelimit-policy"), "\"code_address_hour\";q=3;w=3600");
        let page = ask(node, url(&b), ANN).from("203.0.113.2").browser().send().await.expect(429);
        assert!(page.text().contains("Wait 60 minutes") && page.text().contains("name=\"email\""));

        for n in 3..10 {
            sent(&a, &format!("p{n}@example.org"), "203.0.113.1").await.expect(200);
        }
        let refused = sent(&b, "p10@example.org", "203.0.113.1").await.refused(429, "rate_limited");
        assert!(refused.header("ratelimit-policy").starts_with("\"code_client_hour\";q=10"));

        for n in 10..20 {
            sent(&a, &format!("p{n}@example.org"), "2001:db8::1").await.expect(200);
        }
        sent(&b, "p20@example.org", "2001:db8::ffff").await.refused(429, "rate_limited");
        let refused = sent(&a, "p20@example.org", "203.0.113.9").await.refused(429, "rate_limited");
        assert!(refused.header("ratelimit-policy").starts_with("\"code_site_hour\";q=20"));
        sent(&b, "p20@example.org", "203.0.113.9").await.expect(200);
        node.clock.advance(HOUR);
        sent(&a, ANN, "203.0.113.1").await.expect(200);
    })
    .await;
    assert!(matches!(mail.next().await, Seen::Letter { .. }));
}
