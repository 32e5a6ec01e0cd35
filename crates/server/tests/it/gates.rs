//! `POST _dropleaf/gate` and `Authorization: Basic`: the password gate as viewers and programs meet it.

use crate::harness::{Answer, Ask, Form, HOUR, Node, Setup, on_each_database, page, site_path, zip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse";

async fn locked(node: &Node, title: &str) -> Value {
    node.publish(Form::file("page.html", page(title)).field("password", PASSWORD)).await
}

fn url(site: &Value) -> &str {
    site["url"].as_str().unwrap()
}

async fn own_host(node: &Node, site: &Value) -> String {
    node.get(url(site)).browser().send().await.expect(307).header("location").to_owned()
}

fn guess(node: &Node, root: &str, password: &str) -> Ask {
    node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", password)])
}

/// The cookie of somebody who knows the password.
async fn open(node: &Node, root: &str) -> String {
    guess(node, root, PASSWORD).send().await.expect(303).cookie()
}

fn basic(password: &str) -> String {
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
        assert!(answer.text().contains("That is not the password"), "{}", answer.text());
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
    assert!(text.text().starts_with("401 This page asks for a password. "), "{}", text.text());
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
async fn cookie_of_one_site_opens_no_other() {
    on_each_database(Setup::new, async |node| {
        let (a, b) = (locked(node, "A").await, locked(node, "B").await);
        let (root_a, root_b) = (own_host(node, &a).await, own_host(node, &b).await);
        let cookie = open(node, &root_a).await;
        node.get(&root_a).cookie(&cookie).send().await.expect(200);
        node.get(&root_b).cookie(&cookie).send().await.expect(401);
        // At the shared address the name tells sites apart, and a value under another's name proves nothing.
        let (shared_a, shared_b) = (open(node, url(&a)).await, open(node, url(&b)).await);
        let (name_a, value_a) = shared_a.split_once('=').unwrap();
        let (name_b, _) = shared_b.split_once('=').unwrap();
        assert_ne!(name_a, name_b);
        node.get(url(&a)).cookie(&shared_a).send().await.expect(200);
        node.get(url(&b)).cookie(&shared_a).send().await.expect(401);
        node.get(url(&b)).cookie(&format!("{name_b}={value_a}")).send().await.expect(401);
        node.get(url(&b)).cookie(&format!("{shared_a}; {shared_b}")).send().await.expect(200);
        // What the e-mail gate hands out has another name, and the same value there is worth nothing.
        node.patch_site(&a, json!({"email_gate_domain": "example.org"})).await.expect(200);
        let fresh = open(node, &root_a).await;
        let email = fresh.replace("__Host-g=", "__Host-e=");
        let answer = node.get(&root_a).cookie(&format!("{fresh}; {email}"));
        answer.header("accept", "application/json").send().await.refused(401, "email_required");
    })
    .await;
}

#[tokio::test]
async fn tampered_and_expired_cookies_open_nothing() {
    let node = Node::start().await;
    let site = locked(&node, "Tampered").await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    for at in "__Host-g=".len()..cookie.len() {
        let mut bytes = cookie.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let status = node.get(&root).cookie(&changed).send().await.status;
        // The last character carries two bits that mean nothing; strictly read, they must be zero.
        assert_eq!(status, 401, "position {at}");
    }
    for odd in ["__Host-g=", "__Host-g", "__Host-g=====", "g=x", "__Host-g=%00", ";;;="] {
        node.get(&root).cookie(odd).send().await.expect(401);
    }
    node.clock.advance(12 * HOUR - 1);
    node.get(&root).cookie(&cookie).send().await.expect(200);
    node.clock.advance(1);
    node.get(&root).cookie(&cookie).send().await.expect(401);
}

#[tokio::test]
async fn changed_gates_close_open_doors() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Changed").await;
        let root = own_host(node, &site).await;
        let first = open(node, &root).await;
        node.patch_site(&site, json!({"title": "Another title"})).await.expect(200);
        node.get(&root).cookie(&first).send().await.expect(200);
        // Also when the new password is the old one: whoever sends it wants everybody asked again.
        node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
        node.get(&root).cookie(&first).send().await.expect(401);

        let second = open(node, &root).await;
        node.patch_site(&site, json!({"password": null})).await.expect(200);
        node.get(&root).send().await.expect(200);
        node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
        node.get(&root).cookie(&second).send().await.expect(401);

        let third = open(node, &root).await;
        for domain in [json!("example.org"), Value::Null] {
            node.patch_site(&site, json!({"email_gate_domain": domain})).await.expect(200);
            node.get(&root).cookie(&third).send().await.expect(401);
        }
        let put = Form::file("page.html", page("Replaced")).field("password", PASSWORD);
        let fourth = open(node, &root).await;
        node.put(&site_path(&site)).key(&node.key).form(put).send().await.expect(200);
        node.get(&root).cookie(&fourth).send().await.expect(401);
        node.get(&root).cookie(&open(node, &root).await).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn claiming_closes_open_doors() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("Unowned")).field("password", PASSWORD);
    let site = node.post("/sites").form(form).send().await.expect(201).json();
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    node.get(&root).cookie(&cookie).send().await.expect(200);
    let claim = node.post(&format!("{}/claim", site_path(&site))).key(&node.key);
    claim.json(&json!({"claim_token": site["claim_token"]})).send().await.expect(200);
    node.get(&root).cookie(&cookie).send().await.expect(401);
    node.get(&root).cookie(&open(&node, &root).await).send().await.expect(200);
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
            // Sent with every request it is hashed once, and never mistaken for guessing.
            let before = node.app().hashed_passwords();
            for _ in 0..30 {
                ask(&basic(PASSWORD)).await.expect(200);
            }
            assert_eq!(node.app().hashed_passwords(), before);
            // What is remembered ends with the password.
            node.patch_site(&site, json!({"password": "another"})).await.expect(200);
            assert_ne!(ask(&basic(PASSWORD)).await.status, 200);
        },
    )
    .await;
}

