//! `POST _dropleaf/reveal`: the reveal page, and the window in which its viewer may reload.

use crate::access::burn::{asked, burning, is_reveal, own_host, path_of, press, published};
use crate::harness::{Form, Node, Setup, noise, on_each_database, page, zip};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn browser_reveals_by_post_and_may_come_back_for_a_minute() {
    on_each_database(Setup::new, async |node| {
        let (_, url) = published(node, "Minute").await;
        let own = own_host(node, &url).await;
        let cookie = asked(node, &own).await;
        let again = node.get(&own).browser().header("cookie", &cookie).send().await;
        assert!(!again.has("set-cookie"), "a second tab keeps the secret of the first");
        let answer = press(node, &own, &cookie).send().await.expect(303);
        assert!(own.ends_with(answer.header("location")), "{}", answer.header("location"));
        assert_eq!(answer.header("cache-control"), "no-store");

        let look = |cookie: &str| node.get(&own).browser().header("cookie", cookie).send();
        let seen = look(&cookie).await.expect(200);
        assert_eq!(seen.text(), page("Minute"));
        for (name, value) in [
            ("cache-control", "no-store"),
            ("accept-ranges", "bytes"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-security-policy", "frame-ancestors 'self'"),
        ] {
            assert_eq!(seen.header(name), value);
        }
        press(node, &own, &cookie).send().await.expect(303);
        node.get(&url).browser().send().await.expect(307);
        look("__Host-v=AAAAAAAAAAAAAAAAAAAAAA").await.expect(410);
        look("other=1").await.expect(410);
        press(node, &own, "__Host-v=AAAAAAAAAAAAAAAAAAAAAA").send().await.expect(410);
        node.get(&url).send().await.expect(410);

        node.clock.advance(59);
        assert_eq!(look(&cookie).await.expect(200).text(), page("Minute"));
        node.clock.advance(1);
        look(&cookie).await.expect(410);
        press(node, &own, &cookie).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn archive_is_open_to_its_viewer_for_ten_minutes_file_by_file() {
    on_each_database(Setup::new, async |node| {
        let archive =
            zip(&[("index.html", &page("Archive")), ("a.js", "run()"), ("docs/index.html", "docs")]);
        let site = node.publish(Form::file("s.zip", archive).field("burn_after_read", "true")).await;
        let url = site["url"].as_str().unwrap();
        let own = own_host(node, url).await;
        let cookie = asked(node, &own).await;
        let file = |name: &str| node.get(&format!("{own}{name}")).header("cookie", &cookie).send();
        for name in ["a.js", "docs/", "index.html"] {
            file(name).await.expect(404);
            node.get(&format!("{url}{name}")).send().await.expect(404);
        }
        press(node, &own, &cookie).send().await.expect(303);
        node.clock.advance(599);
        assert_eq!(file("").await.expect(200).text(), page("Archive"));
        assert_eq!(file("a.js").await.expect(200).text(), "run()");
        assert_eq!(file("docs/").await.expect(200).text(), "docs");
        file("docs").await.expect(308);
        file("nothing").await.expect(404);
        node.get(&format!("{own}a.js")).send().await.expect(410);
        node.clock.advance(1);
        file("a.js").await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn strangers_cannot_press_the_button() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Mine").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    let button = format!("{own}_dropleaf/reveal");
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let ask = node.post(&button).header(name, value).header("cookie", &cookie);
        ask.header("accept", "application/json").send().await.refused(403, "cross_site");
    }
    assert_eq!(node.get(&button).browser().send().await.expect(303).header("location"), path_of(&own));
    node.put(&button).send().await.expect(405);
    press(&node, &own, &cookie).send().await.expect(303);
}

#[tokio::test]
async fn who_keeps_no_cookie_gets_the_page_at_once() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Direct").await;
    let seen = node.post(&format!("{url}_dropleaf/reveal")).send().await.expect(200);
    assert_eq!(seen.text(), page("Direct"));
    assert!(seen.header("content-security-policy").starts_with("sandbox"));
    node.get(&url).send().await.expect(410);
}

#[tokio::test]
async fn button_without_an_address_works_at_the_root_too() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Root").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    let ask = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", &cookie);
    ask.send().await.expect(303);
    let seen = node.get(&own).browser().header("cookie", &cookie).send().await.expect(200);
    assert_eq!(seen.text(), page("Root"));
    let other = node.publish_page("Ordinary").await;
    node.post(other["url"].as_str().unwrap()).send().await.expect(405);
    node.ask(Method::OPTIONS, other["url"].as_str().unwrap()).send().await.expect(405);
}

#[tokio::test]
async fn password_comes_before_the_reveal() {
    let node = Node::start().await;
    let site = node.publish(burning("Locked").field("password", "correct horse")).await;
    let url = site["url"].as_str().unwrap();
    for _ in 0..3 {
        let refused = node.get(url).send().await;
        assert!(refused.status == 401 && !refused.text().contains("Locked"), "{}", refused.status);
        node.post(&format!("{url}_dropleaf/reveal")).send().await.expect(401);
    }
    node.patch_site(&site, json!({"password": null})).await.expect(200);
    assert_eq!(node.get(url).send().await.expect(200).text(), page("Locked"), "nobody could burn it");
}

#[tokio::test]
async fn gate_that_is_answered_twice_does_not_open_the_page() {
    let node = Node::start().await;
    let bytes = noise("sealed", 64);
    let form = Form::file("x", &bytes).field("e2e", "true").field("burn_after_read", "true");
    let site = node.publish(form.field("password", "correct horse")).await;
    let own = own_host(&node, site["url"].as_str().unwrap()).await;
    let send = |cookie: &str| {
        let ask = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", cookie);
        ask.fields(&[("password", "correct horse")]).send()
    };
    let cookie = send("").await.expect(303).cookie();
    for _ in 0..2 {
        let again = send(&cookie).await.expect(303);
        assert_eq!(again.header("location"), path_of(&own), "the gate was passed already");
    }
    is_reveal(&node.get(&own).browser().header("cookie", &cookie).send().await, "<<nothing>>");
    let reveal = node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", &cookie);
    reveal.send().await.expect(200);
    node.get(&own).browser().header("cookie", &cookie).send().await.expect(410);
}
