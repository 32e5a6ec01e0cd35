//! `PATCH …/content`: literal edits of the uploaded source, and single files of an archive.

use crate::harness::{
    Answer, Form, HARVEST, Node, Setup, noise, on_each_database, page, pdf, site_path, zip,
};
use serde_json::{Value, json};

async fn edit(node: &Node, site: &Value, body: Value) -> Answer {
    node.patch(&format!("{}/content", site_path(site))).key(&node.key).json(&body).send().await
}

fn one(find: &str, replace: &str) -> Value {
    json!({"edits": [{"find": find, "replace": replace}]})
}

/// The uploaded source as it is now.
async fn source(node: &Node, site: &Value, path: Option<&str>) -> String {
    let query = path.map_or("source=true".to_owned(), |path| format!("path={path}"));
    let get = node.get(&format!("{}/content?{query}", site_path(site))).key(&node.key);
    get.send().await.expect(200).text()
}

/// The page must be as it was.
async fn unchanged(node: &Node, site: &Value, text: &str) {
    assert_eq!(source(node, site, None).await, text);
    let now = node.read_site(site).await;
    assert_eq!((&now["version"], &now["updated_at"]), (&site["version"], &site["updated_at"]));
}

#[tokio::test]
async fn an_edit_makes_a_new_version_at_the_same_url_and_returns_the_difference() {
    on_each_database(Setup::new, async |node| {
        let html = "<!doctype html>\n<title>Report</title>\n<p>All is well.</p>\n";
        let site = node.publish(Form::file("report.html", html)).await;
        node.clock.advance(60);
        let body = json!({
            "edits": [{"find": "well", "replace": "well $& again"}, {"find": "Report", "replace": "Rapport"}],
            "expected_updated_at": site["updated_at"],
        });
        let edited = edit(node, &site, body).await.expect(200).json();
        assert_eq!((&edited["version"], &edited["title"]), (&json!(2), &json!("Rapport")));
        assert_eq!((&edited["url"], &edited["dry_run"]), (&site["url"], &json!(false)));
        let diff = "--- a/report.html\n+++ b/report.html\n@@ -1,3 +1,3 @@\n <!doctype html>\n-<title>Report</title>\n\
                    -<p>All is well.</p>\n+<title>Rapport</title>\n+<p>All is well $& again.</p>\n";
        assert_eq!(edited["diff"], diff);
        let shown = node.get(site["url"].as_str().unwrap()).send().await.expect(200).text();
        assert!(shown.contains("<p>All is well $& again.</p>"), "{shown}");
        let all = json!({"edits": [{"find": "p", "replace": "q", "all": true}]});
        let edited = edit(node, &site, all).await.expect(200).json();
        assert_eq!(edited["version"], 3);
        assert!(source(node, &site, None).await.contains("<q>All is well $& again.</q>"));
    })
    .await;
}

#[tokio::test]
async fn edits_that_do_not_match_exactly_once_are_refused_and_change_nothing() {
    on_each_database(Setup::new, async |node| {
        let html = "<!doctype html>\n<title>é</title>\n<p>one</p>\n<p>two, one</p>\n";
        let site = node.publish(Form::file("a.html", html)).await;
        let good = json!({"find": "two", "replace": "2"});
        for (bad, code) in [
            (json!({"find": "one", "replace": "1"}), "edit_not_unique"),
            (json!({"find": "three", "replace": "3"}), "edit_no_match"),
            (json!({"find": "o, o", "replace": "x"}), "edit_overlap"),
            // The first byte of "é" is that of "Ã" in Latin-1.
            (json!({"find": "Ã", "replace": "A"}), "edit_no_match"),
            (json!({"find": "two.*", "replace": "x"}), "edit_no_match"),
            (json!({"find": "$&", "replace": "x"}), "edit_no_match"),
        ] {
            let answer = edit(node, &site, json!({"edits": [good, bad]})).await.refused(422, code).json();
            assert_eq!((&answer["edit"], &answer["path"]), (&json!(1), &json!("a.html")), "{answer}");
        }
        // Half of a character in UTF-16 is no text.
        let half = r#"{"edits": [{"find": "\ud83d", "replace": "x"}]}"#;
        let path = format!("{}/content", site_path(&site));
        let half = node.patch(&path).key(&node.key).body("application/json", half);
        half.send().await.refused(400, "invalid_request");
        let answer = edit(node, &site, one("one", "1")).await.refused(422, "edit_not_unique").json();
        assert_eq!((&answer["matches"], &answer["lines"]), (&json!(2), &json!([3, 4])));
        let answer = edit(node, &site, one("<p>One</p>", "x")).await.refused(422, "edit_no_match").json();
        assert_eq!(answer["matches"], 0);
        unchanged(node, &site, html).await;
    })
    .await;
}

