//! Pages that share their address with the dashboard are isolated from it.

use crate::harness::{Form, Node, Setup, pdf, zip};
use serde_json::Value;

async fn site(node: &Node) -> Value {
    let files = zip(&[
        ("index.html", "<!doctype html><script src=\"x.js\"></script>"),
        ("x.js", "1"),
        ("s.css", "a{}"),
    ]);
    node.publish(Form::file("a.zip", files)).await
}

#[tokio::test]
async fn our_own_pages_load_nothing_of_a_page_at_the_shared_address() {
    for isolation in ["hosts", "sandbox"] {
        let node = Setup::new().set("isolation", isolation).start().await;
        let root = format!("/p/{}/", site(&node).await["unlisted_token"].as_str().unwrap());
        let ask = |file: &str, from: &str, dest: &str| {
            let ask = node.get(&format!("{root}{file}")).header("accept", "application/json");
            ask.header("sec-fetch-site", from)
                .header("sec-fetch-mode", "no-cors")
                .header("sec-fetch-dest", dest)
                .send()
        };
        for dest in
            ["script", "style", "worker", "sharedworker", "image", "font", "empty", "object", "audioworklet"]
        {
            ask("x.js", "same-origin", dest).await.refused(403, "cross_site");
        }
        ask("no-such-file.js", "same-origin", "script").await.refused(403, "cross_site");
        // A sandboxed page has no origin, so what it loads is cross-site.
        ask("x.js", "cross-site", "script").await.expect(200);
        ask("s.css", "cross-site", "style").await.expect(200);
        node.get(&format!("{root}x.js")).send().await.expect(200);
    }
}

#[tokio::test]
async fn pages_with_a_host_of_their_own_load_their_files() {
    let node = Node::start().await;
    let site = site(&node).await;
    let own = node.get(site["url"].as_str().unwrap()).browser().send().await.expect(307);
    let ask = node.get(&format!("{}x.js", own.header("location"))).header("sec-fetch-site", "same-origin");
    ask.header("sec-fetch-mode", "no-cors").header("sec-fetch-dest", "script").send().await.expect(200);
}

#[tokio::test]
async fn viewer_of_a_pdf_reads_on() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let site = node.publish(Form::file("a.pdf", pdf())).await;
    let ask = node.get(site["url"].as_str().unwrap()).header("sec-fetch-site", "same-origin");
    let ask = ask
        .header("sec-fetch-mode", "no-cors")
        .header("sec-fetch-dest", "embed")
        .header("range", "bytes=0-3");
    ask.send().await.expect(206);
}
