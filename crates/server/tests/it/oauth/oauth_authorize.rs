//! `GET /oauth/authorize` and the consent page: who is asked, who gets the answer, and what must never happen. Spec §4.

use crate::harness::oauth::{
    CALLBACK, assert_nothing_granted, authorize_path, register, register_at, request_of, sent_to,
};
use crate::harness::{Node, Setup, on_each_database};
use serde_json::json;

/// The response is a page for the person, and nothing is sent to the program.
#[track_caller]
fn stopped(answer: &crate::harness::Answer) {
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(!answer.has("location"), "nothing is sent anywhere");
    assert!(answer.header("content-type").starts_with("text/html"));
    assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
}

#[tokio::test]
async fn person_agrees_and_the_program_gets_a_code_with_state_and_issuer() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let page = person.get(&authorize_path(&client, &[])).await.expect(200);
        let text = page.text();
        for shown in [
            "A program",
            "127.0.0.1:7777",
            "ada@example.org",
            "See your pages",
            "Publish, change",
            "Unverified",
        ] {
            assert!(text.contains(shown), "{shown} is missing: {text}");
        }
        assert_nothing_granted(node).await;
        let answer = person.consent(&page, "allow").await;
        let sent = sent_to(&answer, CALLBACK);
        assert_eq!(sent["code"].as_str().unwrap().len(), 43);
        assert_eq!((&sent["state"], &sent["iss"]), (&json!("st at&e"), &json!(node.base_url())));
        let code = sent["code"].as_str().unwrap();
        let stored = node.rows("SELECT code_hash FROM oauth_codes", vec![], |row| row.hash(0)).await;
        assert_eq!(stored, [dropleaf_core::secret::hash(code)], "only its hash is kept");
    })
    .await;
}

#[tokio::test]
async fn person_refuses_and_nothing_is_granted() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        for word in ["deny", "", "ALLOW"] {
            let page = person.get(&authorize_path(&client, &[])).await.expect(200);
            let sent = sent_to(&person.consent(&page, word).await, CALLBACK);
            assert_eq!(sent["error"], "access_denied");
            assert_eq!((&sent["state"], &sent["iss"]), (&json!("st at&e"), &json!(node.base_url())));
            assert!(sent.get("code").is_none());
        }
        assert_nothing_granted(node).await;
    })
    .await;
}

#[tokio::test]
async fn whoever_has_not_signed_in_does_so_first_and_comes_back_to_the_whole_request() {
    let node = Node::start().await;
    let client = register(&node, "A program").await;
    let path = authorize_path(&client, &[]);
    let answer = node.get(&path).send().await.expect(303);
    let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    assert_eq!(answer.header("location"), format!("/login?next={next}"));
    assert_nothing_granted(&node).await;
}

#[tokio::test]
async fn unknown_client_or_address_is_a_page_and_never_a_redirect() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let other = "client_aaaaaaaaaaaaaaaaaaaa";
    let ours = format!("http://127.0.0.1:{}/callback", node.base_url().rsplit(':').next().unwrap());
    for changes in [
        vec![("client_id", "")],
        vec![("client_id", other)],
        vec![("client_id", "client_\u{0}")],
        vec![("client_id", "' OR 1=1 --")],
        vec![("redirect_uri", "")],
        vec![("redirect_uri", "https://evil.example/callback")],
        vec![("redirect_uri", "http://127.0.0.1:7777/callback/")],
        vec![("redirect_uri", "http://127.0.0.1:7777/other")],
        vec![("redirect_uri", "http://127.0.0.1:7777/callback?x=1")],
        vec![("redirect_uri", "http://localhost:7777/callback")],
        vec![("redirect_uri", "http://127.0.0.1:7777@evil.example/callback")],
        vec![("redirect_uri", "//evil.example")],
        vec![("redirect_uri", "javascript:alert(1)")],
        vec![("redirect_uri", "https://evil.example"), ("response_type", "token")],
        vec![("redirect_uri", "https://evil.example"), ("prompt", "none")],
        vec![("redirect_uri", &ours)],
    ] {
        let path = authorize_path(&client, &changes);
        stopped(&person.get(&path).await);
        stopped(&node.get(&path).send().await);
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.example", authorize_path(&client, &[]));
    stopped(&person.get(&twice).await);
    let twice = format!("{}&client_id={other}", authorize_path(&client, &[]));
    stopped(&person.get(&twice).await);
    let long = authorize_path(&client, &[("state", &"x".repeat(4000))]);
    stopped(&person.get(&long).await);
    assert_nothing_granted(&node).await;
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 0);
}

