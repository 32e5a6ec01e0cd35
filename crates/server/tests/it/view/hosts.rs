//! Which host serves what.2–3, security: host rules.

use crate::harness::{Form, Node, Setup, page, zip};

#[tokio::test]
async fn loopback_names_are_one_face() {
    let node = Node::start().await;
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost."] {
        node.get("/me").host(&format!("{host}:{}", node.port)).key(&node.key).send().await.expect(200);
    }
}

#[tokio::test]
async fn unknown_host_is_421_and_names_the_setting() {
    let node = Node::start().await;
    let wrong_port = format!("localhost:{}", node.port ^ 1);
    let two_labels = format!("a.b.localhost:{}", node.port);
    for host in ["example.org", "localhost", &wrong_port, &two_labels] {
        for path in ["/", "/sites", "/p/AAAAAAAAAAAAAAAAAAAAAA/"] {
            let answer = node.get(path).host(host).send().await.refused(421, "misdirected_host");
            let words = answer.json()["error_description"].as_str().unwrap().to_owned();
            assert!(words.contains("base_url") && words.contains("site_url"), "{words}");
        }
    }
    let designed = node.get("/").host("example.org").browser().send().await.expect(421);
    assert!(designed.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn health_answers_on_every_host() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("A")).field("slug", "healthy")).await;
    let slug_host = format!("healthy.localhost:{}", node.port);
    assert!(site["url"].as_str().unwrap().contains(&slug_host));
    for host in ["example.org", "10.0.0.7:1234", &slug_host, &format!("localhost:{}", node.port)] {
        for path in ["/healthz", "/readyz"] {
            let answer = node.get(path).host(host).send().await.expect(200);
            assert_eq!(answer.json()["status"], "ok");
        }
    }
}

#[tokio::test]
async fn api_is_404_on_page_hosts() {
    let node = Setup::new()
        .set("base_url", "http://api.example.org")
        .set("site_url", "http://pages.example.net")
        .start()
        .await;
    node.get("/me").host("api.example.org").key(&node.key).send().await.expect(200);
    for host in ["pages.example.net", "some-slug.pages.example.net", "s-abc.pages.example.net"] {
        for path in ["/sites", "/me", "/docs", "/openapi.json", "/api-keys"] {
            let answer = node.get(path).host(host).key(&node.key).send().await;
            assert_eq!(answer.status, 404, "{host}{path}");
        }
        let form = Form::file("a.html", page("A"));
        let post = node.post("/sites").host(host).key(&node.key).form(form).send().await;
        assert!(matches!(post.status, 404 | 405), "{host}: {}", post.status);
    }
    node.get("/p/AAAAAAAAAAAAAAAAAAAAAA/").host("api.example.org").key(&node.key).send().await.expect(404);
}

#[tokio::test]
async fn urls_come_from_the_settings_and_never_from_the_request() {
    let node = Setup::new()
        .set("base_url", "https://api.example.org")
        .set("site_url", "https://pages.example.net")
        .start()
        .await;
    let ask = node.post("/sites").host("api.example.org").key(&node.key);
    let ask = ask.header("x-forwarded-host", "evil.example").header("x-forwarded-proto", "gopher");
    let site =
        ask.form(Form::file("a.html", page("A")).field("slug", "settled")).send().await.expect(201).json();
    assert_eq!(site["url"], "https://settled.pages.example.net/");
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let sent = node.get(&path).host("pages.example.net").browser().send().await.expect(307);
    let target = sent.header("location");
    assert!(target.starts_with("https://s-") && target.contains(".pages.example.net/p/"), "{target}");
}

#[tokio::test]
async fn site_host_can_lie_apart_from_site_url() {
    let node = Setup::new().set("site_host", "pages.localhost").start().await;
    let site = node.publish(Form::file("a.html", page("Apart")).field("slug", "apart")).await;
    assert_eq!(site["url"], format!("http://apart.pages.localhost:{}/", node.port));
    node.get(site["url"].as_str().unwrap()).browser().send().await.expect(200);
    node.get("/").host(&format!("apart.localhost:{}", node.port)).send().await.expect(421);
}

#[tokio::test]
async fn robots_may_crawl_pages_so_that_they_read_the_noindex() {
    let node = Setup::new().set("site_url", "http://pages.example.net").start().await;
    let site = node.publish(Form::file("a.html", page("A")).field("slug", "crawled")).await;
    assert_eq!(site["url"], "http://crawled.pages.example.net/");
    for host in ["pages.example.net", "crawled.pages.example.net", "s-abc.pages.example.net"] {
        let answer = node.get("/robots.txt").host(host).send().await.expect(200);
        assert_eq!(answer.text(), "User-agent: *\nAllow: /\n", "{host}");
    }
    let api = node.get("/robots.txt").send().await.expect(200);
    assert!(api.text().contains("Disallow: /"));
}

#[tokio::test]
async fn reserved_prefix_is_refused_in_archives_and_empty_on_pages() {
    let node = Node::start().await;
    for name in ["_dropleaf/x.html", "_dropleaf"] {
        let form = Form::file("s.zip", zip(&[("index.html", "<p>"), (name, "x")]));
        node.post("/sites").key(&node.key).form(form).send().await.refused(400, "forbidden_name");
    }
    let site = node.publish_page("Plain").await;
    node.get(&format!("{}_dropleaf/feedback", site["url"].as_str().unwrap())).send().await.expect(404);
}
