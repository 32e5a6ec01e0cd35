//! `_dropleaf/report`: anyone may report a page to the operator.

use crate::harness::{
    Answer, Ask, DAY, Dropleaf, Form, HOUR, NOW, Node, Setup, on_each_database, page, site_path,
};
use serde_json::{Value, json};

const FORM: &str = "application/x-www-form-urlencoded";

/// The page's own host, where browsers see it.
async fn own_root(node: &Node, site: &Value) -> String {
    let sent = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    sent.header("location").to_owned()
}

fn report(node: &Node, root: &str, body: &str) -> Ask {
    node.post(&format!("{root}_dropleaf/report")).body(FORM, body)
}

async fn stored(node: &Node) -> Vec<(String, Option<String>, Option<String>, i64)> {
    let rows = "SELECT reason, comment, contact, created_at FROM reports ORDER BY id";
    node.rows(rows, vec![], |row| {
        let own = |at| row.opt_text(at).map(|text| text.map(str::to_owned));
        Ok((row.text(0)?.to_owned(), own(1)?, own(2)?, row.int(3)?))
    })
    .await
}

fn is_locked_down(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"));
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-frame-options"), "DENY");
    assert_eq!(answer.header("x-robots-tag"), "noindex, nofollow, noarchive");
    assert!(
        answer.text().contains("<meta name=\"referrer\" content=\"same-origin\">"),
        "its form has an origin"
    );
}

#[tokio::test]
async fn browser_sends_the_form_and_is_thanked() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Bad").await;
        let root = own_root(node, &site).await;
        let form = node.get(&format!("{root}_dropleaf/report")).browser().send().await.expect(200);
        is_locked_down(&form);
        let path = format!("/p/{}/_dropleaf/report", site["unlisted_token"].as_str().unwrap());
        assert!(form.text().contains(&format!("<form method=\"post\" action=\"{path}\">")));
        let origin = root.strip_suffix(&format!("/p/{}/", site["unlisted_token"].as_str().unwrap())).unwrap();
        let sent = report(node, &root, "reason=phishing&comment=It+asks%20for+my+card&contact=a%40b.example")
            .browser()
            .header("sec-fetch-user", "?1")
            .header("sec-fetch-dest", "document")
            .header("origin", origin)
            .header("sec-fetch-site", "same-origin");
        let sent = sent.send().await.expect(303);
        assert_eq!(sent.header("location"), format!("{path}?sent"));
        let thanks = node.get(&format!("{root}_dropleaf/report?sent")).browser().send().await.expect(200);
        assert!(thanks.text().contains("Thank you for your report"));
        let kept = (
            "phishing".to_owned(),
            Some("It asks for my card".to_owned()),
            Some("a@b.example".to_owned()),
            NOW,
        );
        assert_eq!(stored(node).await, [kept]);
        let head = node.head(&format!("{root}_dropleaf/report")).browser().send().await.expect(200);
        assert_eq!(head.header("content-length"), form.body.len().to_string());
    })
    .await;
}

#[tokio::test]
async fn report_needs_no_pass_and_shows_nothing_of_the_page() {
    let node = Node::start().await;
    let locked = Form::file("a.html", page("Top secret")).field("password", "hunter2");
    let site = node.publish(locked.field("email_gate_domain", "example.com")).await;
    let root = own_root(&node, &site).await;
    let form = node.get(&format!("{root}_dropleaf/report")).browser().send().await.expect(200);
    assert!(!form.text().contains("Top secret"));
    report(&node, &root, "reason=other").send().await.expect(200);
    let burn = node.publish(Form::file("a.html", page("Burns")).field("burn_after_read", "true")).await;
    report(&node, burn["url"].as_str().unwrap(), "reason=malware").send().await.expect(200);
    assert_eq!(node.read_site(&burn).await["state"], "live", "a report burns nothing");
    assert_eq!(stored(&node).await.len(), 2);
}

#[tokio::test]
async fn plain_client_reports_at_any_address_of_the_page() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("x")).field("slug", "reported-garden")).await;
    let token = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    for root in [site["url"].as_str().unwrap(), &token] {
        let thanks = report(&node, root, "reason=illegal").send().await.expect(200);
        assert_eq!(thanks.header("content-type"), "text/plain; charset=utf-8");
        assert!(thanks.text().starts_with("Thank you"));
    }
}

