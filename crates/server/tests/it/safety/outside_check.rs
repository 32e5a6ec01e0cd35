//! `safety.checker_url`: an operator's own content checker, called over HTTP, and what happens when it does not answer.

use crate::harness::{
    Dropleaf, FakeChecker, Form, LEAK, Node, Says, Setup, noise, on_each_database, page, site_path, zip,
};
use dropleaf_core::appeal::Decision;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Semaphore;

const PAGE: &str =
    "<title>Notes</title><a href=https://a.example/x>a</a><script src=//b.example/s.js></script>";

/// With the maximum timeout: a busy machine answers late.
fn setup(checker: &FakeChecker) -> Setup {
    Setup::new().set("safety.checker_url", &checker.url).set("safety.checker_timeout_seconds", "60")
}

async fn publish(node: &Node, form: Form) -> crate::harness::Answer {
    node.post("/sites").key(&node.key).form(form).send().await
}

fn refuse(reasons: &Value) -> String {
    json!({"verdict": "refuse", "reasons": reasons}).to_string()
}

#[tokio::test]
async fn checker_is_told_hashes_and_addresses_and_its_refusal_is_ours() {
    let checker = FakeChecker::start().await;
    let node = setup(&checker).set("safety.checker_headers", "Authorization: Bearer hush").start().await;
    publish(&node, Form::file("page.html", PAGE)).await.expect(201);
    let (headers, asked) = checker.heard().remove(0);
    assert_eq!(
        (&headers["authorization"], &headers["content-type"]),
        (&"Bearer hush".parse().unwrap(), &"application/json".parse().unwrap())
    );
    assert_eq!(
        (&asked["version"], &asked["kind"], &asked["title"]),
        (&json!(1), &json!("html"), &json!("Notes"))
    );
    // Addresses a page uses come before those it only links to.
    assert_eq!(asked["addresses"], json!(["https://b.example/s.js", "https://a.example/x"]));
    assert_eq!(asked["content_hash"].as_str().unwrap().len(), 64);
    let file = &asked["files"][0];
    assert_eq!(file["blake3"], blake3::hash(PAGE.as_bytes()).to_hex().as_str());
    assert_eq!((&file["bytes"], file.get("text")), (&json!(PAGE.len()), None), "the text stays here");

    checker.says(200, refuse(&json!([{"rule": "known_bad", "file": "index.html", "line": 1, "why": "a.example is on the list.", "fix": "Remove the link."}])));
    let before = node.count("SELECT COUNT(*) FROM sites").await;
    let refused = publish(&node, Form::file("page.html", PAGE)).await.refused(422, "content_blocked").json();
    assert_eq!(refused["reasons"][0]["rule"], "known_bad");
    assert!(
        refused["error_description"].as_str().unwrap().contains("a.example is on the list."),
        "{refused}"
    );
    assert_eq!(refused["content_hash"], asked["content_hash"]);
    let check = node.post("/check").form(Form::file("page.html", PAGE)).send().await.expect(200).json();
    assert_eq!((&check["accepted"], &check["code"]), (&json!(false), &json!("content_blocked")));
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, before);
    checker.says(200, refuse(&Value::Null));
    let bare = publish(&node, Form::file("page.html", PAGE)).await.refused(422, "content_blocked").json();
    assert_eq!(bare["reasons"][0]["rule"], "outside-check");

    let appeal = node.post("/appeals").form(Form::file("page.html", PAGE)).send().await.expect(201).json();
    node.app().decide_appeal("op", appeal["id"].as_str().unwrap(), Decision::Allow, "Fine.").await.unwrap();
    publish(&node, Form::file("page.html", PAGE)).await.expect(201);
}

