//! `POST /oauth/token`: a code or a refresh token works once, for the program it was issued to. Spec §4.

use crate::harness::oauth::{CALLBACK, LetIn, VERIFIER, code, let_in, refresh, register, trade};
use crate::harness::{Answer, DAY, Node, Setup, on_each_database};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

async fn works(node: &Node, access: &str) -> bool {
    node.get("/me").key(access).send().await.status == 200
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn code_is_traded_for_tokens_that_open_the_api() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let code = code(&person, &client, &[]).await;
        let answer = trade(node, &client, &code, &[]).await.expect(200);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        let tokens = answer.json();
        let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
        assert!(
            access.starts_with("oat_")
                && access.len() == 47
                && refresh.starts_with("ort_")
                && refresh.len() == 47
        );
        assert_eq!(
            tokens,
            json!({
                "access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh,
                "scope": "sites:read sites:write",
            })
        );
        let me = node.get("/me").key(&access).send().await.expect(200).json();
        assert_eq!(me["email"], "ada@example.org");
        node.get("/me").key(&refresh).send().await.refused(401, "invalid_credential");
        let stored = node.rows("SELECT token_hash FROM oauth_tokens", vec![], |row| row.hash(0)).await;
        let hash = dropleaf_core::secret::hash;
        assert!(stored.len() == 2 && stored.contains(&hash(&access)) && stored.contains(&hash(&refresh)));
    })
    .await;
}

#[tokio::test]
async fn code_that_does_not_fit_is_invalid_grant_and_gives_nothing() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let stranger = register(&node, "Another").await;
    let base = node.base_url();
    let code = code(&person, &client, &[]).await;
    let wrong = VERIFIER.replace('a', "b");
    for (changes, error) in [
        (vec![("code_verifier", wrong.as_str())], "invalid_grant"),
        (vec![("code_verifier", "short")], "invalid_grant"),
        (vec![("code_verifier", "")], "invalid_request"),
        (vec![("code", "")], "invalid_request"),
        (vec![("code", "made-up")], "invalid_grant"),
        (vec![("client_id", stranger.as_str())], "invalid_grant"),
        (vec![("redirect_uri", "http://127.0.0.1:7778/callback")], "invalid_grant"),
        (vec![("redirect_uri", "https://evil.example/")], "invalid_grant"),
        (vec![("resource", "https://other.example")], "invalid_target"),
        (vec![("resource", base.as_str())], "invalid_target"),
        (vec![("grant_type", "")], "invalid_request"),
        (vec![("grant_type", "password")], "unsupported_grant_type"),
        (vec![("grant_type", "client_credentials")], "unsupported_grant_type"),
    ] {
        trade(&node, &client, &code, &changes).await.refused(400, error);
    }
    for id in ["", "client_aaaaaaaaaaaaaaaaaaaa", "x\u{0}", "ftp"] {
        trade(&node, &client, &code, &[("client_id", id)]).await.refused(401, "invalid_client");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM oauth_tokens").await, 0);
    // The right client with the right parameters still succeeds; the redirect address need not be repeated.
    trade(&node, &client, &code, &[("redirect_uri", "")]).await.expect(200);
}

#[tokio::test]
async fn code_lives_60_seconds() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let client = register(&node, "A program").await;
    let late = code(&person, &client, &[]).await;
    node.clock.advance(59);
    let soon = code(&person, &client, &[]).await;
    node.clock.advance(1);
    trade(&node, &client, &late, &[]).await.refused(400, "invalid_grant");
    trade(&node, &client, &soon, &[]).await.expect(200);
}

