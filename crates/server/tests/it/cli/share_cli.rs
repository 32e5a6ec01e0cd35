//! `dropleaf share` and `dropleaf feedback`: the real binary against a running server.

use super::pages_cli::{machine, text};
use crate::harness::{Form, Node, page};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn share_link_opens_a_locked_page_until_it_is_revoked() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish(Form::file("a.html", page("Locked")).field("password", "hunter2")).await;
    let id = text(&site, "id");
    assert_eq!(dropleaf.prints(&["share", "list", id]), "No share links.\n");
    let args = ["share", id, "--note", "For \u{202e}Ann", "--expires-in-hours", "48", "--max-uses", "3"];
    let output = dropleaf.run(&args);
    let (link, hint) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let link = link.trim();
    assert!(link.starts_with(text(&site, "url")) && hint.contains("dropleaf share revoke "), "{link} {hint}");
    let opened = node.get(link).send().await;
    assert!(matches!(opened.status, 200 | 303 | 307), "{}", opened.status);

    let listed: Value = serde_json::from_str(&dropleaf.prints(&["share", "list", id, "--json"])).unwrap();
    let made = &listed["tokens"][0];
    assert_eq!((&made["url"], &made["max_uses"]), (&json!(link), &json!(3)));
    let shown = dropleaf.prints(&["share", "list", id]);
    assert!(shown.contains(text(made, "id")) && shown.contains("of 3"), "{shown}");
    assert!(shown.contains("\\u{202e}") && !shown.contains('\u{202e}') && !shown.contains("shr_"), "{shown}");

    assert!(dropleaf.prints(&["share", "revoke", text(made, "id")]).contains("no longer works"));
    assert_eq!(dropleaf.prints(&["share", "list", id]), "No share links.\n");
    assert_eq!(dropleaf.run(&["share", "revoke", text(made, "id")]).status.code(), Some(1));
    for bad in ["0", "-1", "soon", "NaN"] {
        let args = ["share", id, "--expires-in-hours", bad];
        assert_eq!(dropleaf.run(&args).status.code(), Some(2), "{bad}");
    }
    let new: Value = serde_json::from_str(&dropleaf.prints(&["share", id, "--json"])).unwrap();
    assert!(new["expires_at"].is_null() && new["token"].is_string(), "{new}");
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_is_listed_resolved_and_safe_to_read() {
    let node = Node::start().await;
    let (_home, dropleaf) = machine(&node);
    let site = node.publish(Form::file("a.html", page("Draft")).field("agentation", "true")).await;
    let id = text(&site, "id");
    assert_eq!(dropleaf.prints(&["feedback", id]), "No comments.\n");
    let endpoint = format!("{}_dropleaf/feedback", text(&site, "url"));
    for comment in ["First line\nSecond line \u{202e}kcab", "Looks good"] {
        let said =
            json!({"comment": comment, "selected_text": "4,200", "intent": "fix", "severity": "blocking"});
        node.post(&endpoint).header("accept", "application/json").json(&said).send().await.expect(201);
        node.clock.advance(60);
    }
    let output = dropleaf.run(&["feedback", text(&site, "url")]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("\n  First line\n  Second line \\u{202e}kcab"), "{shown}");
    assert!(shown.contains("open  fix, blocking") && shown.contains("on: 4,200"), "{shown}");
    assert!(!output.stderr.is_empty(), "says where the texts come from");

    let listed: Value = serde_json::from_str(&dropleaf.prints(&["feedback", id, "--json"])).unwrap();
    let served = node.get(&format!("/sites/{id}/feedback")).key(&node.key).send().await.expect(200).json();
    assert_eq!((&listed["feedback"], &listed["has_more"]), (&served["feedback"], &json!(false)));
    let one: Value =
        serde_json::from_str(&dropleaf.prints(&["feedback", id, "--json", "--limit", "1"])).unwrap();
    assert_eq!((one["feedback"].as_array().unwrap().len(), &one["has_more"]), (1, &json!(true)));

    let ids: Vec<&str> =
        listed["feedback"].as_array().unwrap().iter().map(|comment| text(comment, "id")).collect();
    let said = dropleaf.prints(&["feedback", "resolve", ids[0], "--note", "Corrected."]);
    assert_eq!(said, format!("{} is resolved.\n", ids[0]));
    let open: Value = serde_json::from_str(&dropleaf.prints(&["feedback", id, "--open", "--json"])).unwrap();
    let left: Vec<&str> = open["feedback"].as_array().unwrap().iter().map(|it| text(it, "id")).collect();
    assert_eq!(left, ids[1..]);
    let done: Value =
        serde_json::from_str(&dropleaf.prints(&["feedback", "resolve", ids[0], ids[1], "--json"])).unwrap();
    assert!(done.as_array().unwrap().iter().all(|one| one["ok"] == true), "{done}");
    assert_eq!(dropleaf.prints(&["feedback", id, "--open"]), "No unresolved comments.\n");
    assert!(dropleaf.prints(&["feedback", id]).contains("note: Corrected."));
    let complaint = dropleaf.complains(&["feedback", "resolve", "fb_none"]);
    assert!(complaint.contains("fb_none was not resolved"), "{complaint}");
    // What was done before a failure is printed.
    let output = dropleaf.run(&["feedback", "resolve", ids[0], "fb_none", ids[1], "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let done: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((done.as_array().unwrap().len(), &done[0]["ok"]), (1, &json!(true)), "{done}");
}
