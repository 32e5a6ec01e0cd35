//! Unread feedback: mentioned in the next result about the page, until a program of the owner has read it.

use crate::harness::mcp_line::{begin, comment, open_page, result};
use crate::harness::{Form, Node, Setup, on_each_database, page};
use crate::mcp::mcp_tools_refused::calls;
use serde_json::{Value, json};

async fn get_site(node: &Node, session: &str, site: &Value) -> Value {
    let call = json!({"name": "get_site", "arguments": {"site": site["id"]}});
    result(node, &node.key, session, "tools/call", call).await
}

fn mentions(result: &Value) -> usize {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter(|block| block["text"].as_str().is_some_and(|text| text.contains("list_feedback"))).count()
}

#[tokio::test]
async fn unread_comments_ride_on_the_next_result_until_a_program_is_given_them() {
    on_each_database(Setup::new, async |node| {
        let (site, other) =
            (open_page(node, &node.key, "One").await, open_page(node, &node.key, "Two").await);
        let session = begin(node, &node.key).await;
        let before = get_site(node, &session, &site).await;
        assert!(before["structuredContent"].get("unread_feedback").is_none());
        assert_eq!(mentions(&before), 0);
        comment(node, &site, "First.").await;
        comment(node, &site, "Second.").await;
        // What the owner reads in the dashboard is still unread for their programs.
        let tab = node.operator().await;
        let shown = tab.get(&format!("/dashboard/pages/{}", site["id"].as_str().unwrap())).await.expect(200);
        assert!(shown.text().contains("Second."));
        let told = get_site(node, &session, &site).await;
        assert_eq!(told["structuredContent"]["unread_feedback"], 2);
        assert_eq!(mentions(&told), 1);
        assert_eq!(mentions(&get_site(node, &session, &other).await), 0, "of another page");
        let path = format!("/sites/{}/feedback", site["id"].as_str().unwrap());
        let list = node.get(&path).key(&node.key).send().await.expect(200).json();
        assert_eq!(list["feedback"].as_array().unwrap().len(), 2);
        assert_eq!(mentions(&get_site(node, &session, &site).await), 0);
        comment(node, &site, "Third.").await;
        assert_eq!(get_site(node, &session, &site).await["structuredContent"]["unread_feedback"], 1);
        let stranger = node.account("pro").await;
        node.get(&path).key(&stranger).send().await.refused(404, "not_found");
        assert_eq!(mentions(&get_site(node, &session, &site).await), 1, "a stranger reads nothing");
    })
    .await;
}

#[tokio::test]
async fn settled_comments_do_not_count_as_unread() {
    let node = Node::start().await;
    let site = open_page(&node, &node.key, "One").await;
    let session = begin(&node, &node.key).await;
    comment(&node, &site, "Settle me.").await;
    let path = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
    let id = node.rows("SELECT id FROM feedback", Vec::new(), |row| row.text(0).map(str::to_owned)).await;
    node.operator()
        .await
        .submit(&format!("{path}/feedback/{}/resolve", id[0]), &[("note", "")])
        .await
        .expect(303);
    assert_eq!(mentions(&get_site(&node, &session, &site).await), 0);
}

#[tokio::test]
async fn new_comment_is_mentioned_while_the_others_are_worked_off() {
    on_each_database(Setup::new, async |node| {
        let site = open_page(node, &node.key, "One").await;
        for words in ["First.", "Second.", "Third.", "Fourth."] {
            comment(node, &site, words).await;
        }
        let client = node.mcp_modern(&node.key);
        let list = client.give("list_feedback", json!({"site": site["id"]})).await;
        let ids: Vec<_> = list["feedback"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        let replied = client.call("reply_to_feedback", json!({"id": ids[0], "text": "Done."})).await;
        assert_eq!(mentions(&replied), 0);
        comment(node, &site, "Fifth.").await;
        for (tool, arguments) in [
            ("reply_to_feedback", json!({"feedback_id": ids[0], "text": "Really.", "resolve": true})),
            ("resolve_feedback", json!({"feedback_id": ids[1]})),
            ("resolve_feedback", json!({"feedback_id": [ids[2], ids[3]], "note": "Done."})),
        ] {
            let result = client.call(tool, arguments).await;
            assert_ne!(result["isError"], true, "{tool}: {result}");
            assert_eq!(result["structuredContent"]["unread_feedback"], 1, "{tool}");
            assert_eq!(mentions(&result), 1, "{tool}: {result}");
        }
        let list = client.give("list_feedback", json!({"site": site["id"]})).await;
        assert_eq!(list["feedback"].as_array().unwrap().len(), 1);
        let remaining = json!({"feedback_id": list["feedback"][0]["id"]});
        assert_eq!(mentions(&client.call("resolve_feedback", remaining).await), 0);
    })
    .await;
}

#[tokio::test]
async fn every_tool_about_one_page_tells_of_comments_and_links_to_it() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    for tool in client.tools().await {
        if tool["inputSchema"]["properties"].get("site").is_none() {
            continue;
        }
        let tool = tool["name"].as_str().unwrap();
        let form = Form::file("page.html", page("One")).field("agentation", "true");
        let claims = tool == "claim_site";
        let site = if claims {
            node.post("/sites").form(form).send().await.expect(201).json()
        } else {
            node.publish(form).await
        };
        comment(&node, &site, "Say by when.").await;
        let (_, mut arguments) = calls(&site).into_iter().find(|(name, _)| *name == tool).unwrap();
        if claims {
            arguments["claim_token"] = site["claim_token"].clone();
        }
        let result = client.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        // These two read or delete the comments.
        let unread = usize::from(!["list_feedback", "delete_site"].contains(&tool));
        assert_eq!(
            result["structuredContent"]["unread_feedback"].as_u64().unwrap_or_default(),
            unread as u64,
            "{tool}"
        );
        assert_eq!(mentions(&result), unread, "{tool}: {result}");
        let blocks = result["content"].as_array().unwrap();
        let link = blocks.iter().find(|block| block["type"] == "resource_link");
        // A share link is the page's address with a query; a custom domain is another address of it.
        let address = if tool.ends_with("_custom_domain") {
            node.app().hosts.domain_url("reports.customer.example")
        } else {
            site["url"].as_str().unwrap().to_owned()
        };
        let leads = |link: &Value| link["uri"].as_str().unwrap().starts_with(&address);
        assert_eq!(link.is_some_and(leads), tool != "delete_site", "{tool}: {result}");
    }
}
