//! Viewers' comments in the dashboard.

use crate::harness::{Form, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

async fn commented(node: &Node, comment: &str) -> (Value, String) {
    let site = node.publish(Form::file("p.html", page("Commented")).field("agentation", "true")).await;
    let said = json!({
        "comment": comment, "element": "button#order <i>", "selected_text": "two \"in\" a hundred",
        "intent": "fix", "severity": "blocking"
    });
    let path = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let made = node.post(&path).json(&said).send().await.expect(201).json();
    (site, made["id"].as_str().unwrap().to_owned())
}

fn at(site: &Value, rest: &str) -> String {
    format!("/dashboard/pages/{}{rest}", site["id"].as_str().unwrap())
}

async fn listed(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("/sites/{}/feedback", site["id"].as_str().unwrap());
    node.get(&path).key(&node.key).send().await.expect(200).json()["feedback"].as_array().unwrap().clone()
}

#[tokio::test]
async fn comment_is_shown_resolved_with_a_note_and_deleted() {
    on_each_database(Setup::new, async |node| {
        let (site, id) = commented(node, "Say by when.").await;
        let tab = node.operator().await;
        assert!(tab.get("/dashboard").await.text().contains("1 comment"));
        let shown = tab.get(&at(&site, "")).await.expect(200).text();
        for part in ["1 open", "Say by when.", "blocking", "fix", "in&#34; a hundred"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let path = at(&site, &format!("/feedback/{id}"));
        node.newcomer_on("solo").await.submit(&format!("{path}/resolve"), &[("note", "x")]).await.expect(404);
        tab.submit(&format!("{path}/resolve"), &[("note", "On <Friday>.")]).await.expect(303);
        assert_eq!(listed(node, &site).await[0]["resolved_note"], json!("On <Friday>."));
        let shown = tab.get(&at(&site, "?done=resolved")).await.text();
        assert!(shown.contains("1 resolved") && shown.contains("Comment resolved."));
        assert!(!shown.contains("<Friday>") && !shown.contains("1 open"));
        assert!(!tab.get("/dashboard").await.text().contains("1 comment"));
        node.newcomer_on("solo").await.submit(&format!("{path}/delete"), &[]).await.expect(404);
        tab.submit(&format!("{path}/delete"), &[]).await.expect(303);
        assert_eq!(listed(node, &site).await.len(), 0);
        let text = tab.submit(&format!("{path}/delete"), &[]).await.expect(404).text();
        assert!(text.contains("no longer exists"));
    })
    .await;
}

#[tokio::test]
async fn hostile_comments_stay_text() {
    let node = Node::start().await;
    let (site, _) = commented(&node, "\"'><script>alert(1)</script></p><img src=x onerror=alert(1)>").await;
    let shown = node.operator().await.get(&at(&site, "")).await.expect(200).text();
    assert!(
        !shown.contains("<script>alert") && !shown.contains("<img src=x") && !shown.contains("#order <i>"),
        "{shown}"
    );
}