#[tokio::test]
async fn texts_are_sent_only_when_asked_for_and_never_of_encrypted_pages() {
    let checker = FakeChecker::start().await;
    let node = setup(&checker).set("safety.checker_sends", "content").start().await;
    let archive = zip(&[("index.html", PAGE), ("p.png", "not a picture")]);
    publish(&node, Form::file("site.zip", archive)).await.expect(201);
    let (_, asked) = checker.heard().remove(0);
    let files = asked["files"].as_array().unwrap();
    let text = |path: &str| files.iter().find(|file| file["path"] == path).unwrap().get("text").cloned();
    assert_eq!((text("index.html"), text("p.png")), (Some(json!(PAGE)), None));
    assert_eq!(asked["texts_cut"], json!(false));
    // A file that does not fit is listed without its text, and the request says so.
    let long: Vec<String> = (0..1_250_000).map(|n| n.to_string()).collect();
    publish(&node, Form::file("site.zip", zip(&[("index.html", PAGE), ("long.txt", &long.join(" "))])))
        .await
        .expect(201);
    let (_, asked) = checker.heard().remove(0);
    let files = asked["files"].as_array().unwrap();
    let has_text = |path: &str| files.iter().find(|file| file["path"] == path).unwrap().get("text").is_some();
    assert_eq!((has_text("index.html"), has_text("long.txt")), (true, false));
    assert_eq!(asked["texts_cut"], json!(true));
    // Encrypted content is compared with what was taken down, but not sent to the checker.
    let down = publish(&node, Form::file("page.html", page("Taken down"))).await.expect(201).json();
    node.app().take_down("ada", down["id"].as_str().unwrap(), "fraud").await.unwrap();
    checker.heard();
    publish(&node, Form::file("page.html", noise("sealed", 500)).field("e2e", "true")).await.expect(201);
    let phish = "<title>PayPal login</title><form><input type=password></form>";
    publish(&node, Form::file("page.html", phish)).await.refused(422, "phishing_blocked");
    assert!(
        checker.heard().is_empty(),
        "what is refused already, or cannot be read, is nobody else's business"
    );
}

/// A failure of the checker lets pages through on one server and refuses them on the other.
async fn no_answer_is_as_set(checker: &FakeChecker, says: Says, open: &Node, closed: &Node) {
    checker.set(says.clone());
    let (open, closed) = tokio::join!(
        publish(open, Form::file("page.html", page("Open"))),
        publish(closed, Form::file("page.html", page("Closed")))
    );
    assert_eq!(open.status, 201, "{says:?}: {}", open.text());
    let refused = closed.refused(503, "check_unavailable");
    assert!(refused.has("retry-after"), "{says:?}");
}

