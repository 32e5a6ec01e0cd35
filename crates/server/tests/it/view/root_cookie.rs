//! The cookie that represents a page's link on its own host: when it is set, and everything it does not open.

use crate::access::gates::{PASSWORD, own_host};
use crate::harness::{DAY, Form, Node, Setup, on_each_database, page, site_path, zip};
use crate::view::root_paths::{enter, files, origin, part, rooted};
use serde_json::json;

#[tokio::test]
async fn pages_that_do_not_need_it_get_no_cookie() {
    let node = Node::start().await;
    let relative = zip(&[("index.html", "<script src=app.js></script>"), ("app.js", "1")]);
    for form in [Form::file("a.html", page("A")), Form::file("s.zip", relative)] {
        let root = own_host(&node, &node.publish(form).await).await;
        for path in ["", "none"] {
            assert!(!node.get(&format!("{root}{path}")).browser().send().await.has("set-cookie"));
        }
    }
    // Nor do programs, subresources, frames, and the shared address get it.
    let site = rooted(&node, Form::file("app.zip", files())).await;
    let root = own_host(&node, &site).await;
    for ask in [
        node.get(&root),
        part(node.get(&format!("{root}assets/app.js"))),
        node.get(&root).browser().header("sec-fetch-dest", "iframe"),
        node.get(site["url"].as_str().unwrap()),
    ] {
        assert!(!ask.send().await.expect(200).has("set-cookie"));
    }
}

#[tokio::test]
async fn the_host_alone_opens_nothing_and_tells_nothing() {
    let node = Node::start().await;
    let site = rooted(&node, Form::file("app.zip", files())).await;
    let root = own_host(&node, &site).await;
    let host = origin(&root);
    let nobody = format!("http://s-{}.localhost:{}", "a".repeat(26), node.port);
    for path in ["/", "/assets/app.js", "/about/", "/index.html", "/_dropleaf/report", "/_dropleaf/gate"] {
        let [there, nowhere] =
            [host, &nobody].map(|host| node.get(&format!("{host}{path}")).browser().send());
        let (there, nowhere) = (there.await.expect(404), nowhere.await.expect(404));
        assert!(there.text().contains("Open the page with its complete link"));
        assert_eq!(there.text(), nowhere.text(), "a page that is there and one that is not look alike");
        node.get(&format!("{host}{path}")).send().await.expect(404);
    }
    node.post(&format!("{host}/")).send().await.expect(404);
}

