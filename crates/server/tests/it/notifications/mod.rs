//! Tests of emails to owners, with a real SMTP conversation.

mod emails;
mod settings;

use crate::access::email_gate::with_mail;
use crate::harness::{Form, MailServer, Node, Seen, page};
use serde_json::{Value, json};

pub(super) const OPERATOR: &str = "operator@localhost";

/// Chooses which emails the owner of `node.key` gets.
pub(super) async fn choose(node: &Node, mode: &str) {
    let answer = node.patch("/me").key(&node.key).json(&json!({"notify": mode})).send().await.expect(200);
    assert_eq!(answer.json()["notify"], mode);
}

pub(super) async fn chosen(node: &Node) -> String {
    let me = node.get("/me").key(&node.key).send().await.expect(200).json();
    me["notify"].as_str().unwrap().to_owned()
}

/// A page that takes comments.
pub(super) async fn publish(node: &Node, title: &str) -> Value {
    node.publish(Form::file("a.html", page(title)).field("agentation", "true")).await
}

/// A comment by a viewer, as its browser got it.
pub(super) async fn comment(node: &Node, site: &Value) -> Value {
    let path = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let said = json!({"comment": "Hostile https://evil.example words"});
    node.post(&path).json(&said).send().await.expect(201).json()
}

/// A reply by the author of the comment.
pub(super) async fn reply(node: &Node, site: &Value, comment: &Value, reopens: bool) {
    let (id, token) = (comment["id"].as_str().unwrap(), comment["viewer_token"].as_str().unwrap());
    let path = format!("{}_dropleaf/feedback/{id}/replies", site["url"].as_str().unwrap());
    let said = json!({"text": "Hostile evil words", "still_a_problem": reopens});
    let ask = node.post(&path).header("feedback-tokens", &format!("{id}:{token}")).json(&said);
    ask.header("accept", "application/json").send().await.expect(201);
}

/// Sends what is due; returns how many emails.
pub(super) async fn sent(node: &Node) -> usize {
    node.app().send_owner_emails(|| true).await.unwrap()
}

/// The next email, which has no word of a viewer.
pub(super) async fn letter(mail: &MailServer) -> String {
    let Seen::Letter { to, text } = mail.next().await else { panic!("a letter") };
    assert_eq!(to, OPERATOR);
    assert!(!text.contains("ostile") && !text.contains("evil"), "{text}");
    text
}