#[tokio::test]
async fn form_without_a_reason_comes_back_with_what_was_typed() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let root = own_root(&node, &site).await;
    let typed = "comment=%3Cscript%3Ealert(1)%3C%2Fscript%3E&contact=%22me%22";
    let clicked = |body: &str| report(&node, &root, body).browser().header("sec-fetch-user", "?1").send();
    let again = clicked(typed).await.expect(400);
    is_locked_down(&again);
    assert!(again.text().contains("Choose a reason."));
    assert!(again.text().contains("&#60;script&#62;alert(1)&#60;/script&#62;</textarea>"));
    assert!(!again.text().contains("<script"));
    let long = format!("reason=other&comment={}", "x".repeat(2001));
    assert!(clicked(&long).await.expect(400).text().contains("too long"));
    let json = |body: &str| report(&node, &root, body).header("accept", "application/json").send();
    json("reason=spam").await.refused(400, "invalid_field");
    json(&"x".repeat(70_000)).await.refused(413, "too_large");
    assert!(stored(&node).await.is_empty());
}

#[tokio::test]
async fn reports_from_other_sites_are_refused() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let other = own_root(&node, &node.publish_page("y").await).await;
    let sibling = other.split("/p/").next().unwrap();
    let root = own_root(&node, &site).await;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", sibling),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let ask =
            report(&node, &root, "reason=other").header(name, value).header("accept", "application/json");
        ask.send().await.refused(403, "cross_site");
    }
    assert!(stored(&node).await.is_empty());
}

/// The headers of requests made by a script.
const FETCH: &[(&str, &str)] = &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")];
const NO_CORS: &[(&str, &str)] = &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")];
const SUBMIT: &[(&str, &str)] = &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
const FRAME: &[(&str, &str)] =
    &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe"), ("sec-fetch-user", "?1")];
const MODELESS: &[(&str, &str)] = &[("sec-fetch-dest", "empty"), ("sec-fetch-user", "?1")];

#[tokio::test]
async fn what_a_script_sends_is_refused_and_not_counted() {
    let node = Setup::new().with_rates().start().await;
    let (site, other) = (node.publish_page("Floods").await, node.publish_page("Other").await);
    let root = own_root(&node, &site).await;
    let sent = |signs: &[(&str, &str)]| {
        let ask = report(&node, &root, "reason=other").header("sec-fetch-site", "same-origin");
        let ask = signs.iter().fold(ask, |ask, (name, value)| ask.header(name, value));
        ask.header("accept", "application/json").send()
    };
    for signs in [FETCH, NO_CORS, SUBMIT, FRAME, MODELESS] {
        for _ in 0..12 {
            sent(signs).await.refused(403, "cross_site");
        }
    }
    assert!(stored(&node).await.is_empty());
    let click = [SUBMIT[0], SUBMIT[1], ("sec-fetch-user", "?1")];
    sent(&click).await.expect(200);
    let webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
    for name in [
        "Version/18.0 Safari/605.1.15",
        "CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
        "FxiOS/133.0 Mobile/15E148 Safari/605.1.15",
        "Mobile/15E148",
    ] {
        let agent = format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) {webkit} {name}");
        sent(&[SUBMIT[0], SUBMIT[1], ("user-agent", &agent)]).await.expect(200);
    }
    let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
    sent(&[SUBMIT[0], SUBMIT[1], ("user-agent", chrome)]).await.refused(403, "cross_site");
    report(&node, other["url"].as_str().unwrap(), "reason=other").send().await.expect(200);
}

#[tokio::test]
async fn reports_about_one_page_leave_those_about_others() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let (flood, other) = (node.publish_page("Floods").await, node.publish_page("Other").await);
            for _ in 0..12 {
                report(node, flood["url"].as_str().unwrap(), "reason=other").send().await;
            }
            report(node, other["url"].as_str().unwrap(), "reason=phishing").send().await.expect(200);
            assert_eq!(stored(node).await.len(), 11);
        },
    )
    .await;
}

#[tokio::test]
async fn a_network_sends_a_hundred_reports_an_hour_and_no_more() {
    let node = Setup::new().with_rates().start().await;
    for n in 0..11 {
        let site = node.publish_page(&format!("Page {n}")).await;
        let root = site["url"].as_str().unwrap();
        let most = if n < 10 { 10 } else { 0 };
        for _ in 0..most {
            report(&node, root, "reason=other").send().await.expect(200);
        }
        if n == 10 {
            let refused = report(&node, root, "reason=other").header("accept", "application/json");
            let refused = refused.send().await.refused(429, "rate_limited");
            assert_eq!(refused.header("ratelimit-policy"), "\"report_hour\";q=100;w=3600");
        }
    }
}

