//! Signals after publishing, for operators and viewers: the queue, the email, and the warning before a page.

use crate::access::email_gate::with_mail;
use crate::harness::{Answer, Ask, Form, MailServer, Mood, Node, Seen, Setup, noise, on_each_database};
use serde_json::Value;

const SIGN_IN: &str =
    "<title>Members</title><h1>Members</h1><form><label>Password <input type=password></label></form>";

/// Two networks that report a page, or two views, are enough.
fn sensitive(setup: Setup, on_signal: &str) -> Setup {
    setup
        .set("safety.attention", on_signal)
        .set("safety.attention_reports", "2")
        .set("safety.attention_views", "2")
        .set("trusted_proxies", "127.0.0.1,::1")
}

fn warning() -> Setup {
    sensitive(Setup::new(), "interstitial")
}

async fn report(node: &Node, site: &Value) {
    let form = format!("/p/{}/_dropleaf/report", site["unlisted_token"].as_str().unwrap());
    for network in ["198.51.100.1", "198.51.100.2"] {
        node.post(&form).from(network).fields(&[("reason", "phishing")]).send().await.expect(200);
    }
}

/// A page that many have reported, and its address on its own host.
async fn reported(node: &Node, form: Form) -> (Value, String) {
    let site = node.publish(form).await;
    let own = own_host(node, &site).await;
    report(node, &site).await;
    assert_eq!(node.app().sweep().await.unwrap().raised, 1);
    (site, own)
}

async fn own_host(node: &Node, site: &Value) -> String {
    let sent = node.get(site["url"].as_str().unwrap()).browser().send().await;
    sent.expect(307).header("location").to_owned()
}

async fn navigate(node: &Node, address: &str, cookie: &str) -> Answer {
    node.get(address).browser().header("cookie", cookie).send().await
}

#[track_caller]
fn is_warning(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("Be careful with this page"), "{}", answer.text());
    assert!(!answer.text().contains("Members"), "nothing of the page may be shown");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    assert!(answer.text().contains("_dropleaf/report\">Report abuse</a>"));
    assert!(!answer.has("etag") && !answer.has("set-cookie"));
}

#[track_caller]
fn is_page(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("Members"), "{}", answer.text());
}

/// Presses the button of the warning.
fn press(node: &Node, own: &str, to: &str) -> Ask {
    node.post(&format!("{own}_dropleaf/continue"))
        .browser()
        .header("sec-fetch-site", "same-origin")
        .header("sec-fetch-dest", "document")
        .header("sec-fetch-user", "?1")
        .header("origin", own.split("/p/").next().unwrap())
        .fields(&[("warning", "continue"), ("to", to)])
}

#[tokio::test]
async fn viewers_are_warned_until_they_continue() {
    on_each_database(warning, async |node| {
        let (site, own) = reported(node, Form::file("page.html", SIGN_IN)).await;
        is_warning(&navigate(node, &own, "").await);
        let target = format!("{own}?step=2");
        let warned = navigate(node, &target, "").await;
        is_warning(&warned);
        let path = own.split_once("/p/").map(|(_, rest)| format!("/p/{rest}")).unwrap();
        assert!(warned.text().contains(&format!("action=\"{path}_dropleaf/continue\"")), "{}", warned.text());
        assert!(warned.text().contains(&format!("value=\"{path}?step=2\"")), "{}", warned.text());
        let head = node.head(&own).browser().send().await.expect(200);
        assert_eq!(head.header("cache-control"), "no-store");

        let passed = press(node, &own, &format!("{path}?step=2")).send().await.expect(303);
        assert_eq!(passed.header("location"), format!("{path}?step=2"));
        let set = passed.header("set-cookie").to_owned();
        assert!(set.starts_with("__Host-w=") && set.contains("; Max-Age=1800; HttpOnly"), "{set}");
        let cookie = set.split(';').next().unwrap();
        is_page(&navigate(node, &target, cookie).await);
        node.clock.advance(1800);
        is_warning(&navigate(node, &own, cookie).await);
        is_warning(&navigate(node, &own, "__Host-w=AAAAAAAA").await);

        let id = site["id"].as_str().unwrap();
        node.app().dismiss_reports("op", id, "a drill").await.unwrap();
        is_page(&navigate(node, &own, "").await);
        press(node, &own, &path).send().await.expect(303);
    })
    .await;
}

#[tokio::test]
async fn programs_and_what_the_page_loads_are_not_stopped() {
    let node = warning().start().await;
    let (site, own) = reported(&node, Form::file("page.html", SIGN_IN)).await;
    is_page(&node.get(site["url"].as_str().unwrap()).send().await);
    is_page(&node.get(&own).header("sec-fetch-mode", "cors").send().await);
    let content = format!("/sites/{}/content", site["id"].as_str().unwrap());
    is_page(&node.get(&content).key(&node.key).send().await);
    // A frame of another page is a navigation.
    is_warning(&node.get(&own).browser().header("sec-fetch-dest", "iframe").send().await);
}

#[tokio::test]
async fn only_a_persons_click_on_the_pages_own_host_continues() {
    let node = warning().start().await;
    let (_, own) = reported(&node, Form::file("page.html", SIGN_IN)).await;
    let form = || node.post(&format!("{own}_dropleaf/continue")).fields(&[("warning", "continue")]);
    let origin = own.split("/p/").next().unwrap();
    for (name, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
        form().header(name, value).send().await.expect(403);
    }
    let script = form().header("origin", origin).header("sec-fetch-mode", "cors");
    assert!(!script.header("sec-fetch-dest", "empty").send().await.expect(403).has("set-cookie"));
    // The form of a gate, sent again.
    let other = node.post(&format!("{own}_dropleaf/continue")).fields(&[("password", "x")]);
    assert!(!other.send().await.expect(303).has("set-cookie"));
    let elsewhere = press(&node, &own, "https://evil.example/").send().await.expect(303);
    assert!(elsewhere.header("location").starts_with("/p/"), "{}", elsewhere.header("location"));
    form().send().await.expect(303);
    node.get(&format!("{own}_dropleaf/continue")).browser().send().await.expect(303);
}