#[tokio::test]
async fn without_an_answer_pages_are_accepted_or_refused_as_set() {
    let checker = FakeChecker::start().await;
    let elsewhere = FakeChecker::start().await;
    let open = setup(&checker).start().await;
    let closed = setup(&checker).set("safety.checker_failure", "refuse").start().await;
    for says in [
        Says::This(500, r#"{"verdict":"accept"}"#.to_owned()),
        Says::This(200, "fine".to_owned()),
        Says::This(200, r#"{"verdict":"maybe"}"#.to_owned()),
        Says::This(200, format!(r#"{{"verdict":"accept","x":"{}"}}"#, "x".repeat(300_000))),
        Says::GoTo(elsewhere.url.clone()),
    ] {
        no_answer_is_as_set(&checker, says, &open, &closed).await;
    }
    // A timeout of one second is safe only where no answer ever comes, however busy the machine is.
    let hasty = || setup(&checker).set("safety.checker_timeout_seconds", "1");
    let hasty = (hasty().start().await, hasty().set("safety.checker_failure", "refuse").start().await);
    no_answer_is_as_set(&checker, Says::Nothing, &hasty.0, &hasty.1).await;
    assert!(elsewhere.heard().is_empty(), "nobody is asked in its place");
    assert_eq!(closed.count("SELECT COUNT(*) FROM sites").await, 0);
    checker.says(200, r#"{"verdict":"accept"}"#);
    publish(&closed, Form::file("page.html", page("Back"))).await.expect(201);
    // Content that an operator allowed needs no answer from the checker.
    checker.says(200, refuse(&Value::Null));
    let appeal = closed.post("/appeals").form(Form::file("page.html", PAGE)).send().await.expect(201).json();
    closed.app().decide_appeal("op", appeal["id"].as_str().unwrap(), Decision::Allow, "Fine.").await.unwrap();
    checker.says(500, "");
    publish(&closed, Form::file("page.html", PAGE)).await.expect(201);
    publish(&closed, Form::file("page.html", page("Another"))).await.refused(503, "check_unavailable");
    drop(checker);
    publish(&open, Form::file("page.html", page("Nobody there"))).await.expect(201);
}

#[tokio::test]
async fn page_that_changes_meanwhile_is_asked_about_once() {
    let checker = FakeChecker::start().await;
    on_each_database(
        || setup(&checker),
        async |node| {
            checker.says(200, r#"{"verdict":"accept"}"#);
            let site = node.publish(Form::file("page.html", PAGE)).await;
            let path = site_path(&site);
            node.put(&path)
                .key(&node.key)
                .form(Form::file("page.html", page("Two")))
                .send()
                .await
                .expect(200);
            checker.heard();
            let (arrived, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
            checker.set(Says::Held(200, arrived.clone(), go_on.clone()));
            let rollback = node.post(&format!("{path}/rollback")).key(&node.key).json(&json!({"version": 1}));
            let change = async {
                arrived.acquire().await.unwrap().forget();
                node.patch_site(&site, json!({"title": "Other"})).await.expect(200);
                go_on.add_permits(5);
            };
            let (rolled_back, ()) = tokio::join!(rollback.send(), change);
            rolled_back.expect(200);
            assert_eq!(checker.heard().len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn secrets_are_judged_before_anybody_is_told_of_them() {
    let checker = FakeChecker::start().await;
    let node =
        setup(&checker).set("safety.checker_sends", "content").set("safety.pii_check", "block").start().await;
    publish(&node, Form::file("page.html", LEAK)).await.refused(422, "secrets_found");
    assert!(checker.heard().is_empty());
}

#[tokio::test]
async fn no_more_wait_for_the_check_than_fit_in() {
    let checker = FakeChecker::start().await;
    let (arrived, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    checker.set(Says::Held(500, arrived.clone(), go_on.clone()));
    let closed = setup(&checker).set("safety.checker_failure", "refuse").start().await;
    let mut asks: FuturesUnordered<_> = (0..20)
        .map(|n| closed.post("/check").form(Form::file("page.html", page(&format!("{n}")))).send())
        .collect();
    // While the checker holds the first, the queue does not move: one must be refused.
    let mut answers = vec![asks.next().await.unwrap()];
    arrived.acquire().await.unwrap().forget();
    go_on.add_permits(20);
    answers.extend(asks.collect::<Vec<_>>().await);
    let errors: Vec<Value> = answers.iter().map(|answer| answer.json()["error"].clone()).collect();
    assert!(answers.iter().all(|answer| answer.status == 503 && answer.has("retry-after")));
    assert!(
        errors.contains(&json!("overloaded")) && errors.contains(&json!("check_unavailable")),
        "{errors:?}"
    );
    let asked = errors.iter().filter(|error| *error == "check_unavailable").count();
    assert_eq!(checker.heard().len(), asked, "nobody else was told of");
}

#[test]
fn settings_of_the_checker_are_checked_and_hidden() {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    let at = "safety.checker_url=https://check.example/?key=hush";
    let shown =
        dropleaf.prints(&["config", "show", "--set", at, "--set", "safety.checker_headers=X-Key: hush"]);
    assert!(!shown.contains("hush"), "{shown}");
    for (setting, said) in [
        ("safety.checker_url=http://check.example/", "must begin with https://"),
        ("safety.checker_failure=panic", "`safety.checker_failure` must be accept or refuse"),
        ("safety.checker_sends=all", "`safety.checker_sends` must be addresses or content"),
        ("safety.checker_timeout_seconds=0", "`safety.checker_timeout_seconds` must be 1 to 60"),
        ("safety.checker_headers=hush", "write `Name: value`"),
    ] {
        let complaint = dropleaf.complains(&["config", "check", "--set", at, "--set", setting]);
        assert!(complaint.contains(said) && !complaint.contains("hush"), "{setting}: {complaint}");
    }
}
