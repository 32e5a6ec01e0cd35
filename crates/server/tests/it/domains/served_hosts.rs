//! Which names serve a site, what exists there, and what does not.

use crate::domains::served_names::{add, change, domain, root, serve};
use crate::harness::{Answer, Form, Node, Setup, on_each_database, page, site_path, zip};
use dropleaf_core::custom_domain::DomainStatus;
use dropleaf_store::custom_domains;
use reqwest::Method;
use serde_json::Value;

const NAME: &str = "reports.example.com";

fn token_path(site: &Value) -> String {
    format!("/p/{}/", site["unlisted_token"].as_str().unwrap())
}

#[tokio::test]
async fn verified_names_serve_their_site_in_every_spelling() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Quarterly").await;
        let other = node.publish_page("Another").await;
        serve(node, NAME, &site).await;
        serve(node, "example.org", &site).await;
        serve(node, "other.example.com", &other).await;
        let at = |host: &str| node.get("/").host(&format!("{host}:{}", node.port)).send();
        for host in [NAME, "REPORTS.example.COM", "reports.example.com.", "example.org"] {
            assert_eq!(at(host).await.expect(200).text(), page("Quarterly"), "{host}");
        }
        assert_eq!(at("other.example.com").await.expect(200).text(), page("Another"));
        // A browser stays there: the name is an isolated origin already.
        let seen = node.get(&root(node, NAME)).browser().send().await.expect(200);
        assert_eq!(seen.text(), page("Quarterly"));
        for (name, value) in [
            ("content-security-policy", ""),
            ("x-robots-tag", "noindex, nofollow, noarchive"),
            ("cross-origin-opener-policy", "same-origin-allow-popups"),
            ("origin-agent-cluster", "?1"),
            ("cache-control", "private, no-cache"),
            ("set-cookie", ""),
        ] {
            assert_eq!(seen.header(name), value, "{name}");
        }
        let wrong_port = format!("{NAME}:{}", node.port ^ 1);
        for host in
            [NAME, &wrong_port, &format!("a.{NAME}:{}", node.port), &format!("example.com:{}", node.port)]
        {
            node.get("/").host(host).send().await.refused(421, "misdirected_host");
        }
    })
    .await;
}

/// Status, headers and body, without the date.
fn whole(answer: Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date");
    let text = |value: &reqwest::header::HeaderValue| value.to_str().unwrap().to_owned();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
    (answer.status, headers, answer.body)
}

