//! The exact headers of every kind of response: shared address, own host, public host, errors, redirects, API.

use crate::harness::{Answer, Form, Node, Setup, page, zip};
use serde_json::json;

const SANDBOX: &str = "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals \
                       allow-downloads allow-pointer-lock";
const NOINDEX: &str = "noindex, nofollow, noarchive";

#[track_caller]
fn has_all(answer: &Answer, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(answer.header(name), *value, "{name}");
    }
}

#[track_caller]
fn has_none(answer: &Answer, names: &[&str]) {
    for name in names {
        assert!(!answer.has(name), "{name}: {}", answer.header(name));
    }
}

/// Common to our own responses: no sniffing, no referrer, no server software.
#[track_caller]
fn is_plain(answer: &Answer) {
    has_all(answer, &[("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")]);
    has_none(answer, &["server", "x-powered-by", "set-cookie", "strict-transport-security"]);
}

/// Common to published pages: other sites learn only the host they are on.
#[track_caller]
fn is_page(answer: &Answer) {
    has_all(answer, &[("x-content-type-options", "nosniff"), ("referrer-policy", "strict-origin")]);
    has_none(answer, &["server", "x-powered-by", "set-cookie", "strict-transport-security"]);
}

async fn own_host(node: &Node, url: &str) -> String {
    node.get(url).browser().send().await.expect(307).header("location").to_owned()
}

#[tokio::test]
async fn shared_address_is_sandboxed_and_private() {
    let node = Node::start().await;
    let archive = zip(&[("index.html", &page("A")), ("a.js", "1"), ("a.svg", "<svg/>")]);
    let site = node.publish(Form::file("s.zip", archive)).await;
    for path in ["", "a.js", "a.svg"] {
        let answer = node.get(&format!("{}{path}", site["url"].as_str().unwrap())).send().await.expect(200);
        is_page(&answer);
        has_all(
            &answer,
            &[
                ("content-security-policy", SANDBOX),
                ("access-control-allow-origin", "*"),
                ("x-robots-tag", NOINDEX),
                ("cache-control", "private, no-cache"),
                ("accept-ranges", "bytes"),
                ("vary", "Accept-Encoding, Sec-Fetch-Mode, Sec-Fetch-Site, User-Agent, Cookie"),
            ],
        );
        has_none(&answer, &["origin-agent-cluster", "cross-origin-opener-policy"]);
    }
}

#[tokio::test]
async fn own_host_has_an_origin_of_its_own_and_no_policy() {
    let node = Node::start().await;
    let site = node.publish_page("Own").await;
    let answer = node.get(&own_host(&node, site["url"].as_str().unwrap()).await).browser().send().await;
    let answer = answer.expect(200);
    is_page(&answer);
    has_all(
        &answer,
        &[
            ("x-robots-tag", NOINDEX),
            ("origin-agent-cluster", "?1"),
            ("cross-origin-opener-policy", "same-origin-allow-popups"),
            ("permissions-policy", "browsing-topics=(), join-ad-interest-group=(), run-ad-auction=()"),
            ("cache-control", "private, no-cache"),
        ],
    );
    has_none(&answer, &["content-security-policy", "access-control-allow-origin"]);
}

#[tokio::test]
async fn public_host_may_be_cached_for_a_minute() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Public")).field("slug", "open-page")).await;
    let answer = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(200);
    is_page(&answer);
    has_all(
        &answer,
        &[
            ("cache-control", "public, max-age=60, must-revalidate"),
            ("x-robots-tag", NOINDEX),
            ("origin-agent-cluster", "?1"),
            ("cross-origin-opener-policy", "same-origin-allow-popups"),
        ],
    );
    has_none(&answer, &["content-security-policy", "access-control-allow-origin"]);
    let private = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    has_all(&node.get(&private).send().await, &[("cache-control", "private, no-cache")]);
}

