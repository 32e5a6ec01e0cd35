//! `POST _dropleaf/code`: the e-mail gate, with a real conversation with a mail server, and with the outbox.

use crate::harness::{
    Answer, Ask, Form, HOUR, MailServer, Mood, Node, Seen, Setup, code_in, on_each_database, page,
};
use serde_json::{Value, json};
use std::fs;

const ANN: &str = "ann@example.org";
const STRANGER: &str = "eve@evil.example";

async fn gated(node: &Node, title: &str) -> Value {
    node.publish(Form::file("page.html", page(title)).field("email_gate_domain", "Example.org")).await
}

fn url(site: &Value) -> &str {
    site["url"].as_str().unwrap()
}

fn ask(node: &Node, root: &str, email: &str) -> Ask {
    node.post(&format!("{root}_dropleaf/code")).fields(&[("email", email)])
}

fn enter(node: &Node, root: &str, email: &str, code: &str) -> Ask {
    let ask = node.post(&format!("{root}_dropleaf/code")).fields(&[("email", email), ("code", code)]);
    ask.header("accept", "application/json")
}

fn with_mail(server: &MailServer) -> Setup {
    Setup::new().set("mail.smtp_url", server.url())
}

/// A code that is not this one.
fn other(code: &str) -> String {
    format!("{:08}", (code.parse::<u32>().unwrap() + 1) % 100_000_000)
}

#[tokio::test]
async fn code_from_the_letter_opens_the_page() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let site = gated(node, "Members").await;
            assert_eq!(site["email_gate"], json!({"domain": "example.org", "required": true}));
            let root = node.get(url(&site)).browser().send().await.expect(307).header("location").to_owned();
            let asked = node.get(&root).browser().send().await.expect(401);
            assert!(asked.text().contains("name=\"email\"") && !asked.text().contains("Members"));
            assert!(!asked.text().contains("example.org"), "the domain is nobody's business");
            assert_eq!(asked.header("www-authenticate"), "PageEmail");
            let json = node.get(url(&site)).header("accept", "application/json").send().await;
            json.refused(401, "email_required");

            let sent = ask(node, &root, " Ann@EXAMPLE.org ").browser().send().await.expect(200);
            assert!(sent.text().contains("name=\"code\"") && sent.text().contains(ANN), "{}", sent.text());
            assert_eq!(sent.header("cache-control"), "no-store");
            assert_eq!(sent.header("x-frame-options"), "DENY");
        },
    )
    .await;
    for _ in 0..2 {
        let Seen::Letter { to, text } = mail.next().await else { panic!("a letter") };
        assert_eq!(to, ANN);
        for line in
            ["From: dropleaf <dropleaf@localhost>", "To: ann@example.org", "Auto-Submitted: auto-generated"]
        {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("Members"), "nothing of the page is in the letter");
        assert_eq!(code_in(&text).len(), 8);
    }
}

#[tokio::test]
async fn right_code_opens_once_and_for_one_of_many() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let site = gated(node, "Once").await;
            let root = node.get(url(&site)).browser().send().await.expect(307).header("location").to_owned();
            ask(node, &root, ANN).send().await.expect(200);
            let (to, code) = mail.next_code().await;
            assert_eq!(to, ANN);
            // As people copy it: with a space.
            let spaced = format!(" {} {} ", &code[..4], &code[4..]);
            let racers = (0..12).map(|_| enter(node, &root, "ANN@example.org", &spaced).send());
            let answers = futures_util::future::join_all(racers).await;
            let won: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 303).collect();
            assert_eq!(won.len(), 1, "{:?}", answers.iter().map(|a| a.status).collect::<Vec<_>>());
            assert!(answers.iter().all(|answer| matches!(answer.status, 303 | 401)));
            assert!(won[0].header("set-cookie").starts_with("__Host-e="));
            node.get(&root).send().await.expect(401);
            let shown = node.get(&root).cookie(&won[0].cookie()).send().await.expect(200);
            assert_eq!(shown.text(), page("Once"));
            enter(node, &root, ANN, &code).send().await.refused(401, "invalid_code");

            let elsewhere = gated(node, "Elsewhere").await;
            let other_root =
                node.get(url(&elsewhere)).browser().send().await.expect(307).header("location").to_owned();
            node.get(&other_root).cookie(&won[0].cookie()).send().await.expect(401);
            node.clock.advance(12 * HOUR);
            node.get(&root).cookie(&won[0].cookie()).send().await.expect(401);
        },
    )
    .await;
}

