//! Sandboxed frames of gated and burn pages: they get their files at an address with a pass, which opens nothing else.

use crate::access::burn::{asked, press};
use crate::access::gates::{PASSWORD, open, own_host, url};
use crate::harness::{Answer, Form, Node, Setup, zip};
use serde_json::json;

const INDEX: &str = "<p>index<iframe sandbox='allow-scripts' src='sub/frame.html'></iframe>";
const FRAME: &str = "<img src='../a.png'><script type=module src='m.js'></script>";

fn files() -> Form {
    let files = [("index.html", INDEX), ("sub/frame.html", FRAME), ("sub/m.js", "1"), ("a.png", "png")];
    Form::file("s.zip", zip(&files))
}

/// The browser's request for a frame's document, with the cookie of the page.
async fn frame(node: &Node, address: &str, cookie: &str) -> Answer {
    let asked = node.get(address).browser().header("sec-fetch-dest", "iframe");
    asked.header("sec-fetch-site", "same-origin").cookie(cookie).send().await
}

/// The frame's own requests: it has no origin, so no cookie is sent.
async fn part(node: &Node, address: &str) -> Answer {
    node.get(address).header("sec-fetch-dest", "image").header("sec-fetch-site", "cross-site").send().await
}

#[tokio::test]
async fn frame_of_a_gated_page_keeps_its_files() {
    let node = Node::start().await;
    let site = node.publish(files().field("password", PASSWORD)).await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    let led = frame(&node, &format!("{root}sub/frame.html?x=1"), &cookie).await.expect(307);
    let path = led.header("location").to_owned();
    let (below, _) = path.split_once("sub/frame.html?x=1").unwrap();
    assert!(below.contains("/_dropleaf/frame/"), "{path}");
    let below = format!("{}{below}", &root[..root.find("/p/").unwrap()]);
    let document = frame(&node, &format!("{below}sub/frame.html?x=1"), "").await.expect(200);
    assert_eq!(document.text(), FRAME);
    assert_eq!(document.header("content-security-policy"), "frame-ancestors 'self'");
    for (name, text) in [("a.png", "png"), ("sub/m.js", "1")] {
        let answer = part(&node, &format!("{below}{name}")).await.expect(200);
        assert_eq!(answer.text(), text);
        assert_eq!(answer.header("access-control-allow-origin"), "", "it may be shown, not read");
        assert_eq!(answer.header("cross-origin-resource-policy"), "cross-origin");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    // Without the pass, at the shared address, or for reserved paths, nothing is served.
    part(&node, &format!("{root}a.png")).await.expect(401);
    part(&node, &format!("{root}_dropleaf/frame/x/a.png")).await.expect(404);
    part(&node, &format!("{below}_dropleaf/source")).await.expect(404);
    part(&node, &format!("{below}no.png")).await.expect(404);
    let shared = format!("{}{}", url(&site), &below[below.find("_dropleaf").unwrap()..]);
    part(&node, &format!("{shared}a.png")).await.expect(404);
    // A link of the frame opened in a window leads to the gate.
    let window = node.get(&format!("{below}index.html?x=1")).browser().header("sec-fetch-dest", "document");
    let path = &root[root.find("/p/").unwrap()..];
    assert_eq!(window.send().await.expect(307).header("location"), format!("{path}index.html?x=1"));
    // A changed gate invalidates it.
    node.patch_site(&site, json!({"password": "another"})).await.expect(200);
    part(&node, &format!("{below}a.png")).await.expect(404);
}

#[tokio::test]
async fn other_pages_get_neither_a_pass_nor_the_origin_of_the_page() {
    let node = Node::start().await;
    for strict in ["false", "true"] {
        let form = files().field("password", PASSWORD).field("csp_strict", strict);
        let site = node.publish(form).await;
        let root = own_host(&node, &site).await;
        let cookie = open(&node, &root).await;
        let framed = async |address: &str, by: &str| {
            let asked = node.get(address).browser().header("sec-fetch-dest", "iframe").cookie(&cookie);
            asked.header("sec-fetch-site", by).send().await
        };
        let address = format!("{root}sub/frame.html");
        for by in ["same-site", "cross-site"] {
            let policy = framed(&address, by).await.expect(200);
            assert!(policy.header("content-security-policy").contains("frame-ancestors 'self'"), "{by}");
        }
        let led = framed(&address, "same-origin").await.expect(307);
        let given_away = format!("{}{}", &root[..root.find("/p/").unwrap()], led.header("location"));
        for by in ["same-site", "cross-site"] {
            let answer = framed(&given_away, by).await.expect(200);
            let policy = answer.header("content-security-policy");
            let sandboxes = policy.split("; ").filter(|part| part.starts_with("sandbox"));
            assert_eq!(sandboxes.count(), 1, "{policy}");
            assert!(!policy.contains("allow-same-origin"), "{policy}");
            assert_eq!(policy.contains("default-src 'none'"), strict == "true", "{policy}");
        }
    }
}

#[tokio::test]
async fn pass_from_before_a_page_burns_does_not_make_a_second_reader() {
    let node = Node::start().await;
    let site = node.publish(files().field("password", PASSWORD)).await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    let led = frame(&node, &format!("{root}sub/frame.html"), &cookie).await.expect(307);
    let below = led.header("location").split("sub/").next().unwrap().to_owned();
    let image = format!("{}{below}a.png", &root[..root.find("/p/").unwrap()]);
    part(&node, &image).await.expect(200);
    node.patch_site(&site, json!({"visibility": "burn"})).await.expect(200);
    part(&node, &image).await.expect(404);
    let view = node.get(&root).browser().cookie(&cookie).send().await.expect(200).cookie();
    let both = format!("{cookie}; {view}");
    press(&node, &root, &both).send().await.expect(303);
    frame(&node, &format!("{root}sub/frame.html"), &both).await.expect(307);
    part(&node, &image).await.expect(404);
}

#[tokio::test]
async fn pass_of_a_frame_is_good_for_its_own_page_and_network_alone() {
    let node = Setup::new().set("trusted_proxies", "127.0.0.1,::1").start().await;
    let [one, other] = [
        node.publish(files().field("password", PASSWORD)).await,
        node.publish(files().field("password", PASSWORD)).await,
    ];
    let root = own_host(&node, &one).await;
    let cookie = open(&node, &root).await;
    let from = |address: String, ip: &str| node.get(&address).header("x-forwarded-for", ip);
    let asked =
        from(format!("{root}sub/frame.html"), "192.0.2.1").browser().header("sec-fetch-dest", "iframe");
    let led = asked.header("sec-fetch-site", "same-origin").cookie(&cookie).send().await.expect(307);
    let pass = led.header("location").split("/frame/").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let address = |root: &str| format!("{root}_dropleaf/frame/{pass}/a.png");
    from(address(&root), "192.0.2.1").send().await.expect(200);
    from(address(&root), "192.0.2.2").send().await.expect(404);
    from(address(&own_host(&node, &other).await), "192.0.2.1").send().await.expect(404);
}

#[tokio::test]
async fn frame_of_a_page_that_burns_keeps_its_files_while_it_is_read() {
    let node = Node::start().await;
    let site = node.publish(files().field("burn_after_read", "true")).await;
    let root = own_host(&node, &site).await;
    let cookie = asked(&node, &root).await;
    press(&node, &root, &cookie).send().await.expect(303);
    let led = frame(&node, &format!("{root}sub/frame.html"), &cookie).await.expect(307);
    let below = led.header("location").split("sub/").next().unwrap().to_owned();
    let image = format!("{}{below}a.png", &root[..root.find("/p/").unwrap()]);
    assert_eq!(part(&node, &image).await.expect(200).text(), "png");
    node.clock.advance(1200);
    part(&node, &image).await.expect(410);
}

#[tokio::test]
async fn pages_without_gates_or_such_frames_keep_their_addresses() {
    let node = Node::start().await;
    let open_page = node.publish(files()).await;
    let root = own_host(&node, &open_page).await;
    frame(&node, &format!("{root}sub/frame.html"), "").await.expect(200);
    let kept = [
        ("index.html", "<iframe sandbox='allow-same-origin allow-scripts' src='b.html'></iframe>"),
        ("b.html", "b"),
    ];
    let site = node.publish(Form::file("s.zip", zip(&kept)).field("password", PASSWORD)).await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    frame(&node, &format!("{root}b.html"), &cookie).await.expect(200);
}