#[tokio::test]
async fn replayed_code_is_invalid_grant_and_ends_what_it_gave() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let code = code(&person, &client, &[]).await;
        let tokens = trade(node, &client, &code, &[]).await.expect(200).json();
        let (access, token) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
        assert!(works(node, &access).await);
        trade(node, &client, &code, &[]).await.refused(400, "invalid_grant");
        assert!(!works(node, &access).await, "at once");
        refresh(node, &client, &token, &[]).await.refused(400, "invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn of_racing_trades_of_a_code_one_wins_and_then_the_grant_ends() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let client = register(node, "A program").await;
        let code = code(&person, &client, &[]).await;
        let answers = (0..8).map(|_| trade(node, &client, &code, &[]));
        let answers = futures_util::future::join_all(answers).await;
        let (won, lost): (Vec<&Answer>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!(won.len(), 1);
        assert!(lost.iter().all(|answer| answer.status == 400 && answer.json()["error"] == "invalid_grant"));
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_tokens").await, 2);
        for answer in won {
            assert!(!works(node, &text(&answer.json(), "access_token")).await);
        }
    })
    .await;
}

#[tokio::test]
async fn refresh_token_rotates_and_the_old_one_is_worth_nothing() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let first = let_in(&person, "").await;
        let next = refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200).json();
        let (access, token) = (text(&next, "access_token"), text(&next, "refresh_token"));
        assert!(access != first.access && token != first.refresh);
        assert!(works(node, &access).await && works(node, &first.access).await);
        let last = refresh(node, &first.client_id, &token, &[]).await.expect(200).json();
        // The first one is reused: it may be stolen. All access ends.
        refresh(node, &first.client_id, &first.refresh, &[]).await.refused(400, "invalid_grant");
        for access in [first.access, access, text(&last, "access_token")] {
            node.get("/me").key(&access).send().await.refused(401, "invalid_credential");
        }
        let token = text(&last, "refresh_token");
        refresh(node, &first.client_id, &token, &[]).await.refused(400, "invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn of_racing_refreshes_one_wins_and_then_the_grant_ends() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let LetIn { client_id, refresh: token, access } = let_in(&person, "").await;
        let answers = (0..8).map(|_| refresh(node, &client_id, &token, &[]));
        let answers = futures_util::future::join_all(answers).await;
        let (won, lost): (Vec<&Answer>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!(won.len(), 1);
        assert!(lost.iter().all(|answer| answer.status == 400 && answer.json()["error"] == "invalid_grant"));
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_tokens").await, 4);
        assert!(!works(node, &access).await);
    })
    .await;
}

#[tokio::test]
async fn lost_answer_is_given_again_where_the_setting_says_so() {
    let setup = || Setup::new().set("oauth.refresh_reuse", "tolerate_lost");
    on_each_database(setup, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let first = let_in(&person, "").await;
        refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200);
        let again = refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200).json();
        // Once the issued tokens are used, a second exchange counts as theft.
        assert!(works(node, &text(&again, "access_token")).await);
        refresh(node, &first.client_id, &first.refresh, &[]).await.refused(400, "invalid_grant");
        assert!(!works(node, &text(&again, "access_token")).await);
    })
    .await;
}

#[tokio::test]
async fn lost_answer_that_turns_up_again_was_stolen() {
    let setup = || Setup::new().set("oauth.refresh_reuse", "tolerate_lost");
    on_each_database(setup, async |node| {
        let person = node.newcomer("ada@example.org").await;
        for shown in ["access_token", "refresh_token"] {
            let first = let_in(&person, "").await;
            let lost = refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200).json();
            let again = refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200).json();
            assert!(works(node, &first.access).await);
            if shown == "access_token" {
                assert!(!works(node, &text(&lost, shown)).await);
            } else {
                let answer = refresh(node, &first.client_id, &text(&lost, shown), &[]).await;
                answer.refused(400, "invalid_grant");
            }
            assert!(!works(node, &first.access).await, "{shown}: the grant has ended");
            assert!(!works(node, &text(&again, "access_token")).await);
        }
    })
    .await;
}

