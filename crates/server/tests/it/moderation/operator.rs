//! `/operator…`: accessible only to operators.

use crate::harness::{Form, Node, Setup, on_each_database};
use dropleaf_core::report::{Reason, ReportContent};
use serde_json::Value;
use std::net::IpAddr;

const PAGES: [&str; 6] = [
    "/operator",
    "/operator/accounts",
    "/operator/appeals",
    "/operator/certificates",
    "/operator/payments",
    "/operator/reports",
];

async fn report(node: &Node, site: &Value, body: &[(&str, &str)]) {
    let url = format!("{}_dropleaf/report", site["url"].as_str().unwrap());
    node.post(&url).fields(body).send().await.expect(200);
}

#[tokio::test]
async fn pages_exist_for_operators_alone() {
    let node = Setup::new().start().await;
    let site = node.publish_page("x").await;
    let id = site["id"].as_str().unwrap();
    let eve = node.newcomer("eve@example.org").await;
    let operator = node.operator().await;
    for path in PAGES {
        assert!(operator.get(path).await.expect(200).text().contains("aria-label=\"Operator\""));
        let hidden = eve.get(path).await.expect(404);
        assert!(hidden.text().contains("Page not found"));
        let out = node.get(path).browser().send().await.expect(303);
        assert!(out.header("location").starts_with("/login?next=%2Foperator"));
    }
    assert!(eve.get("/dashboard/keys").await.text().contains(">Keys<"));
    assert!(!eve.get("/dashboard/keys").await.text().contains("href=\"/operator\""));
    for path in forms(id, &eve.account.id) {
        operator.cannot_be_imitated(&path, &[("reason", "x"), ("page", id), ("plan", "pro")]).await;
        eve.submit(&path, &[("reason", "x"), ("page", id), ("plan", "pro")]).await.expect(404);
    }
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 0);
}

fn forms(site_id: &str, account_id: &str) -> [String; 7] {
    [
        "/operator/takedown".to_owned(),
        format!("/operator/accounts/{account_id}/plan"),
        format!("/operator/accounts/{account_id}/suspend"),
        format!("/operator/accounts/{account_id}/lift"),
        format!("/operator/reports/{site_id}/takedown"),
        format!("/operator/reports/{site_id}/dismiss"),
        format!("/operator/payments/{site_id}/resolve"),
    ]
}

/// The figure with this label.
fn figure(html: &str, label: &str) -> String {
    let (_, rest) = html.split_once(&format!("<dt>{label}</dt><dd>")).unwrap();
    rest.split("</dd>").next().unwrap().to_owned()
}

#[tokio::test]
async fn figures_are_counted_and_kept_for_a_minute() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let site = node.publish_page("One").await;
        node.publish_anonymously().await;
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        node.app().flush_views().await.unwrap();
        let html = operator.get("/operator").await.expect(200).text();
        for (label, value) in [
            ("accounts", "1"),
            ("live pages", "2"),
            ("views", "1"),
            ("new pages today (UTC)", "2"),
            ("open reports", "0"),
            ("open payments", "0"),
        ] {
            assert_eq!(figure(&html, label), value, "{label}");
        }
        assert!(figure(&html, "size of live pages").ends_with("bytes"));
        node.publish_page("Two").await;
        assert_eq!(
            figure(&operator.get("/operator").await.text(), "live pages"),
            "2",
            "not counted again yet"
        );
        node.clock.advance(61);
        assert_eq!(figure(&operator.get("/operator").await.text(), "live pages"), "3");
        node.clock.advance(86_400);
        let html = operator.get("/operator").await.text();
        assert_eq!(figure(&html, "new pages today (UTC)"), "0");
        assert_eq!(figure(&html, "live pages"), "2", "the page without an owner has expired");
    })
    .await;
}

#[tokio::test]
async fn accounts_are_found_by_address_and_paged() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        for n in 0..55 {
            node.clock.advance(1);
            node.app().create_account(&format!("p_{n:02}@example.org"), None, false).await.unwrap();
        }
        let first = operator.get("/operator/accounts").await.expect(200).text();
        assert!(first.contains("p_54@") && first.contains("p_05@") && !first.contains("p_04@"));
        let (_, rest) = first.split_once("href=\"/operator/accounts?before=").unwrap();
        let older = format!("/operator/accounts?before={}", rest.split('"').next().unwrap());
        let second = operator.get(&older.replace("&#38;", "&")).await.expect(200).text();
        assert!(second.contains("p_04@") && second.contains("<b class=\"anywhere\">operator@localhost"));
        assert!(!second.contains("p_05@"));
        let found = operator.get("/operator/accounts?q=P_3").await.expect(200).text();
        assert!(found.contains("p_30@") && !found.contains("p_29@"));
        let wild = operator.get("/operator/accounts?q=%25").await.expect(200).text();
        assert!(wild.contains("No accounts match"), "a percent sign is a percent sign");
    })
    .await;
}