#[tokio::test]
async fn loopback_port_may_differ_and_nothing_else() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let other_port = "http://127.0.0.1:50123/callback";
    let path = authorize_path(&client, &[("redirect_uri", other_port)]);
    let page = person.get(&path).await.expect(200);
    assert!(page.header("content-security-policy").ends_with("form-action 'self' http://127.0.0.1:50123"));
    let sent = sent_to(&person.consent(&page, "allow").await, other_port);
    assert!(sent["code"].is_string());
}

#[tokio::test]
async fn every_other_mistake_is_told_to_the_program_with_state_and_issuer() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let foreign = format!("{}.evil.example/mcp", node.base_url());
    for (changes, error) in [
        (vec![("response_type", "")], "invalid_request"),
        (vec![("response_type", "token")], "unsupported_response_type"),
        (vec![("response_type", "code id_token")], "unsupported_response_type"),
        (vec![("code_challenge", ""), ("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge", "")], "invalid_request"),
        (vec![("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge_method", "plain")], "invalid_request"),
        (vec![("code_challenge", "short")], "invalid_request"),
        (vec![("scope", "sites:admin")], "invalid_scope"),
        (vec![("scope", "sites:read openid")], "invalid_scope"),
        (vec![("resource", "https://other.example/mcp")], "invalid_target"),
        (vec![("resource", &foreign)], "invalid_target"),
        (vec![("prompt", "none")], "login_required"),
    ] {
        let answer = person.get(&authorize_path(&client, &changes)).await;
        let sent = sent_to(&answer, CALLBACK);
        assert_eq!(sent["error"], error, "{changes:?}");
        assert_eq!(
            (&sent["state"], &sent["iss"]),
            (&json!("st at&e"), &json!(node.base_url())),
            "{changes:?}"
        );
        assert!(sent["error_description"].is_string() && sent.get("code").is_none());
    }
    let path = authorize_path(&client, &[("prompt", "none")]);
    let (signed_out, signed_in) = (node.get(&path).send().await, person.get(&path).await);
    assert_eq!(signed_out.header("location"), signed_in.header("location"), "who has signed in is not told");
    let twice = format!("{}&scope=sites%3Aread&scope=sites%3Awrite", authorize_path(&client, &[]));
    assert_eq!(sent_to(&person.get(&twice).await, CALLBACK)["error"], "invalid_request");
    let odd = authorize_path(&client, &[("state", "a\u{0}b")]);
    assert_eq!(sent_to(&person.get(&odd).await, CALLBACK)["error"], "invalid_request");
    assert_nothing_granted(&node).await;
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 0);
}

#[tokio::test]
async fn page_cannot_be_framed_and_its_form_leads_to_the_program_alone() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let body = json!({
        "client_name": "<img src=x onerror=alert(1)>\"'&",
        "redirect_uris": ["https://app.example:8443/cb?a=b", "cursor://a.b/cb", "http://[::1]:9/cb"],
        "token_endpoint_auth_method": "none",
    });
    let made = node.post("/oauth/register").json(&body).send().await.expect(201).json();
    let client = made["client_id"].as_str().unwrap();
    for (uri, source) in [
        ("https://app.example:8443/cb?a=b", "https://app.example:8443"),
        ("cursor://a.b/cb", "cursor:"),
        ("http://[::1]:9/cb", "http:"),
    ] {
        let path = authorize_path(client, &[("redirect_uri", uri)]);
        let page = person.get(&path).await.expect(200);
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(policy.ends_with(&format!("form-action 'self' {source}")), "{policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), value);
        }
        assert!(!page.has("access-control-allow-origin"), "no other origin reads it");
        assert!(!page.text().contains("<img"), "a name is text");
        let sent = person.consent(&page, "allow").await;
        assert!(sent_to(&sent, uri)["code"].is_string());
    }
}

#[tokio::test]
async fn consent_counts_once_in_its_own_session_and_in_time() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let path = authorize_path(&client, &[]);
        let page = person.get(&path).await.expect(200);
        let eve = node.newcomer("eve@example.org").await;
        stopped(&eve.consent(&page, "allow").await);
        let elsewhere = node.signed_in(&person.account).await;
        stopped(&elsewhere.consent(&page, "allow").await);
        assert_nothing_granted(node).await;
        sent_to(&person.consent(&page, "allow").await, CALLBACK);
        stopped(&person.consent(&page, "allow").await);
        stopped(&person.consent(&page, "deny").await);
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_grants").await, 1);
        let late = person.get(&path).await.expect(200);
        node.clock.advance(901);
        stopped(&person.consent(&late, "allow").await);
        stopped(&person.submit("/oauth/consent", &[("request", "made up"), ("answer", "allow")]).await);
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_codes").await, 1);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 0);
    })
    .await;
}

