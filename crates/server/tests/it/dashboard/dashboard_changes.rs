//! `/dashboard/pages/{id}/changes`: two versions side by side, as text.

use crate::harness::{Form, Node, site_path};
use serde_json::Value;

fn at(site: &Value, query: &str) -> String {
    format!("/dashboard/pages/{}/changes{query}", site["id"].as_str().unwrap())
}

#[tokio::test]
async fn the_owner_sees_what_changed_as_text_and_who_made_it() {
    let node = Node::start().await;
    let html = |word: &str| format!("<!doctype html>\n<title>T</title>\n<script>alert('{word}')</script>\n");
    let site = node.publish(Form::file("a.html", html("old"))).await;
    let put = node.put(&site_path(&site)).key(&node.key).form(Form::file("a.html", html("new")));
    put.send().await.expect(200);
    let tab = node.operator().await;
    let own = tab.get(&format!("/dashboard/pages/{}", site["id"].as_str().unwrap())).await.expect(200).text();
    assert!(
        own.contains("/changes?to=2") && !own.contains("/changes?to=1"),
        "a link where there is an older version"
    );
    assert!(own.contains("API key: "), "who made it");
    for query in ["", "?to=2", "?from=1&to=2"] {
        let shown = tab.get(&at(&site, query)).await.expect(200).text();
        assert!(!shown.contains("<script>alert"), "never the page's script");
        for part in ["alert(&#39;<b>old</b>&#39;)", "alert(&#39;<b>new</b>&#39;)", "<del>", "<ins>", "a.html"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    tab.get(&at(&site, "?from=9")).await.expect(404);
    tab.get(&at(&site, "?from=x")).await.expect(404);
    node.newcomer_on("solo").await.get(&at(&site, "")).await.expect(404);
}
