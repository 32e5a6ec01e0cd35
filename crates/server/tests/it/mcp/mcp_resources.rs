//! Pages as MCP resources: listed, described and read only by their owner. Spec §4 MCP.

use crate::harness::mcp::message_in;
use crate::harness::mcp_line::{ask_now, begin, comment, error, open_page, result, result_now, uri_of};
use crate::harness::oauth::let_in;
use crate::harness::{Form, Node, Setup, on_each_database, page, pdf};
use serde_json::{Value, json};

fn uris(list: &Value) -> Vec<&str> {
    list["resources"].as_array().unwrap().iter().map(|item| item["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn owners_pages_are_listed_newest_first_page_by_page() {
    on_each_database(Setup::new, async |node| {
        let (key, stranger) = (node.account("pro").await, node.account("pro").await);
        let session = begin(node, &key).await;
        let none = result(node, &key, &session, "resources/list", json!({})).await;
        assert_eq!(none["resources"], json!([]));
        open_page(node, &stranger, "Foreign").await;
        let mut ids = Vec::new();
        for number in 0..53 {
            let site = open_page(node, &key, &format!("Page {number}")).await;
            ids.push(site["id"].as_str().unwrap().to_owned());
            node.clock.advance(1);
        }
        node.delete(&format!("/sites/{}", ids.pop().unwrap())).key(&key).send().await.expect(200);
        ids.reverse();
        let expected: Vec<_> = ids
            .iter()
            .flat_map(|id| [format!("dropleaf://sites/{id}"), format!("dropleaf://sites/{id}/content")])
            .collect();
        let first = result_now(node, &key, "resources/list", json!({})).await;
        assert_eq!((&first["cacheScope"], &first["ttlMs"]), (&json!("private"), &json!(0)));
        let next = first["nextCursor"].as_str().unwrap();
        let second = result_now(node, &key, "resources/list", json!({"cursor": next})).await;
        assert!(second["nextCursor"].is_null());
        assert_eq!([uris(&first), uris(&second)].concat(), expected);
        assert_eq!(first["resources"][0]["title"], "Page 51");
        for bad in ["x", "", "MTcgc2l0ZV8x"] {
            let error = error(node, &key, &session, "resources/list", json!({"cursor": bad})).await;
            assert_eq!(error["code"], -32602, "{bad}: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn page_is_read_as_metadata_and_as_content() {
    let node = Node::start().await;
    let site = open_page(&node, &node.key, "Report").await;
    comment(&node, &site, "Say by when.").await;
    let session = begin(&node, &node.key).await;
    let read = |uri: String| {
        let (node, session) = (&node, &session);
        async move { result(node, &node.key, session, "resources/read", json!({"uri": uri})).await }
    };
    let about = read(uri_of(&site)).await;
    let part = &about["contents"][0];
    assert_eq!((&part["mimeType"], &part["uri"]), (&json!("application/json"), &json!(uri_of(&site))));
    let told: Value = serde_json::from_str(part["text"].as_str().unwrap()).unwrap();
    let mut expected = node.read_site(&site).await;
    expected["unread_feedback"] = json!(1);
    assert_eq!(told, expected);
    let content = read(format!("{}/content", uri_of(&site))).await;
    assert_eq!(content["contents"][0]["text"], page("Report"));
    assert!(content["contents"][0]["mimeType"].as_str().unwrap().starts_with("text/html"));
    let document = node.publish(Form::file("paper.pdf", pdf())).await;
    let content = result_now(
        &node,
        &node.key,
        "resources/read",
        json!({"uri": format!("{}/content", uri_of(&document))}),
    )
    .await;
    assert_eq!((&content["cacheScope"], &content["ttlMs"]), (&json!("private"), &json!(0)));
    let part = &content["contents"][0];
    assert_eq!(part["mimeType"], "application/pdf");
    assert!(part["blob"].as_str().unwrap().starts_with("JVBERi0xLjQ"), "{part}");
}

#[tokio::test]
async fn content_too_long_for_a_message_is_refused_with_another_way() {
    let node = Node::start().await;
    let site = node.publish(Form::file("long.html", page(&"x".repeat(4 << 20)))).await;
    let session = begin(&node, &node.key).await;
    let uri = format!("{}/content", uri_of(&site));
    let refused = error(&node, &node.key, &session, "resources/read", json!({"uri": uri})).await;
    assert_eq!(refused["data"]["error"], "too_large", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("get_content") && message.contains("/content with your key"), "{message}");
    result(&node, &node.key, &session, "resources/read", json!({"uri": uri_of(&site)})).await;
}

#[tokio::test]
async fn what_is_not_the_callers_is_not_found_in_the_words_of_each_revision() {
    let node = Node::start().await;
    let stranger = node.account("pro").await;
    let foreign = open_page(&node, &stranger, "Foreign").await;
    let session = begin(&node, &node.key).await;
    let others = [
        uri_of(&foreign),
        format!("{}/content", uri_of(&foreign)),
        "dropleaf://sites/site_aaaaaaaaaaaaaaaaaaaa".into(),
        "dropleaf://sites/../me".into(),
        "file:///etc/passwd".into(),
    ];
    let long = format!("dropleaf://sites/{}", "ä".repeat(5000));
    let refused = error(&node, &node.key, &session, "resources/read", json!({"uri": long})).await;
    assert!(refused.to_string().chars().count() < 400, "what is long is not repeated: {refused}");
    let call = json!({"name": "x".repeat(5000)});
    let refused = error(&node, &node.key, &session, "tools/call", call).await;
    assert!(refused.to_string().len() < 400, "{refused}");
    for uri in others {
        let error = error(&node, &node.key, &session, "resources/read", json!({"uri": uri})).await;
        assert_eq!(error["code"], -32002, "{uri}: {error}");
        let answer =
            ask_now(&node, &node.key, "resources/read", &json!({"uri": uri})).send().await.expect(200);
        assert_eq!(message_in(&answer)["error"]["code"], -32602, "{uri}");
    }
}

#[tokio::test]
async fn templates_are_the_same_for_everybody() {
    let node = Node::start().await;
    let list = result_now(&node, &node.key, "resources/templates/list", json!({})).await;
    let templates = list["resourceTemplates"].as_array().unwrap();
    let found: Vec<_> = templates.iter().map(|template| template["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(found, ["dropleaf://sites/{id}", "dropleaf://sites/{id}/content"]);
    assert_eq!(list["cacheScope"], "public");
    for method in ["tools/list", "prompts/list", "server/discover"] {
        assert_eq!(result_now(&node, &node.key, method, json!({})).await["cacheScope"], "public", "{method}");
    }
}

#[tokio::test]
async fn resources_are_read_with_either_scope() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    for scope in ["sites:read", "sites:write"] {
        let program = let_in(&person, scope).await;
        result_now(&node, &program.access, "resources/list", json!({})).await;
        let session = begin(&node, &program.access).await;
        result(&node, &program.access, &session, "resources/list", json!({})).await;
    }
}
