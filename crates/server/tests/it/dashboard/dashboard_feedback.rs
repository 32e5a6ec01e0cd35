//! Viewers' comments in the dashboard: the page of a site shows the newest, a page of their own all of them.

use crate::harness::{Form, Node, Setup, on_each_database, page};
use serde_json::{Value, json};

async fn commented(node: &Node, comment: &str) -> (Value, String) {
    let site = node.publish(Form::file("p.html", page("Commented")).field("agentation", "true")).await;
    let id = comment_on(node, &site, comment, "blocking").await;
    (site, id)
}

async fn comment_on(node: &Node, site: &Value, comment: &str, severity: &str) -> String {
    let said = json!({
        "comment": comment, "element": "button#order <i>", "selected_text": "two \"in\" a hundred",
        "intent": "fix", "severity": severity
    });
    let path = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let made = node.post(&path).json(&said).send().await.expect(201).json();
    made["id"].as_str().unwrap().to_owned()
}

fn at(site: &Value, rest: &str) -> String {
    format!("/dashboard/pages/{}{rest}", site["id"].as_str().unwrap())
}

async fn listed(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("/sites/{}/feedback", site["id"].as_str().unwrap());
    node.get(&path).key(&node.key).send().await.expect(200).json()["feedback"].as_array().unwrap().clone()
}

#[tokio::test]
async fn comment_is_shown_resolved_with_a_note_reopened_and_deleted() {
    on_each_database(Setup::new, async |node| {
        let (site, id) = commented(node, "Say by when.").await;
        let tab = node.operator().await;
        assert!(tab.get("/dashboard").await.text().contains("1 comment"));
        for page in ["", "/feedback", &format!("/feedback/{id}")] {
            let shown = tab.get(&at(&site, page)).await.expect(200).text();
            for part in ["1 open", "Say by when.", "blocking", "fix", "in&#34; a hundred"] {
                assert!(shown.contains(part), "{part}: {shown}");
            }
        }
        let path = at(&site, &format!("/feedback/{id}"));
        let stranger = node.newcomer_on("solo").await;
        for form in ["resolve", "reply", "reopen", "delete"] {
            stranger.submit(&format!("{path}/{form}"), &[("note", "x"), ("text", "x")]).await.expect(404);
        }
        stranger.get(&at(&site, "/feedback")).await.expect(404);
        tab.submit(&format!("{path}/resolve"), &[("note", "On <Friday>.")]).await.expect(303);
        let resolved = &listed(node, &site).await[0];
        assert_eq!(
            (&resolved["resolved_note"], &resolved["resolved_by"]),
            (&json!("On <Friday>."), &json!("owner"))
        );
        let shown = tab.get(&at(&site, "/feedback?state=resolved&done=resolved")).await.text();
        assert!(shown.contains("Resolved by you") && shown.contains("Comment resolved."), "{shown}");
        assert!(!shown.contains("<Friday>") && shown.contains("0 open"));
        assert!(!tab.get("/dashboard").await.text().contains("1 comment"));
        tab.submit(&format!("{path}/reopen"), &[]).await.expect(303);
        assert!(tab.get(&at(&site, "/feedback")).await.text().contains("Reopened by you"));
        tab.submit(&format!("{path}/delete"), &[]).await.expect(303);
        assert_eq!(listed(node, &site).await.len(), 0);
        let text = tab.submit(&format!("{path}/delete"), &[]).await.expect(404).text();
        assert!(text.contains("no longer exists"), "{text}");
    })
    .await;
}

