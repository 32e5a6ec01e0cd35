//! Taking a page down: immediate, permanent, and recorded in the audit log.

use crate::harness::{DAY, Dropleaf, Form, Node, Setup, on_each_database, page, site_path, zip};
use serde_json::Value;

async fn take_down(node: &Node, name: &str) {
    let operator = node.operator().await;
    let sent = operator.submit("/operator/takedown", &[("page", name), ("reason", "phishing")]).await;
    let sent = sent.expect(303);
    let to = sent.header("location");
    assert!(to.starts_with("/operator?done=taken-down&page=site_"), "{to}");
    assert!(operator.get(to).await.expect(200).text().contains("Taken down: <code"));
}

fn text<'a>(site: &'a Value, field: &str) -> &'a str {
    site[field].as_str().unwrap()
}

#[tokio::test]
async fn page_is_410_at_once_and_never_comes_back() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let site = node.publish_as(&key, Form::file("a.html", page("Bad"))).await;
        let url = text(&site, "url");
        node.get(url).send().await.expect(200);
        take_down(node, text(&site, "id")).await;
        node.get(url).header("accept", "application/json").send().await.refused(410, "taken_down");
        let browser = node.get(&format!("/p/{}/", text(&site, "unlisted_token"))).browser().send().await;
        assert!(browser.expect(410).text().contains("This page was taken down"));
        node.get(&site_path(&site)).key(&key).send().await.refused(404, "not_found");
        node.post(&format!("{}/restore", site_path(&site)))
            .key(&key)
            .send()
            .await
            .refused(410, "not_restorable");
        let put = node.put(&site_path(&site)).key(&key).form(Form::file("a.html", page("Again")));
        put.send().await.refused(404, "not_found");
        let patch = node.patch(&site_path(&site)).key(&key).json(&serde_json::json!({"expires_in_hours": 2}));
        patch.send().await.refused(404, "not_found");
        node.delete(&site_path(&site)).key(&key).send().await.refused(404, "not_found");
        node.clock.advance(40 * DAY);
        node.app().sweep().await.unwrap();
        node.get(url).header("accept", "application/json").send().await.refused(410, "taken_down");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE purged_at IS NOT NULL").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 1, "the line outlives the bytes");
    })
    .await;
}

#[tokio::test]
async fn place_in_the_plan_is_given_back() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let mut last = Value::Null;
        for _ in 0..3 {
            last = node.publish_as(&key, Form::file("a.html", page("x"))).await;
        }
        let again = || node.post("/sites").key(&key).form(Form::file("a.html", page("y")));
        again().send().await.refused(402, "plan_page_limit");
        take_down(node, text(&last, "id")).await;
        again().send().await.expect(201);
        take_down(node, text(&last, "id")).await;
        again().send().await.refused(402, "plan_page_limit");
    })
    .await;
}

#[tokio::test]
async fn page_is_named_by_id_slug_token_or_address() {
    let node = Setup::new().start().await;
    let mut taken = 0;
    for name in ["id", "slug", "unlisted_token", "url", "own"] {
        let site = node.publish(
            Form::file("a.html", page(name)).field("slug", &format!("bad-{name}").replace('_', "-")),
        );
        let site = site.await;
        let address =
            format!("{}/p/{}/deep/file.html?q=1#top", node.base_url(), text(&site, "unlisted_token"));
        take_down(&node, if name == "own" { &address } else { text(&site, name) }).await;
        taken += 1;
        assert_eq!(
            node.count("SELECT COUNT(*) FROM sites WHERE state = 'taken_down'").await,
            taken,
            "{name}"
        );
    }
    let operator = node.operator().await;
    let typed = [("page", "https://elsewhere.example/p/x/"), ("reason", "because")];
    let unknown = operator.submit("/operator/takedown", &typed).await.expect(404);
    assert!(
        unknown.text().contains("No page has this name") && unknown.text().contains("because</textarea>")
    );
    let silent =
        operator.submit("/operator/takedown", &[("page", "bad-id"), ("reason", " ")]).await.expect(400);
    assert!(silent.text().contains("Enter a reason"));
}

/// A page whose token could be a slug, except for its case.
async fn with_a_token_like_a_slug(node: &Node, title: &str) -> Value {
    loop {
        let form = Form::file("a.html", page(title));
        let site = node.post("/sites").form(form).send().await.expect(201).json();
        let token = text(&site, "unlisted_token");
        let is_plain = token.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_plain && token.bytes().any(|b| b.is_ascii_uppercase()) {
            return site;
        }
    }
}

