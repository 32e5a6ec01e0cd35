//! Paths at the root of a page's own host, for a browser that opened the page's link, and client-side routes.

use crate::access::gates::{PASSWORD, own_host, url};
use crate::harness::{Ask, Form, Node, Setup, on_each_database, page, site_path, zip};
use serde_json::{Value, json};

const INDEX: &str = "<!doctype html><title>App</title><script src=\"/assets/app.js\"></script>";

pub(crate) fn files() -> Vec<u8> {
    zip(&[
        ("index.html", INDEX),
        ("assets/app.js", "run()"),
        ("about/index.html", "<p>about"),
        ("404.html", "<p>missing"),
    ])
}

/// A page whose files refer to each other from the root.
pub(crate) async fn rooted(node: &Node, form: Form) -> Value {
    let site = node.publish(form).await;
    node.exec(
        "UPDATE bundles SET root_paths = 1, client_routes = 0, spa = 0 \
         WHERE id = (SELECT bundle_id FROM sites WHERE id = $1)",
        vec![site["id"].as_str().unwrap().into()],
    )
    .await;
    site
}

/// The origin of the page's own host.
pub(crate) fn origin(root: &str) -> &str {
    &root[..root.find("/p/").unwrap()]
}

/// The cookie of a browser that opens the page at its link.
pub(crate) async fn enter(node: &Node, root: &str) -> String {
    node.get(root).browser().send().await.expect(200).cookie()
}

/// A request for a script or an image of the page.
pub(crate) fn part(ask: Ask) -> Ask {
    ask.header("sec-fetch-mode", "no-cors")
        .header("sec-fetch-dest", "script")
        .header("sec-fetch-site", "same-origin")
}