#[tokio::test]
async fn eleventh_report_of_a_page_in_an_hour_is_429() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let site = node.publish_page("x").await;
            let root = site["url"].as_str().unwrap();
            for _ in 0..10 {
                report(node, root, "reason=other").send().await.expect(200);
            }
            let refused = report(node, root, "reason=other").header("accept", "application/json");
            let refused = refused.send().await.refused(429, "rate_limited");
            assert_eq!(refused.header("ratelimit-policy"), "\"report_page_hour\";q=10;w=3600");
            assert_eq!(refused.header("retry-after"), "3600");
            node.clock.advance(HOUR);
            report(node, root, "reason=other").send().await.expect(200);
        },
    )
    .await;
}

#[tokio::test]
async fn what_is_not_there_or_gone_cannot_be_reported() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let root = site["url"].as_str().unwrap();
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    node.get(&format!("{root}_dropleaf/report")).send().await.expect(410);
    report(&node, root, "reason=other").send().await.expect(410);
    report(&node, "/p/AAAAAAAAAAAAAAAAAAAAAA/", "reason=other").send().await.expect(404);
    let live = node.publish_page("y").await;
    let put =
        node.put(&format!("{}_dropleaf/report", live["url"].as_str().unwrap())).send().await.expect(405);
    assert_eq!(put.header("allow"), "GET, HEAD, POST");
}

#[tokio::test]
async fn designed_pages_link_to_the_report_where_there_is_something_to_report() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let root = own_root(&node, &site).await;
    let path = format!("/p/{}/_dropleaf/report", site["unlisted_token"].as_str().unwrap());
    let missing = node.get(&format!("{root}no/such/file")).browser().send().await.expect(404);
    assert!(missing.text().contains(&format!("<a href=\"{path}\">Report abuse</a>")), "{}", missing.text());
    let never = node.get("/p/AAAAAAAAAAAAAAAAAAAAAA/").browser().send().await.expect(404);
    assert!(!never.text().contains("Report abuse"));
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    let gone = node.get(&root).browser().send().await.expect(410);
    assert!(!gone.text().contains("Report abuse"));
}

#[tokio::test]
async fn operator_lists_reports_on_the_command_line() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    assert_eq!(dropleaf.prints(&["reports"]), "No reports.\n");
    let body = "reason=phishing&comment=%1B%5B31mred%E2%80%AEback&contact=a%40b.example";
    report(&node, site["url"].as_str().unwrap(), body).send().await.expect(200);
    node.clock.advance(1);
    report(&node, site["url"].as_str().unwrap(), "reason=other").send().await.expect(200);
    let table = dropleaf.prints(&["reports"]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].contains("other") && lines[2].contains("phishing"), "newest first: {table}");
    assert!(lines[2].contains(site["id"].as_str().unwrap()) && lines[2].contains("live"));
    assert!(lines[2].contains("[31mred\\u{202e}back"), "nothing moves the cursor: {table}");
    let all: Value = serde_json::from_str(&dropleaf.prints(&["reports", "--json"])).unwrap();
    let first = &all["reports"][1];
    assert_eq!(first["comment"], "[31mred\u{202e}back");
    assert_eq!((&first["contact"], &first["state"]), (&json!("a@b.example"), &json!("live")));
    assert_eq!(first["created_at"], NOW);
    assert!(first["url"].as_str().unwrap().contains(site["unlisted_token"].as_str().unwrap()));
    let one: Value = serde_json::from_str(&dropleaf.prints(&["reports", "--json", "--limit", "1"])).unwrap();
    assert_eq!(one["reports"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn reports_outlive_the_bytes_and_go_with_the_last_trace() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("x").await;
        report(node, site["url"].as_str().unwrap(), "reason=other").send().await.expect(200);
        node.delete(&format!("{}?purge=true", site_path(&site))).key(&node.key).send().await.expect(200);
        node.app().sweep().await.unwrap();
        assert_eq!(stored(node).await.len(), 1);
        // With an open report, `purge` erases the bytes only after the restore period; later the row is deleted.
        for _ in 0..2 {
            node.clock.advance(400 * DAY);
            node.app().sweep().await.unwrap();
        }
        assert!(stored(node).await.is_empty());
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}
