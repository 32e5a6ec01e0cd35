//! `/operator/pages/{id}` and `/operator/audit`: deciding about one page, and the audit log.

use crate::harness::{Dropleaf, Form, Node, Setup, on_each_database, page};
use serde_json::Value;

pub(crate) fn id(site: &Value) -> &str {
    site["id"].as_str().unwrap()
}

pub(crate) fn case(site: &Value) -> String {
    format!("/operator/pages/{}", id(site))
}

pub(crate) async fn report(node: &Node, site: &Value, comment: &str) {
    let url = format!("{}_dropleaf/report", site["url"].as_str().unwrap());
    node.post(&url).fields(&[("reason", "phishing"), ("comment", comment)]).send().await.expect(200);
}

#[tokio::test]
async fn case_shows_reports_owner_other_pages_and_the_same_elsewhere() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let key = node.account("pro").await;
        let bad = node.publish_as(&key, Form::file("a.html", page("Bad <i>page</i>"))).await;
        node.publish_as(&key, Form::file("a.html", page("A second one"))).await;
        let twin = Form::file("b.html", page("Bad <i>page</i>"));
        let twin = node.post("/sites").form(twin).send().await.expect(201).json();
        report(node, &bad, "<script>alert(1)</script>").await;
        let html = operator.get(&case(&bad)).await.expect(200).text();
        for part in [
            "It impersonates someone",
            "&#60;script&#62;alert(1)&#60;/script&#62;",
            "Other pages of this account",
            "A second one",
            "Pages with the same main file",
            &format!("href=\"{}\"", case(&twin)),
            "would be accepted",
            "Also suspend the account",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script>alert") && !html.contains("<i>page"));
        let anonymous = operator.get(&case(&twin)).await.expect(200).text();
        assert!(anonymous.contains("published without an account") && !anonymous.contains("Also suspend"));
        operator.get("/operator/pages/site_nothing").await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn page_is_taken_down_with_its_account_and_the_case_tells_it() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let key = node.account("pro").await;
        let bad = node.publish_as(&key, Form::file("a.html", page("Bad"))).await;
        let other = node.publish_as(&key, Form::file("a.html", page("Other"))).await;
        report(node, &bad, "false bank").await;
        let silent =
            operator.submit(&format!("{}/takedown", case(&bad)), &[("reason", " ")]).await.expect(400);
        assert!(silent.text().contains("Enter a reason") && silent.text().contains("aria-invalid"));
        let fields = [("reason", "a false bank"), ("suspend", "1")];
        let sent = operator.submit(&format!("{}/takedown", case(&bad)), &fields).await.expect(303);
        assert_eq!(sent.header("location"), format!("{}?done=taken-down-held", case(&bad)));
        node.get(bad["url"].as_str().unwrap()).send().await.expect(410);
        node.get(other["url"].as_str().unwrap()).send().await.expect(403);
        let html = operator.get(sent.header("location")).await.expect(200).text();
        for part in
            ["taken down", "suspended", "a false bank", "took down this page", "suspended its account"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("id=\"decide\""), "nothing is left to decide");
        let outcome = node.rows("SELECT outcome FROM reports", vec![], |row| Ok(row.text(0)?.to_owned()));
        assert_eq!(outcome.await, ["taken_down"]);
        let evidence = format!("{}/evidence", case(&bad));
        operator.submit(&evidence, &[("reason", "")]).await.expect(400);
        let archive = operator.submit(&evidence, &[("reason", "the police ask")]).await.expect(200);
        assert!(
            archive.body.starts_with(b"PK") && archive.header("content-type") == "application/octet-stream"
        );
        assert!(archive.header("content-disposition").starts_with("attachment; filename=\"evidence-site_"));
        assert!(operator.get(&case(&bad)).await.text().contains("opened the evidence of this page"));
        for (act, done, part) in [
            ("erase", "evidence-erased", "erased the evidence of this page"),
            ("forget", "forgotten", "Content unblocked"),
        ] {
            let path = format!("{}/{act}", case(&bad));
            operator.submit(&path, &[("reason", " ")]).await.expect(400);
            let sent = operator.submit(&path, &[("reason", "a mistake")]).await.expect(303);
            assert!(sent.header("location").ends_with(done));
            let html = operator.get(sent.header("location")).await.text();
            assert!(html.contains(part) && !html.contains(&format!("{}/{act}", id(&bad))), "{act}: {html}");
            operator.submit(&path, &[("reason", "again")]).await.expect(404);
        }
        node.publish_as(&node.key, Form::file("c.html", page("Bad"))).await;
        let lift = format!("{}/lift", case(&bad));
        operator.submit(&lift, &[("reason", "")]).await.expect(400);
        operator.submit(&lift, &[("reason", "they wrote")]).await.expect(303);
        node.get(other["url"].as_str().unwrap()).send().await.expect(200);
        let suspend = format!("{}/suspend", case(&other));
        operator.submit(&suspend, &[("reason", "again")]).await.expect(303);
        node.get(other["url"].as_str().unwrap()).send().await.expect(403);
        let acts: Vec<_> =
            node.app().list_audit(9).await.unwrap().into_iter().map(|line| line.action.as_str()).collect();
        assert_eq!(acts.len(), 7, "{acts:?}");
    })
    .await;
}

#[tokio::test]
async fn reports_are_dismissed_with_words_and_stay_known() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let fine = node.publish_page("Fine").await;
        report(node, &fine, "I do not like it").await;
        report(node, &fine, "me neither").await;
        let path = format!("{}/dismiss", case(&fine));
        let sent = operator.submit(&path, &[("reason", "It is <b>honest</b>.")]).await.expect(303);
        let html = operator.get(sent.header("location")).await.expect(200).text();
        assert!(html.contains("It is &#60;b&#62;honest") && html.contains("I do not like it"));
        assert_eq!(html.matches(">dismissed</span>").count(), 2);
        operator.submit(&path, &[]).await.expect(404);
        let queue = operator.get("/operator/reports").await.expect(200).text();
        assert!(queue.contains("No open reports") && queue.contains("Recently closed"));
        // An operator's account cannot be suspended.
        operator.submit(&format!("{}/suspend", case(&fine)), &[("reason", "x")]).await.expect(403);
    })
    .await;
}

