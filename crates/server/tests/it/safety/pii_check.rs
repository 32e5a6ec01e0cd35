//! Secrets and personal data in published content: warned about, refused or ignored, as the operator and the publisher
//! choose, at every entry point.

use crate::harness::{Dropleaf, Form, LEAK, Node, Purse, Setup, on_each_database, page, site_path};
use dropleaf_core::payment::Item;
use serde_json::{Value, json};

#[track_caller]
fn is_warned(site: &Value) {
    let said = site["warnings"].to_string();
    assert!(said.contains("index.html, line 2") && said.contains("AWS access key"), "{said}");
    assert!(!said.contains("AKIA"), "never the value: {said}");
}

#[tokio::test]
async fn warning_names_kind_and_line_and_never_the_value() {
    on_each_database(Setup::new, async |node| {
        is_warned(&node.publish(Form::file("page.html", LEAK)).await);
        let site = node.publish_page("Fine").await;
        let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": LEAK}));
        is_warned(&put.send().await.expect(200).json());
        // A page rendered from Markdown is reported once, by its source.
        let markdown = Form::file("notes.md", "# Notes\n\nkey: AKIAIOSFODNN7EXAMPLQ\n");
        let warnings = node.publish(markdown).await["warnings"].as_array().unwrap().clone();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].as_str().unwrap().starts_with("index.md, line 3"), "{warnings:?}");
    })
    .await;
}

#[tokio::test]
async fn publisher_may_ask_for_a_refusal_or_for_silence() {
    on_each_database(Setup::new, async |node| {
        let form = |how: &str| Form::file("page.html", LEAK).field("pii_check", how);
        let refused = node.post("/sites").key(&node.key).form(form("block")).send().await;
        let said = refused.refused(422, "secrets_found").json();
        assert_eq!(
            (&said["reasons"][0]["file"], &said["reasons"][0]["line"]),
            (&json!("index.html"), &json!(2))
        );
        assert!(!said.to_string().contains("AKIA"), "{said}");
        assert_eq!(node.publish(form("off")).await["warnings"], json!([]));
        node.post("/sites").form(form("loud")).send().await.refused(400, "invalid_field");
        let site = node.publish_page("Fine").await;
        let put = |how: &str| {
            let body = json!({"html": LEAK, "pii_check": how});
            node.put(&site_path(&site)).key(&node.key).json(&body)
        };
        put("block").send().await.refused(422, "secrets_found");
        assert_eq!(put("off").send().await.expect(200).json()["warnings"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn tools_and_upload_addresses_take_the_option_too() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let leak = |how: &str| json!({"html": LEAK, "pii_check": how});
    is_warned(&client.give("publish_html", json!({"html": LEAK})).await);
    client.refused("publish_html", leak("block"), "secrets_found").await;
    let site = client.give("publish_html", leak("off")).await;
    assert_eq!(site["warnings"], json!([]));
    let update = json!({"site": site["id"], "html": LEAK, "pii_check": "block"});
    client.refused("update_site", update, "secrets_found").await;
    assert_eq!(client.give("check_page", leak("block")).await["code"], "secrets_found");
    let made = client.give("create_upload", json!({"pii_check": "block"})).await;
    let url = format!("{}page.html", made["upload_url"].as_str().unwrap());
    node.put(&url).body("text/html", LEAK).send().await.refused(422, "secrets_found");
    node.put(&url).body("text/html", page("Mended")).send().await.expect(201);
}

#[tokio::test]
async fn paid_page_takes_the_option_before_anything_is_signed() {
    let node = Node::start().await;
    let leak = |how: &str| json!({"html": LEAK, "pii_check": how});
    node.post("/publish").json(&leak("block")).send().await.refused(422, "secrets_found");
    node.post("/publish").json(&leak("loud")).send().await.refused(400, "invalid_field");
    node.post("/publish").json(&leak("off")).send().await.expect(402);
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let purse = Purse::new();
    let paid = node
        .post("/publish")
        .header(purse.generation.proof_header(), &purse.header(&terms, 1, node.app().now()));
    is_warned(&paid.json(&json!({"html": LEAK})).send().await.expect(201).json());
}

#[tokio::test]
async fn operators_block_holds_for_everybody() {
    let node = Setup::new().set("safety.pii_check", "block").start().await;
    let form = Form::file("page.html", LEAK).field("pii_check", "off");
    node.post("/sites").key(&node.key).form(form).send().await.refused(422, "secrets_found");
    let off = json!({"html": LEAK, "pii_check": "off"});
    node.mcp_modern(&node.key).refused("publish_html", off.clone(), "secrets_found").await;
    node.post("/publish").json(&off).send().await.refused(422, "secrets_found");
    let tab = node.operator().await;
    let form = Form::new().field("form_token", &tab.token()).and_file("p.html", LEAK);
    let sent = tab.bare("/dashboard/upload").header("origin", &node.base_url()).form(form).send().await;
    let shown = sent.expect(422).text();
    assert!(shown.contains("index.html, line 2") && !shown.contains("AKIA"), "{shown}");
}

#[tokio::test]
async fn operator_may_switch_it_off_and_a_publisher_on() {
    let node = Setup::new().set("safety.pii_check", "off").start().await;
    assert_eq!(node.publish(Form::file("page.html", LEAK)).await["warnings"], json!([]));
    is_warned(&node.publish(Form::file("page.html", LEAK).field("pii_check", "warn")).await);
}

#[tokio::test]
async fn command_line_takes_the_option() {
    let node = Node::start().await;
    std::fs::write(node.dir.path().join("leak.html"), LEAK).unwrap();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_URL", &node.base_url())
        .env("DROPLEAF_API_KEY", &node.key);
    let said = tokio::task::spawn_blocking(move || {
        let refused = dropleaf.complains(&["publish", "leak.html", "--pii-check", "block"]);
        let noted = dropleaf.run(&["publish", "leak.html"]);
        assert!(noted.status.success());
        (refused, String::from_utf8(noted.stderr).unwrap())
    });
    let (refused, noted) = said.await.unwrap();
    assert!(refused.contains("index.html:2: ") && refused.contains("was not published"), "{refused}");
    assert!(noted.contains("note: index.html, line 2"), "{noted}");
}
