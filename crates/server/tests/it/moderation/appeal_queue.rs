//! The queue of appeals: its limits, per sender and in total, bulk decisions, and which comments are kept.

use crate::harness::{Ask, Dropleaf, Form, Node, Setup, noise, on_each_database, zip};
use dropleaf_core::appeal::Decision;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A page that the check refuses.
const REFUSED: &str = "<title>PayPal login</title><form><input type=password></form>";
const KB: usize = 1000;

fn page(n: usize) -> Form {
    Form::file("page.html", format!("{REFUSED}<p>{n}</p>"))
}

/// The same, padded to this many bytes.
fn sized(n: usize, bytes: usize) -> Form {
    let page = format!("{REFUSED}<p>{n}</p>");
    let fill = "x ".repeat((bytes - page.len()) / 2);
    Form::file("page.html", format!("{page}<!--{fill}-->"))
}

fn from(node: &Node, ip: &str, form: Form) -> Ask {
    node.post("/appeals").from(ip).form(form)
}

fn id(appeal: &Value) -> &str {
    appeal["id"].as_str().unwrap()
}

fn proxied() -> Setup {
    Setup::new().set("trusted_proxies", "127.0.0.1,::1")
}

#[tokio::test]
async fn bytes_that_wait_are_bounded_for_all_and_for_each_sender_before_anything_is_stored() {
    on_each_database(
        || proxied().set("limits.appeals_bytes", "400000"),
        async |node| {
            from(node, "192.0.2.1", sized(1, 80 * KB)).send().await.expect(201);
            let own = from(node, "192.0.2.1", sized(2, 80 * KB)).send().await.refused(429, "rate_limited");
            assert!(
                own.has("retry-after") && own.text().contains("You have too many open appeals"),
                "{}",
                own.text()
            );
            for n in 2..4 {
                from(node, &format!("192.0.2.{n}"), sized(n, 90 * KB)).send().await.expect(201);
            }
            let before = node.count("SELECT COUNT(*) FROM blobs").await;
            let full = from(node, "192.0.2.4", sized(4, 90 * KB)).send().await.refused(429, "rate_limited");
            assert!(full.text().contains("too many open appeals on this server"), "{}", full.text());
            assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, before, "nothing was stored for it");
            let key = node.account("free").await;
            let kept = from(node, "192.0.2.4", sized(4, 90 * KB)).key(&key).send().await;
            kept.expect(201);
            from(node, "192.0.2.5", page(5)).send().await.refused(429, "rate_limited");
        },
    )
    .await;
}

#[tokio::test]
async fn one_network_waits_with_twenty_and_some_places_are_for_accounts() {
    let node = proxied().set("limits.appeals_per_day", "100").start().await;
    for n in 0..20 {
        from(&node, "192.0.2.1", page(n)).send().await.expect(201);
    }
    from(&node, "192.0.2.1", page(20)).send().await.refused(429, "rate_limited");
    from(&node, "192.0.2.2", page(20)).send().await.expect(201);
    let key = node.account("free").await;
    from(&node, "192.0.2.1", page(21)).key(&key).send().await.expect(201);
}

#[tokio::test]
async fn appeal_of_nobody_ends_after_a_while_and_says_so() {
    on_each_database(
        || Setup::new().set("retention.open_appeal_days", "3"),
        async |node| {
            let lost = node.post("/appeals").form(page(1)).send().await.expect(201).json();
            let key = node.account("free").await;
            let known = node.post("/appeals").key(&key).form(page(2)).send().await.expect(201).json();
            node.clock.advance(3 * 86_400 - 1);
            node.app().sweep().await.unwrap();
            assert_eq!(node.app().count_open_appeals().await.unwrap(), 2);
            node.clock.advance(1);
            node.app().sweep().await.unwrap();
            let status = node.get(lost["status_url"].as_str().unwrap()).send().await.expect(200).json();
            assert_eq!(status["status"], "lapsed");
            assert!(status["answer"].as_str().unwrap().contains("in 3 days"), "{status}");
            let open = node.app().list_open_appeals(10).await.unwrap();
            assert_eq!(
                (open.len(), open[0].id.as_str()),
                (1, id(&known)),
                "the appeal of an account stays open"
            );
            assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 1, "its content is erased");
            let line = &node.app().list_audit(1).await.unwrap()[0];
            assert_eq!((line.action.as_str(), line.actor.as_str()), ("end_appeal", "dropleaf"));
            node.post("/appeals").form(page(1)).send().await.expect(201);
        },
    )
    .await;
}

