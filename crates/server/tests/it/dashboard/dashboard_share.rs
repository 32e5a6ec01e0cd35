//! Share links in the dashboard.

use crate::harness::{Form, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

fn at(site: &Value, rest: &str) -> String {
    format!("/dashboard/pages/{}/share-links{rest}", site["id"].as_str().unwrap())
}

async fn tokens(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("/sites/{}/share-tokens", site["id"].as_str().unwrap());
    node.get(&path).key(&node.key).send().await.expect(200).json()["tokens"].as_array().unwrap().clone()
}

#[tokio::test]
async fn link_is_made_shown_opens_the_page_and_is_revoked() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("p.html", page("Locked")).field("password", "pw")).await;
        let tab = node.operator().await;
        let wish = [("note", "For <b>the board</b>"), ("expires_in_hours", "24"), ("max_uses", "5")];
        let answer = tab.submit(&at(&site, ""), &wish).await.expect(303);
        assert!(answer.header("location").ends_with("?done=link-made#outcome"));
        let made = tokens(node, &site).await.remove(0);
        assert_eq!((&made["note"], &made["max_uses"]), (&json!("For <b>the board</b>"), &json!(5)));
        let shown = tab.get(&format!("/dashboard/pages/{}", site["id"].as_str().unwrap())).await.text();
        assert!(shown.contains(made["url"].as_str().unwrap()) && !shown.contains("<b>the board"), "{shown}");
        node.get(made["url"].as_str().unwrap()).send().await.expect(200);
        let id = made["id"].as_str().unwrap();
        node.newcomer_on("solo").await.submit(&at(&site, &format!("/{id}/revoke")), &[]).await.expect(404);
        assert_eq!(tokens(node, &site).await.len(), 1);
        tab.submit(&at(&site, &format!("/{id}/revoke")), &[]).await.expect(303);
        assert_eq!(tokens(node, &site).await.len(), 0);
        node.get(made["url"].as_str().unwrap()).send().await.expect(401);
        tab.submit(&at(&site, &format!("/{id}/revoke")), &[]).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn wish_that_makes_no_sense_is_refused_beside_its_field() {
    let node = Node::start().await;
    let site = node.publish_page("Locked").await;
    let tab = node.operator().await;
    for (name, value, said) in [
        ("max_uses", "many", "The maximum number of uses must be a whole number."),
        ("max_uses", "0", "The maximum number of uses must be at least 1."),
        ("note", &"x".repeat(201), "The note must be at most 200"),
    ] {
        let text = tab
            .submit(&at(&site, ""), &[(name, value), ("expires_in_hours", "never")])
            .await
            .expect(400)
            .text();
        assert!(text.contains(said), "{said}: {text}");
    }
    assert_eq!(tokens(&node, &site).await.len(), 0);
}
