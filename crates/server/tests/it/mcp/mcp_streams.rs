//! Open streams of `/mcp`: which notifications they get, on which node, and when they end. Spec §4 MCP.

use crate::harness::mcp_line::{Line, begin, comment, open_page, result, uri_of};
use crate::harness::{Database, Node, Setup, in_time, on_each_database};
use serde_json::{Value, json};
use std::time::Duration;

async fn subscribe(node: &Node, key: &str, session: &str, uri: &str) {
    result(node, key, session, "resources/subscribe", json!({"uri": uri})).await;
}

/// The page as this node shows it to its owner.
async fn seen(node: &Node, key: &str, site: &Value) -> Value {
    node.get(&format!("/sites/{}", site["id"].as_str().unwrap())).key(key).send().await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_hear_their_own_news_and_nobody_elses() {
    let node = Node::start().await;
    let (mut lines, mut sites) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let key = node.account("pro").await;
        let site = open_page(&node, &key, &format!("Page {number}")).await;
        let uri = uri_of(&site);
        for _ in 0..5 {
            let session = begin(&node, &key).await;
            lines.push((uri.clone(), Line::open(&node, &key, &session).await));
            let (line, accepted) = Line::listen(&node, &key, std::slice::from_ref(&uri)).await;
            assert_eq!(accepted, json!({"resourceSubscriptions": [uri]}));
            lines.push((uri.clone(), line));
        }
        sites.push(site);
    }
    assert_eq!(lines.len(), 200);
    for site in sites.iter().chain(sites.iter().rev()) {
        comment(&node, site, "Say by when.").await;
    }
    for (uri, line) in &mut lines {
        assert_eq!([line.news().await, line.news().await], [uri.as_str(), uri.as_str()]);
    }
    node.stop().await;
    for (_, mut line) in lines {
        assert_eq!(line.rest().await, Vec::<Value>::new(), "nothing more, and nothing of others");
    }
}

#[tokio::test]
async fn news_cross_from_node_to_node() {
    let database = Database::postgres().await;
    let setup =
        || Setup::new().database(database.clone()).set("secret_key", "ab".repeat(32)).without_mcp_checks();
    let here = setup().start().await;
    let there = setup().start().await;
    let hearing = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' \
                   AND query = 'LISTEN dropleaf_changed'";
    in_time("both nodes listen for notifications", async { while here.count(hearing).await < 2 {} }).await;
    let key = here.key.clone();
    let site = open_page(&here, &key, "Shared").await;
    let uri = uri_of(&site);
    let session = begin(&here, &key).await;
    // The session begun on one node continues on the other, with its subscriptions.
    subscribe(&there, &key, &session, &uri).await;
    let mut old = Line::open(&here, &key, &session).await;
    let (mut new, _) = Line::listen(&here, &key, std::slice::from_ref(&uri)).await;
    let seen_there = seen(&there, &key, &site).await;
    comment(&there, &seen_there, "From the other node.").await;
    assert_eq!([old.news().await, new.news().await], [uri.as_str(), uri.as_str()]);
    // Notifications of the own node arrive once, although the database repeats them.
    comment(&here, &site, "From this node.").await;
    comment(&there, &seen_there, "And again from there.").await;
    for line in [&mut old, &mut new] {
        assert_eq!([line.news().await, line.news().await], [uri.as_str(), uri.as_str()]);
    }
    // A key revoked on one node ends streams on the other, by the notification alone.
    let made =
        there.post("/api-keys").key(&key).json(&json!({"name": "short"})).send().await.expect(201).json();
    let short = made["key"].as_str().unwrap().to_owned();
    let (mut line, _) = Line::listen(&here, &short, std::slice::from_ref(&uri)).await;
    there.delete(&format!("/api-keys/{}", made["id"].as_str().unwrap())).key(&key).send().await.expect(200);
    assert_eq!(line.rest().await, Vec::<Value>::new());
    here.stop().await;
    there.stop().await;
    for mut line in [old, new] {
        assert_eq!(line.rest().await, Vec::<Value>::new());
    }
    database.remove().await;
}

#[tokio::test]
async fn revoked_key_ends_its_streams_at_once() {
    on_each_database(
        || Setup::new().without_mcp_checks(),
        async |node| {
            let site = open_page(node, &node.key, "Mine").await;
            let made = node.post("/api-keys").key(&node.key).json(&json!({"name": "short"})).send().await;
            let made = made.expect(201).json();
            let short = made["key"].as_str().unwrap();
            let session = begin(node, short).await;
            let mut old = Line::open(node, short, &session).await;
            let (mut new, _) = Line::listen(node, short, &[uri_of(&site)]).await;
            let kept = begin(node, &node.key).await;
            let mut other = Line::open(node, &node.key, &kept).await;
            let path = format!("/api-keys/{}", made["id"].as_str().unwrap());
            node.delete(&path).key(&node.key).send().await.expect(200);
            assert_eq!((old.rest().await, new.rest().await), (vec![], vec![]));
            comment(node, &site, "Still here?").await;
            assert_eq!(other.news().await, uri_of(&site), "another key of the same account goes on");
        },
    )
    .await;
}

