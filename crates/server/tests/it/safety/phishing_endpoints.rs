//! A phishing page at every entry point: 422 with the reasons, and nothing is stored. Spec §1.9, §7.

use crate::harness::{
    Answer, Dropleaf, Form, HARVEST, Node, Setup, harvest, on_each_database, page, site_path, zip,
};
use serde_json::{Value, json};

/// The refusal for programs: why, where, how to fix it, and the hash to which an allowed appeal applies.
#[track_caller]
fn is_refused(answer: Answer) -> Value {
    let said = answer.refused(422, "phishing_blocked").json();
    let reasons = said["reasons"].as_array().unwrap();
    assert!(!reasons.is_empty());
    for reason in reasons {
        for name in ["rule", "file", "why", "fix"] {
            assert!(reason[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {reason}");
        }
        assert!(reason["line"].as_u64().is_some_and(|line| line > 0), "{reason}");
    }
    let first = reasons[0]["why"].as_str().unwrap();
    assert!(said["error_description"].as_str().unwrap().contains(first), "{said}");
    assert_eq!(said["content_hash"].as_str().unwrap().len(), 64);
    assert!(said["appeal_url"].as_str().unwrap().ends_with("/appeals"), "{said}");
    said
}

async fn nothing_is_stored(node: &Node) {
    for sql in ["SELECT COUNT(*) FROM sites", "SELECT COUNT(*) FROM bundles", "SELECT COUNT(*) FROM blobs"] {
        assert_eq!(node.count(sql).await, 0, "{sql}");
    }
}

#[tokio::test]
async fn phishing_page_is_422_with_reasons_and_nothing_is_stored() {
    on_each_database(Setup::new, async |node| {
        let form = || Form::file("page.html", HARVEST);
        let owned = is_refused(node.post("/sites").key(&node.key).form(form()).send().await);
        let anonymous = is_refused(node.post("/sites").form(form()).send().await);
        assert_eq!(owned, anonymous);
        // Every page of an archive is checked, and the location is named.
        let archive = zip(&[("index.html", &page("Fine")), ("docs/account/login.html", HARVEST)]);
        let said = is_refused(node.post("/sites").form(Form::file("site.zip", archive)).send().await);
        assert_eq!(said["reasons"][0]["file"], "docs/account/login.html");
        nothing_is_stored(node).await;
        node.publish_page("Honest").await;
    })
    .await;
}

#[tokio::test]
async fn refused_publish_takes_nothing_from_the_quota_and_its_key_may_be_used_again() {
    let node = Setup::new().with_rates().set("limits.anonymous_per_hour", "1").start().await;
    let ask =
        |body: &str| node.post("/sites").header("idempotency-key", "k1").form(Form::file("page.html", body));
    is_refused(ask(HARVEST).send().await);
    // The corrected page is accepted under the same name, within the quota of one.
    ask(&page("Mended")).send().await.expect(201);
}

#[tokio::test]
async fn replacement_is_checked_as_publishing_is() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let put = || node.put(&site_path(&site)).key(&node.key);
        is_refused(put().form(Form::file("page.html", HARVEST)).send().await);
        is_refused(put().json(&json!({"html": HARVEST})).send().await);
        let unowned = node.publish_anonymously().await;
        let claim = node.put(&site_path(&unowned)).claim(unowned["claim_token"].as_str().unwrap());
        is_refused(claim.json(&json!({"html": HARVEST})).send().await);
        assert_eq!(node.read_site(&site).await["version"], 1);
        let url = site["url"].as_str().unwrap();
        assert_eq!(node.get(url).send().await.text(), page("First"));
    })
    .await;
}

#[tokio::test]
async fn upload_address_refuses_with_the_same_words_and_takes_the_mended_file() {
    let node = Node::start().await;
    let made = node.mcp_modern(&node.key).give("create_upload", json!({})).await;
    let url = made["upload_url"].as_str().unwrap();
    let put = |body: String| node.put(&format!("{url}page.html")).body("text/html", body);
    is_refused(put(HARVEST.to_owned()).send().await);
    is_refused(node.post(url.trim_end_matches('/')).form(Form::file("p.html", HARVEST)).send().await);
    put(page("Mended")).send().await.expect(201);
}

#[tokio::test]
async fn tools_refuse_with_the_reasons_and_say_what_to_do() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Fine").await;
        for client in [node.mcp_modern(&node.key), node.mcp(&node.key).await] {
            for (tool, arguments) in [
                ("publish_html", json!({"html": HARVEST})),
                ("update_site", json!({"site": site["id"], "html": HARVEST})),
            ] {
                let said = client.refused(tool, arguments, "phishing_blocked").await;
                let (json, next) = said.split_once('\n').unwrap();
                let json: Value = serde_json::from_str(json).unwrap();
                assert_eq!(json["reasons"][0]["file"], "index.html");
                assert!(json["reasons"][0]["fix"].is_string() && next.contains("appeal_url"), "{said}");
            }
            let said = client.give("check_page", json!({"html": HARVEST})).await;
            assert_eq!((&said["accepted"], &said["code"]), (&json!(false), &json!("phishing_blocked")));
            assert!(!said["reasons"].as_array().unwrap().is_empty());
            let said = client.give("check_page", json!({"markdown": "# Fine"})).await;
            assert_eq!(said["accepted"], true);
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
    })
    .await;
}

