//! Files of an archive by path, the index of folders, its own 404 page.

use crate::harness::{Form, Node, Setup, on_each_database, page, pdf, zip};

async fn site(node: &Node, files: &[(&str, &str)]) -> String {
    node.publish(Form::file("site.zip", zip(files))).await["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn files_are_found_by_path_with_their_types() {
    on_each_database(Setup::new, async |node| {
        let url = site(
            node,
            &[
                ("index.html", "<p>root"),
                ("css/a.css", "p{}"),
                ("js/a.js", "1"),
                ("js/m.mjs", "2"),
                ("img/a.svg", "<svg/>"),
                ("data.json", "{}"),
                ("ünï cödé.txt", "text"),
                ("raw.unknown", "bytes"),
                ("docs/index.html", "<p>docs"),
            ],
        )
        .await;
        for (path, body, kind) in [
            ("", "<p>root", "text/html; charset=utf-8"),
            ("index.html", "<p>root", "text/html; charset=utf-8"),
            ("css/a.css", "p{}", "text/css; charset=utf-8"),
            ("js/a.js", "1", "text/javascript; charset=utf-8"),
            ("js/m.mjs", "2", "text/javascript; charset=utf-8"),
            ("img/a.svg", "<svg/>", "image/svg+xml"),
            ("data.json", "{}", "application/json"),
            ("%C3%BCn%C3%AF%20c%C3%B6d%C3%A9.txt", "text", "text/plain; charset=utf-8"),
            ("raw.unknown", "bytes", "application/octet-stream"),
            ("docs/", "<p>docs", "text/html; charset=utf-8"),
            ("docs/index.html", "<p>docs", "text/html; charset=utf-8"),
        ] {
            let answer = node.get(&format!("{url}{path}")).send().await.expect(200);
            assert_eq!(answer.text(), body, "{path}");
            assert!(
                answer.header("content-type") == kind
                    || answer.header("content-type").starts_with(&format!("{kind};")),
                "{path}: {}",
                answer.header("content-type")
            );
        }
    })
    .await;
}

#[tokio::test]
async fn folder_without_slash_is_redirected_with_the_query_kept() {
    let node = Node::start().await;
    let url = site(&node, &[("index.html", "<p>"), ("docs/index.html", "<p>docs")]).await;
    let answer = node.get(&format!("{url}docs?a=b")).send().await.expect(308);
    assert!(answer.header("location").ends_with("/docs/?a=b"), "{}", answer.header("location"));
}

#[tokio::test]
async fn archives_own_404_page_is_used() {
    let node = Node::start().await;
    let url = site(&node, &[("index.html", "<p>"), ("404.html", "<p>our own")]).await;
    let answer =
        node.get(&format!("{url}missing/page")).header("range", "bytes=0-1").send().await.expect(404);
    assert_eq!(answer.text(), "<p>our own");
    let plain = site(&node, &[("index.html", "<p>")]).await;
    let answer = node.get(&format!("{plain}missing")).send().await.expect(404);
    assert!(answer.text().starts_with("404 "));
}

#[tokio::test]
async fn single_top_folder_counts_as_the_root() {
    let node = Node::start().await;
    let url =
        site(&node, &[("export/index.html", "<p>top"), ("export/a.txt", "a"), ("__MACOSX/x", "")]).await;
    assert_eq!(node.get(&url).send().await.expect(200).text(), "<p>top");
    assert_eq!(node.get(&format!("{url}a.txt")).send().await.expect(200).text(), "a");
}

#[tokio::test]
async fn paths_that_name_nothing_are_404() {
    let node = Node::start().await;
    let url = site(&node, &[("index.html", "<p>"), ("a/b.txt", "b")]).await;
    for path in ["a", "a/", "A/b.txt", "a//b.txt", "a/b.txt/", "a%2fb", "%zz", "%ff", "_dropleaf/x", "a%00"] {
        node.get(&format!("{url}{path}")).send().await.expect(404);
    }
    assert_eq!(node.get(&format!("{url}a%2Fb.txt")).send().await.expect(200).text(), "b", "decoded once");
}

#[tokio::test]
async fn pdf_is_served_as_itself() {
    let node = Node::start().await;
    let site = node.publish(Form::file("report.pdf", pdf())).await;
    let answer = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!((answer.header("content-type"), answer.body.clone()), ("application/pdf", pdf()));
    assert_eq!(site["title"], "report");
}

#[tokio::test]
async fn files_of_a_public_page_are_below_its_own_root() {
    let node = Node::start().await;
    let archive = zip(&[("index.html", &page("Public")), ("a.css", "p{}")]);
    let site = node.publish(Form::file("s.zip", archive).field("slug", "with-files")).await;
    let answer = node.get(&format!("{}a.css", site["url"].as_str().unwrap())).send().await.expect(200);
    assert_eq!(answer.text(), "p{}");
}
