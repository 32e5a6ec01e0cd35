//! `/operator/appeals`: the queue, one appeal with its content, and the decision.

use crate::harness::{Form, Node, Setup, on_each_database};
use serde_json::Value;

const REFUSED: &str =
    "<title>PayPal <b>login</b></title>\n<form><input type=password></form><script>alert(1)</script>";

async fn appeal(node: &Node) -> Value {
    let plea = Form::file("page.html", REFUSED).field("comment", "<script>alert(2)</script> please");
    node.post("/appeals").form(plea).send().await.expect(201).json()
}

#[tokio::test]
async fn operator_looks_and_decides_with_words() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        assert!(operator.get("/operator/appeals").await.expect(200).text().contains("No open appeals"));
        let (first, second) = (appeal(node).await, {
            let other = Form::file("page.html", REFUSED.replace("PayPal", "Netflix"));
            node.post("/appeals").form(other).send().await.expect(201).json()
        });
        let list = operator.get("/operator/appeals").await.expect(200).text();
        assert!(list.contains("&#60;script&#62;alert(2)") && !list.contains("<script>alert"), "{list}");
        assert!(operator.get("/operator").await.text().contains("<dt>open appeals</dt><dd>2</dd>"));
        let path = format!("/operator/appeals/{}", first["id"].as_str().unwrap());
        let shown = operator.get(&path).await.expect(200);
        let html = shown.text();
        assert!(html.contains("sandbox title=") && !html.contains("<script>alert"), "{html}");
        assert!(html.contains("brand-in-title") && html.contains("Phishing check"));
        let policy = shown.header("content-security-policy");
        assert!(policy.starts_with("frame-src ") && policy.contains("/look/"), "{policy}");
        let (_, frame) = html.split_once("<iframe class=\"frame\" src=\"").unwrap();
        let frame = frame.split('"').next().unwrap().to_owned();
        let look = node.get(&frame).send().await.expect(200);
        assert!(look.header("content-security-policy").contains("sandbox"), "nothing runs");

        let empty = operator.submit(&format!("{path}/allow"), &[("answer", " ")]).await.expect(400);
        assert!(empty.text().contains("Enter a reply of at most"));
        let done =
            operator.submit(&format!("{path}/allow"), &[("answer", "A drill. Fine.")]).await.expect(303);
        assert_eq!(done.header("location"), "/operator/appeals?done=allowed");
        assert!(
            operator
                .get("/operator/appeals?done=allowed")
                .await
                .text()
                .contains("The publisher can read your reply")
        );
        let late = operator.submit(&format!("{path}/uphold"), &[("answer", "No.")]).await.expect(409);
        assert!(late.text().contains("This appeal has already been decided: allowed."));
        node.get(&frame).send().await.expect(404);
        assert!(operator.get(&path).await.expect(200).text().contains("A drill. Fine."));
        node.post("/sites").key(&node.key).form(Form::file("page.html", REFUSED)).send().await.expect(201);

        let other = format!("/operator/appeals/{}/uphold", second["id"].as_str().unwrap());
        operator.submit(&other, &[("answer", "It is theirs.")]).await.expect(303);
        let list = operator.get("/operator/appeals").await.expect(200).text();
        let (_, decided) = list.split_once("Recently decided").unwrap();
        assert!(decided.contains("A drill. Fine.") && decided.contains("It is theirs."), "{decided}");
        assert!(decided.contains(&format!("href=\"{path}\"")) && decided.contains(">upheld<"));
        let status = node.get(second["status_url"].as_str().unwrap()).send().await.expect(200).json();
        assert_eq!(
            (status["status"].as_str(), status["answer"].as_str()),
            (Some("upheld"), Some("It is theirs."))
        );
        assert!(operator.get("/operator").await.text().contains("allowed the content of the appeal"));
    })
    .await;
}

#[tokio::test]
async fn nobody_else_sees_or_decides() {
    let node = Node::start().await;
    let appeal = appeal(&node).await;
    let path = format!("/operator/appeals/{}", appeal["id"].as_str().unwrap());
    let eve = node.newcomer("eve@example.org").await;
    for path in ["/operator/appeals", &path] {
        eve.get(path).await.expect(404);
    }
    let operator = node.operator().await;
    for act in ["allow", "uphold"] {
        let path = format!("{path}/{act}");
        operator.cannot_be_imitated(&path, &[("answer", "x")]).await;
        eve.submit(&path, &[("answer", "x")]).await.expect(404);
    }
    operator.get("/operator/appeals/app_00000000000000000000").await.expect(404);
    assert_eq!(node.count("SELECT COUNT(*) FROM appeals WHERE state = 'open'").await, 1);
    node.clock.advance(7200);
    let old = operator.submit(&format!("{path}/allow"), &[("answer", "x")]).await;
    assert_ne!(old.header("location"), "/operator/appeals?done=allowed", "an old session proves nothing");
    assert_eq!(node.count("SELECT COUNT(*) FROM allowed_content").await, 0);
}
