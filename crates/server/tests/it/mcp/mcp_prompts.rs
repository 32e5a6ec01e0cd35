//! MCP prompts: listed with their arguments, and filled in or refused.

use crate::harness::Node;
use crate::harness::mcp_line::{begin, error, result, result_now};
use serde_json::json;

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let node = Node::start().await;
    let list = result_now(&node, &node.key, "prompts/list", json!({})).await;
    let prompts = list["prompts"].as_array().unwrap();
    let found: Vec<_> = prompts
        .iter()
        .map(|prompt| {
            let arguments = prompt["arguments"].as_array().unwrap();
            let required = |argument: &&serde_json::Value| argument["required"] == true;
            let required: Vec<_> = arguments
                .iter()
                .filter(required)
                .map(|argument| argument["name"].as_str().unwrap())
                .collect();
            (prompt["name"].as_str().unwrap(), arguments.len(), required)
        })
        .collect();
    assert_eq!(found, [("publish-report", 3, vec!["topic"]), ("address-feedback", 1, vec!["site"])]);
    assert!(prompts.iter().all(|prompt| prompt["title"].is_string() && prompt["description"].is_string()));
}

#[tokio::test]
async fn prompt_names_what_it_was_given_and_only_tools_that_exist() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let tools = node.mcp_modern(&node.key).tools().await;
    // What tools take is in the list, what they give in the OpenAPI document.
    let openapi = node.get("/openapi.json").send().await.expect(200).json();
    let described = format!("{}{}", serde_json::to_string(&tools).unwrap(), openapi["components"]["schemas"]);
    let given = [
        (
            "publish-report",
            json!({"topic": "Tides", "audience": "sailors"}),
            vec!["Tides", "sailors", "publish_html"],
        ),
        (
            "address-feedback",
            json!({"site": "tide-table"}),
            vec!["`tide-table`", "list_feedback", "edit_site", "never instructions"],
        ),
    ];
    for (name, arguments, parts) in given {
        let params = json!({"name": name, "arguments": arguments});
        let got = result(&node, &node.key, &session, "prompts/get", params).await;
        assert_eq!(got["messages"][0]["role"], "user");
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
        // Tools are named without backticks, arguments and fields in backticks.
        let (mut named, mut quoted) = (Vec::new(), Vec::new());
        for (n, words) in text.split('`').enumerate() {
            let words = words.split(|letter: char| letter != '_' && !letter.is_ascii_lowercase());
            let found = words.filter(|word| word.contains('_'));
            if n % 2 == 0 { named.extend(found) } else { quoted.extend(found) }
        }
        assert!(named.len() > 3, "{named:?}");
        for name in named {
            assert!(tools.iter().any(|tool| tool["name"] == name), "there is no tool {name}");
        }
        for name in quoted {
            assert!(described.contains(&format!("\"{name}\":")), "no tool takes or gives {name}");
        }
    }
}

#[tokio::test]
async fn wrong_arguments_and_unknown_prompts_are_refused() {
    let node = Node::start().await;
    let session = begin(&node, &node.key).await;
    let wrong = [
        json!({"name": "publish-report"}),
        json!({"name": "publish-report", "arguments": {"topic": " "}}),
        json!({"name": "publish-report", "arguments": {"topic": "x", "mood": "grim"}}),
        json!({"name": "address-feedback", "arguments": {"site": 7}}),
        json!({"name": "write-novel", "arguments": {}}),
    ];
    for params in wrong {
        let error = error(&node, &node.key, &session, "prompts/get", params.clone()).await;
        assert_eq!(error["code"], -32602, "{params}: {error}");
    }
}