#[tokio::test]
async fn decoy_does_not_shield_a_page() {
    on_each_database(Setup::new, async |node| {
        let base = node.base_url();
        for name in ["/p/{token}/", "/p/{token}/deep.html?x", "{token}"] {
            let bad = with_a_token_like_a_slug(node, name).await;
            let token = text(&bad, "unlisted_token");
            let slug = token.to_lowercase();
            let decoy = Form::file("a.html", page(&format!("Decoy of {name}")));
            let decoy = node.publish(decoy.field("slug", &slug)).await;
            let name = name.replace("{token}", token);
            let name = if name.starts_with('/') { format!("{base}{name}") } else { name };
            take_down(node, &name).await;
            node.get(&format!("/p/{token}/"))
                .header("accept", "application/json")
                .send()
                .await
                .refused(410, "taken_down");
            node.get(text(&decoy, "url")).send().await.expect(200);
            // An address with a slug means the slug, whatever it looks like.
            take_down(node, text(&decoy, "url")).await;
            node.get(text(&decoy, "url"))
                .header("accept", "application/json")
                .send()
                .await
                .refused(410, "taken_down");
        }
        let operator = node.operator().await;
        let site = node.publish(Form::file("a.html", page("x")).field("slug", "named-only")).await;
        let typed = [("page", &*format!("{base}/p/named-only/")), ("reason", "x")];
        operator.submit("/operator/takedown", &typed).await.expect(404);
        node.get(text(&site, "url")).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn every_take_down_leaves_one_line_with_who_and_why() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        take_down(node, text(&site, "id")).await;
        take_down(node, text(&site, "id")).await;
        let lines = node.app().list_audit(10).await.unwrap();
        assert_eq!(lines.len(), 1, "taking down twice changes nothing");
        let line = &lines[0];
        assert_eq!((line.actor.as_str(), line.action.as_str()), ("operator@localhost", "take_down"));
        assert_eq!((line.subject.as_str(), line.reason.as_deref()), (text(&site, "id"), Some("phishing")));
        let claim = node.post(&format!("{}/claim", site_path(&site))).key(&node.key);
        let token = serde_json::json!({"claim_token": site["claim_token"]});
        claim.json(&token).send().await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn page_to_be_read_once_is_erased_and_not_kept() {
    on_each_database(Setup::new, async |node| {
        let burn = Form::file("a.html", page("Secret")).field("burn_after_read", "true");
        let site = node.publish(burn).await;
        take_down(node, text(&site, "id")).await;
        let url = text(&site, "url");
        node.get(url).header("accept", "application/json").send().await.refused(410, "taken_down");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE purged_at IS NULL").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 0);
    })
    .await;
}

#[tokio::test]
async fn command_line_takes_down_and_lists_what_was_done() {
    let node = Setup::new().start().await;
    let site = node.publish_page("Bad").await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    assert_eq!(dropleaf.prints(&["audit"]), "The audit log is empty.\n");
    let said = dropleaf.prints(&["takedown", text(&site, "url"), "--reason", "mal\u{1b}ware\u{202e}"]);
    let (first, then) = said.split_once('\n').unwrap();
    assert_eq!(first, format!("{} was taken down: {}", text(&site, "id"), text(&site, "url")));
    assert!(then.starts_with("Its content is stored as encrypted evidence until 20"), "{then}");
    assert!(then.ends_with("Z and is blocked from being published again.\n"), "{then}");
    node.clock.advance(2);
    node.get(text(&site, "url")).header("accept", "application/json").send().await.refused(410, "taken_down");
    let again = dropleaf.prints(&["takedown", text(&site, "id"), "--reason", "twice"]);
    assert!(again.contains("was already taken down"));
    let table = dropleaf.prints(&["audit"]);
    assert!(table.contains("command line") && table.contains("malware\\u{202e}"), "{table}");
    let all: Value = serde_json::from_str(&dropleaf.prints(&["audit", "--json"])).unwrap();
    assert_eq!(all["audit"][0]["act"], "take_down");
    assert_eq!(all["audit"].as_array().unwrap().len(), 1);
    assert!(dropleaf.complains(&["takedown", "no-such-page", "--reason", "x"]).contains("No such page"));
    dropleaf.complains(&["takedown", text(&site, "id")]);
}

/// Rows are cached for up to a second; this clock does not advance, so the node does not reload them.
#[tokio::test]
async fn account_is_suspended_with_its_page_in_one_act() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("pro").await;
        let (bad, other) = (
            node.publish_as(&key, Form::file("a.html", page("Bad"))).await,
            node.publish_as(&key, Form::file("a.html", page("Other"))).await,
        );
        let down = async |site: &Value| {
            let id = site["id"].as_str().unwrap();
            node.app().take_down_with_account("ada", id, "fraud", &[], true).await.unwrap()
        };
        let first = down(&bad).await;
        assert!(first.suspended && !first.already);
        node.get(other["url"].as_str().unwrap()).send().await.expect(403);
        node.post("/sites").key(&key).form(Form::file("a.html", page("More"))).send().await.expect(403);
        let again = down(&bad).await;
        assert!(again.suspended && again.already);
        assert!(down(&other).await.suspended, "it was already");
        // An operator is not suspended, and an anonymous page has no account to suspend.
        let own = node.publish(Form::file("a.html", page("Own"))).await;
        assert!(!down(&own).await.suspended);
        let lost = node.publish_anonymously().await;
        assert!(!down(&lost).await.suspended);
        let acts: Vec<_> =
            node.app().list_audit(9).await.unwrap().into_iter().map(|line| line.action.as_str()).collect();
        assert_eq!(acts.iter().filter(|act| **act == "suspend_account").count(), 1, "{acts:?}");
        assert_eq!(acts.iter().filter(|act| **act == "take_down").count(), 4, "{acts:?}");
    })
    .await;
}