#[tokio::test]
async fn malformed_edits_are_400() {
    let node = Node::start().await;
    let site = node.publish_page("Plain").await;
    for body in [
        json!({}),
        json!({"edits": []}),
        json!({"edits": [{"find": "", "replace": "x"}]}),
        json!({"edits": [{"find": "Plain", "replace": "Plain"}]}),
        json!({"edits": [{"find": "Plain"}]}),
        json!({"edits": "Plain"}),
        json!({"edits": [{"find": "Plain", "replace": "x", "path": "other.html"}]}),
        json!({"files": [{"path": "a.css", "content": "x", "delete": true}]}),
        json!({"edits": [{"find": "Plain", "replace": "x"}], "expected_updated_at": "now"}),
        json!({"edits": [{"find": "Plain", "replace": "x"}], "passwd": "x"}),
    ] {
        edit(&node, &site, body.clone()).await.refused(400, "invalid_field");
    }
    let file = json!({"files": [{"path": "a.css", "content": "x"}]});
    edit(&node, &site, file).await.refused(422, "not_editable");
    unchanged(&node, &site, &page("Plain")).await;
}

#[tokio::test]
async fn an_edit_that_makes_a_phishing_page_is_refused_and_changes_nothing() {
    on_each_database(Setup::new, async |node| {
        let html = page("Harmless");
        let site = node.publish(Form::file("a.html", &html)).await;
        let body = one("<title>Harmless</title>", HARVEST);
        for dry_run in [false, true] {
            let mut body = body.clone();
            body["dry_run"] = json!(dry_run);
            let answer = edit(node, &site, body).await.refused(422, "phishing_blocked").json();
            assert!(!answer["reasons"].as_array().unwrap().is_empty(), "{answer}");
        }
        unchanged(node, &site, &html).await;
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
    })
    .await;
}

#[tokio::test]
async fn of_edits_at_the_same_time_one_wins() {
    on_each_database(Setup::new, async |node| {
        let html = "<!doctype html>\n<title>T</title>\n<p>word</p>\n";
        let site = node.publish(Form::file("a.html", html)).await;
        let seen = site["updated_at"].clone();
        let edits = (0..8).map(|n| {
            let mut body = one("word", &format!("other {n}"));
            body["expected_updated_at"] = seen.clone();
            edit(node, &site, body)
        });
        let answers = futures_util::future::join_all(edits).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 7);
        // Without an expectation, an edit never overwrites what it was not made from.
        let edits = (0..8).map(|n| edit(node, &site, one("other", &format!("other {n}"))));
        let answers = futures_util::future::join_all(edits).await;
        let done = answers.iter().filter(|answer| answer.status == 200).count();
        assert!(done >= 1 && answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
        let words = source(node, &site, None).await.matches("other").count();
        assert_eq!(
            (words, node.read_site(&site).await["version"].as_i64()),
            (1, Some(2 + i64::try_from(done).unwrap()))
        );
    })
    .await;
}

#[tokio::test]
async fn stale_expectation_is_409_with_the_current_value() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    let mut body = one("First", "Second");
    body["expected_updated_at"] = json!(site["updated_at"].as_i64().unwrap() - 1);
    let answer = edit(&node, &site, body).await.refused(409, "conflict").json();
    assert_eq!(answer["updated_at"], site["updated_at"]);
    unchanged(&node, &site, &page("First")).await;
}

#[tokio::test]
async fn the_same_key_and_body_give_the_same_answer() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", "<!doctype html><title>T</title><p>ab")).await;
        let path = format!("{}/content", site_path(&site));
        let send =
            |body: Value| node.patch(&path).key(&node.key).header("idempotency-key", "k1").json(&body).send();
        let body = one("b", "bb b");
        let first = send(body.clone()).await.expect(200);
        let again = send(body).await.expect(200);
        assert_eq!(first.text(), again.text());
        assert_eq!(node.read_site(&site).await["version"], 2);
        send(one("a", "c")).await.refused(422, "idempotency_mismatch");
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    let mut body = one("<title>First", "<title>Second");
    body["dry_run"] = json!(true);
    let answer = edit(&node, &site, body).await.expect(200).json();
    assert_eq!((&answer["dry_run"], &answer["version"]), (&json!(true), &json!(1)));
    assert!(answer["diff"].as_str().unwrap().contains('+'), "{answer}");
    unchanged(&node, &site, &page("First")).await;
}

