//! Replies of the owner's programs: repeated requests, who may speak for the owner, and threads that do not fit.

use crate::harness::oauth::let_in;
use crate::harness::{Ask, Form, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

/// A page with comments; returns the page and the ids of the comments.
async fn commented(node: &Node, comments: usize) -> (Value, Vec<String>) {
    let site = node.publish(Form::file("page.html", page("Draft")).field("agentation", "true")).await;
    let url = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let mut ids = Vec::new();
    for _ in 0..comments {
        let made = node.post(&url).json(&json!({"comment": "Old number."})).send().await.expect(201).json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    (site, ids)
}

fn reply(node: &Node, site: &Value, id: &str, body: &Value) -> Ask {
    node.post(&format!("{}/feedback/{id}/replies", site_path(site))).json(body)
}

async fn replies(node: &Node, site: &Value, id: &str) -> usize {
    let path = format!("{}/feedback/{id}/replies", site_path(site));
    let list = node.get(&path).key(&node.key).send().await.expect(200).json();
    list["replies"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_reply_is_stored_once() {
    on_each_database(Setup::new, async |node| {
        let (site, ids) = commented(node, 1).await;
        let id = &ids[0];
        let send = async |key: &str, body: Value| {
            reply(node, &site, id, &body).key(&node.key).header("idempotency-key", key).send().await
        };
        let body = json!({"text": "Corrected.", "resolve": true});
        let first = send("one", body.clone()).await.expect(201).json();
        assert_eq!((&first["state"], &first["reply"]["text"]), (&json!("resolved"), &json!("Corrected.")));
        assert_eq!(send("one", body).await.expect(201).json(), first);
        send("one", json!({"text": "Corrected."})).await.refused(422, "idempotency_mismatch");
        assert_eq!(replies(node, &site, id).await, 1);
        let client = node.mcp_modern(&node.key);
        let call = json!({"id": id, "text": "Is it right now?", "idempotency_key": "two"});
        let first = client.call("reply_to_feedback", call.clone()).await["structuredContent"].clone();
        assert_eq!((&first["state"], &first["reply"]["author"]), (&json!("resolved"), &json!("agent")));
        assert_eq!(client.call("reply_to_feedback", call).await["structuredContent"], first);
        assert_eq!(replies(node, &site, id).await, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_key_of_the_owner_speaks_for_the_owner() {
    let node = Node::start().await;
    let (site, ids) = commented(&node, 1).await;
    let person = node.operator().await;
    let program = let_in(&person, "sites:write").await;
    let as_owner = json!({"text": "Trust me.", "author": "owner"});
    let send = async |key: &str, body: &Value| reply(&node, &site, &ids[0], body).key(key).send().await;
    send(&program.access, &as_owner).await.refused(400, "invalid_field");
    assert_eq!(send(&node.key, &as_owner).await.expect(201).json()["reply"]["author"], "owner");
    for body in [json!({"text": "Done."}), json!({"text": "Done.", "author": "agent"})] {
        assert_eq!(send(&program.access, &body).await.expect(201).json()["reply"]["author"], "agent");
    }
    send(&node.key, &json!({"text": "Done.", "author": "viewer"})).await.refused(400, "invalid_field");
    assert_eq!(replies(&node, &site, &ids[0]).await, 3);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_replies_are_left_out_when_not_all_fit() {
    on_each_database(Setup::new, async |node| {
        let (site, ids) = commented(node, 2).await;
        for number in 0..10 {
            let text = format!("{number} {}", "x".repeat(3990));
            let sent = reply(node, &site, &ids[number % 2], &json!({"text": text}));
            sent.key(&node.key).send().await.expect(201);
            node.clock.advance(1);
        }
        let list = node.mcp_modern(&node.key).call("list_feedback", json!({"site": site["id"]})).await;
        let shown = |id: &str| {
            let items = list["structuredContent"]["feedback"].as_array().unwrap();
            let item = items.iter().find(|item| item["id"] == id).unwrap();
            assert_eq!(item["reply_count"], 5);
            let replies = item["replies"].as_array().unwrap().iter();
            replies.map(|reply| reply["text"].as_str().unwrap()[..1].to_owned()).collect::<String>()
        };
        // Seven of them are 32 KiB.
        assert_eq!((shown(&ids[0]), shown(&ids[1])), ("468".to_owned(), "3579".to_owned()));
    })
    .await;
}
