//! `PUT` and `DELETE …/files/{path}`: one file of an archive, without the rest.

use crate::harness::{Answer, Ask, Form, HARVEST, Node, Setup, on_each_database, page, site_path, zip};
use serde_json::{Value, json};

fn at(site: &Value, path: &str) -> String {
    format!("{}/files/{path}", site_path(site))
}

async fn put(node: &Node, site: &Value, path: &str, content: &str) -> Answer {
    node.put(&at(site, path)).key(&node.key).body("application/octet-stream", content).send().await
}

async fn remove(node: &Node, site: &Value, path: &str) -> Answer {
    node.delete(&at(site, path)).key(&node.key).send().await
}

async fn archive(node: &Node) -> Value {
    let index = page("Site");
    let files = [("index.html", index.as_str()), ("css/a.css", "p { color: red }\n"), ("old.txt", "old\n")];
    node.publish(Form::file("site.zip", zip(&files))).await
}

async fn file(node: &Node, site: &Value, path: &str) -> Answer {
    node.get(&format!("{}{path}", site["url"].as_str().unwrap())).send().await
}

#[tokio::test]
async fn a_file_is_added_replaced_and_removed_and_the_others_stay() {
    on_each_database(Setup::new, async |node| {
        let site = archive(node).await;
        let changed = put(node, &site, "css/a.css", "p { color: green }\n").await.expect(200).json();
        assert_eq!((&changed["version"], &changed["url"]), (&json!(2), &site["url"]));
        assert!(changed["diff"].as_str().unwrap().contains("+p { color: green }"), "{changed}");
        assert_eq!(file(node, &site, "css/a.css").await.expect(200).text(), "p { color: green }\n");
        // A slash may be escaped, as generated clients do.
        put(node, &site, "img%2Fdot%20one.png", "\u{89}PNG").await.expect(200);
        assert_eq!(file(node, &site, "img/dot%20one.png").await.expect(200).text(), "\u{89}PNG");
        put(node, &site, "empty.txt", "").await.expect(200);
        let removed = remove(node, &site, "old.txt").await.expect(200).json();
        assert_eq!(removed["version"], 5);
        assert!(removed["diff"].as_str().unwrap().contains("--- a/old.txt"), "{removed}");
        file(node, &site, "old.txt").await.expect(404);
        assert_eq!(file(node, &site, "").await.expect(200).text(), page("Site"), "other files stay");
        let versions = node.get(&format!("{}/versions", site_path(&site))).key(&node.key).send().await.json();
        assert_eq!(versions["versions"][0]["made_by"]["kind"], "api_key");
    })
    .await;
}