#[tokio::test]
async fn gates_come_first_and_burn_pages_have_their_own_button() {
    let node = warning().start().await;
    let (_, own) = reported(&node, Form::file("page.html", SIGN_IN).field("password", "pears")).await;
    let gate = navigate(&node, &own, "").await.expect(401);
    assert!(gate.text().contains("type=\"password\"") && !gate.text().contains("Be careful"));
    press(&node, &own, "").send().await.expect(401);
    let opened = node.post(&format!("{own}_dropleaf/gate")).fields(&[("password", "pears")]);
    let gate = opened.send().await.expect(303).header("set-cookie").split(';').next().unwrap().to_owned();
    is_warning(&navigate(&node, &own, &gate).await);
    let passed = press(&node, &own, "").header("cookie", &gate).send().await.expect(303);
    let cookies = format!("{gate}; {}", passed.header("set-cookie").split(';').next().unwrap());
    is_page(&navigate(&node, &own, &cookies).await);

    let burns = Form::file("page.html", SIGN_IN).field("burn_after_read", "true");
    let (_, own) = reported(&node, burns).await;
    let reveal = navigate(&node, &own, "").await.expect(200);
    assert!(reveal.text().contains("viewed only once") && !reveal.text().contains("Be careful"));
}

#[tokio::test]
async fn encrypted_page_keeps_its_key_because_the_form_is_posted_to_its_own_address() {
    let node = warning().start().await;
    let sealed = Form::file("page.html", noise("sealed", 100)).field("e2e", "true");
    let (_, own) = reported(&node, sealed).await;
    let warned = navigate(&node, &own, "").await.expect(200);
    assert!(warned.text().contains("<form method=\"post\">"), "{}", warned.text());
    let origin = own.split("/p/").next().unwrap();
    let press = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("origin", origin);
    let press = press.header("sec-fetch-user", "?1").fields(&[("warning", "continue"), ("to", "")]);
    let passed = press.send().await.expect(303);
    let cookie = passed.header("set-cookie").split(';').next().unwrap().to_owned();
    assert!(navigate(&node, &own, &cookie).await.expect(200).text().contains("id=\"payload\""));
}

#[tokio::test]
async fn shared_caches_keep_no_page_that_needs_a_warning() {
    let node = warning().start().await;
    let form = || Form::file("page.html", SIGN_IN).field("slug", "members");
    let site = node.publish(form()).await;
    let url = site["url"].as_str().unwrap();
    assert!(node.get(url).send().await.expect(200).header("cache-control").starts_with("public"));
    report(&node, &site).await;
    node.app().sweep().await.unwrap();
    assert!(node.get(url).send().await.expect(200).header("cache-control").starts_with("private"));
    is_warning(&navigate(&node, url, "").await);
}

#[tokio::test]
async fn queue_and_email_name_the_signal_and_viewers_see_nothing_of_it() {
    let mail = MailServer::start(Mood::Takes).await;
    let setup = || sensitive(with_mail(&mail), "operator");
    let node = setup().start().await;
    let sent = node.post("/sites").form(Form::file("page.html", SIGN_IN)).from("203.0.113.9").send().await;
    let site = sent.expect(201).json();
    let own = own_host(&node, &site).await;
    for _ in 0..2 {
        is_page(&navigate(&node, &own, "").await);
    }
    node.app().flush_views().await.unwrap();
    assert_eq!(node.app().sweep().await.unwrap().raised, 1);
    is_page(&navigate(&node, &own, "").await);

    assert!(node.app().notify_operators().await.unwrap());
    let Seen::Letter { text, .. } = mail.next().await else { panic!("an email") };
    assert!(text.contains("Subject: New on localhost: 1 page noticed by the server\n"), "{text}");
    assert!(!node.app().notify_operators().await.unwrap());

    let operator = node.operator().await;
    let html = operator.get("/operator/reports").await.expect(200).text();
    for part in [
        "<span class=\"badge bad\">Many views soon after publishing</span>",
        "It asks for a password and had 2 views within a minute.",
        "<h3>1 signal</h3>",
        "Dismiss 1 signal",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let id = site["id"].as_str().unwrap();
    let case = operator.get(&format!("/operator/pages/{id}")).await.expect(200).text();
    assert!(case.contains("noticed by the server") && case.contains("Dismiss 1 signal"), "{case}");
    operator.submit(&format!("/operator/reports/{id}/dismiss"), &[("reason", "a demo")]).await.expect(303);
    let html = operator.get("/operator/reports").await.expect(200).text();
    assert!(html.contains("No open reports") && html.contains("Many views soon after publishing"), "{html}");
    let actions = node.app().list_audit_about(id, 10).await.unwrap();
    assert_eq!(actions.len(), 1, "{actions:?}");
}

#[tokio::test]
async fn nothing_happens_where_it_is_off() {
    let node = sensitive(Setup::new(), "off").start().await;
    let site = node.publish(Form::file("page.html", SIGN_IN)).await;
    let own = own_host(&node, &site).await;
    report(&node, &site).await;
    assert_eq!(node.app().sweep().await.unwrap().raised, 0);
    is_page(&navigate(&node, &own, "").await);
}