#[tokio::test]
async fn another_sender_of_the_same_is_heard_with_a_token_of_their_own() {
    on_each_database(proxied, async |node| {
        let says = |words: &str| page(1).field("comment", words).field("contact", "a@example.org");
        let first = from(node, "192.0.2.1", says("Mine.")).send().await.expect(201).json();
        assert_eq!(first["words_kept"], true);
        let other = from(node, "192.0.2.2", says("Mine too.")).send().await.expect(200).json();
        assert_eq!((&other["id"], &other["words_kept"]), (&first["id"], &json!(true)));
        assert_ne!(other["token"], first["token"]);
        let again = from(node, "192.0.2.2", says("Mine too.")).send().await.expect(200).json();
        assert_eq!((&again["token"], &again["words_kept"]), (&other["token"], &json!(true)));
        let more = from(node, "192.0.2.1", says("And more.")).send().await.expect(200).json();
        assert_eq!((&more["token"], &more["words_kept"]), (&first["token"], &json!(false)), "it says so");
        node.clock.advance(1);
        for n in 10..29 {
            from(node, &format!("192.0.2.{n}"), says("Me.")).send().await.expect(200);
        }
        let late = from(node, "192.0.2.99", says("Me.")).send().await.expect(200).json();
        assert_eq!(late["words_kept"], false, "so many are heard");
        let appeal = node.app().get_appeal(id(&first)).await.unwrap();
        let case = node.app().appeal_case(&appeal).await.unwrap();
        assert_eq!((case.joined.len(), case.joined[0].statement.comment.as_deref()), (20, Some("Mine too.")));
        node.app().decide_appeal("op", id(&first), Decision::Uphold, "No.").await.unwrap();
        for token in [&first, &other, &late] {
            let status = node.get(token["status_url"].as_str().unwrap()).send().await.expect(200).json();
            assert_eq!(status["status"], "upheld");
        }
        node.clock.advance(366 * 86_400);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM appeal_senders").await, 0, "nothing of them is left");
    })
    .await;
}

#[tokio::test]
async fn operator_upholds_several_sees_what_was_decided_before_and_takes_an_allow_back() {
    let node = Setup::new().real_time().start().await;
    let operator = node.operator().await;
    let mut sent = Vec::new();
    for n in 0..3 {
        sent.push(node.post("/appeals").form(page(n)).send().await.expect(201).json());
    }
    let marked = [("appeal", id(&sent[0])), ("appeal", id(&sent[1])), ("answer", "Not here.")];
    let unmarked = operator.submit("/operator/appeals/uphold", &marked[2..]).await.expect(400).text();
    assert!(unmarked.contains("Select at least one appeal.") && unmarked.contains("Not here."), "{unmarked}");
    operator.submit("/operator/appeals/uphold", &marked[..2]).await.expect(400);
    let done = operator.submit("/operator/appeals/uphold", &marked).await.expect(303);
    assert_eq!(done.header("location"), "/operator/appeals?done=upheld-several");
    assert_eq!(node.app().count_open_appeals().await.unwrap(), 1);

    let again = node.post("/appeals").form(page(0)).send().await.expect(201).json();
    let path = format!("/operator/appeals/{}", id(&again));
    let html = operator.get(&path).await.expect(200).text();
    assert!(html.contains("Earlier appeals for the same content") && html.contains("Not here."), "{html}");
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    let shown = dropleaf.prints(&["appeals", "show", id(&again)]);
    assert!(shown.contains(&format!("earlier  {}", id(&sent[0]))), "{shown}");

    operator.submit(&format!("{path}/allow"), &[("answer", "Fine.")]).await.expect(303);
    node.post("/sites").key(&node.key).form(page(0)).send().await.expect(201);
    assert!(dropleaf.prints(&["appeals", "allowed"]).contains(id(&again)));
    assert!(operator.get(&path).await.text().contains("Revoke approval"));
    operator.submit(&format!("{path}/disallow"), &[("reason", "")]).await.expect(400);
    operator.submit(&format!("{path}/disallow"), &[("reason", "A mistake.")]).await.expect(303);
    node.post("/sites").key(&node.key).form(page(0)).send().await.refused(422, "phishing_blocked");
    assert_eq!(dropleaf.prints(&["appeals", "allowed"]), "No allowed content.\n");
    assert!(dropleaf.prints(&["audit"]).contains("disallow_content"));
    let gone = dropleaf.complains(&["appeals", "disallow", id(&again), "--reason", "Again."]);
    assert!(gone.contains("No such allowed content"), "{gone}");

    dropleaf.prints(&["appeals", "allow", id(&sent[2]), "--answer", "Fine."]);
    let json: Value = serde_json::from_str(&dropleaf.prints(&["appeals", "allowed", "--json"])).unwrap();
    let hash = json["allowed"][0]["content_hash"].as_str().unwrap();
    dropleaf.prints(&["appeals", "disallow", hash, "--reason", "By its hash."]);
    node.post("/sites").key(&node.key).form(page(2)).send().await.refused(422, "phishing_blocked");
    for act in [format!("{path}/disallow"), "/operator/appeals/uphold".to_owned()] {
        operator.cannot_be_imitated(&act, &[("reason", "x"), ("answer", "x"), ("appeal", "x")]).await;
    }
}

