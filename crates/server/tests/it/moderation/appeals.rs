//! `POST /appeals`, `GET /appeals/{token}`, `dropleaf appeals`: appeals against refused content.

use crate::harness::{Ask, Dropleaf, Form, Node, Setup, on_each_database, page};
use dropleaf_core::appeal::Decision;
use serde_json::{Value, json};

/// A page that the check refuses.
const REFUSED: &str = "<title>PayPal login</title><form><input type=password></form>";

fn refused_form() -> Form {
    Form::file("page.html", REFUSED)
}

fn appeal(node: &Node) -> Ask {
    let plea = refused_form().field("comment", "A drill\u{0} for staff.").field("contact", "sam@example.org");
    node.post("/appeals").form(plea)
}

async fn opened(node: &Node) -> Value {
    appeal(node).send().await.expect(201).json()
}

fn id(appeal: &Value) -> &str {
    appeal["id"].as_str().unwrap()
}

async fn stands(node: &Node, appeal: &Value) -> Value {
    node.get(appeal["status_url"].as_str().unwrap()).send().await.expect(200).json()
}

/// The numbers of stored blobs and bundles.
async fn stored(node: &Node) -> (i64, i64) {
    (node.count("SELECT COUNT(*) FROM bundles").await, node.count("SELECT COUNT(*) FROM blobs").await)
}

async fn publish(node: &Node) -> u16 {
    node.post("/sites").key(&node.key).form(refused_form()).send().await.status
}

#[tokio::test]
async fn allowed_content_is_published_from_then_on() {
    on_each_database(Setup::new, async |node| {
        assert_eq!(publish(node).await, 422);
        let appeal = opened(node).await;
        assert_eq!((&appeal["status"], &appeal["answer"]), (&json!("open"), &Value::Null));
        let token = appeal["token"].as_str().unwrap();
        assert_eq!(appeal["status_url"], format!("{}/appeals/{token}", node.base_url()));
        assert!(token.len() == 29 && token.bytes().all(|b| b.is_ascii_alphanumeric()), "{token}");
        assert_eq!(stored(node).await, (1, 1), "it is kept for the operator");
        let kept = node.app().get_appeal(id(&appeal)).await.unwrap();
        assert_eq!(kept.statement.comment.as_deref(), Some("A drill for staff."));
        assert_eq!(kept.title, "PayPal login");
        assert!(kept.reasons.iter().any(|reason| reason.rule == "brand-in-title" && reason.line == Some(1)));
        node.clock.advance(60);
        let allow = node.app().decide_appeal("op@example.org", id(&appeal), Decision::Allow, " Fine. ");
        allow.await.unwrap();
        let status = stands(node, &appeal).await;
        assert_eq!((&status["status"], &status["answer"]), (&json!("allowed"), &json!("Fine.")));
        assert!(status["decided_at"].as_i64() > status["created_at"].as_i64());
        assert!(status.get("token").is_none() && status.get("comment").is_none());
        assert_eq!(stored(node).await, (0, 0), "decided content is erased at once");
        assert_eq!(publish(node).await, 201);
        let check = node.post("/check").form(refused_form()).send().await.expect(200).json();
        assert_eq!(check["accepted"], true, "the same everywhere");
        let other = REFUSED.replace("<form>", "<form action=https://evil.example>");
        let other = node.post("/sites").key(&node.key).form(Form::file("page.html", other)).send().await;
        other.refused(422, "phishing_blocked");
        let lines = node.app().list_audit(10).await.unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].action.as_str(), lines[0].actor.as_str()), ("allow_content", "op@example.org"));
        assert_eq!((lines[0].subject.as_str(), lines[0].reason.as_deref()), (id(&appeal), Some("Fine.")));
        let again = node.post("/appeals").form(refused_form()).send().await.expect(200).json();
        assert_eq!(again, json!({"accepted": true, "warnings": []}));
    })
    .await;
}

#[tokio::test]
async fn upheld_content_stays_refused_and_is_decided_once() {
    on_each_database(Setup::new, async |node| {
        let appeal = opened(node).await;
        let empty = node.app().decide_appeal("op", id(&appeal), Decision::Uphold, "  ").await.unwrap_err();
        assert_eq!(empty.code.as_str(), "invalid_field");
        node.app().decide_appeal("op", id(&appeal), Decision::Uphold, "It is PayPal's page.").await.unwrap();
        let late =
            node.app().decide_appeal("op", id(&appeal), Decision::Allow, "Oh well.").await.unwrap_err();
        assert_eq!(
            (late.code.as_str(), late.detail.as_str()),
            ("conflict", "This appeal has already been decided: upheld.")
        );
        assert_eq!(stands(node, &appeal).await["status"], "upheld");
        assert_eq!(publish(node).await, 422);
        assert_eq!(stored(node).await, (0, 0));
        assert_eq!(node.app().list_audit(10).await.unwrap().len(), 1);
        let second = opened(node).await;
        assert_ne!(second["id"], appeal["id"], "who has more to say may ask again");
    })
    .await;
}