#[tokio::test]
async fn reply_is_stored_and_a_refused_one_keeps_its_text() {
    on_each_database(Setup::new, async |node| {
        let (site, id) = commented(node, "Say by when.").await;
        let tab = node.operator().await;
        let path = at(&site, &format!("/feedback/{id}/reply"));
        tab.submit(&path, &[("item", &id), ("text", "By <Friday>.")]).await.expect(303);
        let long = "x".repeat(4001);
        let text = tab.submit(&path, &[("item", &id), ("text", &long)]).await.expect(400).text();
        assert!(text.contains("The reply must be at most 4000 characters.") && text.contains(&long));
        let fragment = [("item", &*id), ("text", "Done."), ("then", "resolve"), ("fragment", "yes")];
        let text = tab.submit(&path, &fragment).await.expect(200).text();
        assert!(
            text.contains("Reply sent, comment resolved.") && text.contains("By &#60;Friday&#62;."),
            "{text}"
        );
        assert!(text.contains(&format!("id=\"{id}\"")) && !text.contains("<nav"));
        let replies = &listed(node, &site).await[0]["replies"];
        assert_eq!(replies[1]["text"], "Done.");
        assert_eq!(replies[0]["author"], "owner");
        let empty = [("item", &*id), ("text", " "), ("fragment", "yes")];
        let refused = tab.submit(&path, &empty).await.expect(400);
        assert_eq!(refused.text(), "The reply is required.");
    })
    .await;
}

#[tokio::test]
async fn many_are_resolved_at_once_and_that_is_undone() {
    on_each_database(Setup::new, async |node| {
        let (site, first) = commented(node, "One.").await;
        let second = comment_on(node, &site, "Two.", "suggestion").await;
        let tab = node.operator().await;
        let shown = tab.get(&at(&site, "/feedback")).await.expect(200).text();
        assert!(shown.find("One.").unwrap() < shown.find("Two.").unwrap(), "the most severe first");
        let unknown = "fb_00000000000000000000";
        let path = at(&site, "/feedback/resolve");
        tab.submit(&path, &[("ids", &first), ("ids", unknown)]).await.expect(404);
        tab.submit(&path, &[]).await.expect(400);
        assert!(listed(node, &site).await.iter().all(|item| item["state"] == "open"), "all or nothing");
        let text =
            tab.submit(&path, &[("ids", &first), ("ids", &second), ("note", "v3")]).await.expect(200).text();
        assert!(text.contains("2 comments resolved.") && text.contains("Undo"));
        let done = listed(node, &site).await;
        assert!(done.iter().all(|item| item["resolved_note"] == "v3"));
        let time = done[0]["resolved_at"].as_i64().unwrap();
        let undo = at(&site, "/feedback/undo");
        let wrong = (time - 1).to_string();
        let refused = tab.submit(&undo, &[("ids", &first), ("resolved_at", &wrong)]).await.expect(400).text();
        assert!(refused.contains("The selection has changed since, so nothing was undone."), "{refused}");
        assert_eq!(listed(node, &site).await[0]["state"], "resolved", "resolved at another time");
        let time = time.to_string();
        tab.submit(&undo, &[("ids", &first), ("ids", &second), ("resolved_at", &time)]).await.expect(303);
        assert!(listed(node, &site).await.iter().all(|item| item["state"] == "open"));
    })
    .await;
}

#[tokio::test]
async fn jump_to_a_comment_opens_its_document_and_names_it() {
    let node = Node::start().await;
    let (site, id) = commented(&node, "Here.").await;
    let tab = node.operator().await;
    let answer = tab.submit(&at(&site, "/open"), &[("feedback", &id)]).await.expect(303);
    assert!(answer.header("location").ends_with(&format!("#dropleaf-feedback={id}")));
    tab.submit(&at(&site, "/open"), &[("feedback", "fb_00000000000000000000")]).await.expect(404);
}

#[tokio::test]
async fn hostile_comments_stay_text() {
    let node = Node::start().await;
    let (site, id) = commented(&node, "\"'><script>alert(1)</script></p><img src=x onerror=alert(1)>").await;
    let tab = node.operator().await;
    let reply = [("text", "</textarea><script>alert(1)</script>")];
    tab.submit(&at(&site, &format!("/feedback/{id}/reply")), &reply).await.expect(303);
    for page in ["", "/feedback", "/feedback?query=%22%3E%3Cscript%3Ealert"] {
        let shown = tab.get(&at(&site, page)).await.expect(200).text();
        assert!(
            !shown.contains("<script>alert")
                && !shown.contains("<img src=x")
                && !shown.contains("#order <i>"),
            "{shown}"
        );
    }
}