#[tokio::test]
async fn session_that_subscribes_hears_what_it_named_and_no_more() {
    on_each_database(Setup::new, async |node| {
        let key = &node.key;
        let (one, two) = (open_page(node, key, "One").await, open_page(node, key, "Two").await);
        let session = begin(node, key).await;
        let mut line = Line::open(node, key, &session).await;
        comment(node, &two, "Before it said what to watch.").await;
        assert_eq!(line.news().await, uri_of(&two), "it hears of every page");
        subscribe(node, key, &session, &uri_of(&one)).await;
        comment(node, &two, "Not for it.").await;
        comment(node, &one, "For it.").await;
        assert_eq!(line.news().await, uri_of(&one));
        // A change of the page is sent to subscribers.
        let content = format!("{}/content", uri_of(&one));
        subscribe(node, key, &session, &content).await;
        let changed = json!({"html": "<!doctype html><title>New</title><p>New"});
        let path = format!("/sites/{}", one["id"].as_str().unwrap());
        node.put(&path).key(key).json(&changed).send().await.expect(200);
        assert_eq!([line.news().await, line.news().await], [uri_of(&one), content.clone()]);
        comment(node, &one, "The content is what it was.").await;
        assert_eq!(line.news().await, uri_of(&one));
        for uri in [uri_of(&one), content, "dropleaf://sites/none".to_owned()] {
            result(node, key, &session, "resources/unsubscribe", json!({"uri": uri})).await;
        }
        comment(node, &one, "Nobody asked.").await;
        comment(node, &two, "Nobody asked.").await;
        subscribe(node, key, &session, &uri_of(&two)).await;
        comment(node, &two, "Asked again.").await;
        assert_eq!(line.news().await, uri_of(&two));
        let about_session = node
            .rows("SELECT watched FROM mcp_sessions", Vec::new(), |row| row.text(0).map(str::to_owned))
            .await;
        assert_eq!(about_session, [two["id"].as_str().unwrap()]);
    })
    .await;
}

#[tokio::test]
async fn only_own_pages_can_be_watched() {
    let node = Node::start().await;
    let (mine, theirs) = (node.account("pro").await, node.account("pro").await);
    let (own, foreign) = (open_page(&node, &mine, "Own").await, open_page(&node, &theirs, "Foreign").await);
    let session = begin(&node, &mine).await;
    let content = format!("{}/content", uri_of(&own));
    let uris = [uri_of(&own), uri_of(&foreign), "https://example.org/".into(), content, uri_of(&own)];
    for uri in &uris[1..3] {
        let params = json!({"uri": uri});
        let error =
            crate::harness::mcp_line::error(&node, &mine, &session, "resources/subscribe", params).await;
        assert_eq!(error["code"], -32002, "{error}");
    }
    let (mut line, accepted) = Line::listen(&node, &mine, &uris).await;
    // The library returns the requested list with duplicates; notifications arrive once.
    assert_eq!(accepted, json!({"resourceSubscriptions": [uris[0], uris[3], uris[4]]}));
    comment(&node, &foreign, "Not for them.").await;
    comment(&node, &own, "For them.").await;
    assert_eq!(line.news().await, uri_of(&own));
    // A deleted page cannot be subscribed to.
    let gone = open_page(&node, &mine, "Gone").await;
    node.delete(&format!("/sites/{}", gone["id"].as_str().unwrap())).key(&mine).send().await.expect(200);
    let (_, accepted) = Line::listen(&node, &mine, &[uri_of(&gone), uri_of(&own)]).await;
    assert_eq!(accepted, json!({"resourceSubscriptions": [uri_of(&own)]}));
    let (mut nothing, accepted) = Line::listen(&node, &mine, &uris[1..3]).await;
    assert_eq!(accepted, json!({}));
    comment(&node, &own, "Unheard.").await;
    node.stop().await;
    assert_eq!(nothing.rest().await, Vec::<Value>::new());
}

#[tokio::test]
async fn of_several_streams_of_a_session_the_newest_hears() {
    let node = Node::start().await;
    let site = open_page(&node, &node.key, "Page").await;
    let session = begin(&node, &node.key).await;
    let mut first = Line::open(&node, &node.key, &session).await;
    let mut second = Line::open(&node, &node.key, &session).await;
    comment(&node, &site, "Once.").await;
    assert_eq!(second.news().await, uri_of(&site));
    node.stop().await;
    assert_eq!((first.rest().await, second.rest().await), (vec![], vec![]));
}

#[tokio::test]
async fn silent_streams_outlive_the_idle_limit() {
    let setup = Setup::new().set("limits.idle_seconds", "1").set("limits.header_seconds", "1");
    let mut node = setup.start().await;
    // A new connection for each request: the server may close an idle one while it is being reused.
    node.client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let site = open_page(&node, &node.key, "Page").await;
    let session = begin(&node, &node.key).await;
    let mut old = Line::open(&node, &node.key, &session).await;
    let (mut new, _) = Line::listen(&node, &node.key, &[uri_of(&site)]).await;
    for line in [&mut old, &mut new] {
        // Each sends a keep-alive twice a second; together this is longer than a silent connection may last.
        for _ in 0..8 {
            let block = line.block().await.unwrap();
            assert!(block.starts_with(':'), "{block}");
        }
    }
    comment(&node, &site, "After a while.").await;
    assert_eq!([old.news().await, new.news().await], [uri_of(&site), uri_of(&site)]);
}

#[tokio::test]
async fn open_streams_do_not_hold_up_a_server_that_stops() {
    let node = Node::start().await;
    let site = open_page(&node, &node.key, "Page").await;
    let session = begin(&node, &node.key).await;
    let mut old = Line::open(&node, &node.key, &session).await;
    let (mut new, _) = Line::listen(&node, &node.key, &[uri_of(&site)]).await;
    // A server that waited for the streams would cut them after 20 seconds.
    let start = std::time::Instant::now();
    node.stop().await;
    assert!(start.elapsed() < Duration::from_secs(15), "it waited for the streams: {:?}", start.elapsed());
    assert_eq!(old.rest().await, Vec::<Value>::new());
    let last = new.next().await.expect("a subscription ends with a result");
    assert_eq!(last["id"], 1, "{last}");
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
}
