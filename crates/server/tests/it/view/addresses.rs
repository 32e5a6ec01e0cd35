//! Malformed addresses are answered with the error format of the API or of pages, never with a bare status line.

use crate::harness::{Node, Tab};
use reqwest::Method;

#[tokio::test]
async fn odd_queries_of_pages_are_read_as_far_as_they_go() {
    let node = Node::start().await;
    let stranger = Tab::new(&node);
    for path in ["/login?next=a&next=b", "/login?next=%FF", "/login?%zz=%", "/login?next", "/login?&&=&"] {
        let shown = stranger.get(path).await.expect(200);
        assert!(shown.text().contains("name=\"email\""), "{path}");
    }
    stranger.get("/login/link?token=a&token=b").await.expect(410);
    stranger.get("/login/link").await.expect(410);
    let person = node.operator().await;
    for path in [
        "/dashboard",
        "/dashboard/keys",
        "/dashboard/account",
        "/dashboard/apps",
        "/operator",
        "/operator/accounts",
        "/operator/reports",
    ] {
        for query in ["done=a&done=b", "done=%FF&q=%zz", "page=1&page=2&before=x&before=y", "="] {
            person.get(&format!("{path}?{query}")).await.expect(200);
        }
    }
    person.get("/device?user_code=&user_code=x&ended=a&ended=b").await.expect(200);
}

#[tokio::test]
async fn names_that_are_no_text_are_refused_by_code() {
    let node = Node::start().await;
    for (method, path) in [
        (Method::GET, "/sites/%FF"),
        (Method::DELETE, "/sites/%FF"),
        (Method::GET, "/sites/%C3/content"),
        (Method::DELETE, "/api-keys/a%FFb"),
        (Method::GET, "/sites/%zz"),
    ] {
        let answer = node.ask(method, path).key(&node.key).send().await.refused(400, "invalid_request");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert!(answer.has("x-request-id"), "{path}");
    }
    let person = node.operator().await;
    for path in ["/dashboard/pages/%FF", "/dashboard/pages/%FF/preview.svg", "/claim/%FF", "/assets/%FF"] {
        let answer = person.get(path).await.expect(400);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert!(answer.text().contains("invalid_request") && answer.has("x-request-id"), "{path}");
        assert!(!answer.has("access-control-allow-origin"), "{path}");
    }
    let token = person.token();
    let asked = person.script("/dashboard/pages/%FF/content").header("x-form-token", &token);
    asked.header("accept", "application/json").send().await.refused(400, "invalid_request");
}

#[tokio::test]
async fn form_addresses_asked_for_a_page_are_405_with_a_page() {
    let node = Node::start().await;
    let person = node.operator().await;
    for path in
        ["/dashboard/claim", "/dashboard/pages/x/title", "/operator/takedown", "/logout", "/oauth/consent"]
    {
        let answer = person.get(path).await.expect(405);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(answer.header("allow"), "POST", "{path}");
        let text = answer.text();
        assert!(
            text.contains("There is no page at this address") && text.contains("method_not_allowed"),
            "{text}"
        );
    }
    for path in ["/dashboard", "/dashboard/pages/x", "/operator", "/oauth/authorize"] {
        let answer = person.submit(path, &[]).await.expect(405);
        assert_eq!(answer.header("allow"), "GET,HEAD", "{path}");
    }
    let script = person.script("/dashboard/account").header("accept", "application/json");
    script.send().await.refused(405, "method_not_allowed");
}