#[tokio::test]
async fn command_line_suspends_the_account_with_the_page() {
    let node = Node::start().await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    let down = |site: &Value| {
        let id = site["id"].as_str().unwrap();
        dropleaf.prints(&["takedown", id, "--reason", "fraud", "--suspend"])
    };
    let key = node.account("pro").await;
    let bad = node.publish_as(&key, Form::file("a.html", page("Bad"))).await;
    let said = down(&bad);
    assert!(said.contains("Its account acc") && said.contains("was suspended."), "{said}");
    assert_eq!(node.count("SELECT COUNT(*) FROM accounts WHERE suspended_at IS NOT NULL").await, 1);
    let own = node.publish(Form::file("a.html", page("Own"))).await;
    assert!(down(&own).contains("is an operator account and was not suspended"));
    assert!(down(&node.publish_anonymously().await).contains("no account"));
}

#[tokio::test]
async fn viewer_who_comes_before_the_server_knows_is_told_the_truth() {
    let node = Setup::new().start().await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    let files = [("index.html", "<!doctype html><h1>Bad</h1>"), ("404.html", "<h1>Nothing here</h1>")];
    for rest in ["", "index.html", "no-such-file"] {
        let site = node.publish_as(&node.key, Form::file("site.zip", zip(&files))).await;
        let url = text(&site, "url");
        // Redirected to the address with its slash: the row and the list of files are cached then, the bytes are not.
        node.get(url.trim_end_matches('/')).send().await.expect(308);
        dropleaf.prints(&["takedown", url, "--reason", "by hand"]);
        let asked = node.get(&format!("{url}{rest}")).header("accept", "application/json").send().await;
        asked.refused(410, "taken_down");
        dropleaf.prints(&["unwanted", "forget", text(&site, "id"), "--reason", "the next round needs it"]);
    }
}

#[tokio::test]
async fn command_line_takes_a_token_of_an_older_page_that_begins_with_a_hyphen() {
    let node = Node::start().await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    for token in ["-2AAAAAAAAAAAAAAAAAAAA", "--AAAAAAAAAAAAAAAAAAAA"] {
        let site = node.publish_page(token).await;
        let id = text(&site, "id");
        node.exec("UPDATE sites SET token = $1 WHERE id = $2", vec![token.into(), id.into()]).await;
        let found = dropleaf.complains(&["reports", "dismiss", token, "--reason", "fine"]);
        assert!(found.contains("No such open report"), "the page is found: {found}");
        let said = dropleaf.prints(&["takedown", token, "--reason", "fraud"]);
        assert!(said.starts_with(&format!("{id} was taken down")), "{said}");
        dropleaf.prints(&["evidence", "--reason", "for the court", "--erase", token]);
        dropleaf.prints(&["unwanted", "forget", token, "--reason", "a mistake"]);
    }
    let complaint = dropleaf.complains(&["takedown", "--raeson=fraud"]);
    assert!(
        complaint.contains("'--raeson=fraud'") && complaint.contains("neither a known option"),
        "{complaint}"
    );
}