fn behind_a_proxy() -> Setup {
    Setup::new().with_rates().set("trusted_proxies", "127.0.0.0/8")
}

async fn guess_from(node: &Node, site: &Value, password: &str, ip: &str) -> Answer {
    guess(node, url(site), password).from(ip).header("accept", "application/json").send().await
}

#[tokio::test]
async fn guesses_are_throttled_before_anything_is_hashed() {
    let node = behind_a_proxy().start().await;
    let site = locked(&node, "Guessed").await;
    let before = node.app().hashed_passwords();
    for _ in 0..5 {
        guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(401, "wrong_password");
    }
    for password in ["wrong", PASSWORD] {
        let refused = guess_from(&node, &site, password, "203.0.113.7").await.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), "10");
    }
    let by_header = node.get(url(&site)).from("203.0.113.7").header("authorization", &basic(PASSWORD));
    by_header.send().await.expect(429);
    assert_eq!(node.app().hashed_passwords() - before, 5, "what is refused is not hashed");
    let page = guess(&node, url(&site), "x").from("203.0.113.7").browser().send().await.expect(429);
    assert!(page.text().contains("Too many tries. Wait 10 seconds") && page.text().contains("<form"));

    guess_from(&node, &site, PASSWORD, "203.0.113.8").await.expect(303);
    let other = locked(&node, "Other").await;
    guess_from(&node, &other, PASSWORD, "203.0.113.7").await.expect(303);
    node.clock.advance(9);
    assert_eq!(guess_from(&node, &site, "wrong", "203.0.113.7").await.header("retry-after"), "1");
    node.clock.advance(1);
    guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(401, "wrong_password");
    guess_from(&node, &site, "wrong", "203.0.113.7").await.refused(429, "rate_limited");

    for n in 0..5 {
        guess_from(&node, &site, "wrong", &format!("2001:db8:1:2::{n}")).await.expect(401);
    }
    guess_from(&node, &site, "wrong", "2001:db8:1:2:ffff::1").await.expect(429);
    guess_from(&node, &site, "wrong", "2001:db8:1:3::1").await.expect(401);
}

#[tokio::test]
async fn right_passwords_are_not_counted_as_guesses() {
    let node = behind_a_proxy().set("limits.gate_tries_per_minute", "3").start().await;
    let site = locked(&node, "Popular").await;
    for _ in 0..8 {
        guess_from(&node, &site, PASSWORD, "203.0.113.7").await.expect(303);
    }
    for ip in ["198.51.100.1", "198.51.100.2", "198.51.100.3"] {
        guess_from(&node, &site, "wrong", ip).await.expect(401);
    }
    let refused = guess_from(&node, &site, PASSWORD, "198.51.100.4").await.refused(429, "rate_limited");
    assert_eq!(refused.header("ratelimit-policy"), "\"gate_site_minute\";q=3;w=60");
    node.clock.advance(60);
    guess_from(&node, &site, PASSWORD, "198.51.100.4").await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_guesses_are_throttled_and_the_server_goes_on() {
    let node = behind_a_proxy().start().await;
    let (site, open_site) = (locked(&node, "Besieged").await, node.publish_page("Open").await);
    let cookie = open(&node, url(&site)).await;
    let before = node.app().hashed_passwords();
    let guessers = (0..50).map(|n| {
        let (node, site) = (&node, &site);
        async move {
            let mut looked_at = 0;
            for round in 0..200 {
                // A fifth of them share one address, the others come from everywhere.
                let ip = if n < 10 { "203.0.113.7".into() } else { format!("198.51.{n}.{round}") };
                let answer = guess_from(node, site, &format!("guess {n} {round}"), &ip).await;
                assert!(matches!(answer.status, 401 | 429 | 503), "{}", answer.status);
                looked_at += u64::from(answer.status == 401);
            }
            looked_at
        }
    });
    let viewers = async {
        for _ in 0..200 {
            node.get(url(&open_site)).send().await.expect(200);
            node.get(url(&site)).cookie(&cookie).send().await.expect(200);
        }
    };
    let (looked_at, ()) = tokio::join!(futures_util::future::join_all(guessers), viewers);
    let hashed = node.app().hashed_passwords() - before;
    assert_eq!(looked_at.iter().sum::<u64>(), hashed);
    assert!(hashed <= 60, "{hashed} of 10,000 guesses were hashed");
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
    // A share token in the address does not come back.
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
    assert!(strict.header("content-security-policy").contains("frame-ancestors 'none'"));
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
    // Every name the server goes by is the page's own while it is the one that was asked.
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