#[tokio::test]
async fn files_at_the_root_are_served_to_viewers_who_opened_the_link() {
    on_each_database(Setup::new, async |node| {
        let site = rooted(node, Form::file("app.zip", files())).await;
        let root = own_host(node, &site).await;
        let host = origin(&root);
        let shown = node.get(&root).browser().send().await.expect(200);
        assert_eq!(shown.text(), INDEX);
        let set = shown.header("set-cookie");
        let token = site["unlisted_token"].as_str().unwrap();
        assert!(set.starts_with(&format!("__Host-r={token}.")), "{set}");
        assert!(
            set.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure") && !set.contains("Max-Age"),
            "{set}"
        );
        assert_eq!(shown.header("cache-control"), "private, no-cache");
        let cookie = shown.cookie();

        let script =
            part(node.get(&format!("{host}/assets/app.js"))).cookie(&cookie).send().await.expect(200);
        assert_eq!(
            (script.text().as_str(), script.header("content-type")),
            ("run()", "text/javascript; charset=utf-8")
        );
        assert_eq!(script.header("cache-control"), "private, no-cache");
        assert_eq!(script.header("cross-origin-resource-policy"), "same-origin");
        let etag = script.header("etag");
        let again = part(node.get(&format!("{host}/assets/app.js"))).cookie(&cookie);
        again.header("if-none-match", etag).send().await.expect(304);
        let some = node.get(&format!("{host}/assets/app.js")).cookie(&cookie).header("range", "bytes=0-2");
        assert_eq!(some.send().await.expect(206).text(), "run");
        let head = node.head(&format!("{host}/assets/app.js")).cookie(&cookie).send().await.expect(200);
        assert_eq!((head.header("content-length"), head.body.len()), ("5", 0));

        let about = node.get(&format!("{host}/about?a=1")).browser().cookie(&cookie).send().await.expect(308);
        assert!(about.header("location").ends_with("/about/?a=1"), "{}", about.header("location"));
        let about = node.get(&format!("{host}/about/")).browser().cookie(&cookie).send().await.expect(200);
        assert_eq!((about.text().as_str(), about.has("set-cookie")), ("<p>about", false));
        assert_eq!(about.header("content-security-policy"), "frame-ancestors 'self'");
        assert_eq!(node.get(&format!("{host}/")).cookie(&cookie).send().await.expect(200).text(), INDEX);
        let none = node.get(&format!("{host}/none")).browser().cookie(&cookie).send().await.expect(404);
        assert_eq!(none.text(), "<p>missing");
        // Without client-side routes the address stays, and a browser with the cookie gets no other.
        let kept = node.get(&root).browser().cookie(&cookie).send().await.expect(200);
        assert!(!kept.has("set-cookie"));
        node.get("/p/").host(&host["http://".len()..]).cookie(&cookie).send().await.expect(404);
        let robots = node.get(&format!("{host}/robots.txt")).cookie(&cookie).send().await.expect(200);
        assert!(robots.text().starts_with("User-agent"));
        node.post(&format!("{host}/sites")).cookie(&cookie).send().await.expect(405);
        node.get(&format!("{host}/dashboard")).cookie(&cookie).send().await.expect(404);
        node.get(&format!("{host}/_dropleaf/none")).cookie(&cookie).send().await.expect(404);
        node.get(&format!("{host}/_dropleaf/report")).browser().cookie(&cookie).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn client_side_routes_are_led_to_the_root_and_answered_with_the_index() {
    on_each_database(Setup::new, async |node| {
        let archive = zip(&[("index.html", INDEX), ("assets/app.js", "run()")]);
        let site = node.publish(Form::file("app.zip", archive).field("spa", "true")).await;
        assert_eq!(site["spa"], true);
        let root = own_host(node, &site).await;
        let host = origin(&root);
        let led = node.get(&format!("{root}?x=1")).browser().send().await.expect(303);
        assert_eq!((led.header("location"), led.header("cache-control")), ("/?x=1", "no-store"));
        let cookie = led.cookie();
        for path in ["/", "/deep/link", "/deep/link.v2?x=1"] {
            let shown = node.get(&format!("{host}{path}")).browser().cookie(&cookie).send().await.expect(200);
            assert_eq!(shown.text(), INDEX, "{path}");
        }
        let deep = node.get(&format!("{root}deep/link")).browser().cookie(&cookie).send().await.expect(303);
        assert_eq!((deep.header("location"), deep.has("set-cookie")), ("/deep/link", false));
        // A subresource request is not answered with a page.
        part(node.get(&format!("{host}/assets/old.js"))).cookie(&cookie).send().await.expect(404);
        node.get(&format!("{host}/data.json"))
            .cookie(&cookie)
            .header("accept", "*/*")
            .send()
            .await
            .expect(404);
        // A browser without cookies is not redirected in a loop.
        let refused = node.get(&format!("{host}/")).browser().send().await.expect(404);
        assert!(refused.text().contains("Open the page with its complete link"), "{}", refused.text());
        // In a frame, which may be another site's, the page stays where it is; other clients get it at once.
        let framed = node.get(&root).browser().header("sec-fetch-dest", "iframe").send().await.expect(200);
        assert!(!framed.has("set-cookie"));
        assert_eq!(node.get(&root).send().await.expect(200).text(), INDEX);
    })
    .await;
}

#[tokio::test]
async fn names_that_are_ours_are_not_led_away() {
    let node = Node::start().await;
    let archive = zip(&[("index.html", INDEX), ("p/a.html", "<p>ours"), ("healthz/a.html", "<p>health")]);
    let site = node.publish(Form::file("app.zip", archive).field("spa", "true")).await;
    let root = own_host(&node, &site).await;
    for (path, text) in [("p/a.html", "<p>ours"), ("healthz/a.html", "<p>health")] {
        let shown = node.get(&format!("{root}{path}")).browser().send().await.expect(200);
        assert_eq!(shown.text(), text);
    }
    // Two slashes would name another host.
    let odd = node.get(&format!("{root}/evil.example/")).browser().send().await;
    assert!(!odd.has("location"), "{}", odd.header("location"));
}

#[tokio::test]
async fn routes_of_a_public_page_are_answered_on_its_own_name() {
    let node = Node::start().await;
    let form =
        Form::file("app.zip", zip(&[("index.html", INDEX)])).field("spa", "true").field("slug", "routed");
    let site = node.publish(form).await;
    let deep = format!("{}deep/link", url(&site));
    let shown = node.get(&deep).browser().send().await.expect(200);
    assert_eq!((shown.text().as_str(), shown.has("set-cookie")), (INDEX, false));
    assert_eq!(shown.header("vary"), "Accept-Encoding, Accept, Sec-Fetch-Dest");
    part(node.get(&deep)).send().await.expect(404);
    let off = Form::file("app.zip", zip(&[("index.html", INDEX)])).field("spa", "false");
    let off = node.put(&site_path(&site)).key(&node.key).form(off).send().await.expect(200).json();
    assert_eq!(off["spa"], false);
    node.get(&deep).browser().send().await.expect(404);
    // Each version has its own setting.
    let back = node.post(&format!("{}/rollback", site_path(&site))).key(&node.key);
    assert_eq!(back.json(&json!({"version": 1})).send().await.expect(200).json()["spa"], true);
    node.get(&deep).browser().send().await.expect(200);
    assert_eq!(node.read_site(&site).await["spa"], true);
}

#[tokio::test]
async fn routes_need_an_index_to_be_answered_with() {
    let node = Node::start().await;
    for (name, bytes) in [("a.txt", b"text".to_vec()), ("a.pdf", crate::harness::pdf())] {
        let form = Form::file(name, bytes).field("spa", "true");
        let refused = node.post("/sites").key(&node.key).form(form).send().await.expect(400).json();
        assert!(refused["error_description"].as_str().unwrap().contains("`spa` needs"), "{refused}");
    }
    let single = node.publish(Form::file("a.html", page("Single")).field("spa", "true")).await;
    assert_eq!(single["spa"], true);
    let put = node.put(&site_path(&single)).key(&node.key);
    let put = put.json(&json!({"html": page("Again"), "spa": true})).send().await.expect(200).json();
    assert_eq!(put["spa"], true);
}

#[tokio::test]
async fn gates_lead_to_the_root_in_the_end() {
    on_each_database(Setup::new, async |node| {
        let archive = zip(&[("index.html", INDEX)]);
        let form = Form::file("app.zip", archive).field("spa", "true").field("password", PASSWORD);
        let root = own_host(node, &node.publish(form).await).await;
        let host = origin(&root);
        let asked = node.get(&root).browser().send().await.expect(401);
        assert!(!asked.has("set-cookie"), "not before the gate is passed");
        let to = format!("{}deep?x=1", &root[host.len()..]);
        let form = [("password", PASSWORD), ("to", to.as_str())];
        let passed =
            node.post(&format!("{root}_dropleaf/gate")).browser().fields(&form).send().await.expect(303);
        let gate = passed.cookie();
        let led = node.get(&format!("{host}{to}")).browser().cookie(&gate).send().await.expect(303);
        assert_eq!(led.header("location"), "/deep?x=1");
        let both = format!("{gate}; {}", led.cookie());
        assert_eq!(
            node.get(&format!("{host}/deep?x=1")).browser().cookie(&both).send().await.expect(200).text(),
            INDEX
        );
        // The cookie of the root opens no gate, and the gate at the root returns to the requested path.
        let alone =
            node.get(&format!("{host}/deep")).browser().cookie(&led.cookie()).send().await.expect(401);
        assert!(
            alone.text().contains("action=\"/_dropleaf/gate\"") && alone.text().contains("value=\"/deep\""),
            "{}",
            alone.text()
        );
        let form = [("password", PASSWORD), ("to", "/deep")];
        let again =
            node.post(&format!("{host}/_dropleaf/gate")).browser().cookie(&led.cookie()).fields(&form);
        assert_eq!(again.send().await.expect(303).header("location"), "/deep");
    })
    .await;
}

#[tokio::test]
async fn views_at_the_root_are_counted_once() {
    let node = Node::start().await;
    let site = node.publish(Form::file("app.zip", zip(&[("index.html", INDEX)])).field("spa", "true")).await;
    let root = own_host(&node, &site).await;
    let cookie = node.get(&root).browser().send().await.expect(303).cookie();
    node.get(&format!("{}/", origin(&root))).browser().cookie(&cookie).send().await.expect(200);
    assert_eq!(node.read_site(&site).await["view_count"], 1);
}

#[tokio::test]
async fn links_to_the_root_are_warned_about_only_where_they_leave_the_page() {
    let node = Node::start().await;
    let page = || Form::file("report.html", "<title>Report</title><a href='/'>Home</a>");
    let leaves = "Links that point outside the page: / (in report.html). Use relative links or publish the page with a slug.";
    let unlisted = node.publish(page()).await;
    assert_eq!(unlisted["warnings"], json!([leaves]));
    let public = node.publish(page().field("slug", "report")).await;
    assert_eq!(public["warnings"], json!([]));
    let put = async |site: &Value, form: Form| {
        node.put(&site_path(site)).key(&node.key).form(form).send().await.expect(200).json()["warnings"]
            .clone()
    };
    assert_eq!(put(&public, page()).await, json!([]));
    assert_eq!(put(&unlisted, page()).await, json!([leaves]));
    assert_eq!(put(&public, page().field("visibility", "unlisted")).await, json!([leaves]));

    // A publisher's explicit `spa` takes precedence.
    let app = || Form::file("app.zip", zip(&[("index.html", "<a href='/settings'>x</a>"), ("a.css", "")]));
    let nothing =
        "Broken links: /settings (in index.html). Add the pages to the archive or correct the links.";
    assert_eq!(node.publish(app()).await["warnings"], json!([nothing]));
    assert_eq!(node.publish(app().field("spa", "true")).await["warnings"], json!([]));

    let shared = Setup::new().set("isolation", "sandbox").start().await;
    let below_a_path = shared.publish(page().field("slug", "report")).await;
    let leaves = "Links that point outside the page: / (in report.html). Use relative links.";
    assert_eq!(below_a_path["warnings"], json!([leaves]));
}
