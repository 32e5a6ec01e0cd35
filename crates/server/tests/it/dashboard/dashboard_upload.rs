//! `POST /dashboard/upload` and `POST /dashboard/pages/{id}/content`: publishing and replacing by file.

use crate::harness::{Answer, Form, Node, Person, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn send(node: &Node, tab: &Person<'_>, path: &str, form: Form) -> Answer {
    tab.bare(path).header("origin", &node.base_url()).form(form).send().await
}

/// Sends it as the page's script does.
async fn send_by_script(node: &Node, tab: &Person<'_>, path: &str, form: Form) -> Answer {
    let ask = tab.script(path).header("origin", &node.base_url()).header("x-form-token", &tab.token());
    ask.header("accept", "application/json").form(form).send().await
}

fn with_token(tab: &Person<'_>) -> Form {
    Form::new().field("form_token", &tab.token())
}

async fn sites(node: &Node) -> Vec<Value> {
    node.get("/sites").key(&node.key).send().await.expect(200).json()["sites"].as_array().unwrap().clone()
}

#[tokio::test]
async fn plain_form_publishes_with_its_options() {
    on_each_database(Setup::new, async |node| {
        let tab = node.operator().await;
        let form = with_token(&tab)
            .field("visibility", "public")
            .field("slug", "weekly-report")
            .field("password", "correct horse")
            .field("expires_in_hours", "24")
            .and_file("report.html", page("Weekly"));
        let answer = send(node, &tab, "/dashboard/upload", form).await.expect(303);
        let place = answer.header("location").to_owned();
        assert!(
            place.starts_with("/dashboard/pages/site_") && place.ends_with("?done=published#outcome"),
            "{place}"
        );
        let shown = tab.get(&place).await.expect(200).text();
        assert!(shown.contains("Published. Your page is online.") && shown.contains("weekly-report"));
        let site = &sites(node).await[0];
        assert_eq!((&site["slug"], &site["password_protected"]), (&json!("weekly-report"), &json!(true)));
        assert_eq!(site["expires_at"].as_i64().unwrap(), site["created_at"].as_i64().unwrap() + 86_400);
    })
    .await;
}

#[tokio::test]
async fn script_gets_the_link_and_the_words_of_the_server() {
    let node = Node::start().await;
    let tab = node.operator().await;
    let form = Form::file("p.html", "<title>Dropped</title><img src=missing.png>");
    let sent = send_by_script(&node, &tab, "/dashboard/upload", form).await.expect(201).json();
    assert_eq!((&sent["title"], &sent["done"]), (&json!("Dropped"), &json!("published")));
    assert_eq!(sent["page"], json!(format!("/dashboard/pages/{}", sent["id"].as_str().unwrap())));
    assert!(sent["warnings"].to_string().contains("missing.png"), "{sent}");
    let refused = send_by_script(&node, &tab, "/dashboard/upload", Form::file("p.exe", [0; 20])).await;
    refused.refused(400, "unsupported_type");
}

#[tokio::test]
async fn refused_form_says_what_is_wrong_and_keeps_what_was_typed() {
    let node = Node::start().await;
    let tab = node.operator().await;
    for (form, status, said) in [
        (
            with_token(&tab).field("slug", "a_b").field("visibility", "public").and_file("p.html", page("x")),
            400,
            "a_b",
        ),
        (
            with_token(&tab).field("visibility", "public").and_file("p.html", page("x")),
            400,
            "A public page needs a name.",
        ),
        (with_token(&tab).and_file("p.html", ""), 400, "empty"),
        (with_token(&tab), 400, "Choose a file first."),
    ] {
        let text = send(&node, &tab, "/dashboard/upload", form).await.expect(status).text();
        assert!(text.contains("role=\"alert\"") && text.contains(said), "{said}: {text}");
    }
    assert_eq!(sites(&node).await.len(), 0);
}

#[tokio::test]
async fn plan_limits_are_said() {
    let node = Node::start().await;
    let tab = node.newcomer_on("solo").await;
    let shown = tab.get("/dashboard/upload").await.expect(200).text();
    assert!(shown.contains("Publish a file"));
}

#[tokio::test]
async fn public_name_of_an_unlisted_page_is_refused_not_ignored() {
    let node = Node::start().await;
    let tab = node.operator().await;
    let form = |visibility: &str| {
        let form = with_token(&tab).field("visibility", visibility).field("slug", "weekly-report");
        form.and_file("report.html", page("Weekly"))
    };
    let text = send(&node, &tab, "/dashboard/upload", form("unlisted")).await.expect(400).text();
    assert!(text.contains("The public name is for public pages only"), "{text}");
    assert!(text.contains("value=\"weekly-report\""), "what was typed is shown again");
    assert_eq!(sites(&node).await.len(), 0);
    send(&node, &tab, "/dashboard/upload", form("public")).await.expect(303);
}

#[tokio::test]
async fn replaced_content_is_a_new_version_at_the_same_link() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let id = site["id"].as_str().unwrap();
        let path = format!("/dashboard/pages/{id}/content");
        let tab = node.operator().await;
        let seen = site["updated_at"].to_string();
        let form = || with_token(&tab).field("expected_updated_at", &seen).and_file("p.html", page("Second"));
        let answer = send(node, &tab, &path, form()).await.expect(303);
        assert_eq!(answer.header("location"), format!("/dashboard/pages/{id}?done=replaced#outcome"));
        let now = node.read_site(&site).await;
        assert_eq!(
            (&now["title"], &now["version"], &now["url"]),
            (&json!("Second"), &json!(2), &site["url"])
        );
        // The form was rendered for the first version.
        let text = send(node, &tab, &path, form()).await.expect(409).text();
        assert!(text.contains("Your change was not saved"), "{text}");
        assert_eq!(node.read_site(&site).await["version"], json!(2));
        let by_script = Form::new().field("expected_updated_at", &now["updated_at"].to_string());
        let by_script = by_script.and_file("p.html", page("Third"));
        send_by_script(node, &tab, &path, by_script).await.expect(200);
        assert_eq!(node.read_site(&site).await["title"], json!("Third"));
        let other = node.newcomer_on("solo").await;
        let foreign = with_token(&other).and_file("p.html", page("Theirs"));
        send(node, &other, &path, foreign).await.expect(404);
        assert_eq!(node.read_site(&site).await["title"], json!("Third"));
    })
    .await;
}

