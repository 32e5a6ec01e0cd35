//! `POST _dropleaf/gate` and `Authorization: Basic`: the password gate for viewers and programs.

use crate::harness::{Ask, Form, Node, Setup, on_each_database, page, site_path, zip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) const PASSWORD: &str = "correct horse";

pub(crate) async fn locked(node: &Node, title: &str) -> Value {
    node.publish(Form::file("page.html", page(title)).field("password", PASSWORD)).await
}

pub(crate) fn url(site: &Value) -> &str {
    site["url"].as_str().unwrap()
}

pub(crate) async fn own_host(node: &Node, site: &Value) -> String {
    node.get(url(site)).browser().send().await.expect(307).header("location").to_owned()
}

pub(crate) fn guess(node: &Node, root: &str, password: &str) -> Ask {
    node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", password)])
}

/// The cookie of a viewer who knows the password.
pub(crate) async fn open(node: &Node, root: &str) -> String {
    guess(node, root, PASSWORD).send().await.expect(303).cookie()
}

pub(crate) fn basic(password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("anybody:{password}")))
}

#[tokio::test]
async fn browser_is_asked_and_the_form_opens_the_page() {
    on_each_database(Setup::new, async |node| {
        let files = zip(&[("index.html", &page("Inside")), ("data/a.json", "{\"inside\": 1}")]);
        let site = node.publish(Form::file("s.zip", files).field("password", PASSWORD)).await;
        let root = own_host(node, &site).await;
        for path in ["", "data/a.json", "no/such/file"] {
            let asked = node.get(&format!("{root}{path}")).browser().send().await.expect(401);
            assert!(asked.text().contains("<form method=\"post\"") && !asked.text().contains("nside"));
        }
        let answer = guess(node, &root, "wrong").browser().send().await.expect(401);
        assert!(answer.text().contains("Wrong password"), "{}", answer.text());
        assert!(answer.text().contains("<form") && !answer.has("set-cookie"));

        let path = &root[root.find("/p/").unwrap()..];
        let to = format!("{path}data/a.json?x=1&y=%20");
        let form = [("password", PASSWORD), ("to", to.as_str())];
        let gate = format!("{root}_dropleaf/gate");
        let opened = node.post(&gate).browser().fields(&form).send().await.expect(303);
        assert_eq!(opened.header("location"), to);
        assert_eq!(opened.header("cache-control"), "no-store");
        let cookie = opened.header("set-cookie");
        assert!(cookie.starts_with("__Host-g="), "{cookie}");
        assert!(cookie.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
        let file = node.get(&format!("{root}data/a.json")).cookie(&opened.cookie()).send().await.expect(200);
        assert_eq!(file.text(), "{\"inside\": 1}");
        let shown = node.get(&root).browser().cookie(&opened.cookie()).send().await.expect(200);
        assert_eq!(shown.text(), page("Inside"));
        node.get(&format!("{root}data/a.json")).send().await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn gate_is_worded_for_whoever_asks() {
    let node = Node::start().await;
    let site = locked(&node, "Worded").await;
    let json = node.get(url(&site)).header("accept", "application/json").send().await;
    let json = json.refused(401, "password_required");
    let text = node.get(url(&site)).send().await.expect(401);
    assert!(text.text().starts_with("401 This page requires a password. "), "{}", text.text());
    let designed = node.get(&own_host(&node, &site).await).browser().send().await.expect(401);
    for answer in [&json, &text, &designed] {
        assert_eq!(answer.header("www-authenticate"), "PagePassword");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-robots-tag"), "noindex, nofollow, noarchive");
        assert!(!answer.has("access-control-allow-origin") && !answer.has("set-cookie"));
    }
    let policy = designed.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"), "{policy}");
    assert_eq!(designed.header("x-frame-options"), "DENY");
    assert_eq!(designed.header("cross-origin-opener-policy"), "same-origin");
    let head = node.head(&own_host(&node, &site).await).browser().send().await.expect(401);
    assert!(head.body.is_empty() && head.header("content-type").starts_with("text/html"));
    let wrong = guess(&node, url(&site), "x").header("accept", "application/json").send().await;
    wrong.refused(401, "wrong_password");
    let empty = guess(&node, url(&site), "").header("accept", "application/json").send().await;
    empty.refused(401, "password_required");
}

#[tokio::test]
async fn plain_client_follows_the_form_with_its_cookie() {
    let node = Node::start().await;
    let site = locked(&node, "Plain").await;
    let opened = guess(&node, url(&site), PASSWORD).send().await.expect(303);
    let answer = node.get(opened.header("location")).cookie(&opened.cookie()).send().await.expect(200);
    assert_eq!(answer.text(), page("Plain"));
}

#[tokio::test]
async fn basic_credentials_open_the_page_for_programs() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let site = locked(node, "Basic").await;
            let ask = |value: &str| {
                let ask = node.get(url(&site)).header("authorization", value);
                ask.header("accept", "application/json").send()
            };
            assert_eq!(ask(&basic(PASSWORD)).await.expect(200).text(), page("Basic"));
            ask(&basic("wrong")).await.refused(401, "wrong_password");
            for odd in ["Basic", "Basic ???", "Basic YQ==", "Bearer x", "Digest x", &basic("")] {
                assert_eq!(ask(odd).await.status, 401, "{odd}");
            }
            // Sent with every request it is hashed once, and never counted as guessing.
            let before = node.app().hashed_passwords();
            for _ in 0..30 {
                ask(&basic(PASSWORD)).await.expect(200);
            }
            assert_eq!(node.app().hashed_passwords(), before);
            // The remembered result ends with the password.
            node.patch_site(&site, json!({"password": "another"})).await.expect(200);
            assert_ne!(ask(&basic(PASSWORD)).await.status, 200);
        },
    )
    .await;
}

#[tokio::test]
async fn way_back_stays_below_the_page() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Back")).field("slug", "way-back")).await;
    node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
    let token = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let slug = url(&site).to_owned();
    let to = async |root: &str, to: &str| {
        let form = [("password", PASSWORD), ("to", to)];
        let answer = node.post(&format!("{root}_dropleaf/gate")).fields(&form).send().await.expect(303);
        answer.header("location").to_owned()
    };
    for bad in [
        "//evil.example/",
        "/\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "/../x",
        "/%2e%2e/x",
        "/a\r\nSet-Cookie: x=1",
        "/_dropleaf/gate",
        "",
    ] {
        assert_eq!(to(&slug, bad).await, "/", "{bad}");
        assert_eq!(to(&token, bad).await, token, "{bad}");
    }
    assert_eq!(to(&slug, "/deep/file?x=//y").await, "/deep/file?x=//y");
    assert_eq!(to(&token, "/p/AAAAAAAAAAAAAAAAAAAAAA/").await, token);
    assert_eq!(to(&token, &format!("{token}deep/")).await, format!("{token}deep/"));
    // A share token in the address is not repeated.
    let asked = node.get(&format!("{slug}deep/?t=secret&x=1")).browser().send().await.expect(401);
    assert!(asked.text().contains("name=\"to\" value=\"/deep/?x=1\""), "{}", asked.text());
}

