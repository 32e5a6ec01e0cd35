//! `/dashboard/pages/{id}`: one page, its settings and versions, deletion and restore.

use crate::harness::{DAY, Form, HOUR, Node, Setup, Tab, on_each_database, page};
use serde_json::{Value, json};

fn at(site: &Value, rest: &str) -> String {
    format!("/dashboard/pages/{}{rest}", site["id"].as_str().unwrap())
}

/// Sends a form of the page as currently rendered.
async fn change(node: &Node, tab: &Tab<'_>, site: &Value, form: &str, fields: &[(&str, &str)]) -> u16 {
    let seen = node.read_site(site).await["updated_at"].to_string();
    let fields = [fields, &[("updated_at", seen.as_str())]].concat();
    tab.submit(&at(site, form), &fields).await.status
}

#[tokio::test]
async fn page_shows_its_link_and_facts() {
    let node = Node::start().await;
    let site = node.publish_page("Orchard").await;
    let tab = node.operator().await;
    let text = tab.get(&at(&site, "")).await.expect(200).text();
    for part in [site["url"].as_str().unwrap(), "QR code", "Open page", "Version 1", "Current", "Share links"]
    {
        assert!(text.contains(part), "{part}");
    }
}

#[tokio::test]
async fn pages_of_others_are_404_in_every_form() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let tab = node.newcomer_on("solo").await;
    tab.get(&at(&site, "")).await.expect(404);
    for form in [
        "/title",
        "/visibility",
        "/password",
        "/email-gate",
        "/expiry",
        "/options",
        "/rollback",
        "/delete",
        "/restore",
        "/share-links",
    ] {
        let fields = [
            ("updated_at", "1"),
            ("title", "Theirs"),
            ("visibility", "burn"),
            ("act", "clear"),
            ("version", "1"),
            ("expires", "1"),
        ];
        tab.submit(&at(&site, form), &fields).await.expect(404);
    }
    let now = node.read_site(&site).await;
    assert_eq!((&now["title"], &now["updated_at"]), (&json!("Mine"), &site["updated_at"]));
}

#[tokio::test]
async fn settings_change_one_at_a_time() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Orchard").await;
        let tab = node.operator().await;
        assert_eq!(change(node, &tab, &site, "/title", &[("title", "Garden")]).await, 303);
        assert_eq!(
            change(node, &tab, &site, "/visibility", &[("visibility", "public"), ("slug", "garden")]).await,
            303
        );
        assert_eq!(change(node, &tab, &site, "/password", &[("password", "pw"), ("act", "set")]).await, 303);
        assert_eq!(change(node, &tab, &site, "/email-gate", &[("domain", "Example.com")]).await, 303);
        assert_eq!(
            change(node, &tab, &site, "/options", &[("agentation", "yes"), ("csp_strict", "yes")]).await,
            303
        );
        assert_eq!(change(node, &tab, &site, "/expiry", &[("expires", "24")]).await, 303);
        let now = node.read_site(&site).await;
        assert_eq!(now["title"], json!("Garden"));
        assert_eq!((&now["visibility"], &now["slug"]), (&json!("public"), &json!("garden")));
        assert_eq!(now["password_protected"], json!(true));
        assert_eq!(now["email_gate"]["domain"], json!("example.com"));
        assert_eq!((&now["agentation"], &now["csp_strict"]), (&json!(true), &json!(true)));
        assert_eq!(now["expires_at"].as_i64().unwrap(), now["created_at"].as_i64().unwrap() + DAY);
        assert_eq!(change(node, &tab, &site, "/password", &[("act", "clear")]).await, 303);
        assert_eq!(change(node, &tab, &site, "/email-gate", &[("act", "clear"), ("domain", "")]).await, 303);
        assert_eq!(change(node, &tab, &site, "/options", &[]).await, 303);
        assert_eq!(
            change(node, &tab, &site, "/expiry", &[("expires", "date"), ("until", "2030-01-02T03:04")]).await,
            303
        );
        assert_eq!(
            change(node, &tab, &site, "/visibility", &[("visibility", "unlisted"), ("slug", "")]).await,
            303
        );
        let now = node.read_site(&site).await;
        assert_eq!((&now["password_protected"], &now["email_gate"]), (&json!(false), &Value::Null));
        assert_eq!((&now["agentation"], &now["expires_at"]), (&json!(false), &json!(1_893_553_440)));
        assert_eq!(change(node, &tab, &site, "/expiry", &[("expires", "never")]).await, 303);
        assert_eq!(node.read_site(&site).await["expires_at"], Value::Null);
    })
    .await;
}