#[tokio::test]
async fn lost_answer_is_missed_within_a_minute_of_the_first_trade() {
    let setup = || Setup::new().set("oauth.refresh_reuse", "tolerate_lost");
    on_each_database(setup, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let first = let_in(&person, "").await;
        for _ in 0..3 {
            refresh(node, &first.client_id, &first.refresh, &[]).await.expect(200);
            node.clock.advance(20);
        }
        refresh(node, &first.client_id, &first.refresh, &[]).await.refused(400, "invalid_grant");
        assert!(!works(node, &first.access).await, "the grant has ended");
    })
    .await;
}

#[tokio::test]
async fn refresh_may_narrow_and_never_widen() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let all = let_in(&person, "").await;
    let less =
        refresh(&node, &all.client_id, &all.refresh, &[("scope", "sites:read")]).await.expect(200).json();
    assert_eq!(less["scope"], "sites:read");
    let write = node.post("/api-keys").key(&text(&less, "access_token")).send().await;
    write.refused(403, "insufficient_scope");
    let token = text(&less, "refresh_token");
    let back = refresh(&node, &all.client_id, &token, &[]).await.expect(200).json();
    assert_eq!(back["scope"], "sites:read sites:write", "narrowing does not shrink the grant");
    let read = let_in(&person, "sites:read").await;
    for scope in ["sites:write", "sites:read sites:write", "openid"] {
        refresh(&node, &read.client_id, &read.refresh, &[("scope", scope)])
            .await
            .refused(400, "invalid_scope");
    }
    let elsewhere = [("resource", "https://other.example")];
    refresh(&node, &read.client_id, &read.refresh, &elsewhere).await.refused(400, "invalid_target");
    refresh(&node, &all.client_id, &read.refresh, &[]).await.refused(400, "invalid_grant");
    refresh(&node, &read.client_id, &read.access, &[]).await.refused(400, "invalid_grant");
    refresh(&node, &read.client_id, &read.refresh, &[]).await.expect(200);
}

#[tokio::test]
async fn access_lives_an_hour_refresh_30_days_and_the_grant_180() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let mut program = let_in(&person, "").await;
        node.clock.advance(3599);
        assert!(works(node, &program.access).await);
        node.clock.advance(1);
        assert!(!works(node, &program.access).await);
        for _ in 0..6 {
            node.clock.advance(29 * DAY);
            node.app().sweep().await.unwrap();
            let next = refresh(node, &program.client_id, &program.refresh, &[]).await.expect(200).json();
            program.refresh = text(&next, "refresh_token");
        }
        // 174 days and an hour have passed: tokens issued now end with the grant.
        node.clock.advance(6 * DAY - 3600 - 600);
        let last = refresh(node, &program.client_id, &program.refresh, &[]).await.expect(200).json();
        assert_eq!(last["expires_in"], 600);
        node.clock.advance(600);
        assert!(!works(node, &text(&last, "access_token")).await);
        refresh(node, &program.client_id, &text(&last, "refresh_token"), &[])
            .await
            .refused(400, "invalid_grant");
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_grants").await, 0);
        let person = node.signed_in(&person.account).await;
        let idle = let_in(&person, "").await;
        node.clock.advance(30 * DAY);
        refresh(node, &idle.client_id, &idle.refresh, &[]).await.refused(400, "invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn client_with_a_secret_must_show_it_in_the_header_or_the_body() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let made = node.post("/oauth/register").json(&json!({"redirect_uris": [CALLBACK]})).send().await.json();
    let (client, secret) = (text(&made, "client_id"), text(&made, "client_secret"));
    let basic = |secret: &str| format!("Basic {}", STANDARD.encode(format!("{client}:{secret}")));
    let ask = async |code: &str, header: Option<String>, more: &[(&str, &str)]| {
        let fields = [("grant_type", "authorization_code"), ("code", code), ("code_verifier", VERIFIER)];
        let ask = node.post("/oauth/token").fields(&[&fields, more].concat());
        match header {
            Some(value) => ask.header("authorization", &value).send().await,
            None => ask.send().await,
        }
    };
    let given = code(&person, &client, &[]).await;
    for bad in [basic("wrong"), basic(""), "Basic !".into(), "Bearer x".into(), "Basic".into()] {
        let answer = ask(&given, Some(bad), &[]).await.refused(401, "invalid_client");
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"dropleaf\"");
    }
    for more in [
        vec![("client_id", client.as_str())],
        vec![("client_id", client.as_str()), ("client_secret", "wrong")],
        vec![("client_secret", secret.as_str())],
    ] {
        let answer = ask(&given, None, &more).await.refused(401, "invalid_client");
        assert!(!answer.has("www-authenticate"));
    }
    let both = [("client_secret", secret.as_str())];
    ask(&given, Some(basic(&secret)), &both).await.refused(400, "invalid_request");
    let percent = secret.replace('_', "%5F");
    ask(&given, Some(basic(&percent)), &[]).await.expect(200);
    let given = code(&person, &client, &[]).await;
    ask(&given, None, &[("client_id", &client), ("client_secret", &secret)]).await.expect(200);
    let public = register(&node, "A program").await;
    let given = code(&person, &public, &[]).await;
    ask(&given, None, &[("client_id", &public), ("client_secret", "invented")])
        .await
        .refused(401, "invalid_client");
}