#[tokio::test]
async fn what_was_uploaded_is_edited_not_what_was_rendered() {
    let node = Node::start().await;
    for (name, text, find, replace, shown) in [
        ("notes.md", "# Plan\n\n- *one*\n", "*one*", "**two**", "<strong>two</strong>"),
        ("data.csv", "name,count\napples,3\n", "apples,3", "pears,4", "pears"),
        ("data.json", "{\"leaves\": 3}", "3", "[4, 5]", "5"),
        ("notes.txt", "plain & simple", "&", "<and>", "&lt;and&gt;"),
    ] {
        let site = node.publish(Form::file(name, text)).await;
        let edited = edit(&node, &site, one(find, replace)).await.expect(200).json();
        assert!(edited["diff"].as_str().unwrap().starts_with(&format!("--- a/{name}\n")), "{edited}");
        assert_eq!(source(&node, &site, None).await, text.replace(find, replace));
        let page = node.get(site["url"].as_str().unwrap()).send().await.expect(200).text();
        assert!(page.contains(shown), "{name}: {page}");
        edit(&node, &site, one("<!doctype html>", "x")).await.refused(422, "edit_no_match");
    }
}

#[tokio::test]
async fn what_is_not_text_or_must_not_be_read_is_not_editable() {
    let node = Node::start().await;
    let sites = [
        node.publish(Form::file("a.pdf", pdf())).await,
        node.publish(Form::file("x", noise("x", 64)).field("e2e", "true")).await,
        node.publish(Form::file("a.html", page("Once")).field("burn_after_read", "true")).await,
        node.publish(Form::file("a.html", b"<!doctype html><title>caf\xe9</title>")).await,
        node.publish(Form::file("a.png", b"\x89PNG\r\n\x1a\n0000")).await,
    ];
    for site in sites {
        edit(&node, &site, one("a", "b")).await.refused(422, "not_editable");
        assert_eq!(node.read_site(&site).await["version"], 1);
    }
}

#[tokio::test]
async fn single_files_of_an_archive_are_edited_added_replaced_and_deleted() {
    on_each_database(Setup::new, async |node| {
        let index = page("Site").replace("</title>", "</title><link rel=stylesheet href=a.css>");
        let files = [("index.html", index.as_str()), ("a.css", "p { color: red }\n"), ("old.txt", "old\n")];
        let site = node.publish(Form::file("site.zip", zip(&files))).await;
        let body = json!({
            "edits": [{"path": "a.css", "find": "red", "replace": "green"}],
            "files": [
                {"path": "img/dot.png", "content_base64": "iVBORw0KGgo="},
                {"path": "new.txt", "content": "new\n"},
                {"path": "old.txt", "delete": true},
            ],
        });
        let edited = edit(node, &site, body).await.expect(200).json();
        assert_eq!(edited["version"], 2);
        let diff = edited["diff"].as_str().unwrap();
        for line in
            ["-p { color: red }", "+p { color: green }", "+++ b/new.txt", "--- a/old.txt", "img/dot.png"]
        {
            assert!(diff.contains(line), "{diff}");
        }
        assert_eq!(source(node, &site, Some("a.css")).await, "p { color: green }\n");
        assert_eq!(source(node, &site, Some("index.html")).await, index, "other files stay");
        assert_eq!(source(node, &site, Some("new.txt")).await, "new\n");
        let url = site["url"].as_str().unwrap();
        assert_eq!(
            node.get(&format!("{url}img/dot.png")).send().await.expect(200).body,
            b"\x89PNG\r\n\x1a\n"
        );
        let gone = node.get(&format!("{}/content?path=old.txt", site_path(&site))).key(&node.key);
        gone.send().await.refused(400, "invalid_field");
        let by_default = edit(node, &site, one("<title>Site", "<title>Better")).await.expect(200).json();
        assert_eq!(by_default["title"], "Better");
    })
    .await;
}

