//! `GET …/diff`, `GET …/versions/{n}`, and who made each version.

use crate::harness::oauth::let_in;
use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path, zip};
use serde_json::{Value, json};

async fn diff(node: &Node, site: &Value, query: &str) -> Value {
    let path = format!("{}/diff{query}", site_path(site));
    node.get(&path).key(&node.key).send().await.expect(200).json()
}

async fn replace(node: &Node, site: &Value, form: Form) {
    node.put(&site_path(site)).key(&node.key).form(form).send().await.expect(200);
}

#[tokio::test]
async fn the_current_version_is_compared_with_the_one_before() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.md", "# One\n\nsame\n")).await;
        replace(node, &site, Form::file("a.md", "# Two\n\nsame\n")).await;
        replace(node, &site, Form::file("b.md", "# Three\n\nsame\n")).await;
        let found = diff(node, &site, "").await;
        assert_eq!(
            (&found["from"], &found["to"], &found["truncated"]),
            (&json!(2), &json!(3), &json!(false))
        );
        let lines = json!(["-# Two", "+# Three", " ", " same"]);
        assert_eq!(found["files"].as_array().unwrap().len(), 1, "the rendered page is not compared");
        assert_eq!(
            (&found["files"][0]["path"], &found["files"][0]["hunks"][0]["lines"]),
            (&json!("b.md"), &lines)
        );
        let found = diff(node, &site, "?from=1&to=2").await;
        assert_eq!(found["files"][0]["hunks"][0]["lines"][1], "+# Two");
        assert_eq!(diff(node, &site, "?from=2&to=2").await["files"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn text_is_sent_on_request_and_is_no_page() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("One"))).await;
    replace(&node, &site, Form::file("a.html", page("Two"))).await;
    let path = format!("{}/diff", site_path(&site));
    let by_header = node.get(&path).header("accept", "text/plain").key(&node.key).send().await.expect(200);
    let by_query = node.get(&format!("{path}?format=text")).key(&node.key).send().await.expect(200);
    for answer in [by_header, by_query] {
        assert!(answer.header("content-type").starts_with("text/plain"));
        assert!(answer.header("content-security-policy").contains("sandbox"));
        assert!(answer.text().starts_with("--- a/a.html\n+++ b/a.html\n@@ -1"), "{}", answer.text());
    }
    for bad in ["from=0", "to=x", "format=html"] {
        node.get(&format!("{path}?{bad}")).key(&node.key).send().await.refused(400, "invalid_field");
    }
    node.get(&format!("{path}?from=9")).key(&node.key).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn files_of_archives_are_added_removed_changed_and_binary_ones_only_named() {
    let node = Node::start().await;
    let index = page("Site");
    let before =
        [("index.html", index.as_str()), ("old.txt", "x\n"), ("a.bin", "\u{0}1"), ("same.txt", "s\n")];
    let after =
        [("index.html", index.as_str()), ("new.txt", "y\n"), ("a.bin", "\u{0}2"), ("same.txt", "s\n")];
    let site = node.publish(Form::file("site.zip", zip(&before))).await;
    replace(&node, &site, Form::file("site.zip", zip(&after))).await;
    let found = diff(&node, &site, "").await;
    let files: Vec<(&str, &str, bool)> = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let text = |name: &str| file[name].as_str().unwrap();
            (text("path"), text("status"), file["binary"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(
        files,
        [("a.bin", "changed", true), ("new.txt", "added", false), ("old.txt", "removed", false)]
    );
    let single = node.publish_page("Only").await;
    let path = format!("{}/diff", site_path(&single));
    node.get(&path).key(&node.key).send().await.refused(404, "not_found");
    let secret = node.publish(Form::file("x", noise("x", 64)).field("e2e", "true")).await;
    replace(&node, &secret, Form::file("x", noise("y", 64)).field("e2e", "true")).await;
    assert_eq!(diff(&node, &secret, "").await["files"][0]["hunks"], json!([]));
}

#[tokio::test]
async fn long_differences_are_cut() {
    let node = Node::start().await;
    let text = |word: &str| format!("{word} {}\n", "x".repeat(60)).repeat(20_000);
    let site = node.publish(Form::file("a.txt", text("old"))).await;
    replace(&node, &site, Form::file("a.txt", text("new"))).await;
    let path = format!("{}/diff", site_path(&site));
    let answer = node.get(&path).key(&node.key).send().await.expect(200);
    assert!(answer.text().len() < 1 << 20, "{}", answer.text().len());
    assert_eq!(answer.json()["truncated"], true);
}

#[tokio::test]
async fn each_version_says_who_made_it() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let program = let_in(&person, "sites:write").await;
        let key = node.post("/api-keys").key(&program.access).json(&json!({"name": "robot"}));
        let key = key.send().await.expect(201).json()["key"].as_str().unwrap().to_owned();
        let site = node.publish_as(&key, Form::file("a.html", page("One"))).await;
        let put = node.put(&site_path(&site)).key(&program.access).json(&json!({"html": page("Two")}));
        put.send().await.expect(200);
        let back =
            node.post(&format!("{}/rollback", site_path(&site))).key(&key).json(&json!({"version": 1}));
        back.send().await.expect(200);
        let _ = person;
        let versions = |key: String| {
            let path = format!("{}/versions", site_path(&site));
            async move { node.get(&path).key(&key).send().await.expect(200).json()["versions"].clone() }
        };
        let seen = versions(program.access.clone()).await;
        assert_eq!(
            seen[2]["made_by"],
            json!({"kind": "api_key", "name": null}),
            "a program learns no other name"
        );
        assert_eq!(seen[1]["made_by"]["kind"], "program");
        assert!(seen[1]["made_by"]["name"].is_string(), "{seen}");
        assert_eq!((&seen[0]["made_by"]["kind"], &seen[0]["restored_from"]), (&json!("api_key"), &json!(1)));
        let own = node.publish_page("Mine").await;
        let path = format!("{}/versions/1", site_path(&own));
        let first = node.get(&path).key(&node.key).send().await.expect(200).json();
        assert_eq!((&first["version"], &first["made_by"]["kind"]), (&json!(1), &json!("api_key")));
        assert!(first["made_by"]["name"].is_string(), "{first}");
        for bad in ["2", "0", "x"] {
            let path = format!("{}/versions/{bad}", site_path(&own));
            node.get(&path).key(&node.key).send().await.refused(404, "not_found");
        }
        node.get(&path).key(&key).send().await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn claimed_pages_remember_the_claim_token_and_viewers_learn_nothing() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let claim = site["claim_token"].as_str().unwrap();
    let put = node.put(&site_path(&site)).claim(claim).json(&json!({"html": page("Two")}));
    put.send().await.expect(200);
    let claimed = node.post(&format!("{}/claim", site_path(&site))).key(&node.key);
    claimed.json(&json!({"claim_token": claim})).send().await.expect(200);
    let list =
        node.get(&format!("{}/versions", site_path(&site))).key(&node.key).send().await.expect(200).json();
    let kinds: Vec<&str> =
        list["versions"].as_array().unwrap().iter().map(|v| v["made_by"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["claim_token", "anonymous"]);
    let shown = node.get(site["url"].as_str().unwrap()).send().await.expect(200).text();
    assert!(!shown.contains("claim_token") && !shown.contains("made_by"));
}