#[tokio::test]
async fn dashboard_shows_each_reason_and_the_way_to_an_appeal() {
    let node = Node::start().await;
    let tab = node.operator().await;
    let site = node.publish_page("Fine").await;
    let content = format!("/dashboard/pages/{}/content", site["id"].as_str().unwrap());
    for path in ["/dashboard/upload", content.as_str()] {
        let form = Form::new().field("form_token", &tab.token()).and_file("p.html", harvest("<b>in</b>"));
        let sent = tab.bare(path).header("origin", &node.base_url()).form(form).send().await;
        let shown = sent.expect(422).text();
        assert!(shown.contains("role=\"alert\"") && shown.contains("<ol class=\"reasons\">"), "{shown}");
        for said in ["looks like phishing", "collect.invalid", "index.html, line 3", "/dashboard/appeal"] {
            assert!(shown.contains(said), "{path}: {said} in {shown}");
        }
        // As the script sends it.
        let form = Form::file("p.html", HARVEST);
        let sent = tab.script(path).header("origin", &node.base_url()).header("x-form-token", &tab.token());
        let said = is_dashboards(sent.header("accept", "application/json").form(form).send().await);
        assert_eq!(said["appeal_page"], "/dashboard/appeal");
        assert!(said["appeal"].as_str().unwrap().contains("mistake"));
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 1);
}

/// What the script shows: a message for people, then each reason.
#[track_caller]
fn is_dashboards(answer: Answer) -> Value {
    let said = answer.refused(422, "phishing_blocked").json();
    assert!(said["error_description"].as_str().unwrap().contains("looks like phishing"), "{said}");
    assert!(said["reasons"][0]["why"].is_string(), "{said}");
    said
}

#[tokio::test]
async fn command_line_lists_the_reasons_with_their_places() {
    let node = Node::start().await;
    std::fs::write(node.dir.path().join("login page.html"), HARVEST).unwrap();
    std::fs::write(node.dir.path().join("good.html"), page("Fine")).unwrap();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_URL", &node.base_url())
        .env("DROPLEAF_API_KEY", &node.key);
    let run = move || {
        [
            dropleaf.run(&["publish", "login page.html"]),
            dropleaf.run(&["publish", "--json", "login page.html"]),
            dropleaf.run(&["publish", "--json", "good.html", "login page.html"]),
        ]
    };
    let [plain, json, both] = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(plain.status.code(), Some(3));
    assert!(plain.stdout.is_empty());
    let said = String::from_utf8(plain.stderr).unwrap();
    assert!(said.contains("index.html:3: ") && said.contains("[sent-to-other-site]"), "{said}");
    assert!(said.contains("login page.html was not published"), "{said}");
    assert!(said.contains("curl -F 'file=@login page.html' -F comment=WHY http"), "{said}");
    // Programs get the server's response.
    assert_eq!(json.status.code(), Some(3));
    let body: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(body["error"], "phishing_blocked");
    assert!(body["reasons"][0]["fix"].is_string() && body["appeal_url"].is_string(), "{body}");
    let two: Value = serde_json::from_slice(&both.stdout).unwrap();
    assert!(two[0]["url"].is_string() && two[1]["error"] == "phishing_blocked", "{two}");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn content_that_was_taken_down_can_be_appealed_against_at_every_endpoint() {
    let node = Node::start().await;
    let site = node.publish_page("Scam").await;
    node.app().take_down("ada", site["id"].as_str().unwrap(), "fraud").await.unwrap();
    let form = || Form::file("page.html", page("Scam"));
    let said = node.post("/sites").form(form()).send().await.refused(422, "content_blocked").json();
    assert_eq!(said["appeal_url"], format!("{}/appeals", node.base_url()));
    assert!(said["reasons"][0]["fix"].as_str().unwrap().contains("after an appeal"), "{said}");
    let tool = node.mcp_modern(&node.key);
    let said = tool.refused("publish_html", json!({"html": page("Scam")}), "content_blocked").await;
    assert!(said.contains("`appeal_url`") && said.contains("/appeals\""), "{said}");
    let tab = node.operator().await;
    let sent = Form::new().field("form_token", &tab.token()).and_file("p.html", page("Scam"));
    let shown = tab.bare("/dashboard/upload").header("origin", &node.base_url()).form(sent).send().await;
    let shown = shown.expect(422).text();
    assert!(shown.contains("taken down from this server") && shown.contains("/dashboard/appeal"), "{shown}");
    std::fs::write(node.dir.path().join("scam.html"), page("Scam")).unwrap();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_URL", &node.base_url());
    let said = tokio::task::spawn_blocking(move || dropleaf.complains(&["publish", "scam.html"]));
    assert!(said.await.unwrap().contains("curl -F file=@scam.html"));
}

#[tokio::test]
async fn operator_may_do_without_the_check() {
    let node = Setup::new().set("safety.phishing_check", "false").start().await;
    node.publish(Form::file("page.html", HARVEST)).await;
}

#[tokio::test]
async fn calling_a_page_ciphertext_does_not_get_it_past_the_check() {
    let node = Node::start().await;
    let form = Form::file("page.html", HARVEST).field("e2e", "true");
    node.post("/sites").key(&node.key).form(form).send().await.refused(400, "invalid_ciphertext");
    nothing_is_stored(&node).await;
}