#[tokio::test]
async fn of_racing_answers_one_is_heard() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let page = person.get(&authorize_path(&client, &[])).await.expect(200);
        let answers = (0..8).map(|_| person.consent(&page, "allow"));
        let answers = futures_util::future::join_all(answers).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 303).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 7);
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_grants").await, 1);
    })
    .await;
}

#[tokio::test]
async fn consent_needs_our_own_page_and_its_token() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let page = person.get(&authorize_path(&client, &[])).await.expect(200);
    let (request, base) = (request_of(&page), node.base_url());
    let fields = [("request", request.as_str()), ("answer", "allow")];
    person.cannot_be_imitated("/oauth/consent", &fields).await;
    let stranger = node.post("/oauth/consent").header("origin", &base);
    let stranger = stranger.fields(&[&fields[..], &[("form_token", &person.token())]].concat()).send().await;
    assert_eq!((stranger.status, stranger.header("location")), (303, "/login?next=%2Fdashboard"));
    assert_nothing_granted(&node).await;
    person.get("/oauth/consent").await.expect(405);
    sent_to(&person.consent(&page, "allow").await, CALLBACK);
}

#[tokio::test]
async fn scopes_and_resource_are_those_asked_for() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let base = node.base_url();
    for (changes, scopes, resource) in [
        (vec![], "sites:read sites:write", format!("{base}/mcp")),
        (vec![("scope", "sites:read")], "sites:read", format!("{base}/mcp")),
        (vec![("resource", base.as_str())], "sites:read sites:write", base.clone()),
    ] {
        let page = person.get(&authorize_path(&client, &changes)).await.expect(200);
        assert_eq!(page.text().contains("Publish, change"), scopes.contains("write"));
        sent_to(&person.consent(&page, "allow").await, CALLBACK);
        let rows = node.rows(
            "SELECT scopes, resource FROM oauth_grants ORDER BY created_at DESC, id",
            vec![],
            |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())),
        );
        assert!(rows.await.contains(&(scopes.to_owned(), resource)));
    }
}

#[tokio::test]
async fn nobody_is_led_away_before_they_have_signed_in() {
    let node = Node::start().await;
    let callback = "https://elsewhere.example/cb";
    let client = register_at(&node, "A program", callback).await;
    for changes in [
        vec![("response_type", "token")],
        vec![("code_challenge", "")],
        vec![("scope", "sites:admin")],
        vec![("resource", "https://other.example/mcp")],
        vec![("prompt", "login")],
    ] {
        let path = authorize_path(&client, &[&changes[..], &[("redirect_uri", callback)]].concat());
        let answer = node.get(&path).send().await.expect(303);
        let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
        assert_eq!(answer.header("location"), format!("/login?next={next}"), "{changes:?}");
    }
    // A program on the person's own machine gets the error without a sign-in.
    let client = register(&node, "A program").await;
    let answer = node.get(&authorize_path(&client, &[("scope", "sites:admin")])).send().await;
    assert_eq!(sent_to(&answer, CALLBACK)["error"], "invalid_scope");
}

#[tokio::test]
async fn page_that_loads_the_address_leaves_nothing_behind() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    for path in [authorize_path(&client, &[]), authorize_path(&client, &[("prompt", "none")])] {
        for dest in ["image", "script", "iframe", "empty", ""] {
            let answer = person.look(&path).header("sec-fetch-dest", dest).send().await;
            assert_eq!(answer.status, 403, "{dest}");
            assert!(!answer.has("location") && answer.header("content-type").starts_with("text/html"));
        }
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 0);
    let visit = person.look(&authorize_path(&client, &[])).header("sec-fetch-dest", "document");
    visit.send().await.expect(200);
}

#[tokio::test]
async fn session_keeps_the_newest_questions_alone() {
    on_each_database(Setup::new, async |node| {
        let (ada, eve) = (node.newcomer("ada@example.org").await, node.newcomer("eve@example.org").await);
        let client = register(node, "A program").await;
        let path = authorize_path(&client, &[]);
        let eves = eve.get(&path).await.expect(200);
        let oldest = ada.get(&path).await.expect(200);
        node.clock.advance(1);
        for _ in 0..19 {
            ada.get(&path).await.expect(200);
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 21);
        node.clock.advance(1);
        let newest = ada.get(&path).await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_requests").await, 21);
        stopped(&ada.consent(&oldest, "allow").await);
        sent_to(&ada.consent(&newest, "allow").await, CALLBACK);
        sent_to(&eve.consent(&eves, "allow").await, CALLBACK);
    })
    .await;
}
