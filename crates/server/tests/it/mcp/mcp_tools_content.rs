//! Content passed through the tools of `/mcp`: long pages, Markdown, binary content, and paged lists. Spec §4 MCP.

use crate::harness::{Form, Node, page, pdf};
use serde_json::{Value, json};

#[tokio::test]
async fn markdown_is_typeset_and_its_source_is_kept() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = client.give("publish_html", json!({"markdown": "# Plan\n\n- one\n"})).await;
    assert_eq!(site["title"], "Plan");
    let source = client.call("get_content", json!({"site": site["id"], "source": true})).await;
    assert_eq!(source["content"][0]["text"], "# Plan\n\n- one\n");
    let stored = client.give("get_content", json!({"site": site["id"]})).await;
    assert!(stored["text"].as_str().unwrap().contains("<li>one"), "{stored}");
    let changed = json!({"site": site["id"], "markdown": "# Better plan\n"});
    assert_eq!(client.give("update_site", changed).await["title"], "Better plan");
}

#[tokio::test]
async fn conflict_is_settled_with_what_get_content_gives() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = node.publish_page("One").await;
    node.clock.advance(60);
    let change = |title: &str, seen: &Value| json!({"site": site["id"], "html": page(title), "expected_updated_at": seen});
    client.give("update_site", change("Two", &site["updated_at"])).await;
    client.refused("update_site", change("Three", &site["updated_at"]), "conflict").await;
    let read = client.call("get_content", json!({"site": site["id"]})).await;
    let seen = &read["structuredContent"];
    assert_eq!((&seen["text"], &seen["version"]), (&json!(page("Two")), &json!(2)));
    // Also for clients that only get the text.
    assert_eq!(read["content"][1]["text"], format!("Version 2, updated_at {}.", seen["updated_at"]));
    let third = client.give("update_site", change("Three", &seen["updated_at"])).await;
    assert_eq!(third["version"], 3);
}

#[tokio::test]
async fn ten_mebibytes_pass_through_publish_and_come_back_in_parts() {
    let node = Node::start().await;
    // Quotes and umlauts: JSON makes the former longer, and a cut must not split the latter.
    let html = format!("<!doctype html><title>Large</title><p>{}", "\"ä\" €\n".repeat(10 * 1024 * 1024 / 9));
    assert!(html.len() > 9 * 1024 * 1024);
    let client = node.mcp(&node.key).await;
    let site = client.give("publish_html", json!({"html": html})).await;
    assert_eq!(site["byte_size"], html.len());
    let part = client.call("get_content", json!({"site": site["id"]})).await;
    let given = &part["structuredContent"];
    assert_eq!((&given["offset"], &given["byte_size"]), (&json!(0), &json!(html.len())));
    let (text, next) = (given["text"].as_str().unwrap(), given["next_offset"].as_u64().unwrap());
    assert!(text.len() as u64 == next && next <= 65536 && html.starts_with(text));
    assert_eq!(part["content"][0]["text"], text);
    assert!(part["content"][1]["text"].as_str().unwrap().contains(&format!("with offset {next}")));
    let (mut read, mut next) = (text.to_owned(), Some(next));
    while let Some(offset) = next {
        let asked = json!({"site": site["id"], "offset": offset, "max_bytes": 1_048_576});
        let part = client.give("get_content", asked).await;
        read.push_str(part["text"].as_str().unwrap());
        next = part["next_offset"].as_u64();
    }
    assert_eq!(read, html);
    let over = json!({"site": site["id"], "max_bytes": 1_048_577});
    let text = client.refused("get_content", over, "invalid_field").await;
    assert!(text.contains("1024 to 1048576"), "{text}");
    let whole = "x".repeat(26 * 1024 * 1024);
    let text = client.refused("publish_html", json!({"html": whole}), "too_large").await;
    assert!(text.contains("Make it smaller"), "{text}");
}

#[tokio::test]
async fn content_that_is_no_text_is_base64_or_refused() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = node.publish(Form::file("a.pdf", pdf())).await;
    let given = client.give("get_content", json!({"site": site["id"]})).await;
    assert_eq!(given["mime"], "application/pdf");
    assert!(given.get("text").is_none());
    assert!(given["base64"].as_str().unwrap().starts_with("JVBERi0xLjQ"));
    let long = [pdf(), vec![b' '; 2000]].concat();
    let site = node.publish(Form::file("b.pdf", long)).await;
    let text =
        client.refused("get_content", json!({"site": site["id"], "max_bytes": 1024}), "too_large").await;
    assert!(text.contains("Increase `max_bytes`") && text.contains("/content"), "{text}");
    let site = node.publish(Form::file("c.pdf", [pdf(), vec![b' '; 1_100_000]].concat())).await;
    let whole = json!({"site": site["id"], "max_bytes": 1_048_576});
    let text = client.refused("get_content", whole, "too_large").await;
    assert!(text.contains("Fetch it directly") && !text.contains("Increase"), "{text}");
}

#[tokio::test]
async fn list_goes_on_where_it_stopped() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    for n in 0..5 {
        node.publish_page(&format!("Page {n}")).await;
    }
    let (mut query, mut titles) = (json!({"limit": 2}), Vec::new());
    loop {
        let part = client.give("list_sites", query).await;
        titles.extend(part["sites"].as_array().unwrap().iter().map(|site| site["title"].clone()));
        if part["has_more"] != true {
            break;
        }
        query = json!({"limit": 2, "before": part["next_before"], "before_id": part["next_before_id"]});
    }
    titles.sort_by_key(ToString::to_string);
    assert_eq!(titles, ["Page 0", "Page 1", "Page 2", "Page 3", "Page 4"]);
}
