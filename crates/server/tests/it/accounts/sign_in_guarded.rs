//! Attacks on `/login`: what it reveals, what it refuses, and its rate limits.

use crate::accounts::sign_in::{ANN, OPEN, ask, letter, link_in, sign_in, with_mail};
use crate::harness::{Answer, MailServer, Mood, Node, Seen, Setup, Tab, code_in, on_each_database};
use std::collections::BTreeMap;

/// As long as the others, so that responses can be compared byte by byte.
const STRANGER: &str = "eve@example.net";
const LISTED: &str = "new@example.com";

/// The response without what differs between any two requests.
fn seen(answer: &Answer) -> (u16, String, BTreeMap<String, String>) {
    let headers =
        answer.headers.iter().filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, answer.text(), headers.collect())
}

#[tokio::test]
async fn nothing_tells_whether_an_address_has_an_account() {
    let mut mail = MailServer::start(Mood::Takes).await;
    for policy in ["open", "closed", "allow-list"] {
        let setup = with_mail(&mail).set("accounts.sign_up", policy).set("accounts.allowed", "example.com");
        let node = setup.start().await;
        node.app().create_account(ANN, None, false).await.unwrap();
        let mut all = Vec::new();
        for email in [ANN, STRANGER, LISTED] {
            let tab = Tab::at(&node, "/login").await;
            let asked = tab.submit("/login", &[("email", email)]).await;
            let shown = tab.get("/login/code").await;
            let wrong = tab.submit("/login/code", &[("code", "00000000")]).await;
            all.push([asked, shown, wrong].map(|answer| {
                let (status, text, headers) = seen(&answer);
                (status, text.replace(email, "(address)").replace(&tab.token(), "(token)"), headers)
            }));
        }
        assert_eq!(all[0], all[1], "{policy}");
        assert_eq!(all[0], all[2], "{policy}");
        let rows = node
            .rows(
                "SELECT email, tries_left, length(code_mac), length(link_hash) FROM sign_ins WHERE tries_left > 0 ORDER BY email",
                Vec::new(),
                |row| Ok((row.text(0)?.to_owned(), row.int(1)?, row.int(2)?, row.int(3)?)),
            )
            .await;
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|(_, tries, mac, link)| (*tries, *mac, *link) == (4, 32, 32)), "{rows:?}");
        let expected: &[&str] = match policy {
            "open" => &[ANN, STRANGER, LISTED],
            "closed" => &[ANN],
            _ => &[ANN, LISTED],
        };
        let mut to = Vec::new();
        for _ in expected {
            to.push(letter(&mail).await.0);
        }
        to.sort();
        assert_eq!(to, expected, "{policy}");
        node.stop().await;
        while let Some(seen) = mail.unread() {
            assert!(!matches!(seen, Seen::Letter { .. }), "{policy}: one letter too many");
        }
    }
}

#[tokio::test]
async fn closed_server_lets_in_who_has_an_account() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).set("accounts.sign_up", "closed").start().await;
    node.app().create_account(ANN, None, false).await.unwrap();
    assert!(sign_in(&node, &mail, ANN).await.session().is_some());
    assert!(sign_in(&node, &mail, "operator@localhost").await.session().is_some());
}

#[tokio::test]
async fn forms_of_other_sites_sign_nobody_in() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let origin = node.base_url();
    let tab = Tab::new(&node);
    ask(&tab, ANN, "/dashboard").await;
    let (_, text) = letter(&mail).await;
    let (code, link) = (code_in(&text), link_in(&text).split_once("token=").unwrap().1.to_owned());
    let stranger = Tab::at(&node, "/login").await;
    for (path, field, value) in
        [("/login", "email", ANN), ("/login/code", "code", &*code), ("/login/link", "token", &*link)]
    {
        let fields = [(field, value)];
        let refused = async |what: &str, ask: crate::harness::Ask| {
            let answer = ask.send().await;
            assert_eq!(answer.status, 403, "{path}: {what}: {}", answer.text());
            assert!(answer.text().contains("cross_site") && !answer.has("set-cookie"), "{path}: {what}");
        };
        refused("no origin", tab.form(path, &fields)).await;
        for foreign in ["https://evil.example", "null", "http://s-abc.localhost", "http://localhost"] {
            refused(foreign, tab.form(path, &fields).header("origin", foreign)).await;
        }
        let lied = tab.form(path, &fields).header("origin", &origin).header("sec-fetch-site", "same-site");
        refused("a sibling host", lied).await;
        let bare = node.post(path).fields(&[(field, value), ("form_token", &tab.token())]).browser();
        if path != "/login" {
            refused("no visit cookie", bare.header("origin", &origin)).await;
        }
        let mixed = tab.with_token_of(&stranger);
        refused("another visitor's token", mixed.form(path, &fields).header("origin", &origin)).await;
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
    assert_eq!(node.count("SELECT SUM(tries_left) FROM sign_ins").await, 5);
    tab.submit("/login/code", &[("code", &code)]).await.expect(303);
}