#[tokio::test]
async fn the_result_is_checked_as_an_upload_and_nothing_changes_if_it_is_refused() {
    on_each_database(Setup::new, async |node| {
        let site = archive(node).await;
        for (path, content, status, code) in [
            ("..%2Fup.html", "x", 400, "forbidden_name"),
            ("_dropleaf/x.html", "x", 400, "forbidden_name"),
            ("INDEX.html", "x", 400, "forbidden_name"),
            ("index.html/below.txt", "x", 400, "forbidden_name"),
            ("a:b.txt", "x", 400, "forbidden_name"),
            (".hidden", "x", 400, "invalid_field"),
            ("a%5Cb.txt", "x", 400, "invalid_field"),
            ("folder/", "x", 400, "invalid_field"),
            ("login.html", HARVEST, 422, "phishing_blocked"),
        ] {
            put(node, &site, path, content).await.refused(status, code);
        }
        let answer = put(node, &site, ".hidden", "x").await.json();
        assert!(answer["error_description"].as_str().unwrap().starts_with("`path` "), "{answer}");
        remove(node, &site, "index.html").await.refused(400, "missing_index");
        let answer = remove(node, &site, "nothing.txt").await.refused(404, "not_found").json();
        assert!(answer["error_description"].as_str().unwrap().contains("`css/a.css`"), "{answer}");
        let form = node.put(&at(&site, "a.css")).key(&node.key).form(Form::file("a.css", "p{}"));
        form.send().await.refused(400, "invalid_request");
        assert_eq!(node.read_site(&site).await["version"], 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_repeat_changes_nothing_and_a_key_gives_the_first_answer() {
    let node = Node::start().await;
    let site = archive(&node).await;
    put(&node, &site, "a.txt", "a").await.expect(200);
    let again = put(&node, &site, "a.txt", "a").await.expect(200).json();
    assert_eq!((&again["version"], &again["diff"]), (&json!(2), &json!("")));
    assert!(again["warnings"][0].as_str().unwrap().contains("same"), "{again}");
    let keyed = |ask: Ask| ask.key(&node.key).header("idempotency-key", "k").send();
    let send = |content: &str| keyed(node.put(&at(&site, "b.txt")).body("text/plain", content));
    let first = send("b").await.expect(200).text();
    assert_eq!(send("b").await.expect(200).text(), first);
    send("c").await.refused(422, "idempotency_mismatch");
    keyed(node.delete(&at(&site, "b.txt"))).await.refused(422, "idempotency_mismatch");
    assert_eq!(node.read_site(&site).await["version"], 3);
}

#[tokio::test]
async fn stale_expectations_and_options_are_heeded() {
    on_each_database(Setup::new, async |node| {
        let site = archive(node).await;
        let seen = site["updated_at"].as_i64().unwrap();
        let stale = format!("a.txt?expected_updated_at={}", seen - 1);
        let answer = put(node, &site, &stale, "a").await.refused(409, "conflict").json();
        assert_eq!(answer["updated_at"], seen);
        remove(node, &site, &format!("old.txt?expected_updated_at={}", seen - 1))
            .await
            .refused(409, "conflict");
        let tried = put(node, &site, "a.txt?dry_run=true", "a").await.expect(200).json();
        assert_eq!((&tried["dry_run"], &tried["version"]), (&json!(true), &json!(1)));
        put(node, &site, "a.txt?passwd=x", "a").await.refused(400, "invalid_field");
        put(node, &site, "a.txt?expected_updated_at=now", "a").await.refused(400, "invalid_field");
        let expected = format!("a.txt?expected_updated_at={seen}");
        let puts = (0..6).map(|n| {
            let (expected, content) = (expected.clone(), format!("{n}"));
            let site = &site;
            async move { put(node, site, &expected, &content).await.status }
        });
        let mut statuses = futures_util::future::join_all(puts).await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409, 409, 409], "one wins");
        assert_eq!(node.read_site(&site).await["version"], 2);
    })
    .await;
}

#[tokio::test]
async fn who_may_replace_the_page_may_change_its_files_and_single_pages_have_none() {
    let node = Node::start().await;
    let index = page("Unowned");
    let form = Form::file("site.zip", zip(&[("index.html", index.as_str()), ("a.txt", "a")]));
    let site = node.post("/sites").form(form).send().await.expect(201).json();
    let path = at(&site, "a.txt");
    let claim = site["claim_token"].as_str().unwrap();
    node.put(&path).claim(claim).body("text/plain", "b").send().await.expect(200);
    node.delete(&path).claim(claim).send().await.expect(200);
    node.put(&path).body("text/plain", "b").send().await.refused(401, "auth required");
    node.put(&path).key(&node.key).body("text/plain", "b").send().await.refused(404, "not_found");
    let mine = archive(&node).await;
    let stranger = node.account("solo").await;
    node.delete(&at(&mine, "old.txt")).key(&stranger).send().await.refused(404, "not_found");
    let single = node.publish_page("One file").await;
    put(&node, &single, "a.css", "p{}").await.refused(422, "not_editable");
    remove(&node, &single, "index.html").await.refused(422, "not_editable");
    let small = Setup::new().set("limits.upload_bytes", "1000").start().await;
    let site = archive(&small).await;
    put(&small, &site, "large.txt", &"x".repeat(1001)).await.refused(413, "too_large");
}