#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let node = Node::start().await;
    let site = locked(&node, "Forged").await;
    let root = own_host(&node, &site).await;
    let origin = root.split("/p/").next().unwrap().to_owned();
    let sent = |headers: &[(&'static str, &str)]| {
        let ask = guess(&node, &root, PASSWORD).header("accept", "application/json");
        headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value)).send()
    };
    for headers in [
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        [("origin", "http://other.localhost"), ("sec-fetch-site", "same-site")],
        [("origin", origin.as_str()), ("sec-fetch-site", "same-site")],
        [("origin", "null"), ("sec-fetch-site", "cross-site")],
    ] {
        sent(&headers).await.refused(403, "cross_site");
    }
    for header in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
        sent(&[header]).await.refused(403, "cross_site");
    }
    sent(&[("origin", origin.as_str()), ("sec-fetch-site", "same-origin")]).await.expect(303);
    sent(&[("origin", "null"), ("sec-fetch-site", "same-origin")]).await.expect(303);
    sent(&[("origin", origin.as_str())]).await.expect(303);
    sent(&[]).await.expect(303);
}

#[tokio::test]
async fn gated_files_are_kept_framed_and_loaded_by_nobody_else() {
    let node = Node::start().await;
    let files = zip(&[("index.html", &page("Guarded")), ("a.js", "1")]);
    let site = node.publish(Form::file("s.zip", files).field("password", PASSWORD)).await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    for path in ["", "a.js"] {
        let own = node.get(&format!("{root}{path}")).cookie(&cookie).send().await.expect(200);
        assert_eq!(own.header("cache-control"), "no-store");
        assert_eq!(own.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(own.header("content-security-policy"), "frame-ancestors 'self'");
        let shared = node.get(&format!("{}{path}", url(&site))).header("authorization", &basic(PASSWORD));
        let shared = shared.send().await.expect(200);
        assert_eq!(shared.header("cache-control"), "no-store");
        assert_eq!(shared.header("cross-origin-resource-policy"), "same-origin");
        assert!(shared.header("content-security-policy").starts_with("sandbox "));
        assert!(!shared.has("access-control-allow-origin"));
    }
    node.patch_site(&site, json!({"csp_strict": true})).await.expect(200);
    let strict = node.get(&root).cookie(&cookie).send().await.expect(200);
    assert!(strict.header("content-security-policy").contains("frame-ancestors 'self'"));
    let public = node.publish(Form::file("a.html", page("P")).field("slug", "gated-public")).await;
    node.patch_site(&public, json!({"password": PASSWORD})).await.expect(200);
    let cookie = open(&node, url(&public)).await;
    let answer = node.get(url(&public)).cookie(&cookie).send().await.expect(200);
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn form_address_leads_to_the_page_when_there_is_nothing_to_pass() {
    let node = Node::start().await;
    let site = node.publish_page("Open").await;
    let gate = format!("{}_dropleaf/gate", url(&site));
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    for ask in [node.get(&gate), node.head(&gate), node.post(&gate).fields(&[("password", "x")])] {
        let answer = ask.send().await.expect(303);
        assert_eq!(answer.header("location"), path);
        assert!(!answer.has("set-cookie"));
    }
    node.put(&gate).send().await.expect(405);
    let gated = locked(&node, "Gated").await;
    node.get(&format!("{}_dropleaf/gate", url(&gated))).send().await.expect(303);
    node.delete(&site_path(&gated)).key(&node.key).send().await.expect(200);
    let gone = guess(&node, url(&gated), PASSWORD).header("accept", "application/json").send().await;
    gone.refused(410, "deleted");
}

#[tokio::test]
async fn gate_works_where_sites_share_an_address_and_without_tls() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let site = locked(&node, "Sandboxed").await;
    node.get(url(&site)).browser().send().await.expect(401);
    let cookie = open(&node, url(&site)).await;
    assert!(cookie.starts_with("__Host-g-"), "{cookie}");
    node.get(url(&site)).browser().cookie(&cookie).send().await.expect(200);
    // Every host name of the server is the page's origin if it is the requested one.
    let alias = url(&site).replace("localhost", "127.0.0.1");
    let origin = alias.split("/p/").next().unwrap().to_owned();
    let ask = || guess(&node, &alias, PASSWORD).header("sec-fetch-site", "same-origin");
    ask().header("origin", &origin).send().await.expect(303);
    ask().header("origin", "http://127.0.0.1:1").send().await.expect(403);

    let node = Setup::new().set("site_url", "http://pages.example.net:8080").start().await;
    let site = locked(&node, "Plain").await;
    let root = own_host(&node, &site).await;
    let opened = guess(&node, &root, PASSWORD).send().await.expect(303);
    assert!(opened.header("set-cookie").starts_with("g="), "{}", opened.header("set-cookie"));
    assert!(!opened.header("set-cookie").contains("Secure"));
    node.get(&root).cookie(&opened.cookie()).send().await.expect(200);
}