#[tokio::test]
async fn cookie_of_one_site_opens_no_other() {
    on_each_database(Setup::new, async |node| {
        let a = rooted(node, Form::file("app.zip", files())).await;
        let b = rooted(node, Form::file("app.zip", files())).await;
        let (root_a, root_b) = (own_host(node, &a).await, own_host(node, &b).await);
        let (cookie_a, cookie_b) = (enter(node, &root_a).await, enter(node, &root_b).await);
        let script = |root: &str, cookie: &str| {
            part(node.get(&format!("{}/assets/app.js", origin(root)))).cookie(cookie).send()
        };
        script(&root_a, &cookie_a).await.expect(200);
        script(&root_b, &cookie_a).await.expect(404);
        script(&root_a, &cookie_b).await.expect(404);
        // The token of one page with the pass of another.
        let (name_a, proof_a) = cookie_a.split_once('.').unwrap();
        let (name_b, proof_b) = cookie_b.split_once('.').unwrap();
        for forged in [
            format!("{name_a}.{proof_b}"),
            format!("{name_b}.{proof_a}"),
            format!("{name_a}."),
            name_a.to_owned(),
            "__Host-r=".to_owned(),
            format!("{name_a}.{}", "A".repeat(54)),
        ] {
            script(&root_a, &forged).await.expect(404);
            script(&root_b, &forged).await.expect(404);
        }
        // It is not a gate's pass, and a gate's pass is not accepted here.
        let gated = Form::file("app.zip", files()).field("password", PASSWORD);
        let root = own_host(node, &rooted(node, gated).await).await;
        let gate = node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", PASSWORD)]);
        let gate = gate.send().await.expect(303).cookie();
        let value = gate.strip_prefix("__Host-g=").unwrap();
        let token = root.trim_end_matches('/').rsplit('/').next().unwrap();
        script(&root, &format!("__Host-r={token}.{value}")).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn sibling_pages_can_neither_load_nor_frame_with_it() {
    let node = Node::start().await;
    let root = own_host(&node, &rooted(&node, Form::file("app.zip", files())).await).await;
    let (host, cookie) = (origin(&root), enter(&node, &root).await);
    for site in ["same-site", "cross-site"] {
        for (mode, dest) in [
            ("no-cors", "script"),
            ("no-cors", "image"),
            ("cors", "empty"),
            ("navigate", "iframe"),
            ("navigate", "embed"),
        ] {
            let ask =
                node.get(&format!("{host}/assets/app.js")).cookie(&cookie).header("sec-fetch-mode", mode);
            ask.header("sec-fetch-dest", dest).header("sec-fetch-site", site).send().await.expect(404);
        }
        // A link may be followed, like any link to a page whose viewer has access.
        let link = node.get(&format!("{host}/about/")).browser().cookie(&cookie);
        link.header("sec-fetch-dest", "document").header("sec-fetch-site", site).send().await.expect(200);
    }
    let framed =
        node.get(&format!("{host}/about/")).browser().cookie(&cookie).header("sec-fetch-dest", "iframe");
    framed.header("sec-fetch-site", "same-origin").send().await.expect(200);
    let worker =
        part(node.get(&format!("{host}/assets/app.js"))).cookie(&cookie).header("service-worker", "script");
    worker.send().await.expect(403);
}

#[tokio::test]
async fn cookie_ends_with_the_gates_the_page_and_its_time() {
    on_each_database(Setup::new, async |node| {
        let site = rooted(node, Form::file("app.zip", files())).await;
        let root = own_host(node, &site).await;
        let cookie = enter(node, &root).await;
        let script = |cookie: String| {
            part(node.get(&format!("{}/assets/app.js", origin(&root)))).cookie(&cookie).send()
        };
        script(cookie.clone()).await.expect(200);
        node.patch_site(&site, json!({"title": "Another"})).await.expect(200);
        script(cookie.clone()).await.expect(200);
        node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
        script(cookie.clone()).await.expect(404);
        node.patch_site(&site, json!({"password": null})).await.expect(200);
        script(cookie.clone()).await.expect(404);
        let second = enter(node, &root).await;
        script(second.clone()).await.expect(200);
        node.clock.advance(30 * DAY);
        script(second).await.expect(404);
        let third = enter(node, &root).await;
        node.delete(&site_path(&site)).key(&node.key).send().await;
        script(third.clone()).await.expect(410);
        script(cookie.clone()).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn expired_and_taken_down_pages_are_gone_at_the_root_too() {
    let node = Node::start().await;
    let form = Form::file("app.zip", files()).field("expires_in_hours", "1");
    let root = own_host(&node, &rooted(&node, form).await).await;
    let cookie = enter(&node, &root).await;
    node.clock.advance(3600);
    part(node.get(&format!("{}/assets/app.js", origin(&root)))).cookie(&cookie).send().await.expect(410);

    let site = rooted(&node, Form::file("app.zip", files())).await;
    let root = own_host(&node, &site).await;
    let cookie = enter(&node, &root).await;
    let id = site["id"].as_str().unwrap();
    let operator = node.operator().await;
    operator.submit("/operator/takedown", &[("page", id), ("reason", "phishing")]).await.expect(303);
    part(node.get(&format!("{}/assets/app.js", origin(&root)))).cookie(&cookie).send().await.expect(410);
}

#[tokio::test]
async fn page_that_burns_is_open_at_the_root_to_its_one_viewer() {
    on_each_database(Setup::new, async |node| {
        let archive = zip(&[("index.html", "<p>burns"), ("app.js", "run()")]);
        let form = Form::file("app.zip", archive).field("spa", "true").field("burn_after_read", "true");
        let root = own_host(node, &node.publish(form).await).await;
        let host = origin(&root);
        let asked = node.get(&root).browser().send().await.expect(200);
        let view = asked.cookie();
        assert!(view.starts_with("__Host-v="), "nothing of the page is handed out before it is revealed");
        let press = node.post(&format!("{root}_dropleaf/reveal")).browser().cookie(&view);
        let press = press.header("sec-fetch-site", "same-origin").send().await.expect(303);
        assert!(root.ends_with(press.header("location")));
        let led = node.get(&root).browser().cookie(&view).send().await.expect(303);
        let both = format!("{view}; {}", led.cookie());
        let shown = node.get(&format!("{host}/deep")).browser().cookie(&both).send().await.expect(200);
        assert_eq!((shown.text().as_str(), shown.header("cache-control")), ("<p>burns", "no-store"));
        part(node.get(&format!("{host}/app.js"))).cookie(&both).send().await.expect(200);
        node.get(&format!("{host}/")).browser().cookie(&led.cookie()).send().await.expect(410);
        node.clock.advance(600);
        node.get(&format!("{host}/")).browser().cookie(&both).send().await.expect(410);
    })
    .await;
}