#[tokio::test]
async fn case_is_for_operators_who_proved_who_they_are() {
    let node = Node::start().await;
    let site = node.publish_page("x").await;
    let (operator, eve) = (node.operator().await, node.newcomer("eve@example.org").await);
    eve.get(&case(&site)).await.expect(404);
    eve.get("/operator/audit").await.expect(404);
    node.get(&case(&site)).browser().send().await.expect(303);
    for act in ["takedown", "dismiss", "suspend", "lift", "evidence", "erase", "forget"] {
        let path = format!("{}/{act}", case(&site));
        eve.submit(&path, &[("reason", "x")]).await.expect(404);
        operator.cannot_be_imitated(&path, &[("reason", "x")]).await;
    }
    node.clock.advance(3600);
    let back = case(&site).replace('/', "%2F");
    for act in ["takedown", "dismiss", "suspend", "lift", "evidence", "erase", "forget"] {
        let sent = operator.submit(&format!("{}/{act}", case(&site)), &[("reason", "x")]).await.expect(303);
        assert_eq!(sent.header("location"), format!("/login?again=1&next={back}"));
    }
    let html = operator.get(&case(&site)).await.expect(200).text();
    assert!(html.contains(&format!("/login?again=1&amp;next={}", case(&site))));
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 0);
}

#[tokio::test]
async fn acts_are_listed_by_subject_and_page_by_page() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let site = node.publish_page("Bad").await;
        node.app().take_down("command line", id(&site), "first of all").await.unwrap();
        let key = node.account("free").await;
        let account = node.get("/me").key(&key).send().await.json()["id"].as_str().unwrap().to_owned();
        for n in 0..101 {
            node.clock.advance(1);
            node.app().set_plan("ann", &account, if n % 2 == 0 { "pro" } else { "free" }).await.unwrap();
        }
        let html = operator.get("/operator/audit").await.expect(200).text();
        assert!(!html.contains("first of all"));
        let (_, rest) = html.split_once("href=\"/operator/audit?before=").unwrap();
        let older =
            format!("/operator/audit?before={}", rest.split('"').next().unwrap()).replace("&#38;", "&");
        let html = operator.get(&older).await.expect(200).text();
        assert!(html.contains("first of all") && html.contains(&format!("href=\"{}\"", case(&site))));
        let html = operator.get(&format!("/operator/audit?subject={}", id(&site))).await.expect(200).text();
        assert_eq!(html.matches("took down").count(), 1);
        assert!(!html.contains("changed the plan"));
        let odd =
            operator.get("/operator/audit?subject=%22%3E%3Cscript%3E&before=x").await.expect(200).text();
        assert!(odd.contains("No entries for") && !odd.contains("\"><script>"));
    })
    .await;
}

#[tokio::test]
async fn command_line_tells_open_reports_from_settled_ones() {
    let node = Node::start().await;
    let (bad, fine) = (node.publish_page("Bad").await, node.publish_page("Fine").await);
    report(&node, &bad, "one").await;
    report(&node, &fine, "two").await;
    node.app().take_down("command line", id(&bad), "phishing").await.unwrap();
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    let open: Value = serde_json::from_str(&dropleaf.prints(&["reports", "--open", "--json"])).unwrap();
    assert_eq!(open["reports"].as_array().unwrap().len(), 1);
    assert_eq!(open["reports"][0]["comment"], "two");
    assert!(open["reports"][0]["outcome"].is_null());
    let all: Value = serde_json::from_str(&dropleaf.prints(&["reports", "--json"])).unwrap();
    let closed = all["reports"].as_array().unwrap().iter().find(|report| report["comment"] == "one").unwrap();
    assert!(closed["outcome"] == "taken_down" && closed["closed_at"].is_i64());
    let table = dropleaf.prints(&["reports"]);
    assert!(table.contains("taken down") && table.contains(" open "), "{table}");
    let said =
        dropleaf.prints(&["reports", "dismiss", fine["url"].as_str().unwrap(), "--reason", "It is fine."]);
    assert_eq!(
        said,
        format!("{}: 1 report closed; the page stays online: {}\n", id(&fine), fine["url"].as_str().unwrap())
    );
    assert!(dropleaf.prints(&["audit"]).contains("It is fine."));
    assert!(dropleaf.complains(&["reports", "dismiss", id(&fine)]).contains("No such open report"));
    assert!(dropleaf.complains(&["reports", "dismiss", "nowhere-at-all"]).contains("No such page"));
    assert_eq!(dropleaf.prints(&["reports", "--open"]), "No open reports.\n");
}

#[tokio::test]
async fn commands_end_well_when_nobody_reads_their_answer_to_the_end() {
    let node = Node::start().await;
    let bad = node.publish_page("Bad").await;
    report(&node, &bad, "one").await;
    node.app().take_down("command line", id(&bad), "phishing").await.unwrap();
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    for words in [
        &["appeals"][..],
        &["appeals", "allowed", "--json"],
        &["reports"],
        &["unwanted", "list"],
        &["evidence", "--list"],
        &["audit"],
        &["account", "list"],
        &["payments", "list"],
        &["ledger", "audit"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = dropleaf.command(words).stdout(writer).output().unwrap();
        let complaint = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && !complaint.contains("panicked"), "{words:?}: {complaint}");
    }
}
