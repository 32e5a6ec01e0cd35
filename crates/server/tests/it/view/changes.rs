//! `_dropleaf/changes`: what changed in a page, for its viewers, if its owner shows that.

use crate::harness::{Answer, Ask, Form, Node, Setup, noise, on_each_database, page, pdf, site_path, zip};
use serde_json::{Value, json};

fn document(text: &str) -> String {
    format!(
        "<!doctype html>\n<title>Plan</title>\n<!-- {text} secret -->\n<script>let key = '{text}'</script>\n<p>{text}</p>\n"
    )
}

async fn shown_page(node: &Node, form: Form) -> Value {
    node.publish(form.field("show_changes", "true")).await
}

async fn replace(node: &Node, site: &Value, form: Form) {
    node.put(&site_path(site)).key(&node.key).form(form).send().await.expect(200);
}

async fn own_root(node: &Node, site: &Value) -> String {
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    node.get(&path).browser().send().await.expect(307).header("location").to_owned()
}

/// As a browser sees it.
async fn view(node: &Node, site: &Value, query: &str) -> Answer {
    let root = own_root(node, site).await;
    node.get(&format!("{root}_dropleaf/changes{query}")).browser().send().await
}

/// As a program sees it.
async fn diff(node: &Node, site: &Value, query: &str) -> String {
    let root = own_root(node, site).await;
    node.get(&format!("{root}_dropleaf/changes{query}")).send().await.expect(200).text()
}

#[tokio::test]
async fn viewers_read_what_changed_as_text_and_nothing_else_of_the_page() {
    on_each_database(Setup::new, async |node| {
        let site = shown_page(node, Form::file("a.html", document("On <b>Monday</b>."))).await;
        replace(node, &site, Form::file("a.html", document("On <b>Friday</b>."))).await;
        let answer = view(node, &site, "").await.expect(200);
        let text = answer.text();
        assert!(text.contains("On <b>Monday</b>.</del>"), "the word that differs: {text}");
        assert!(text.contains("On <b>Friday</b>.</ins>"), "{text}");
        for hidden in ["secret", "let key", "<script", "laptop", "api_key", site["id"].as_str().unwrap()] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("script-src")
        );
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(answer.header("x-robots-tag").contains("noindex"));
        let plain = "--- a/index.html\n+++ b/index.html\n@@ -1,2 +1,2 @@\n Plan\n-On Monday.\n+On Friday.\n";
        assert_eq!(diff(node, &site, "").await, plain);
        let views = node.read_site(&site).await["view_count"].clone();
        assert_eq!(views, 0, "it is not a view of the page");
    })
    .await;
}

#[tokio::test]
async fn only_versions_since_the_setting_was_turned_on_are_compared() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", document("Removed on purpose"))).await;
    assert_eq!(site["show_changes"], false);
    replace(&node, &site, Form::file("a.html", document("two"))).await;
    view(&node, &site, "").await.expect(404);
    node.patch_site(&site, json!({"show_changes": true})).await.expect(200);
    assert!(view(&node, &site, "").await.expect(200).text().contains("no earlier version"));
    replace(&node, &site, Form::file("a.html", document("three"))).await;
    replace(&node, &site, Form::file("a.html", document("four"))).await;
    assert!(diff(&node, &site, "").await.contains("-three\n+four"));
    assert!(diff(&node, &site, "?from=2").await.contains("-two\n+four"));
    for other in ["?from=1", "?from=4", "?from=9", "?from=x", "?from=-1"] {
        let text = view(&node, &site, other).await.expect(404).text();
        assert!(!text.contains("Removed on purpose") && text.contains("?from=3"), "{text}");
    }
    // Who can open the page only now does not read what it said before.
    node.patch_site(&site, json!({"password": "secret"})).await.expect(200);
    node.patch_site(&site, json!({"password": null})).await.expect(200);
    assert!(view(&node, &site, "").await.expect(200).text().contains("no earlier version"));
    view(&node, &site, "?from=3").await.expect(200);
    replace(&node, &site, Form::file("a.html", document("five"))).await;
    assert!(diff(&node, &site, "").await.contains("-four\n+five"));
    view(&node, &site, "?from=3").await.expect(404);
    // With new content, it starts with that.
    node.patch_site(&site, json!({"show_changes": false})).await.expect(200);
    view(&node, &site, "").await.expect(404);
    replace(&node, &site, Form::file("a.html", document("six")).field("show_changes", "true")).await;
    assert!(view(&node, &site, "").await.expect(200).text().contains("no earlier version"));
}