#[tokio::test]
async fn nobody_is_led_away_after_signing_in() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    for evil in
        ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "\\\\evil", ""]
    {
        let quoted: String = form_urlencoded::byte_serialize(evil.as_bytes()).collect();
        let tab = Tab::new(&node);
        let shown = tab.get(&format!("/login?next={quoted}")).await.expect(200);
        assert!(shown.text().contains("name=\"next\" value=\"/dashboard\""), "{evil}");
        tab.submit("/login", &[("email", ANN), ("next", evil)]).await.expect(303);
        let (_, code) = mail.next_code().await;
        let done = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
        assert_eq!(done.header("location"), "/dashboard", "{evil}");
        let on = tab.get(&format!("/login?next={quoted}")).await.expect(303);
        assert_eq!(on.header("location"), "/dashboard", "{evil}");
    }
}

#[tokio::test]
async fn letters_are_counted_by_address_and_by_client() {
    let mail = MailServer::start(Mood::Takes).await;
    let setup = || {
        let setup = with_mail(&mail).with_rates().set("limits.sign_ins_per_address", "2");
        setup.set("limits.sign_ins_per_client", "4")
    };
    on_each_database(setup, async |node| {
        let tab = Tab::at(node, "/login").await;
        for email in [ANN, ANN] {
            tab.submit("/login", &[("email", email)]).await.expect(303);
        }
        let full = tab.submit("/login", &[("email", ANN)]).await.expect(429);
        assert!(full.text().contains("Too many codes") && full.text().contains(ANN));
        assert_eq!(full.header("retry-after"), "3600");
        for email in ["b@example.org", "c@example.org"] {
            tab.submit("/login", &[("email", email)]).await.expect(303);
        }
        tab.submit("/login", &[("email", "d@example.org")]).await.expect(429);
        // Guesses from one network are slowed down.
        for _ in 0..5 {
            tab.submit("/login/code", &[("code", "00000000")]).await;
        }
        tab.submit("/login/code", &[("code", "00000000")]).await.expect(429);
        node.clock.advance(3600);
        tab.submit("/login", &[("email", ANN)]).await.expect(303);
    })
    .await;
}

#[tokio::test]
async fn address_that_is_none_is_said_so_beside_the_field() {
    let node = Node::start().await;
    let tab = Tab::at(&node, "/login").await;
    let wrong =
        tab.submit("/login", &[("email", "ann at home"), ("next", "/dashboard/keys")]).await.expect(400);
    let text = wrong.text();
    assert!(text.contains("role=\"alert\"") && text.contains("value=\"ann at home\""), "{text}");
    assert!(text.contains("value=\"/dashboard/keys\""));
}

#[tokio::test]
async fn server_without_mail_says_so() {
    let node = Setup::new().set("mail.mode", "off").start().await;
    let tab = Tab::new(&node);
    let shown = tab.get("/login").await.expect(503);
    assert!(shown.text().contains("cannot send email"));
    tab.submit("/login", &[("email", ANN)]).await.expect(503);
    // The operator can still sign in.
    let link = node.running.first_link.clone().unwrap();
    let path = link.strip_prefix(&node.base_url()).unwrap();
    tab.get(path).await.expect(200);
    let token = path.split_once("token=").unwrap().1;
    let done = tab.submit("/login/link", &[("token", token)]).await.expect(303);
    assert_eq!(done.header("location"), "/dashboard");
    tab.get("/").await.expect(303);
}

#[tokio::test]
async fn page_that_was_open_too_long_asks_once_more() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let tab = Tab::at(&node, "/login").await;
    // The browser has lost the cookie; the page still holds its token.
    tab.forget();
    let fields = [("email", ANN), ("next", "/dashboard/keys")];
    let foreign = tab.form("/login", &fields).header("origin", "https://evil.example").send().await;
    assert!(!foreign.expect(403).has("set-cookie"));
    let again = tab.submit("/login", &fields).await.expect(400);
    for part in ["open for too long", ANN, "value=\"/dashboard/keys\""] {
        assert!(again.text().contains(part), "{part}: {}", again.text());
    }
    assert_eq!(node.count(OPEN).await, 0, "Nothing was changed");
    tab.submit("/login", &fields).await.expect(303);
    let (_, code) = mail.next_code().await;
    let done = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
    assert_eq!(done.header("location"), "/dashboard/keys");
}