#[tokio::test]
async fn forms_ask_for_a_recent_proof() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("x").await;
        let id = site["id"].as_str().unwrap();
        let operator = node.operator().await;
        node.clock.advance(3599);
        for path in PAGES {
            assert!(!operator.get(path).await.expect(200).text().contains("/login?again=1"), "{path}");
        }
        node.clock.advance(1);
        for path in PAGES {
            let again = format!("href=\"/login?again=1&amp;next={path}\"");
            assert!(operator.get(path).await.expect(200).text().contains(&again), "{path}");
        }
        let fields = [("page", id), ("reason", "x"), ("plan", "pro")];
        for (path, back) in forms(id, &operator.account.id).iter().zip([
            "/operator",
            "/operator/accounts",
            "/operator/accounts",
            "/operator/accounts",
            "/operator/reports",
            "/operator/reports",
            "/operator/payments",
        ]) {
            let sent = operator.submit(path, &fields).await.expect(303);
            let next = back.replace('/', "%2F");
            assert_eq!(sent.header("location"), format!("/login?again=1&next={next}"));
        }
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 0);
    })
    .await;
}

#[tokio::test]
async fn plan_is_set_at_once_and_noted() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let key = node.account("free").await;
        let me = node.get("/me").key(&key).send().await.expect(200).json();
        let path = format!("/operator/accounts/{}/plan", me["id"].as_str().unwrap());
        let sent = operator.submit(&path, &[("plan", "pro"), ("q", "a b")]).await.expect(303);
        assert_eq!(sent.header("location"), "/operator/accounts?q=a+b&done=plan-set");
        assert_eq!(node.get("/me").key(&key).send().await.json()["plan"], "pro");
        operator.submit(&path, &[("plan", "gold")]).await.expect(400);
        operator.submit("/operator/accounts/acct_x/plan", &[("plan", "pro")]).await.expect(404);
        let html = operator.get("/operator").await.text();
        assert!(html.contains("changed the plan of") && html.contains("free to pro"), "{html}");
        assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 1);
    })
    .await;
}

#[tokio::test]
async fn refused_form_has_its_problem_where_the_browser_goes() {
    let node = Node::start().await;
    let operator = node.operator().await;
    let person = node.newcomer("eve@example.org").await;
    let (site, gone) = (node.publish_page("Reported").await, node.publish_page("Gone").await);
    report(&node, &site, &[("reason", "other")]).await;
    let (site, gone) = (site["id"].as_str().unwrap(), gone["id"].as_str().unwrap());
    node.app().take_down("test", gone, "abuse").await.unwrap();
    let refused = "<title>PayPal login</title><form><input type=password></form>";
    let appeal = node.post("/appeals").form(Form::file("page.html", refused)).send().await.expect(201).json();
    let appeal = appeal["id"].as_str().unwrap();
    let paths = [
        "/operator/takedown".to_owned(),
        format!("/operator/accounts/{}/suspend", person.account.id),
        format!("/operator/reports/{site}/takedown"),
        format!("/operator/pages/{site}/takedown"),
        format!("/operator/pages/{gone}/erase"),
        format!("/operator/appeals/{appeal}/uphold"),
        format!("/operator/appeals/{appeal}/allow"),
        "/operator/appeals/uphold".to_owned(),
    ];
    for path in paths {
        let sent = [("page", site), ("appeal", appeal), ("reason", " "), ("answer", " ")];
        let html = operator.submit(&path, &sent).await.expect(400).text();
        let problem = "<p class=\"problem\" id=\"outcome\" role=\"alert\" tabindex=\"-1\">";
        assert!(html.contains(problem), "{path}: {html}");
        assert_eq!(html.matches("id=\"outcome\"").count(), 1, "{path}");
        let described = html.split("aria-describedby=\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert!(described.flat_map(str::split_whitespace).any(|id| id == "outcome"), "{path}: {html}");
        let to_outcome = [format!("action=\"{path}#outcome\""), format!("formaction=\"{path}#outcome\"")];
        assert!(to_outcome.iter().any(|action| html.contains(action)), "{path}: {html}");
    }
}

#[tokio::test]
async fn reports_are_gathered_by_page_and_settled() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let (bad, fine) = (node.publish_page("Bad <b>bank</b>").await, node.publish_page("Fine").await);
        report(node, &fine, &[("reason", "other")]).await;
        node.clock.advance(1);
        for contact in ["ada@example.org", "\"><script>alert(1)</script>"] {
            let said = [("reason", "phishing"), ("comment", "It asks <i>me</i>"), ("contact", contact)];
            report(node, &bad, &said).await;
        }
        let html = operator.get("/operator/reports").await.expect(200).text();
        assert!(html.find("Fine").unwrap() < html.find("Bad").unwrap(), "oldest first");
        assert!(
            html.contains("It impersonates someone × 2")
                && html.contains("It asks &#60;i&#62;me&#60;/i&#62;")
        );
        assert!(!html.contains("<script>alert"));
        let address = bad["url"].as_str().unwrap();
        assert!(
            html.contains(address) && !html.contains(&format!("href=\"{address}")),
            "nobody is led there"
        );
        assert!(html.contains(&format!("href=\"/operator/pages/{}\"", bad["id"].as_str().unwrap())));
        assert_eq!(figure(&operator.get("/operator").await.text(), "open reports"), "3");

        let take = format!("/operator/reports/{}/takedown", bad["id"].as_str().unwrap());
        let silent = operator.submit(&take, &[("reason", "")]).await.expect(400);
        assert!(silent.text().contains("Enter a reason"));
        let sent = operator.submit(&take, &[("reason", "false bank")]).await.expect(303);
        assert_eq!(sent.header("location"), "/operator/reports?done=taken-down");
        node.get(bad["url"].as_str().unwrap()).send().await.expect(410);

        let dismiss = format!("/operator/reports/{}/dismiss", fine["id"].as_str().unwrap());
        operator.submit(&dismiss, &[("reason", "It is honest.")]).await.expect(303);
        assert!(operator.get("/operator").await.text().contains("It is honest."));
        operator.submit(&dismiss, &[]).await.expect(404);
        node.get(fine["url"].as_str().unwrap()).send().await.expect(200);
        assert!(operator.get("/operator/reports").await.text().contains("No open reports"));
        let acts: Vec<_> =
            node.app().list_audit(9).await.unwrap().into_iter().map(|line| line.action.as_str()).collect();
        assert_eq!(acts.len(), 2);
        assert!(acts.contains(&"dismiss_reports") && acts.contains(&"take_down"));
        report(node, &fine, &[("reason", "other")]).await;
        assert!(
            operator.get("/operator/reports").await.text().contains("1 report"),
            "a new one opens it again"
        );
    })
    .await;
}