#[tokio::test]
async fn appeal_names_the_page_that_was_taken_down_and_is_like_it() {
    on_each_database(Setup::new, async |node| {
        let text = "The ferry leaves the upper harbour at nine and comes back when the tide allows it. ";
        let honest = format!("<title>Ferry</title><h1>Ferry</h1><p>{}</p>", text.repeat(3));
        let site = node.publish(Form::file("a.html", &honest)).await;
        node.app().take_down("ada", id(&site), "fraud").await.unwrap();
        let again = Form::file("b.html", &honest);
        let appeal = node.post("/appeals").form(again).send().await.expect(201).json();
        let kept = node.app().get_appeal(id(&appeal)).await.unwrap();
        let case = node.app().appeal_case(&kept).await.unwrap();
        assert_eq!(case.similar_site_id.as_deref(), Some(id(&site)));
        let html = node.operator().await.get(&format!("/operator/appeals/{}", kept.id)).await.text();
        assert!(html.contains(&format!("href=\"/operator/pages/{}\"", id(&site))), "{html}");
        assert!(html.contains(&format!("unwanted forget {}", id(&site))), "{html}");

        // Allowing has no effect until the unwanted entry is removed.
        let operator = node.operator().await;
        let path = format!("/operator/appeals/{}/allow", kept.id);
        let void = operator.submit(&path, &[("answer", "Fine.")]).await.expect(409).text();
        assert!(void.contains(&format!("dropleaf unwanted forget {} --reason", id(&site))), "{void}");
        assert!(node.app().get_appeal(&kept.id).await.unwrap().answer.is_none());
        let status = node.get(appeal["status_url"].as_str().unwrap()).send().await.expect(200).json();
        assert_eq!(status["status"], "open");
        node.app().unblock_content("ada", id(&site), "honest").await.unwrap();
        operator.submit(&path, &[("answer", "Fine.")]).await.expect(303);
        node.post("/sites").key(&node.key).form(Form::file("b.html", &honest)).send().await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn large_dry_runs_count_more_and_never_stand_before_publishers() {
    let node = proxied().with_rates().set("limits.checks_per_minute", "5").start().await;
    // Hardly any two lines are equal, so that it is not taken for a zip bomb.
    let large = noise("large", 9 << 18).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:04}");
        text
    });
    let archive = zip(&[("index.html", "<p>Fine"), ("a.txt", &large)]);
    let check = || node.post("/check").from("192.0.2.1").form(Form::file("s.zip", archive.clone())).send();
    check().await.expect(200);
    check().await.expect(200);
    check().await.refused(429, "rate_limited");
    // Many concurrent checks: some are refused, and publishing still works.
    let asks: Vec<_> = (10..30)
        .map(|n| {
            let form = Form::file("s.zip", archive.clone());
            node.post("/check").from(&format!("198.51.100.{n}")).form(form).send()
        })
        .collect();
    let form = Form::file("s.zip", zip(&[("index.html", "<p>Mine")]));
    let publish = node.post("/sites").key(&node.key).form(form).send();
    let (answers, published) = tokio::join!(futures_util::future::join_all(asks), publish);
    published.expect(201);
    let busy: Vec<_> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert!(!busy.is_empty() && answers.iter().any(|answer| answer.status == 200));
    assert!(busy.iter().all(|answer| answer.has("retry-after") && answer.json()["error"] == "overloaded"));
}