#[tokio::test]
async fn it_is_behind_the_gates_and_the_state_of_the_page() {
    on_each_database(Setup::new, async |node| {
        let form = |text: &str| Form::file("a.html", document(text));
        let site = shown_page(node, form("one").field("password", "secret")).await;
        replace(node, &site, form("two")).await;
        let root = own_root(node, &site).await;
        let path = format!("{root}_dropleaf/changes?from=1");
        let json = |ask: Ask| ask.header("accept", "application/json");
        json(node.get(&path)).send().await.refused(401, "password_required");
        let asked = node.get(&path).browser().send().await.expect(401).text();
        assert!(asked.contains("_dropleaf/changes?from=1") && !asked.contains("two"), "{asked}");
        let to = path.split_once("/p/").map(|(_, rest)| format!("/p/{rest}")).unwrap();
        let gate = node.post(&format!("{root}_dropleaf/gate"));
        let passed = gate.fields(&[("password", "secret"), ("to", &to)]).send().await.expect(303);
        assert_eq!(passed.header("location"), to, "the viewer comes back here");
        let cookie = passed.cookie();
        let shown = node.get(&path).cookie(&cookie).send().await.expect(200).text();
        assert!(shown.contains("-one\n+two"), "{shown}");
        json(node.post(&path)).cookie(&cookie).send().await.refused(405, "method_not_allowed");
        let head = node.head(&path).cookie(&cookie).send().await.expect(200);
        assert!(head.body.is_empty());
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        json(node.get(&path)).cookie(&cookie).send().await.refused(410, "deleted");
    })
    .await;
}

#[tokio::test]
async fn pages_without_text_say_so() {
    let node = Node::start().await;
    let site = shown_page(&node, Form::file("a.pdf", pdf())).await;
    let other = [pdf(), b"\n% more\n".to_vec()].concat();
    replace(&node, &site, Form::file("a.pdf", other)).await;
    assert!(view(&node, &site, "").await.expect(200).text().contains("not text"));
    let sealed = |seed| Form::file("x", noise(seed, 64)).field("e2e", "true");
    let site = shown_page(&node, sealed("one")).await;
    replace(&node, &site, sealed("two")).await;
    assert!(view(&node, &site, "").await.expect(200).text().contains("encrypted"));
    // What was encrypted is not compared with what is not.
    replace(&node, &site, Form::file("a.html", document("plain"))).await;
    assert!(view(&node, &site, "").await.expect(200).text().contains("no earlier version"));
    let once =
        shown_page(&node, Form::file("a.html", document("once")).field("burn_after_read", "true")).await;
    assert!(view(&node, &once, "").await.expect(200).text().contains("only once"));
    assert_eq!(node.read_site(&once).await["state"], "live", "it does not burn the page");
}

#[tokio::test]
async fn rendered_pages_and_archives_are_compared_as_viewers_see_them() {
    let node = Node::start().await;
    let site = shown_page(&node, Form::file("a.md", "# Plan\n\n<!-- note to self -->\nOn *Monday*.\n")).await;
    replace(&node, &site, Form::file("a.md", "# Plan\n\n<!-- another note -->\nOn *Friday*.\n")).await;
    let text = diff(&node, &site, "").await;
    assert!(text.contains("-On Monday.\n+On Friday.") && !text.contains("note"), "{text}");
    let files = |style: &str, more: &str| {
        let readme = format!("# Guide\n\n{more}\n");
        zip(&[("README.md", readme.as_str()), ("a.css", style), ("pic.png", more), ("same.txt", "same\n")])
    };
    let site = shown_page(&node, Form::file("s.zip", files("p{}\n", "first"))).await;
    replace(&node, &site, Form::file("s.zip", files("b{}\n", "second"))).await;
    let text = diff(&node, &site, "").await;
    assert!(text.contains("--- a/index.html") && text.contains("-first\n+second"), "{text}");
    assert!(text.contains("-p{}\n+b{}") && text.contains("pic.png") && !text.contains("README.md"), "{text}");
    assert!(!text.contains("same"), "{text}");
    let shown = view(&node, &site, "").await.expect(200).text();
    assert!(shown.contains("<h2>a.css</h2>"), "{shown}");
}

#[tokio::test]
async fn the_setting_is_changed_over_every_interface_and_the_live_bar_links_to_it() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Set")).field("live", "true")).await;
    let root = own_root(&node, &site).await;
    let has_link =
        async || node.get(&root).browser().send().await.expect(200).text().contains(" data-changes ");
    assert!(!has_link().await);
    node.patch_site(&site, json!({"show_changes": true})).await.expect(200);
    assert_eq!(node.read_site(&site).await["show_changes"], true);
    assert!(has_link().await);
    node.patch_site(&site, json!({"show_changes": "yes"})).await.refused(400, "invalid_field");
    let client = node.mcp(&node.key).await;
    let set = json!({"site": site["id"], "live": true, "show_changes": false});
    assert_eq!(client.give("set_live", set).await["show_changes"], false);
    let made = client.give("publish_html", json!({"html": page("Made"), "show_changes": true})).await;
    assert_eq!(made["show_changes"], true);
    let tab = node.operator().await;
    let seen = node.read_site(&site).await["updated_at"].to_string();
    let at = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
    let fields = [("show_changes", "yes"), ("updated_at", seen.as_str())];
    tab.submit(&format!("{at}/options"), &fields).await.expect(303);
    assert_eq!(node.read_site(&site).await["show_changes"], true);
    assert!(tab.get(&at).await.expect(200).text().contains("changes shown"));
}