/// A form, its fields, the expected status and the expected text.
type Refusal<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, &'a str);

#[tokio::test]
async fn refusals_stand_beside_the_field_and_nothing_changes() {
    let node = Node::start().await;
    node.publish(Form::file("p.html", page("Other")).field("slug", "taken-name")).await;
    let site = node.publish_page("Orchard").await;
    let tab = node.operator().await;
    let seen = site["updated_at"].to_string();
    let table: [Refusal<'_>; 13] = [
        ("/title", &[("title", " ")], 400, "The title must be 1 to 200"),
        ("/visibility", &[("visibility", "public"), ("slug", "taken-name")], 409, "already taken"),
        ("/visibility", &[("visibility", "public"), ("slug", "no_good")], 400, "value=\"no_good\""),
        ("/visibility", &[("visibility", "public"), ("slug", "")], 400, "A public page needs a name."),
        ("/password", &[("password", ""), ("act", "set")], 400, "The password must be"),
        ("/email-gate", &[("domain", "<b>")], 400, "The email domain"),
        ("/expiry", &[("expires", "date"), ("until", "2020-01-01T00:00")], 400, "The expiry is in the past."),
        ("/expiry", &[("expires", "date"), ("until", "soon")], 400, "The expiry needs a date"),
        (
            "/expiry",
            &[("expires", "24"), ("until", "2030-01-02T03:04")],
            400,
            "The expiry is given twice: choose “On a date”",
        ),
        (
            "/visibility",
            &[("visibility", "unlisted"), ("slug", "new-name")],
            400,
            "The public name is for public pages only",
        ),
        (
            "/visibility",
            &[("visibility", "burn"), ("slug", "new-name"), ("slug_shown", "old-name")],
            400,
            "The public name is for public pages only",
        ),
        (
            "/password",
            &[("password", "new"), ("act", "clear")],
            400,
            "The password was entered, but you pressed Remove",
        ),
        ("/rollback", &[("version", "7")], 404, "no longer exists"),
    ];
    for (form, fields, status, said) in table {
        let fields = [fields, &[("updated_at", seen.as_str())]].concat();
        let text = tab.submit(&at(&site, form), &fields).await.expect(status).text();
        assert!(text.contains("role=\"alert\"") && text.contains(said), "{form} {said}: {text}");
    }
    assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
}

