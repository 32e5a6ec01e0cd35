//! Live pages: the stream of versions and comments, behind the checks of the page, with limits, on every node.

use crate::harness::mcp_line::{Line, comment};
use crate::harness::{Ask, Database, Form, Node, Setup, in_time, noise, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn own_root(node: &Node, site: &Value) -> String {
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    node.get(&path).browser().send().await.expect(307).header("location").to_owned()
}

async fn live_page(node: &Node, form: Form) -> (Value, String) {
    let site = node.publish(form.field("live", "true")).await;
    let root = own_root(node, &site).await;
    (site, root)
}

fn a_page(title: &str) -> Form {
    Form::file("a.html", page(title))
}

/// A request whose refusal is JSON.
fn ask(node: &Node, path: &str) -> Ask {
    node.get(path).header("accept", "application/json")
}

async fn open(node: &Node, root: &str) -> Line {
    Line::new(node.get(&format!("{root}_dropleaf/live")).begin().await)
}

async fn replace(node: &Node, site: &Value, title: &str) {
    node.put(&site_path(site)).key(&node.key).form(a_page(title)).send().await.expect(200);
}

/// The next event as its name and its data; signs of life are skipped. None at the end.
async fn event(line: &mut Line) -> Option<(String, Value)> {
    loop {
        let block = line.block().await?;
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        if let Some(name) = field("event: ") {
            return Some((name, serde_json::from_str(&field("data: ").unwrap()).unwrap()));
        }
    }
}

#[track_caller]
fn is_version(event: Option<(String, Value)>, version: i64) {
    let (name, data) = event.unwrap();
    assert_eq!((name.as_str(), data), ("version", json!({ "version": version })));
}

#[track_caller]
fn is_gone(event: Option<(String, Value)>, reason: &str) {
    let (name, data) = event.unwrap();
    assert_eq!((name.as_str(), data), ("gone", json!({ "reason": reason })));
}

#[tokio::test]
async fn new_version_and_comments_reach_the_open_page_and_no_other() {
    on_each_database(Setup::new, async |node| {
        let (site, root) = live_page(node, a_page("One").field("agentation", "true")).await;
        let (_, other_root) = live_page(node, a_page("Other")).await;
        let (mut line, mut other) = (open(node, &root).await, open(node, &other_root).await);
        let first = line.block().await.unwrap();
        assert_eq!(first, "retry: 3000\nevent: version\ndata: {\"version\":1}");
        is_version(event(&mut other).await, 1);
        replace(node, &site, "Two").await;
        is_version(event(&mut line).await, 2);
        comment(node, &json!({"url": root}), "Say by when.").await;
        assert_eq!(event(&mut line).await.unwrap().0, "feedback");
        node.post(&format!("{}/rollback", site_path(&site)))
            .key(&node.key)
            .json(&json!({"version": 1}))
            .send()
            .await
            .expect(200);
        is_version(event(&mut line).await, 3);
        // A change of settings is no version.
        node.patch_site(&site, json!({"title": "Named"})).await.expect(200);
        node.patch_site(&site, json!({"live": false, "agentation": false})).await.expect(200);
        is_gone(event(&mut line).await, "not_found");
        assert_eq!(line.block().await, None);
        drop(line);
        node.delete(&format!("/sites/{}", other_root.split('/').nth(4).unwrap()))
            .key(&node.key)
            .send()
            .await
            .expect(200);
        is_gone(event(&mut other).await, "deleted");
    })
    .await;
}

#[tokio::test]
async fn every_change_of_a_thread_reaches_the_viewers() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(a_page("Discussed").field("agentation", "true")).await;
        let root = own_root(node, &site).await;
        let mut line = open(node, &root).await;
        is_version(event(&mut line).await, 1);
        comment(node, &json!({"url": root}), "Say by when.").await;
        assert_eq!(event(&mut line).await.unwrap().0, "feedback", "a new comment");
        let list = format!("{}/feedback", site_path(&site));
        let found = node.get(&list).key(&node.key).send().await.expect(200).json();
        let id = found["feedback"][0]["id"].as_str().unwrap().to_owned();
        let changes = [
            (format!("{list}/{id}/replies"), json!({"text": "Next week."}), 201),
            (format!("/feedback/{id}/resolve"), json!({}), 200),
            (format!("{list}/{id}/reopen"), json!({}), 200),
            (format!("{list}/resolve"), json!({"ids": [id]}), 200),
        ];
        for (path, body, status) in changes {
            node.post(&path).key(&node.key).json(&body).send().await.expect(status);
            assert_eq!(event(&mut line).await.unwrap().0, "feedback", "{path}");
        }
        node.delete(&format!("/feedback/{id}")).key(&node.key).send().await.expect(200);
        assert_eq!(event(&mut line).await.unwrap().0, "feedback", "a deleted comment");
        // A page without an account has no owner to notify, but viewers.
        let form = a_page("Unowned").field("agentation", "true");
        let unowned = node.post("/sites").form(form).send().await.expect(201).json();
        let root = own_root(node, &unowned).await;
        let mut line = open(node, &root).await;
        is_version(event(&mut line).await, 1);
        comment(node, &json!({"url": root}), "Hello.").await;
        assert_eq!(event(&mut line).await.unwrap().0, "feedback");
    })
    .await;
}