#[tokio::test]
async fn malformed_bodies_are_refused_and_never_500() {
    on_each_database(Setup::new, async |node| {
        let kind = "application/x-www-form-urlencoded";
        for path in ["/oauth/token", "/oauth/revoke"] {
            for (kind, body) in [
                ("application/json", &b"{\"grant_type\":\"authorization_code\"}"[..]),
                ("multipart/form-data; boundary=x", b"--x--"),
                ("text/plain", b"grant_type=authorization_code"),
                (kind, b""),
                (kind, b"%"),
                (kind, b"%00=%00&%ff=%fe"),
                (kind, b"grant_type=authorization_code&grant_type=refresh_token&client_id=a&token=b"),
                (kind, b"client_id=%00&code=%00&code_verifier=%00&grant_type=authorization_code&token=%00"),
                (kind, b"client_id=client_aaaaaaaaaaaaaaaaaaaa&client_secret=%00&grant_type=refresh_token&token=x"),
                (kind, b"client_id=https%3A%2F%2Fa.example%2F%00&grant_type=refresh_token&refresh_token=%00&token=%00"),
                (kind, &[0xff; 100]),
            ] {
                let answer = node.post(path).body(kind, body).send().await;
                assert!(answer.status == 400 || answer.status == 401 || answer.status == 200, "{path} {body:?}: {}", answer.status);
                assert!(answer.status == 200 || answer.json()["error"].is_string());
            }
            node.post(path).body(kind, vec![b'a'; 20_000]).send().await.refused(413, "too_large");
            node.get(path).send().await.refused(405, "method_not_allowed");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM oauth_tokens").await, 0);
    })
    .await;
}

#[tokio::test]
async fn requests_for_tokens_are_counted_by_network() {
    let node = Setup::new().with_rates().start().await;
    let ask = async |path: &str| {
        let fields = [("grant_type", "refresh_token"), ("client_id", "x"), ("token", "x")];
        node.post(path).fields(&fields).send().await
    };
    for _ in 0..299 {
        ask("/oauth/token").await.refused(401, "invalid_client");
    }
    ask("/oauth/revoke").await.refused(401, "invalid_client");
    for path in ["/oauth/token", "/oauth/revoke", "/device/token"] {
        let answer = ask(path).await.refused(429, "rate_limited");
        assert!((1..=60).contains(&answer.header("retry-after").parse::<u64>().unwrap()), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
    }
    node.clock.advance(60);
    ask("/oauth/token").await.refused(401, "invalid_client");
}