#[tokio::test]
async fn wrong_code_costs_a_try_and_the_sixth_is_too_late() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let site = gated(node, "Tries").await;
            let root = url(&site);
            ask(node, root, ANN).send().await.expect(200);
            let (_, code) = mail.next_code().await;
            // What cannot be a code is not worth a try; what was meant for another is no code here.
            for odd in ["1234567", "123456789", "abcdefgh", "１２３４５６７８"] {
                enter(node, root, ANN, odd).send().await.refused(401, "invalid_code");
            }
            enter(node, root, "bob@example.org", &code).send().await.refused(401, "invalid_code");
            let racers = (0..20).map(|_| enter(node, root, ANN, &other(&code)).send());
            for answer in futures_util::future::join_all(racers).await {
                answer.refused(401, "invalid_code");
            }
            enter(node, root, ANN, &code).send().await.refused(401, "invalid_code");

            // A new code replaces the old one, and has tries of its own.
            ask(node, root, ANN).send().await.expect(200);
            let (_, second) = mail.next_code().await;
            for _ in 0..4 {
                enter(node, root, ANN, &other(&second)).send().await.refused(401, "invalid_code");
            }
            if code != second {
                ask(node, root, ANN).send().await.expect(200);
                let (_, third) = mail.next_code().await;
                if third != second {
                    enter(node, root, ANN, &second).send().await.refused(401, "invalid_code");
                }
                enter(node, root, ANN, &third).send().await.expect(303);
            }
        },
    )
    .await;
}

#[tokio::test]
async fn code_lives_ten_minutes_and_dies_with_its_gate() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let site = gated(&node, "Brief").await;
    let fresh = async || {
        ask(&node, url(&site), ANN).send().await.expect(200);
        mail.next_code().await.1
    };
    let code = fresh().await;
    node.clock.advance(600);
    enter(&node, url(&site), ANN, &code).send().await.refused(401, "invalid_code");
    let code = fresh().await;
    node.clock.advance(599);
    enter(&node, url(&site), ANN, &code).send().await.expect(303);

    let code = fresh().await;
    node.patch_site(&site, json!({"email_gate_domain": "other.example"})).await.expect(200);
    enter(&node, url(&site), ANN, &code).send().await.refused(401, "invalid_code");
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM email_codes").await, 1);
    node.clock.advance(600);
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM email_codes").await, 0);
}

#[tokio::test]
async fn changed_domain_closes_open_doors() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let site = gated(&node, "Moved").await;
    ask(&node, url(&site), ANN).send().await.expect(200);
    let (_, code) = mail.next_code().await;
    let cookie = enter(&node, url(&site), ANN, &code).send().await.expect(303).cookie();
    node.get(url(&site)).cookie(&cookie).send().await.expect(200);
    for domain in [json!("other.example"), json!("example.org"), Value::Null, json!("example.org")] {
        node.patch_site(&site, json!({"email_gate_domain": domain})).await.expect(200);
        let status = node.get(url(&site)).cookie(&cookie).send().await.status;
        assert_eq!(status, if domain.is_null() { 200 } else { 401 });
    }
}

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
            // The fourth is one too many for both alike.
            let fourth = async |address: &str, ip: &str| {
                plain(ask(node, &root, address).browser().from(ip).send().await.expect(429), address)
            };
            assert_eq!(fourth(STRANGER, "203.0.113.1").await, fourth(ANN, "203.0.113.2").await);
            let wrong = async |address: &str, ip: &str| {
                let answer = enter(node, &root, address, "00000000").from(ip).send().await;
                plain(answer.expect(401), address)
            };
            assert_eq!(wrong(STRANGER, "203.0.113.1").await, wrong(ANN, "203.0.113.2").await);
            // Both have left the same traces.
            assert_eq!(node.count("SELECT COUNT(*) FROM email_codes WHERE tries_left = 4").await, 2);
            let traces = node
                .rows("SELECT key FROM counters", vec![], |row| Ok(row.text(0)?.to_owned()))
                .await
                .join(" ");
            assert!(!traces.contains("example") && !traces.contains("203.0"), "{traces}");
            // Only one of them has got letters.
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
    // The letter is on its way, and its connection is open: the answer came without it.
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
    // Stopping waits for what is under way.
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
        // An address counts at all pages together, however it is written.
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

