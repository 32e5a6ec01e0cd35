//! `POST _dropleaf/code`: the codes of the e-mail gate, with a real SMTP conversation.

use crate::harness::{
    Answer, Ask, Form, HOUR, MailServer, Mood, Node, Seen, Setup, code_in, on_each_database, page,
};
use serde_json::{Value, json};

pub(crate) const ANN: &str = "ann@example.org";

pub(crate) async fn gated(node: &Node, title: &str) -> Value {
    node.publish(Form::file("page.html", page(title)).field("email_gate_domain", "Example.org")).await
}

pub(crate) fn url(site: &Value) -> &str {
    site["url"].as_str().unwrap()
}

pub(crate) fn ask(node: &Node, root: &str, email: &str) -> Ask {
    node.post(&format!("{root}_dropleaf/code")).fields(&[("email", email)])
}

pub(crate) fn enter(node: &Node, root: &str, email: &str, code: &str) -> Ask {
    let ask = node.post(&format!("{root}_dropleaf/code")).fields(&[("email", email), ("code", code)]);
    ask.header("accept", "application/json")
}

pub(crate) fn with_mail(server: &MailServer) -> Setup {
    Setup::new().set("mail.smtp_url", server.url())
}

/// Another code than this one.
fn other(code: &str) -> String {
    format!("{:08}", (code.parse::<u32>().unwrap() + 1) % 100_000_000)
}

#[tokio::test]
async fn page_asks_for_an_address_and_its_letter_carries_a_code() {
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
            // With a space, as people copy it.
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
            // What cannot be a code uses up no attempt; a code for another address is not accepted.
            for odd in ["1234567", "123456789", "abcdefgh", "１２３４５６７８"] {
                enter(node, root, ANN, odd).send().await.refused(401, "invalid_code");
            }
            enter(node, root, "bob@example.org", &code).send().await.refused(401, "invalid_code");
            let racers = (0..20).map(|_| enter(node, root, ANN, &other(&code)).send());
            for answer in futures_util::future::join_all(racers).await {
                answer.refused(401, "invalid_code");
            }
            enter(node, root, ANN, &code).send().await.refused(401, "invalid_code");

            // A new code replaces the old one, and has its own attempts.
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
async fn changed_domain_revokes_earlier_access() {
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
    // Without the password no email is sent.
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
        assert!(designed.text().contains("is not a valid email address"));
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
