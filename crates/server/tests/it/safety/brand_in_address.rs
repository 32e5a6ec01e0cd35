//! The content of an encrypted page cannot be checked, so its address must not contain the name of a brand.

use crate::harness::{Answer, Form, Node, Setup, noise, page, site_path};
use serde_json::{Value, json};

fn encrypted() -> Form {
    Form::file("page.html", noise("sealed", 300)).field("e2e", "true")
}

async fn publish(node: &Node, form: Form) -> Answer {
    node.post("/sites").key(&node.key).form(form).send().await
}

#[track_caller]
fn named(answer: Answer) {
    let said: Value = answer.refused(422, "phishing_blocked").json();
    assert_eq!(said["reasons"][0]["rule"], "brand-in-address");
    assert_eq!(said["reasons"][0]["file"], "payload.e2e");
    assert!(said.get("content_hash").is_none() && said.get("appeal_url").is_none(), "{said}");
    assert!(said["error_description"].as_str().unwrap().contains("PayPal"), "{said}");
}

#[tokio::test]
async fn encrypted_pages_take_no_brand_for_their_name() {
    let node = Node::start().await;
    named(publish(&node, encrypted().field("slug", "paypal-secure")).await);
    named(publish(&node, encrypted().field("slug", "my-paypa1")).await);
    let fine = publish(&node, encrypted().field("slug", "quarterly-notes")).await.expect(201).json();
    named(node.patch_site(&fine, json!({"slug": "paypal-login"})).await);
    named(
        node.put(&site_path(&fine))
            .key(&node.key)
            .form(encrypted().field("slug", "paypal-login"))
            .send()
            .await,
    );
    assert_eq!(node.read_site(&fine).await["slug"], "quarterly-notes");
    node.patch_site(&fine, json!({"title": "Notes"})).await.expect(200);
}

#[tokio::test]
async fn dry_run_says_what_publishing_would_say_of_the_address() {
    let node = Node::start().await;
    let check = async |slug: &str| {
        let form = encrypted().field("slug", slug);
        node.post("/check").key(&node.key).form(form).send().await.expect(200).json()
    };
    let refused = check("paypal-secure").await;
    assert_eq!((&refused["accepted"], &refused["code"]), (&json!(false), &json!("phishing_blocked")));
    assert_eq!(refused["reasons"][0]["rule"], "brand-in-address");
    assert_eq!(check("quarterly-notes").await["accepted"], true);
}

#[tokio::test]
async fn readable_pages_may_be_named_after_what_they_are_about_until_they_are_encrypted() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("What PayPal charges")).field("slug", "paypal-fees");
    let site = publish(&node, form).await.expect(201).json();
    named(node.put(&site_path(&site)).key(&node.key).form(encrypted()).send().await);
    node.patch_site(&site, json!({"slug": null})).await.expect(200);
    node.put(&site_path(&site)).key(&node.key).form(encrypted()).send().await.expect(200);
    let back = json!({"version": 1});
    let path = format!("{}/rollback", site_path(&site));
    node.post(&path).key(&node.key).json(&back).send().await.expect(200);
    node.patch_site(&site, json!({"slug": "paypal-fees"})).await.expect(200);
    named(node.post(&path).key(&node.key).json(&json!({"version": 2})).send().await);
}

#[tokio::test]
async fn server_without_the_check_asks_nobody_for_a_name() {
    let node = Setup::new().set("safety.phishing_check", "false").start().await;
    publish(&node, encrypted().field("slug", "paypal-secure")).await.expect(201);
}