#[tokio::test]
async fn strict_policy_is_applied_on_every_host() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Strict")).field("csp_strict", "true")).await;
    let url = site["url"].as_str().unwrap();
    let shared = node.get(url).send().await.expect(200);
    let own = node.get(&own_host(&node, url).await).browser().send().await.expect(200);
    for (answer, origin) in [(&shared, false), (&own, true)] {
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert!(policy.contains("connect-src 'self'"));
        assert_eq!(policy.contains("form-action 'self'"), origin);
        assert_eq!(policy.contains("form-action 'none'"), !origin);
        assert!(policy.contains("sandbox allow-scripts"));
        assert_eq!(policy.contains("allow-same-origin"), origin);
        has_all(answer, &[("referrer-policy", "no-referrer")]);
    }
    node.patch_site(&site, json!({"csp_strict": false})).await.expect(200);
    has_all(&node.get(url).send().await, &[("content-security-policy", SANDBOX)]);
}

#[tokio::test]
async fn error_pages_are_locked_and_never_cached() {
    let node = Node::start().await;
    let missing = "/p/AAAAAAAAAAAAAAAAAAAAAA/";
    let designed = node.get(missing).browser().send().await.expect(404);
    is_plain(&designed);
    let policy = designed.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"), "{policy}");
    has_all(
        &designed,
        &[
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("x-robots-tag", NOINDEX),
        ],
    );
    for accept in ["application/json", "text/plain"] {
        let answer = node.get(missing).header("accept", accept).send().await.expect(404);
        is_plain(&answer);
        has_all(
            &answer,
            &[
                ("cache-control", "no-store"),
                ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
                ("x-robots-tag", NOINDEX),
            ],
        );
    }
}

#[tokio::test]
async fn redirects_are_never_cached() {
    let node = Node::start().await;
    let site = node.publish_page("Redirected").await;
    let answer = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    is_plain(&answer);
    has_all(&answer, &[("cache-control", "no-store"), ("x-robots-tag", NOINDEX)]);
}

#[tokio::test]
async fn api_answers_are_json_that_no_page_may_frame_or_cache() {
    let node = Node::start().await;
    let good = node.get("/me").key(&node.key).send().await.expect(200);
    let bad = node.get("/me").send().await.expect(401);
    for answer in [good, bad] {
        is_plain(&answer);
        has_all(
            &answer,
            &[
                ("content-type", "application/json"),
                ("cache-control", "no-store"),
                ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
                ("access-control-allow-origin", "*"),
            ],
        );
        has_none(&answer, &["access-control-allow-credentials"]);
        assert!(answer.header("x-request-id").starts_with("req_"));
    }
}

#[tokio::test]
async fn api_may_be_called_from_any_page_with_a_bearer_token() {
    let node = Node::start().await;
    let ask = node.ask(reqwest::Method::OPTIONS, "/sites").header("origin", "https://example.org");
    let ask = ask.header("access-control-request-headers", "authorization,content-type");
    let answer = ask.header("access-control-request-method", "POST").send().await.expect(204);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert!(answer.header("access-control-allow-headers").contains("Authorization"));
    assert!(!answer.has("access-control-allow-credentials"));
}

#[tokio::test]
async fn designed_pages_of_the_api_host_are_locked() {
    let node = Node::start().await;
    for path in ["/", "/docs"] {
        let answer = node.get(path).browser().send().await.expect(200);
        is_plain(&answer);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{path}: {policy}");
        has_all(&answer, &[("x-frame-options", "DENY"), ("cross-origin-opener-policy", "same-origin")]);
    }
}

#[tokio::test]
async fn https_tells_browsers_to_stay_there() {
    let node = Setup::new()
        .set("base_url", "https://drop.example.org")
        .set("site_url", "https://pages.example.net")
        .start()
        .await;
    let answer = node.get("/me").host("drop.example.org").send().await.expect(401);
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
    let page = node.get("/p/AAAAAAAAAAAAAAAAAAAAAA/").host("pages.example.net").send().await.expect(404);
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
}
