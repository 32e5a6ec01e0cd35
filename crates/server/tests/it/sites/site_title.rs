//! The title of a page: from its content, or set by the owner, which new content does not change.

use crate::harness::{Form, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn replace(node: &Node, site: &Value, title: &str) -> Value {
    let put = node.put(&site_path(site)).key(&node.key).json(&json!({"html": page(title)}));
    put.send().await.expect(200).json()["title"].clone()
}

#[tokio::test]
async fn title_that_the_owner_set_survives_new_content() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        assert_eq!(replace(node, &site, "Second").await, "Second", "it follows the content");
        node.patch_site(&site, json!({"title": "Mine"})).await.expect(200);
        assert_eq!(replace(node, &site, "Third").await, "Mine");
        node.patch_site(&site, json!({"agentation": true})).await.expect(200);
        assert_eq!(replace(node, &site, "Fourth").await, "Mine");
        let path = format!("{}/rollback", site_path(&site));
        let back =
            node.post(&path).key(&node.key).json(&json!({"version": 1})).send().await.expect(200).json();
        assert_eq!(back["title"], "Mine");
        let form = Form::file("a.html", page("Fifth")).field("title", "Yours");
        let put = node.put(&site_path(&site)).key(&node.key).form(form).send().await.expect(200).json();
        assert_eq!(put["title"], "Yours");
        assert_eq!(replace(node, &site, "Sixth").await, "Yours");
    })
    .await;
}

#[tokio::test]
async fn title_sent_with_a_new_page_survives_too() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Its own")).field("title", "Given")).await;
    assert_eq!(replace(&node, &site, "Another").await, "Given");
}

#[tokio::test]
async fn page_inside_a_code_fence_or_a_json_string_is_published_with_a_warning() {
    let node = Node::start().await;
    let html = page("Report");
    for (sent, says) in [
        (format!("```html\n{html}\n```\n"), "code fence"),
        (Value::from(html.clone()).to_string(), "JSON string"),
        (json!({"html": html}).to_string(), "JSON object"),
    ] {
        let site = node.publish(Form::file("a.html", &sent)).await;
        let warnings = site["warnings"].as_array().unwrap();
        assert!(
            warnings.iter().any(|warning| warning.as_str().unwrap().contains(says)),
            "{sent}: {warnings:?}"
        );
        let path = format!("{}/content", site_path(&site));
        assert_eq!(node.get(&path).key(&node.key).send().await.expect(200).text(), sent, "unchanged");
    }
    let plain = node.publish(Form::file("a.html", &html)).await;
    assert!(!plain["warnings"].to_string().contains("fence"), "{plain}");
}