#[tokio::test]
async fn many_reports_about_one_page_hide_no_other() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let (loud, quiet) = (node.publish_page("Loud").await, node.publish_page("Quiet").await);
        let [loud, quiet] = [&loud, &quiet].map(|site| site["id"].as_str().unwrap());
        report_often(node, quiet, Reason::Phishing, 1).await;
        node.clock.advance(1);
        report_often(node, loud, Reason::Other, 500).await;
        report_often(node, loud, Reason::Malware, 10).await;
        let html = operator.get("/operator/reports").await.expect(200).text();
        for part in ["Quiet", "Something else × 500", "It harms my device × 10", "510 reports", "505 more"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(html.find("Quiet").unwrap() < html.find("Loud").unwrap() && html.len() < 30_000);

        let first = node.app().list_cases(None, 1).await.unwrap().remove(0);
        assert_eq!((first.site.id.as_str(), first.waiting.count), (quiet, 1));
        let rest = node.app().list_cases(Some((first.waiting.first_at, quiet)), 9).await.unwrap();
        assert_eq!(rest.iter().map(|case| case.site.id.as_str()).collect::<Vec<_>>(), [loud]);
        let next = format!("/operator/reports?after={}&after_id={quiet}", first.waiting.first_at);
        let html = operator.get(&next).await.expect(200).text();
        assert!(html.contains("Back to the oldest reports") && !html.contains("Quiet"));

        let case = format!("/operator/pages/{loud}");
        let html = operator.get(&case).await.expect(200).text();
        assert!(html.contains("Dismiss 510 reports") && html.contains("410 more not shown"), "{html}");
        operator.submit(&format!("{case}/dismiss"), &[]).await.expect(303);
        assert_eq!(node.count("SELECT COUNT(*) FROM reports WHERE closed_at IS NULL").await, 1);
        let html = operator.get("/operator/reports").await.expect(200).text();
        assert!(html.contains("Quiet") && html.contains("1 report<"), "{html}");
    })
    .await;
}

/// Each from a different network.
async fn report_often(node: &Node, site_id: &str, reason: Reason, times: u16) {
    let site = node.app().open_case(site_id).await.unwrap().site;
    for n in 0..times {
        let ip = IpAddr::from([10, reason as u8, n.to_be_bytes()[0], n.to_be_bytes()[1]]);
        let said = ReportContent { reason, comment: Some(format!("Number {n}")), contact: None };
        node.app().report_page(&site, Some(ip), said).await.unwrap();
    }
}

#[tokio::test]
async fn large_service_is_counted_beside_the_work() {
    let node = Setup::new().start().await;
    node.app().collect_unreferenced_bodies().await.unwrap();
    let counted = node.rows("SELECT name, value FROM figures ORDER BY name", vec![], |row| {
        Ok((row.text(0)?.to_owned(), row.int(1)?))
    });
    let counted = counted.await;
    assert_eq!(counted.len(), 6);
    assert_eq!(counted[0], ("accounts".to_owned(), 1));
}