#[tokio::test]
async fn date_that_was_typed_counts_while_the_list_says_never() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Orchard").await;
        let tab = node.operator().await;
        let shown = tab.get(&at(&site, "")).await.expect(200).text();
        assert!(shown.contains("<option value=\"never\" selected>"), "the list says never: {shown}");
        let typed = [("expires", "never"), ("until", "2030-01-02T03:04"), ("until_shown", "")];
        assert_eq!(change(node, &tab, &site, "/expiry", &typed).await, 303);
        assert_eq!(node.read_site(&site).await["expires_at"], json!(1_893_553_440));
        // Now the form shows that date, and "never" clears it.
        let shown = tab.get(&at(&site, "")).await.expect(200).text();
        assert!(shown.contains("name=\"until_shown\" value=\"2030-01-02T03:04\""), "{shown}");
        let untouched =
            [("expires", "never"), ("until", "2030-01-02T03:04"), ("until_shown", "2030-01-02T03:04")];
        assert_eq!(change(node, &tab, &site, "/expiry", &untouched).await, 303);
        assert_eq!(node.read_site(&site).await["expires_at"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn public_name_that_was_not_touched_is_no_contradiction() {
    let node = Node::start().await;
    let site = node.publish(Form::file("p.html", page("Named")).field("slug", "kept-name")).await;
    let tab = node.operator().await;
    let fields = [("visibility", "unlisted"), ("slug", "kept-name"), ("slug_shown", "kept-name")];
    assert_eq!(change(&node, &tab, &site, "/visibility", &fields).await, 303);
    assert_eq!(node.read_site(&site).await["visibility"], json!("unlisted"));
}

#[tokio::test]
async fn lifetimes_beyond_the_plan_are_refused_and_explained() {
    let node = Node::start().await;
    let tab = node.newcomer_on("free").await;
    let form = Form::new().field("form_token", &tab.token()).and_file("p.html", page("Free"));
    let cookie = tab.cookie();
    let made = node.post("/dashboard/upload").browser().cookie(&cookie).header("origin", &node.base_url());
    let place = made.form(form).send().await.expect(303).header("location").to_owned();
    let path = place.split('?').next().unwrap();
    let text = tab.get(path).await.expect(200).text();
    let (_, rest) = text.split_once("name=\"updated_at\" value=\"").unwrap();
    let seen = rest.split('"').next().unwrap();
    assert!(text.contains("On the free plan, pages can stay online"), "{text}");
    let answer = tab
        .submit(&format!("{path}/expiry"), &[("expires", "never"), ("updated_at", seen)])
        .await
        .expect(402);
    assert!(
        answer.text().contains("On the free plan, pages can stay online for at most")
            && !answer.text().contains("unlock")
    );
}

#[tokio::test]
async fn form_that_did_not_see_the_last_change_overwrites_nothing() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let tab = node.operator().await;
        let seen = site["updated_at"].to_string();
        node.patch_site(&site, json!({"title": "By an agent"})).await.expect(200);
        for (form, fields) in [
            ("/title", [("title", "Mine")]),
            ("/password", [("password", "pw")]),
            ("/options", [("agentation", "yes")]),
            ("/rollback", [("version", "1")]),
        ] {
            let fields = [&fields[..], &[("updated_at", seen.as_str())]].concat();
            let text = tab.submit(&at(&site, form), &fields).await.expect(409).text();
            assert!(
                text.contains("The page was changed elsewhere since you opened this form")
                    && text.contains("By an agent")
            );
        }
        let now = node.read_site(&site).await;
        assert_eq!((&now["title"], &now["password_protected"]), (&json!("By an agent"), &json!(false)));
        tab.submit(&at(&site, "/title"), &[("title", "Without a moment")]).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn earlier_versions_come_back() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        node.put(&format!("/sites/{}", site["id"].as_str().unwrap()))
            .key(&node.key)
            .form(Form::file("p.html", page("Second")))
            .send()
            .await
            .expect(200);
        let tab = node.operator().await;
        assert!(tab.get(&at(&site, "")).await.text().contains("Restore version 1"));
        assert_eq!(change(node, &tab, &site, "/rollback", &[("version", "1")]).await, 303);
        let now = node.read_site(&site).await;
        assert_eq!((&now["title"], &now["version"]), (&json!("First"), &json!(3)));
        let text = tab.get(&at(&site, "?done=rolled-back")).await.text();
        assert!(text.contains("restored from version 1") && text.contains("Version restored."));
    })
    .await;
}

#[tokio::test]
async fn deleted_page_is_shown_as_such_and_restored() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Orchard").await;
        let tab = node.operator().await;
        let answer = tab.submit(&at(&site, "/delete"), &[]).await.expect(303);
        assert_eq!(answer.header("location"), at(&site, "?done=deleted#outcome"));
        node.get(site["url"].as_str().unwrap()).send().await.expect(410);
        let text = tab.get(&at(&site, "")).await.expect(200).text();
        assert!(text.contains("This page was deleted") && text.contains("Restore page"));
        assert!(!text.contains("Open page") && !text.contains("Delete page"));
        tab.submit(&at(&site, "/title"), &[("title", "x"), ("updated_at", "1")]).await.expect(404);
        tab.submit(&at(&site, "/restore"), &[]).await.expect(303);
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        tab.submit(&at(&site, "/delete"), &[]).await.expect(303);
        node.clock.advance(31 * DAY);
        node.app().sweep().await.unwrap();
        let text = tab_again(node, &site).await;
        assert!(text.contains("cannot be restored") && !text.contains("Restore page"), "{text}");
    })
    .await;
}