#[tokio::test]
async fn guessing_codes_is_throttled() {
    let node = Setup::new().with_rates().set("trusted_proxies", "127.0.0.1").start().await;
    let site = gated(&node, "Guessed").await;
    for n in 0..5 {
        let email = format!("p{n}@example.org");
        enter(&node, url(&site), &email, "00000000").from("203.0.113.1").send().await.expect(401);
    }
    let refused = enter(&node, url(&site), ANN, "00000000").from("203.0.113.1").send().await;
    assert_eq!(refused.refused(429, "rate_limited").header("retry-after"), "10");
    enter(&node, url(&site), ANN, "00000000").from("203.0.113.2").send().await.expect(401);
}

#[tokio::test]
async fn both_gates_come_one_after_the_other() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let form = Form::file("page.html", page("Both")).field("password", "secret");
    let site = node.publish(form.field("allowed_email_domain", "example.org")).await;
    let root = node.get(url(&site)).browser().send().await.expect(307).header("location").to_owned();
    let json = async |ask: Ask| ask.header("accept", "application/json").send().await;
    json(node.get(&root)).await.refused(401, "password_required");
    // Who does not know the password makes no mail leave.
    json(ask(&node, &root, ANN)).await.refused(401, "password_required");
    assert_eq!(node.count("SELECT COUNT(*) FROM email_codes").await, 0);
    let gate = node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", "secret")]);
    let password = gate.send().await.expect(303).cookie();
    json(node.get(&root).cookie(&password)).await.refused(401, "email_required");
    json(ask(&node, &root, ANN).cookie(&password)).await.expect(200);
    let (_, code) = mail.next_code().await;
    json(enter(&node, &root, ANN, &code)).await.refused(401, "password_required");
    let email = enter(&node, &root, ANN, &code).cookie(&password).send().await.expect(303).cookie();
    json(node.get(&root).cookie(&email)).await.refused(401, "password_required");
    let shown = node.get(&root).cookie(&format!("{password}; {email}")).send().await.expect(200);
    assert_eq!(shown.text(), page("Both"));
}

#[tokio::test]
async fn odd_addresses_and_foreign_forms_are_refused() {
    let node = Node::start().await;
    let site = gated(&node, "Odd").await;
    for odd in ["ann", "ann@", "a b@example.org", "\"a\"@example.org", "a%b@example.org", "a@b@example.org"] {
        let answer = ask(&node, url(&site), odd).header("accept", "application/json").send().await;
        answer.refused(400, "invalid_field");
        let designed = ask(&node, url(&site), odd).browser().send().await.expect(400);
        assert!(designed.text().contains("does not look like an e-mail address"));
    }
    let empty = ask(&node, url(&site), "").header("accept", "application/json").send().await;
    empty.refused(401, "email_required");
    let foreign = ask(&node, url(&site), ANN).header("sec-fetch-site", "cross-site");
    foreign.header("accept", "application/json").send().await.refused(403, "cross_site");
    assert_eq!(node.count("SELECT COUNT(*) FROM email_codes").await, 0);
    node.get(&format!("{}_dropleaf/code", url(&site))).send().await.expect(303);
    let hostile = ask(&node, url(&site), "<script>alert(1)</script>@example.org").browser().send().await;
    assert!(!hostile.expect(400).text().contains("<script>"));
}