#[tokio::test]
async fn same_content_waits_once() {
    on_each_database(Setup::new, async |node| {
        let first = opened(node).await;
        let second = appeal(node).send().await.expect(200).json();
        assert_eq!((&second["id"], &second["token"]), (&first["id"], &first["token"]));
        let sent: Vec<_> = (0..4)
            .map(|n| {
                let other = format!("{REFUSED}<p>{n}</p>");
                let ask = || node.post("/appeals").form(Form::file("page.html", &other)).send();
                (ask(), ask())
            })
            .collect();
        for (one, two) in sent {
            let (one, two) = tokio::join!(one, two);
            let mut codes = [one.status, two.status];
            codes.sort_unstable();
            assert_eq!(codes, [200, 201]);
            assert_eq!(one.json()["token"], two.json()["token"]);
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM appeals").await, 5);
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 5);
    })
    .await;
}

#[tokio::test]
async fn what_would_be_accepted_needs_no_appeal_and_what_is_broken_gets_none() {
    let node = Node::start().await;
    let fine = node.post("/appeals").form(Form::file("page.html", page("Fine"))).send().await.expect(200);
    assert_eq!(fine.json()["accepted"], true);
    node.post("/appeals").form(Form::file("page.html", "")).send().await.refused(400, "empty_file");
    node.post("/appeals").form(Form::new().field("comment", "x")).send().await.refused(400, "missing_file");
    let long = refused_form().field("comment", &"x".repeat(2001));
    node.post("/appeals").form(long).send().await.refused(400, "invalid_field");
    node.post("/appeals")
        .key("stk_live_wrong")
        .form(refused_form())
        .send()
        .await
        .refused(401, "invalid_credential");
    node.get("/appeals/made-up").send().await.refused(404, "not_found");
    assert_eq!(stored(&node).await, (0, 0));
    assert_eq!(node.count("SELECT COUNT(*) FROM appeals").await, 0);
    let strict = Setup::new().set("safety.pii_check", "block").start().await;
    let key = "<p>-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----</p>";
    let secret = strict.post("/appeals").form(Form::file("page.html", key)).send().await;
    secret.refused(422, "secrets_found");
}

#[tokio::test]
async fn appeals_are_counted_by_network_and_remember_who_asked() {
    let setup =
        Setup::new().with_rates().set("limits.appeals_per_day", "2").set("trusted_proxies", "127.0.0.1,::1");
    let node = setup.start().await;
    let sent = |n: usize, from: &str| {
        node.post("/appeals").from(from).form(Form::file("page.html", format!("{REFUSED}<p>{n}</p>"))).send()
    };
    sent(1, "192.0.2.1").await.expect(201);
    sent(2, "192.0.2.1").await.expect(201);
    let full = sent(3, "192.0.2.1").await.refused(429, "rate_limited");
    assert!(full.has("retry-after"));
    sent(1, "192.0.2.1").await.refused(429, "rate_limited");
    sent(3, "192.0.2.2").await.expect(201);
    node.clock.advance(86_400);
    sent(4, "192.0.2.1").await.expect(201);
    let key = node.account("free").await;
    let known =
        node.post("/appeals").from("192.0.2.9").key(&key).form(refused_form()).send().await.expect(201);
    let kept = node.app().get_appeal(id(&known.json())).await.unwrap();
    assert!(kept.account_id.is_some());
    assert_eq!(node.app().list_open_appeals(10).await.unwrap().len(), 5);
}

#[tokio::test]
async fn what_was_decided_long_ago_is_forgotten_but_stays_allowed() {
    let node = Node::start().await;
    let appeal = opened(&node).await;
    node.app().decide_appeal("op", id(&appeal), Decision::Allow, "Fine.").await.unwrap();
    node.clock.advance(366 * 86_400);
    node.app().sweep().await.unwrap();
    node.get(appeal["status_url"].as_str().unwrap()).send().await.refused(404, "not_found");
    assert_eq!(publish(&node).await, 201);
}

#[tokio::test]
async fn operator_decides_at_the_command_line_while_the_server_runs() {
    let node = Setup::new().real_time().start().await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path()).env("DROPLEAF_DATA_DIR", &data);
    assert_eq!(dropleaf.prints(&["appeals"]), "No open appeals.\n");
    let plea = refused_form().field("comment", "\u{1b}[31mred\u{202e}back");
    let appeal = node.post("/appeals").form(plea).send().await.expect(201).json();
    let table = dropleaf.prints(&["appeals", "list"]);
    assert!(table.contains(id(&appeal)) && table.contains("[31mred\\u{202e}back"), "{table}");
    let shown = dropleaf.prints(&["appeals", "show", id(&appeal)]);
    assert!(shown.contains("reason   brand-in-title (index.html:1): "), "{shown}");
    let json: Value = serde_json::from_str(&dropleaf.prints(&["appeals", "--json"])).unwrap();
    assert_eq!(json["appeals"][0]["id"], appeal["id"]);
    assert!(dropleaf.complains(&["appeals", "allow", "app_x", "--answer", "x"]).contains("No such appeal"));
    let done = dropleaf.prints(&["appeals", "allow", id(&appeal), "--answer", "Fine."]);
    assert!(done.contains("is allowed; the stored copy was erased"), "{done}");
    assert!(
        dropleaf
            .complains(&["appeals", "uphold", id(&appeal), "--answer", "No."])
            .contains("already been decided")
    );
    assert_eq!(publish(&node).await, 201);
    assert_eq!(stands(&node, &appeal).await["answer"], "Fine.");
    assert!(dropleaf.prints(&["appeals", "--all"]).contains("allowed"));
    assert!(dropleaf.prints(&["audit"]).contains("allow_content"));
}