#[tokio::test]
async fn changes_of_an_archive_are_checked_as_an_upload() {
    let node = Node::start().await;
    let (index, about) = (page("Site"), page("About"));
    let files = [("index.html", index.as_str()), ("docs/index.html", about.as_str())];
    let site = node.publish(Form::file("site.zip", zip(&files))).await;
    let file = |path: &str, content: &str| json!({"files": [{"path": path, "content": content}]});
    for (body, status, code) in [
        (file("../up.html", "x"), 400, "forbidden_name"),
        (file("_dropleaf/x.html", "x"), 400, "forbidden_name"),
        (file("INDEX.html", "x"), 400, "forbidden_name"),
        (file(".hidden", "x"), 400, "invalid_field"),
        (file("a\\b.txt", "x"), 400, "invalid_field"),
        (file("login.html", HARVEST), 422, "phishing_blocked"),
        (json!({"files": [{"path": "index.html", "delete": true}]}), 400, "missing_index"),
        (json!({"files": [{"path": "nothing.txt", "delete": true}]}), 400, "invalid_field"),
        (json!({"files": [{"path": "index.html", "content": index}]}), 400, "invalid_field"),
        (
            json!({"files": [{"path": "index.html", "content": "x"}], "edits": [{"find": "S", "replace": "T"}]}),
            400,
            "invalid_field",
        ),
    ] {
        edit(&node, &site, body).await.refused(status, code);
    }
    assert_eq!(node.read_site(&site).await["version"], 1);
}

#[tokio::test]
async fn pages_generated_from_the_documents_of_an_archive_follow_their_edits() {
    let node = Node::start().await;
    let files = [("README.md", "# Guide\n\nSee [more](more.md).\n"), ("more.md", "# More\n\nold\n")];
    let site = node.publish(Form::file("docs.zip", zip(&files))).await;
    let body = json!({"edits": [{"path": "more.md", "find": "old", "replace": "**new**"}]});
    edit(&node, &site, body).await.expect(200);
    let url = site["url"].as_str().unwrap();
    let more = node.get(&format!("{url}more.html")).send().await.expect(200).text();
    assert!(more.contains("<strong>new</strong>"), "{more}");
    edit(&node, &site, one("# Guide", "# Handbook")).await.expect(200);
    assert_eq!(
        node.read_site(&site).await["title"],
        "Handbook",
        "the document behind the start page is the default"
    );
    let generated = json!({"edits": [{"path": "index.html", "find": "Handbook", "replace": "x"}]});
    let answer = edit(&node, &site, generated).await.refused(400, "invalid_field").json();
    assert!(answer["error_description"].as_str().unwrap().contains("README.md"), "{answer}");
}

#[tokio::test]
async fn a_claim_token_edits_like_it_replaces_and_others_do_not() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let path = format!("{}/content", site_path(&site));
    let body = one("<title>", "<title>Edited ");
    let claim = site["claim_token"].as_str().unwrap();
    let edited = node.patch(&path).claim(claim).json(&body).send().await.expect(200).json();
    assert_eq!(edited["version"], 2);
    node.patch(&path).json(&body).send().await.refused(401, "auth required");
    node.patch(&path).key(&node.key).json(&body).send().await.refused(404, "not_found");
    let mine = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    let theirs = node.patch(&format!("{}/content", site_path(&mine))).key(&stranger).json(&body);
    theirs.send().await.refused(404, "not_found");
}

#[tokio::test]
async fn a_word_of_a_large_page_is_edited_with_a_short_request() {
    let node = Node::start().await;
    let line = "<p>Some text that fills the page, line after line.</p>\n";
    let html = format!(
        "<!doctype html>\n<title>Large</title>\n{}<p>needle</p>\n",
        line.repeat(5 * 1024 * 1024 / line.len())
    );
    let site = node.publish(Form::file("large.html", &html)).await;
    let edited = edit(&node, &site, one("needle", "thread")).await.expect(200);
    assert!(edited.text().len() < 4096, "{}", edited.text().len());
    assert!(edited.json()["diff"].as_str().unwrap().contains("+<p>thread</p>"));
    assert_eq!(source(&node, &site, None).await, html.replace("needle", "thread"));
}

#[tokio::test]
async fn settings_stay_and_limits_hold() {
    let node = Node::start().await;
    let form = Form::file("a.html", page("Gated")).field("password", "secret").field("spa", "true");
    let site = node.publish(form.field("csp_strict", "true")).await;
    let edited = edit(&node, &site, one("<title>Gated", "<title>Still gated")).await.expect(200).json();
    for setting in ["password_protected", "spa", "csp_strict"] {
        assert_eq!(edited[setting], true, "{setting}");
    }
    let node = Setup::new().set("limits.upload_bytes", "1000").start().await;
    let site = node.publish_page("Small").await;
    edit(&node, &site, one("<title>", &"x".repeat(990))).await.refused(413, "too_large");
    unchanged(&node, &site, &page("Small")).await;
}
