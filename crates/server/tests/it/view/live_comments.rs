//! Live pages: what the owner does with comments wakes the open page, and a share link is not used up by a stream.

use crate::harness::mcp_line::Line;
use crate::harness::{Database, Form, Node, Setup, in_time, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn root_of(node: &Node, site: &Value) -> String {
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    node.get(&path).browser().send().await.expect(307).header("location").to_owned()
}

fn commented() -> Form {
    Form::file("a.html", page("Commented")).field("agentation", "true")
}

/// The name of the next event; signs of life are skipped.
async fn event(line: &mut Line) -> String {
    loop {
        let block = line.block().await.expect("the stream is open");
        if let Some(name) = block.lines().find_map(|line| line.strip_prefix("event: ")) {
            return name.to_owned();
        }
    }
}

async fn open(node: &Node, root: &str) -> Line {
    let mut line = Line::new(node.get(&format!("{root}_dropleaf/live")).begin().await);
    assert_eq!(event(&mut line).await, "version");
    line
}

async fn comment(node: &Node, root: &str) -> String {
    let ask = node.post(&format!("{root}_dropleaf/feedback")).json(&json!({"comment": "Say by when."}));
    ask.send().await.expect(201).json()["id"].as_str().unwrap().to_owned()
}

/// Sends as the owner, and waits until the open page hears of it.
async fn wakes(node: &Node, line: &mut Line, what: &str, body: Value) {
    let (method, path) = what.split_once(' ').unwrap();
    let ask = node.ask(method.parse().unwrap(), path).key(&node.key);
    let answer = if body.is_null() { ask.send().await } else { ask.json(&body).send().await };
    assert!((200..300).contains(&answer.status), "{what}: {}", answer.text());
    let heard = in_time(format!("{what} wakes the page"), event(line)).await;
    assert_eq!(heard, "feedback", "{what}");
}

#[tokio::test]
async fn everything_that_the_owner_does_with_comments_wakes_the_open_page() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(commented()).await;
        let root = root_of(node, &site).await;
        let mut line = open(node, &root).await;
        let id = comment(node, &root).await;
        assert_eq!(event(&mut line).await, "feedback");
        let at = format!("{}/feedback", site_path(&site));
        let reply = format!("POST {at}/{id}/replies");
        wakes(node, &mut line, &reply, json!({"text": "On Friday."})).await;
        wakes(node, &mut line, &format!("POST /feedback/{id}/resolve"), json!({"note": "Done."})).await;
        wakes(node, &mut line, &format!("POST {at}/{id}/reopen"), Value::Null).await;
        wakes(node, &mut line, &format!("POST {at}/resolve"), json!({"ids": [id]})).await;
        wakes(node, &mut line, &format!("DELETE /feedback/{id}"), Value::Null).await;
    })
    .await;
}

#[tokio::test]
async fn other_nodes_hear_of_what_the_owner_does() {
    let database = Database::postgres().await;
    let setup = || Setup::new().database(database.clone()).set("secret_key", "ab".repeat(32));
    let (here, there) = (setup().start().await, setup().start().await);
    let hearing = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' \
                   AND query = 'LISTEN dropleaf_changed'";
    in_time("both nodes listen for notifications", async { while here.count(hearing).await < 2 {} }).await;
    let site = here.publish(commented()).await;
    let id = comment(&here, &root_of(&here, &site).await).await;
    let mut line = open(&there, &root_of(&there, &site).await).await;
    wakes(&here, &mut line, &format!("POST /feedback/{id}/resolve"), json!({})).await;
    drop(line);
    here.stop().await;
    there.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn comment_wakes_the_open_page_also_without_an_account() {
    let node = Node::start().await;
    let site: Value = node.post("/sites").form(commented()).send().await.expect(201).json();
    let root = root_of(&node, &site).await;
    let mut line = open(&node, &root).await;
    comment(&node, &root).await;
    assert_eq!(in_time("the comment wakes the page", event(&mut line)).await, "feedback");
}

#[tokio::test]
async fn share_link_opens_the_page_and_its_cookie_the_stream() {
    let node = Node::start().await;
    let site = node.publish(commented().field("password", "secret")).await;
    let root = root_of(&node, &site).await;
    let links = format!("{}/share-tokens", site_path(&site));
    let made = node.post(&links).key(&node.key).json(&json!({"max_uses": 1})).send().await.expect(201).json();
    let stream = format!("{root}_dropleaf/live");
    let with_token = format!("{stream}?t={}", made["token"].as_str().unwrap());
    for _ in 0..3 {
        let refused = node.get(&with_token).header("accept", "application/json").send().await;
        refused.refused(400, "invalid_field");
        node.head(&with_token).send().await.expect(400);
    }
    let listed: Value = node.get(&links).key(&node.key).send().await.expect(200).json();
    assert!(listed.to_string().contains("\"uses\":0"), "{listed}");
    let opened = node.get(&format!("{root}?t={}", made["token"].as_str().unwrap())).browser().send().await;
    let pass = opened.expect(303).cookie();
    let mut line = Line::new(node.get(&stream).cookie(&pass).begin().await);
    assert_eq!(event(&mut line).await, "version");
}