#[tokio::test]
async fn unverified_names_are_refused_like_any_unknown_one() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Secret").await;
        add(node, "pending.example.com", &site, DomainStatus::Pending).await;
        add(node, "failed.example.com", &site, DomainStatus::Failed).await;
        serve(node, "deleted.example.com", &site).await;
        let deleted = domain(node, "deleted.example.com", &site, DomainStatus::Verified).await;
        change(node, vec![custom_domains::delete(&deleted)]).await;
        for (method, path) in [
            (Method::GET, "/".to_owned()),
            (Method::GET, token_path(&site)),
            (Method::GET, "/_dropleaf/report".to_owned()),
            (Method::POST, "/_dropleaf/gate".to_owned()),
            (Method::GET, "/robots.txt".to_owned()),
        ] {
            for accept in ["application/json", "text/html"] {
                let ask = |name: &str| {
                    let ask =
                        node.ask(method.clone(), &path).host(&format!("{name}.example.com:{}", node.port));
                    ask.header("accept", accept).send()
                };
                let unknown = whole(ask("unknown").await.expect(421));
                for name in ["pending", "failed", "deleted"] {
                    assert_eq!(whole(ask(name).await), unknown, "{name} {method} {path}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn only_the_site_exists_there() {
    let node = Node::start().await;
    let files = zip(&[("index.html", &page("Mine")), ("p/a.html", "below p"), ("sites", "a file")]);
    let site = node.publish(Form::file("s.zip", files)).await;
    let other = node.publish(Form::file("a.html", page("Other")).field("slug", "other-page")).await;
    let root = serve(&node, NAME, &site).await;
    for path in [
        &token_path(&site)[1..],
        &token_path(&other)[1..],
        "s/other-page/",
        "me",
        "mcp",
        "login",
        "dashboard",
        "operator",
        "oauth/authorize",
        "openapi.json",
        "docs",
        "publish",
        "tls/allow?domain=reports.example.com",
        "look/x/",
        "assets/dashboard.css",
        "favicon.ico",
        ".well-known/oauth-authorization-server",
    ] {
        let answer = node.get(&format!("{root}{path}")).key(&node.key).send().await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert!(!answer.has("set-cookie"));
    }
    assert_eq!(node.get(&format!("{root}p/a.html")).send().await.expect(200).text(), "below p");
    assert_eq!(node.get(&format!("{root}sites")).send().await.expect(200).text(), "a file");
    for path in ["sites", "mcp", "publish", "oauth/token"] {
        let form = Form::file("a.html", page("A"));
        node.post(&format!("{root}{path}")).key(&node.key).form(form).send().await.expect(405);
    }
    node.get(&format!("{root}healthz")).send().await.expect(200);
    let robots = node.get(&format!("{root}robots.txt")).send().await.expect(200);
    assert_eq!(robots.text(), "User-agent: *\nAllow: /\n", "crawlers must see the noindex");
    let worker = node.get(&format!("{root}a.js")).header("service-worker", "script").send().await;
    worker.expect(403);
}

#[tokio::test]
async fn name_follows_its_row_at_once() {
    on_each_database(Setup::new, async |node| {
        let (first, second) = (node.publish_page("First").await, node.publish_page("Second").await);
        let root = serve(node, NAME, &first).await;
        assert_eq!(node.get(&root).send().await.expect(200).text(), page("First"));
        let before = domain(node, NAME, &first, DomainStatus::Verified).await;
        let moved = domain(node, NAME, &second, DomainStatus::Verified).await;
        change(node, vec![custom_domains::update(&before, &moved)]).await;
        assert_eq!(node.get(&root).send().await.expect(200).text(), page("Second"));
        change(node, vec![custom_domains::delete(&moved)]).await;
        node.get(&root).send().await.expect(421);
        node.get(&token_path(&second)).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn page_that_is_gone_says_so_as_elsewhere() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = crate::moderation::suspension::key_of(node, &person).await;
        let publish = async |title: &str, hostname: &str| {
            let site = node.publish_as(&key, Form::file("a.html", page(title))).await;
            let root = serve(node, hostname, &site).await;
            node.get(&root).send().await.expect(200);
            (site, root)
        };
        let (deleted, deleted_root) = publish("Deleted", "deleted.example.com").await;
        let (down, down_root) = publish("Taken down", "down.example.com").await;
        let (_, held_root) = publish("Held", "held.example.com").await;
        node.delete(&site_path(&deleted)).key(&key).send().await.expect(200);
        node.app().take_down("operator", &down_root, "phishing").await.unwrap();
        node.app().suspend_account("operator", &person.account.id, "spam").await.unwrap();
        for (root, status, code) in [
            (&deleted_root, 410, "deleted"),
            (&down_root, 410, "taken_down"),
            (&held_root, 403, "account_suspended"),
        ] {
            node.get(root).header("accept", "application/json").send().await.refused(status, code);
        }
        node.get(&token_path(&down)).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn custom_domain_is_an_origin_of_its_own_where_pages_have_no_hosts() {
    for setup in [
        Setup::new().set("base_url", "http://192.0.2.1").set("site_url", "http://192.0.2.1"),
        Setup::new().set("base_url", "http://pages.example.net").set("isolation", "sandbox"),
    ] {
        let node = setup.start().await;
        let base = node.base_url();
        let host = base.strip_prefix("http://").unwrap();
        let form = Form::file("a.html", page("Own")).field("password", "x");
        let site = node.post("/sites").host(host).key(&node.key).form(form).send().await.expect(201).json();
        let root = serve(&node, NAME, &site).await;
        assert_eq!(root, format!("http://{NAME}/"));
        let gate = node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", "x")]);
        let cookie = gate.header("origin", &format!("http://{NAME}")).send().await.expect(303).cookie();
        let seen = node.get(&root).browser().cookie(&cookie).send().await.expect(200);
        assert_eq!(seen.header("content-security-policy"), "frame-ancestors 'self'", "no sandbox");
    }
}