#[tokio::test]
async fn second_node_hears_of_versions_and_comments() {
    let database = Database::postgres().await;
    let setup = || Setup::new().database(database.clone()).set("secret_key", "ab".repeat(32));
    let (here, there) = (setup().start().await, setup().start().await);
    let hearing = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' \
                   AND query = 'LISTEN dropleaf_changed'";
    in_time("both nodes listen for notifications", async { while here.count(hearing).await < 2 {} }).await;
    let (site, root) = live_page(&here, a_page("One").field("agentation", "true")).await;
    let far = own_root(&there, &site).await;
    let mut line = open(&there, &far).await;
    is_version(event(&mut line).await, 1);
    replace(&here, &site, "Two").await;
    is_version(event(&mut line).await, 2);
    // What the viewer then loads there is the new version.
    assert!(there.get(&far).send().await.expect(200).text().contains("data-version=2 "));
    comment(&here, &json!({"url": root}), "Say by when.").await;
    assert_eq!(event(&mut line).await.unwrap().0, "feedback");
    let bulk = here.post(&format!("{}/feedback/resolve", site_path(&site))).key(&here.key);
    bulk.json(&json!({"state": "open"})).send().await.expect(200);
    assert_eq!(event(&mut line).await.unwrap().0, "feedback");
    here.app().take_down("ada", site["id"].as_str().unwrap(), "fraud").await.unwrap();
    is_gone(event(&mut line).await, "taken_down");
    here.stop().await;
    there.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn stream_is_behind_the_gates_and_ends_when_one_is_added() {
    let node = Node::start().await;
    let (site, root) = live_page(&node, a_page("Guarded").field("password", "secret")).await;
    let stream = format!("{root}_dropleaf/live");
    ask(&node, &stream).send().await.refused(401, "password_required");
    let gate = node.post(&format!("{root}_dropleaf/gate")).fields(&[("password", "secret")]);
    let pass = gate.send().await.expect(303).cookie();
    let mut line = Line::new(node.get(&stream).cookie(&pass).begin().await);
    is_version(event(&mut line).await, 1);
    replace(&node, &site, "Two").await;
    is_version(event(&mut line).await, 2);
    node.patch_site(&site, json!({"password": "another"})).await.expect(200);
    is_gone(event(&mut line).await, "password_required");
    assert_eq!(line.block().await, None);
    // A share link that is revoked opens it no longer.
    let share_link = node.post(&format!("{}/share-tokens", site_path(&site))).key(&node.key).json(&json!({}));
    let share_link = share_link.send().await.expect(201).json();
    let opened =
        node.get(&format!("{root}?t={}", share_link["token"].as_str().unwrap())).browser().send().await;
    let pass = opened.expect(303).cookie();
    let mut line = Line::new(node.get(&stream).cookie(&pass).begin().await);
    is_version(event(&mut line).await, 2);
    let path = format!("/share-tokens/{}", share_link["id"].as_str().unwrap());
    node.delete(&path).key(&node.key).send().await.expect(200);
    replace(&node, &site, "Three").await;
    is_gone(event(&mut line).await, "password_required");
}

#[tokio::test]
async fn only_the_page_itself_may_listen() {
    let node = Node::start().await;
    let (_, root) = live_page(&node, a_page("Mine")).await;
    let stream = format!("{root}_dropleaf/live");
    ask(&node, &stream).header("origin", "http://evil.example").send().await.refused(403, "cross_site");
    ask(&node, &stream).header("sec-fetch-site", "same-site").send().await.refused(403, "cross_site");
    let post = node.post(&stream).header("accept", "application/json");
    post.send().await.refused(405, "method_not_allowed");
    let head = node.head(&stream).send().await.expect(200);
    assert_eq!(
        (head.header("content-type"), head.header("cache-control")),
        ("text/event-stream", "no-store")
    );
    assert_eq!(node.running.metrics.live_streams.get(), 0, "HEAD opens nothing");
}

#[tokio::test]
async fn pages_that_do_not_ask_for_it_stay_as_they_are() {
    let node = Node::start().await;
    let source = page("Plain");
    let plain = node.publish(Form::file("a.html", &source)).await;
    assert_eq!(plain["live"], false);
    let root = own_root(&node, &plain).await;
    assert_eq!(node.get(&root).send().await.expect(200).text(), source);
    for name in ["live", "live.js"] {
        ask(&node, &format!("{root}_dropleaf/{name}")).send().await.refused(404, "not_found");
    }
    let (site, root) = live_page(&node, Form::file("a.html", &source).field("slug", "followed")).await;
    assert_eq!(site["live"], true);
    // Nor does the shared address, where the page has no origin, and its source.
    let shared = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    assert_eq!(node.get(&shared).send().await.expect(200).text(), source);
    ask(&node, &format!("{shared}_dropleaf/live")).send().await.refused(404, "not_found");
    let content = node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await;
    assert_eq!(content.expect(200).text(), source);
    let shown = node.get(&root).send().await.expect(200);
    let at = shown.text().find("_dropleaf/live.js?v=").unwrap();
    let version = shown.text()[at + 20..at + 36].to_owned();
    let tag = format!(
        "<script src=/p/{}/_dropleaf/live.js?v={version} data-version=1 defer></script>",
        &shared[3..25]
    );
    assert_eq!(shown.text().replace(&tag, ""), source);
    let script = node.get(&format!("{root}_dropleaf/live.js?v={version}")).send().await.expect(200);
    assert!(script.header("cache-control").contains("immutable") && script.text().contains("EventSource"));
    // At the public address no cache keeps files of the version before.
    let public = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(public.header("cache-control"), "public, no-cache");
    // A page that can be viewed once is never loaded again.
    let burn = node.publish(a_page("Once").field("live", "true").field("burn_after_read", "true")).await;
    let root = own_root(&node, &burn).await;
    for name in ["live", "live.js"] {
        ask(&node, &format!("{root}_dropleaf/{name}")).send().await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn stream_ends_when_the_page_expires_or_its_account_is_suspended() {
    let node = Setup::new().set("limits.idle_seconds", "2").start().await;
    let (_, root) = live_page(&node, a_page("Brief").field("expires_in_hours", "1")).await;
    let mut line = open(&node, &root).await;
    is_version(event(&mut line).await, 1);
    node.clock.advance(3600);
    is_gone(event(&mut line).await, "expired");
    let key = node.account("pro").await;
    let site = node.publish_as(&key, a_page("Theirs").field("live", "true")).await;
    let mut line = open(&node, &own_root(&node, &site).await).await;
    is_version(event(&mut line).await, 1);
    let me = node.get("/me").key(&key).send().await.expect(200).json();
    node.app().suspend_account("operator", me["id"].as_str().unwrap(), "spam").await.unwrap();
    is_gone(event(&mut line).await, "account_suspended");
}

#[tokio::test]
async fn change_by_another_process_is_noticed() {
    let node = Node::start().await;
    let (site, root) = live_page(&node, a_page("Shared file")).await;
    let mut line = open(&node, &root).await;
    is_version(event(&mut line).await, 1);
    let id = site["id"].as_str().unwrap().into();
    node.exec("UPDATE sites SET state = 'deleted', updated_at = updated_at + 1 WHERE id = $1", vec![id])
        .await;
    is_gone(event(&mut line).await, "deleted");
}

#[tokio::test]
async fn network_holds_so_many_streams_and_they_are_counted() {
    let node = Setup::new().with_rates().start().await;
    let (_, root) = live_page(&node, a_page("Popular")).await;
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(open(&node, &root).await);
    }
    let refused = ask(&node, &format!("{root}_dropleaf/live")).send().await.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "60");
    let metrics = &node.running.metrics;
    assert_eq!((metrics.live_streams.get(), metrics.live_streams_refused.get()), (100, 1));
    drop(held);
    in_time("closed streams are noticed", async {
        while metrics.live_streams.get() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    is_version(event(&mut open(&node, &root).await).await, 1);
}

#[tokio::test]
async fn shutdown_ends_open_streams() {
    let node = Node::start().await;
    let (_, root) = live_page(&node, a_page("Last")).await;
    let mut line = open(&node, &root).await;
    is_version(event(&mut line).await, 1);
    in_time("the server stops", node.stop()).await;
    assert_eq!(line.block().await, None);
}

#[tokio::test]
async fn setting_is_changed_over_every_interface() {
    let node = Node::start().await;
    let site = node.publish_page("Set").await;
    node.patch_site(&site, json!({"live": true})).await.expect(200);
    assert_eq!(node.read_site(&site).await["live"], true);
    node.patch_site(&site, json!({"live": "yes"})).await.refused(400, "invalid_field");
    let client = node.mcp(&node.key).await;
    let set = client.give("set_live", json!({"site": site["id"], "live": false})).await;
    assert_eq!(set["live"], false);
    let put = a_page("Again").field("live", "true");
    let put = node.put(&site_path(&site)).key(&node.key).form(put).send().await.expect(200).json();
    assert_eq!((put["live"].clone(), put["version"].clone()), (json!(true), json!(2)));
    replace(&node, &site, "Content only").await;
    assert_eq!(node.read_site(&site).await["live"], true, "new content keeps the setting");
}

#[tokio::test]
async fn encrypted_page_gets_the_script_only_where_it_may_connect() {
    let node = Node::start().await;
    let sealed = noise("sealed", 100);
    let form = || Form::file("page.e2e", &sealed).field("e2e", "true").field("live", "true");
    let site = node.publish(form()).await;
    let root = own_root(&node, &site).await;
    let shown = node.get(&root).browser().send().await.expect(200).text();
    assert!(
        shown.contains("/_dropleaf/live.js?v=") && shown.contains("data-version=\"1\""),
        "{}",
        &shown[..400]
    );
    let bare = node.post("/sites").form(form()).send().await.expect(201).json();
    let root = own_root(&node, &bare).await;
    assert!(!node.get(&root).browser().send().await.expect(200).text().contains("live.js"));
}