#[tokio::test]
async fn file_is_not_read_unless_a_page_of_ours_sends_it() {
    let node = Node::start().await;
    let site = node.publish_page("Kept").await;
    let tab = node.operator().await;
    for path in
        ["/dashboard/upload".to_owned(), format!("/dashboard/pages/{}/content", site["id"].as_str().unwrap())]
    {
        let ask = || tab.bare(&path);
        let base = node.base_url();
        let file = |form: Form| form.and_file("p.html", page("Forged"));
        ask().form(file(with_token(&tab))).send().await.expect(403);
        ask().header("origin", "https://evil.example").form(file(with_token(&tab))).send().await.expect(403);
        ask().header("origin", "null").form(file(with_token(&tab))).send().await.expect(403);
        ask().header("origin", &base).form(file(Form::new())).send().await.expect(403);
        ask()
            .header("origin", &base)
            .form(file(Form::new().field("form_token", "AAAA")))
            .send()
            .await
            .expect(403);
        // A token after the file is too late.
        let late = file(Form::new()).field("form_token", &tab.token());
        ask().header("origin", &base).form(late).send().await.expect(403);
        ask()
            .header("origin", &base)
            .header("x-form-token", "AAAA")
            .form(file(with_token(&tab)))
            .send()
            .await
            .expect(403);
        let same_site = ask().header("origin", &base).header("sec-fetch-site", "same-site");
        same_site.form(file(with_token(&tab))).send().await.expect(403);
        let nobody = node.post(&path).browser().header("origin", &base).form(file(with_token(&tab)));
        assert_eq!(nobody.send().await.expect(303).header("location"), "/login?next=%2Fdashboard");
        let in_address = tab.bare(&format!("{path}?form_token={}", tab.token()));
        in_address.header("origin", &base).form(file(Form::new())).send().await.expect(403);
    }
    assert_eq!(sites(&node).await.len(), 1);
    assert_eq!(node.get(&site_path(&site)).key(&node.key).send().await.json()["title"], json!("Kept"));
}
