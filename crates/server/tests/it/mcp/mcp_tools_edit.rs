//! `edit_site` and `read_site`: an agent changes a word and reads a part, without the rest of the page.

use crate::harness::{Form, HARVEST, Node, Setup, on_each_database, page, pdf, zip};
use serde_json::{Value, json};

#[tokio::test]
async fn an_agent_reads_a_line_edits_it_and_reads_it_back() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let html = "<!doctype html>\n<title>Plan</title>\n<p>On Monday.</p>\n<p>Done.</p>\n";
    let site = client.give("publish_html", json!({"html": html})).await;
    let read = client.call("read_site", json!({"site": site["id"], "start_line": 3, "end_line": 3})).await;
    assert_eq!(read["content"][0]["text"], "<p>On Monday.</p>\n");
    let seen = &read["structuredContent"];
    assert_eq!(
        (&seen["start_line"], &seen["line_count"], &seen["version"]),
        (&json!(3), &json!(4), &json!(1))
    );
    let edit = |find: &str, replace: &str| {
        let edits = json!([{"find": find, "replace": replace}]);
        json!({"site": site["id"], "edits": edits, "expected_updated_at": seen["updated_at"]})
    };
    let edited = client.give("edit_site", edit("Monday", "Friday")).await;
    assert_eq!(edited["version"], 2);
    assert!(edited["diff"].as_str().unwrap().contains("+<p>On Friday.</p>"), "{edited}");
    client.refused("edit_site", edit("Friday", "Sunday"), "conflict").await;
    let read = client.give("read_site", json!({"site": site["id"], "version": 1})).await;
    assert_eq!(read["text"], html);
}

#[tokio::test]
async fn edits_that_cannot_be_right_are_refused_and_change_nothing() {
    on_each_database(Setup::new, async |node| {
        let client = node.mcp_modern(&node.key);
        let html = "<!doctype html>\n<title>é</title>\n<p>one</p>\n<p>two, one</p>\n";
        let site = client.give("publish_html", json!({"html": html})).await;
        let good = json!({"find": "two", "replace": "2"});
        for (bad, code) in [
            (json!({"find": "one", "replace": "1"}), "edit_not_unique"),
            (json!({"find": "three", "replace": "3"}), "edit_no_match"),
            (json!({"find": "o, o", "replace": "x"}), "edit_overlap"),
            // The first byte of "é" is that of "Ã" in Latin-1.
            (json!({"find": "Ã", "replace": "A"}), "edit_no_match"),
            (json!({"find": "$&", "replace": "x"}), "edit_no_match"),
            (json!({"find": "<title>é</title>", "replace": HARVEST}), "phishing_blocked"),
        ] {
            let call = json!({"site": site["id"], "edits": [good, bad]});
            client.refused("edit_site", call, code).await;
        }
        let now = client.give("get_site", json!({"site": site["id"]})).await;
        assert_eq!((&now["version"], &now["updated_at"]), (&site["version"], &site["updated_at"]));
        assert_eq!(client.give("read_site", json!({"site": site["id"]})).await["text"], html);
        let edits = json!([{"find": "two", "replace": "$& $1 \\0"}]);
        client.give("edit_site", json!({"site": site["id"], "edits": edits})).await;
        let read = client.give("read_site", json!({"site": site["id"]})).await;
        assert_eq!(read["text"], html.replace("two", "$& $1 \\0"), "it is literal text");
    })
    .await;
}

#[tokio::test]
async fn of_calls_at_the_same_time_one_wins() {
    on_each_database(Setup::new, async |node| {
        let client = node.mcp_modern(&node.key);
        let site = client.give("publish_html", json!({"html": page("Word")})).await;
        let calls = (0..6).map(|n| {
            let edits = json!([{"find": "<title>Word", "replace": format!("<title>Other {n}")}]);
            let seen = &site["updated_at"];
            client.call("edit_site", json!({"site": site["id"], "edits": edits, "expected_updated_at": seen}))
        });
        let results = futures_util::future::join_all(calls).await;
        let failed = results.iter().filter(|result| result["isError"] == true);
        assert!(failed.clone().all(|result| result.to_string().contains("conflict")));
        assert_eq!(failed.count(), 5);
        assert_eq!(client.give("get_site", json!({"site": site["id"]})).await["version"], 2);
    })
    .await;
}

#[tokio::test]
async fn refusals_say_what_to_do_next() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = client.give("publish_html", json!({"html": page("Twice")})).await;
    let edit = |find: &str, replace: &str| json!({"site": site["id"], "edits": [{"find": find, "replace": replace}]});
    let text = client.refused("edit_site", edit("Twice", "Once"), "edit_not_unique").await;
    assert!(text.contains("`all`") && text.contains("Nothing was changed."), "{text}");
    let text = client.refused("edit_site", edit("Thrice", "Once"), "edit_no_match").await;
    assert!(text.contains("read_site"), "{text}");
    client.refused("edit_site", edit("<h1>Twice</h1>", HARVEST), "phishing_blocked").await;
    let paper = node.publish(Form::file("a.pdf", pdf())).await;
    let text = client.refused("read_site", json!({"site": paper["id"]}), "not_editable").await;
    assert!(text.contains("/download"), "{text}");
    for bad in [
        json!({"offset": -1}),
        json!({"start_line": 0}),
        json!({"start_line": 3, "end_line": 2}),
        json!({"max_bytes": 1}),
    ] {
        let mut call = json!({"site": site["id"]});
        call.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        client.refused("read_site", call, "invalid_field").await;
    }
    assert_eq!(client.give("get_site", json!({"site": site["id"]})).await["version"], 1);
}

#[tokio::test]
async fn long_files_are_read_in_parts_and_archives_list_their_files() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let style = "p { color: green } /* ä */\n".repeat(8000);
    let index = page("Site");
    let site =
        node.publish(Form::file("site.zip", zip(&[("index.html", &index), ("css/a.css", &style)]))).await;
    let first = client.give("read_site", json!({"site": site["id"]})).await;
    assert_eq!(first["text"], index);
    assert_eq!(first["files"][0], json!({"path": "css/a.css", "byte_size": style.len()}));
    let (mut read, mut offset) = (String::new(), json!(0));
    loop {
        let part = client
            .give("read_site", json!({"site": site["id"], "path": "css/a.css", "offset": offset}))
            .await;
        let text = part["text"].as_str().unwrap();
        assert!(text.len() <= 50_000 && text.ends_with('\n') && part.get("files").is_none());
        read.push_str(text);
        match part.get("next_offset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(read, style);
}

#[tokio::test]
async fn a_repeated_call_with_the_same_key_edits_once() {
    let node = Node::start().await;
    let client = node.mcp_modern(&node.key);
    let site = client.give("publish_html", json!({"html": page("One")})).await;
    let call = json!({
        "site": site["id"], "idempotency_key": "edit-1", "edits": [{"find": "<h1>", "replace": "<h1>The "}],
    });
    let first: Value = client.give("edit_site", call.clone()).await;
    assert_eq!(client.give("edit_site", call).await, first);
    assert_eq!(client.give("get_site", json!({"site": site["id"]})).await["version"], 2);
}