/// The page in a new session: the old one has expired by then.
async fn tab_again(node: &Node, site: &Value) -> String {
    node.operator().await.get(&at(site, "")).await.expect(200).text()
}

#[tokio::test]
async fn expired_and_burnt_pages_say_so() {
    let node = Node::start().await;
    let brief = node.publish(Form::file("p.html", page("Brief")).field("expires_in_hours", "1")).await;
    let once = node.publish(Form::file("p.html", page("Once")).field("burn_after_read", "true")).await;
    node.get(once["url"].as_str().unwrap()).send().await.expect(200);
    node.clock.advance(HOUR);
    let tab = node.operator().await;
    let text = tab.get(&at(&brief, "")).await.expect(200).text();
    assert!(text.contains("This page has expired") && text.contains("Expiry"));
    assert_eq!(change(&node, &tab, &brief, "/expiry", &[("expires", "24")]).await, 303);
    node.get(brief["url"].as_str().unwrap()).send().await.expect(200);
    let text = tab.get(&at(&once, "")).await.expect(200).text();
    assert!(text.contains("This page was viewed and deleted") && !text.contains("Settings"), "{text}");
}

#[tokio::test]
async fn no_form_changes_anything_unless_a_page_of_ours_sends_it() {
    let node = Node::start().await;
    let site = node.publish(Form::file("p.html", page("Kept")).field("agentation", "true")).await;
    let comment = node
        .post(&format!("{}_dropleaf/feedback", site["url"].as_str().unwrap()))
        .json(&json!({"comment": "Hm"}))
        .send()
        .await
        .expect(201)
        .json();
    let link = node
        .post(&format!("/sites/{}/share-tokens", site["id"].as_str().unwrap()))
        .key(&node.key)
        .json(&json!({}))
        .send()
        .await
        .expect(201)
        .json();
    let unowned = node.publish_anonymously().await;
    let tab = node.operator().await;
    let (comment, link) = (comment["id"].as_str().unwrap(), link["id"].as_str().unwrap());
    let seen = site["updated_at"].to_string();
    let claim = unowned["claim_url"].as_str().unwrap();
    let claim_token = unowned["claim_token"].as_str().unwrap();
    let fields = [
        ("updated_at", seen.as_str()),
        ("title", "Forged"),
        ("visibility", "burn"),
        ("password", "forged"),
        ("act", "set"),
        ("domain", "evil.example"),
        ("expires", "1"),
        ("version", "1"),
        ("note", "forged"),
        ("link", claim),
        ("claim_token", claim_token),
    ];
    let paths = [
        at(&site, "/title"),
        at(&site, "/visibility"),
        at(&site, "/password"),
        at(&site, "/email-gate"),
        at(&site, "/expiry"),
        at(&site, "/options"),
        at(&site, "/rollback"),
        at(&site, "/delete"),
        at(&site, "/restore"),
        at(&site, "/share-links"),
        at(&site, &format!("/share-links/{link}/revoke")),
        at(&site, &format!("/feedback/{comment}/resolve")),
        at(&site, &format!("/feedback/{comment}/delete")),
        "/dashboard/claim".to_owned(),
        format!("/claim/{}", unowned["id"].as_str().unwrap()),
    ];
    for path in &paths {
        tab.cannot_be_imitated(path, &fields).await;
    }
    let now = node.read_site(&site).await;
    assert_eq!((&now["title"], &now["updated_at"]), (&json!("Kept"), &site["updated_at"]));
    assert_eq!(node.count("SELECT COUNT(*) FROM feedback WHERE resolved_at IS NULL").await, 1);
    assert_eq!(node.count("SELECT COUNT(*) FROM share_tokens").await, 1);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE account_id IS NULL").await, 1);
}
