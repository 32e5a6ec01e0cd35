//! Addresses as on static hosts: names without `.html`, a file under its upload name, a document in a folder.

use crate::access::burn::{asked, press};
use crate::access::gates::{own_host, url};
use crate::harness::{Form, Node, page, pdf, zip};

#[tokio::test]
async fn name_without_its_ending_finds_the_page() {
    let node = Node::start().await;
    let archive = zip(&[
        ("index.html", "<p>index"),
        ("about.html", "<p>about"),
        ("docs.html", "<p>file"),
        ("docs/index.html", "<p>folder"),
        ("plain", "exact"),
        ("plain.html", "<p>page"),
        ("deep/er.html", "<p>deeper"),
    ]);
    let site = node.publish(Form::file("s.zip", archive)).await;
    let root = url(&site);
    for (path, text) in [
        ("about", "<p>about"),
        ("about?x=1", "<p>about"),
        ("plain", "exact"),
        ("deep/er", "<p>deeper"),
        ("index", "<p>index"),
    ] {
        assert_eq!(node.get(&format!("{root}{path}")).send().await.expect(200).text(), text, "{path}");
    }
    node.get(&format!("{root}docs")).send().await.expect(308);
    for path in ["about/", "about.html/", "none", "_dropleaf/source", ".html", "deep"] {
        node.get(&format!("{root}{path}")).send().await.expect(404);
    }
}

#[tokio::test]
async fn document_in_a_folder_is_shown_there() {
    let node = Node::start().await;
    let site =
        node.publish(Form::file("s.zip", zip(&[("index.html", "<p>"), ("out/a b.html", "<p>inside")]))).await;
    let id = site["id"].as_str().unwrap();
    let sql =
        "UPDATE bundles SET entry = 'out/a b.html' WHERE id = (SELECT bundle_id FROM sites WHERE id = $1)";
    node.exec(sql, vec![id.into()]).await;
    let root = own_host(&node, &site).await;
    let led = node.get(&format!("{root}?x=1")).browser().send().await.expect(307);
    assert_eq!(led.header("location"), "./out/a%20b.html?x=1");
    assert_eq!(
        node.get(&format!("{root}out/a%20b.html")).browser().send().await.expect(200).text(),
        "<p>inside"
    );
}

#[tokio::test]
async fn only_answer_of_a_page_that_burns_is_the_document_itself() {
    let node = Node::start().await;
    let form = || Form::file("s.zip", zip(&[("index.html", "<p>"), ("out/a.html", "<p>inside")]));
    let sql =
        "UPDATE bundles SET entry = 'out/a.html' WHERE id = (SELECT bundle_id FROM sites WHERE id = $1)";
    let site = node.publish(form().field("burn_after_read", "true")).await;
    node.exec(sql, vec![site["id"].as_str().unwrap().into()]).await;
    assert_eq!(node.get(url(&site)).send().await.expect(200).text(), "<p>inside");
    let site = node.publish(form().field("burn_after_read", "true")).await;
    node.exec(sql, vec![site["id"].as_str().unwrap().into()]).await;
    let root = own_host(&node, &site).await;
    let cookie = asked(&node, &root).await;
    press(&node, &root, &cookie).send().await.expect(303);
    let led = node.get(&root).browser().cookie(&cookie).send().await.expect(307);
    assert_eq!(led.header("location"), "./out/a.html");
    assert_eq!(
        node.get(&format!("{root}out/a.html")).cookie(&cookie).send().await.expect(200).text(),
        "<p>inside"
    );
}

#[tokio::test]
async fn single_file_answers_under_its_own_name_and_a_pdf_is_saved_under_it() {
    let node = Node::start().await;
    let site = node.publish(Form::file("report.html", page("Report"))).await;
    for path in ["", "report.html", "index.html"] {
        assert_eq!(
            node.get(&format!("{}{path}", url(&site))).send().await.expect(200).text(),
            page("Report")
        );
    }
    node.get(&format!("{}other.html", url(&site))).send().await.expect(404);
    let site = node.publish(Form::file("Übersicht.pdf", pdf())).await;
    for path in ["", "%C3%9Cbersicht.pdf"] {
        let shown = node.get(&format!("{}{path}", url(&site))).send().await.expect(200);
        let named = "inline; filename=\"_bersicht.pdf\"; filename*=UTF-8''%C3%9Cbersicht.pdf";
        assert_eq!(shown.header("content-disposition"), named);
    }
}

#[tokio::test]
async fn viewer_who_burnt_a_page_may_ask_for_parts_of_its_media() {
    let node = Node::start().await;
    let archive = zip(&[("index.html", "<video src=a.mp4></video>"), ("a.mp4", "0123456789")]);
    let site = node.publish(Form::file("s.zip", archive).field("burn_after_read", "true")).await;
    let root = own_host(&node, &site).await;
    let cookie = asked(&node, &root).await;
    press(&node, &root, &cookie).send().await.expect(303);
    let part = |range: &str| node.get(&format!("{root}a.mp4")).cookie(&cookie).header("range", range).send();
    let some = part("bytes=2-4").await.expect(206);
    assert_eq!((some.text().as_str(), some.header("content-range")), ("234", "bytes 2-4/10"));
    assert_eq!((some.header("accept-ranges"), some.header("cache-control")), ("bytes", "no-store"));
    assert_eq!(part("bytes=20-").await.expect(416).header("content-range"), "bytes */10");
    node.get(&format!("{root}a.mp4")).header("range", "bytes=2-4").send().await.expect(410);
    // The only response to a client that is not a browser is never a range.
    let whole = node.publish(Form::file("a.html", page("Whole")).field("burn_after_read", "true")).await;
    let answer = node.get(url(&whole)).header("range", "bytes=0-3").send().await.expect(200);
    assert_eq!((answer.text(), answer.header("accept-ranges")), (page("Whole"), "none"));
}
