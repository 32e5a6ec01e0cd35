//! Device login: `POST /device/code`, `POST /device/token`, and the page where a person answers. RFC 8628.

use crate::harness::{Answer, Node, Person, Setup, on_each_database};
use serde_json::{Value, json};

async fn begin(node: &Node) -> Value {
    let body = json!({"client_name": "my laptop"});
    node.post("/device/code").json(&body).send().await.expect(200).json()
}

async fn poll(node: &Node, begun: &Value) -> Answer {
    node.post("/device/token").json(&json!({"device_code": begun["device_code"]})).send().await
}

fn code(begun: &Value) -> &str {
    begun["user_code"].as_str().unwrap()
}

async fn look(person: &Person<'_>, code: &str) -> Answer {
    person.get(&format!("/device?user_code={code}")).await
}

async fn answer(person: &Person<'_>, code: &str, word: &str) -> Answer {
    person.submit("/device", &[("user_code", code), ("answer", word)]).await
}

#[tokio::test]
async fn allowed_device_gets_a_key_once() {
    on_each_database(Setup::new, async |node| {
        let ann = node.newcomer("ann@example.org").await;
        let begun = begin(node).await;
        assert_eq!((begun["expires_in"].as_i64(), begun["interval"].as_i64()), (Some(600), Some(5)));
        assert_eq!(begun["verification_uri"], format!("{}/device", node.base_url()));
        assert_eq!(
            begun["verification_uri_complete"],
            format!("{}/device?user_code={}", node.base_url(), code(&begun))
        );
        poll(node, &begun).await.refused(400, "authorization_pending");

        let page = look(&ann, code(&begun)).await.expect(200).text();
        for part in [code(&begun), "my laptop", "ann@example.org", "an API key", "value=\"allow\""] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        // Viewing the page allows nothing.
        node.clock.advance(5);
        poll(node, &begun).await.refused(400, "authorization_pending");

        let done = answer(&ann, code(&begun), "allow").await.expect(303);
        assert_eq!(done.header("location"), "/device?ended=allowed");
        let page = ann.get("/device?ended=allowed").await.expect(200);
        assert!(page.text().contains("You can close this page"));

        let given = poll(node, &begun).await.expect(200);
        assert_eq!(
            (given.header("cache-control"), given.header("access-control-allow-origin")),
            ("no-store", "*")
        );
        let given = given.json();
        let key = given["access_token"].as_str().unwrap();
        assert!(key.starts_with("stk_live_") && given["token_type"] == "Bearer");
        let me = node.get("/me").key(key).send().await.expect(200).json();
        assert_eq!(me["email"], "ann@example.org");
        let keys = node.get("/api-keys").key(key).send().await.expect(200).json();
        assert_eq!(
            (&keys["keys"][0]["id"], &keys["keys"][0]["name"]),
            (&given["key_id"], &json!("my laptop"))
        );

        poll(node, &begun).await.refused(400, "invalid_grant");
        assert_eq!(node.count("SELECT count(*) FROM api_keys WHERE name = 'my laptop'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn of_many_questions_at_once_one_gets_the_key() {
    on_each_database(Setup::new, async |node| {
        let ann = node.newcomer("ann@example.org").await;
        let begun = begin(node).await;
        answer(&ann, code(&begun), "allow").await.expect(303);
        let answers = futures_util::future::join_all((0..8).map(|_| poll(node, &begun))).await;
        let (given, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
        assert_eq!((given.len(), refused.len()), (1, 7));
        for answer in refused {
            answer.refused(400, "invalid_grant");
        }
        assert_eq!(node.count("SELECT count(*) FROM api_keys WHERE name = 'my laptop'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn first_answer_counts_and_the_second_finds_nothing() {
    on_each_database(Setup::new, async |node| {
        let (ann, eve) = (node.newcomer("ann@example.org").await, node.newcomer("eve@example.org").await);
        let begun = begin(node).await;
        let both = futures_util::future::join(
            answer(&ann, code(&begun), "allow"),
            answer(&eve, code(&begun), "allow"),
        );
        let (first, second) = both.await;
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 400]);
        answer(&ann, code(&begun), "deny").await.expect(400);
        let winner = if first.status == 303 { "ann@example.org" } else { "eve@example.org" };
        let key = poll(node, &begun).await.expect(200).json()["access_token"].as_str().unwrap().to_owned();
        assert_eq!(node.get("/me").key(&key).send().await.json()["email"], winner);
    })
    .await;
}

#[tokio::test]
async fn denied_device_is_told_so_and_gets_nothing() {
    on_each_database(Setup::new, async |node| {
        let ann = node.newcomer("ann@example.org").await;
        for word in ["deny", "", "Allow"] {
            let begun = begin(node).await;
            let done = answer(&ann, code(&begun), word).await.expect(303);
            assert_eq!(done.header("location"), "/device?ended=denied");
            poll(node, &begun).await.refused(400, "access_denied");
            answer(&ann, code(&begun), "allow").await.expect(400);
            poll(node, &begun).await.refused(400, "access_denied");
        }
        assert_eq!(node.count("SELECT count(*) FROM api_keys WHERE name = 'my laptop'").await, 0);
    })
    .await;
}

#[tokio::test]
async fn code_expires_after_ten_minutes_whatever_was_answered() {
    on_each_database(Setup::new, async |node| {
        let ann = node.newcomer("ann@example.org").await;
        let (open, allowed) = (begin(node).await, begin(node).await);
        answer(&ann, code(&allowed), "allow").await.expect(303);
        node.clock.advance(600);
        poll(node, &open).await.refused(400, "expired_token");
        poll(node, &allowed).await.refused(400, "expired_token");
        look(&ann, code(&open)).await.expect(400);
        answer(&ann, code(&open), "allow").await.expect(400);
        // An hour later the login is deleted.
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT count(*) FROM device_logins").await, 2);
        node.clock.advance(3600);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT count(*) FROM device_logins").await, 0);
        poll(node, &open).await.refused(400, "invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn question_that_comes_too_soon_lengthens_the_wait() {
    on_each_database(Setup::new, async |node| {
        let begun = begin(node).await;
        poll(node, &begun).await.refused(400, "authorization_pending");
        node.clock.advance(2);
        poll(node, &begun).await.refused(400, "slow_down");
        node.clock.advance(8);
        poll(node, &begun).await.refused(400, "slow_down");
        node.clock.advance(15);
        poll(node, &begun).await.refused(400, "authorization_pending");
        // Of two concurrent polls, one is in time.
        node.clock.advance(15);
        let (a, b) = futures_util::future::join(poll(node, &begun), poll(node, &begun)).await;
        let mut said = [a, b].map(|answer| answer.json()["error"].as_str().unwrap().to_owned());
        said.sort();
        assert_eq!(said, ["authorization_pending", "slow_down"]);
    })
    .await;
}

#[tokio::test]
async fn case_dash_and_spaces_of_a_code_do_not_count() {
    let node = Node::start().await;
    let ann = node.newcomer("ann@example.org").await;
    let begun = begin(&node).await;
    let plain = code(&begun).replace('-', "");
    for typed in [plain.to_lowercase(), format!("+{plain}+"), format!("{}%20{}", &plain[..4], &plain[4..])] {
        let page = look(&ann, &typed).await.expect(200).text();
        assert!(page.contains("my laptop"), "{typed}");
    }
    answer(&ann, &plain.to_lowercase(), "allow").await.expect(303);
    poll(&node, &begun).await.expect(200);
}

#[tokio::test]
async fn wrong_codes_are_limited_for_each_account_and_network() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let ann = node.newcomer("ann@example.org").await;
            let begun = begin(node).await;
            // Correct codes are not counted.
            for _ in 0..20 {
                look(&ann, code(&begun)).await.expect(200);
            }
            for n in 0..10 {
                let page = if n % 2 == 0 {
                    look(&ann, "BBBB-BBBB").await
                } else {
                    answer(&ann, "BBBB-BBBB", "allow").await
                };
                assert!(page.expect(400).text().contains("No device is waiting for this code"));
            }
            look(&ann, "BBBB-BBBB").await.expect(429);
            answer(&ann, code(&begun), "allow").await.expect(429);
            // What cannot be a code is not counted as a guess.
            look(&ann, "ABC").await.expect(400);
            // The limit is thirty per network, for all accounts together.
            for n in 1..=3 {
                let other = node.newcomer(&format!("p{n}@example.org")).await;
                for _ in 0..10 {
                    look(&other, "BBBB-BBBB").await;
                }
            }
            let fresh = node.newcomer("fresh@example.org").await;
            look(&fresh, code(&begun)).await.expect(429);
            node.clock.advance(3600);
            let later = begin(node).await;
            answer(&ann, code(&later), "allow").await.expect(303);
        },
    )
    .await;
}

#[tokio::test]
async fn pages_of_others_use_up_nobodys_guesses() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let ann = node.newcomer("ann@example.org").await;
            let begun = begin(node).await;
            let led = |code: &str, site: &str, dest: &str| {
                let ask = ann.look(&format!("/device?user_code={code}"));
                ask.header("sec-fetch-site", site).header("sec-fetch-dest", dest).send()
            };
            for _ in 0..40 {
                let embedded = led("BBBB-BBBB", "same-site", "image").await.expect(403);
                assert!(embedded.text().contains("cross_site"));
                let filled = led("BBBB-BBBB", "cross-site", "document").await.expect(200).text();
                assert!(filled.contains("value=\"BBBB-BBBB\"") && !filled.contains("role=\"alert\""));
            }
            for dest in ["iframe", "empty", "script"] {
                led(code(&begun), "same-origin", dest).await.expect(403);
            }
            assert!(
                !led(code(&begun), "cross-site", "document").await.expect(200).text().contains("my laptop")
            );
            for site in ["none", "same-origin"] {
                assert!(led(code(&begun), site, "document").await.expect(200).text().contains("my laptop"));
            }
        },
    )
    .await;
}

#[tokio::test]
async fn sixty_first_login_of_a_network_in_an_hour_is_429() {
    let node = Setup::new().with_rates().start().await;
    for _ in 0..60 {
        begin(&node).await;
    }
    node.post("/device/code").send().await.refused(429, "rate_limited");
}

#[tokio::test]
async fn stranger_signs_in_first_and_comes_back() {
    let node = Node::start().await;
    let begun = begin(&node).await;
    let sent = node.get(&format!("/device?user_code={}", code(&begun))).browser().send().await.expect(303);
    assert_eq!(sent.header("location"), format!("/login?next=%2Fdevice%3Fuser_code%3D{}", code(&begun)));
}

#[tokio::test]
async fn answer_needs_our_own_form() {
    let node = Node::start().await;
    let (ann, eve) = (node.newcomer("ann@example.org").await, node.newcomer("eve@example.org").await);
    let begun = begin(&node).await;
    let yes = [("user_code", code(&begun)), ("answer", "allow")];
    ann.cannot_be_imitated("/device", &yes).await;
    let mixed = ann.with_token_of(&eve);
    mixed.submit("/device", &yes).await.expect(403);
    poll(&node, &begun).await.refused(400, "authorization_pending");
}

#[tokio::test]
async fn no_page_can_frame_the_question() {
    let node = Node::start().await;
    let ann = node.newcomer("ann@example.org").await;
    let begun = begin(&node).await;
    let pages = [look(&ann, code(&begun)).await.expect(200), look(&ann, "BBBB-BBBB").await.expect(400)];
    for page in pages {
        assert_eq!(page.header("x-frame-options"), "DENY");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert!(!page.has("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn older_paths_take_json_and_forms_and_say_what_is_wrong() {
    let node = Node::start().await;
    let ann = node.newcomer("ann@example.org").await;
    let begun =
        node.post("/device/code").fields(&[("client_name", "a form")]).send().await.expect(200).json();
    answer(&ann, code(&begun), "allow").await.expect(303);
    let fields = [("device_code", begun["device_code"].as_str().unwrap()), ("grant_type", "whatever")];
    let given = node.post("/device/token").fields(&fields).send().await.expect(200).json();
    assert_eq!(given["name"], "a form");

    node.post("/device/code").send().await.expect(200);
    node.post("/device/token").send().await.refused(400, "invalid_request");
    node.post("/device/token").json(&json!({"device_code": "x"})).send().await.refused(400, "invalid_grant");
    node.post("/device/token").json(&json!({"device_code": 7})).send().await.refused(400, "invalid_field");
    node.post("/device/code")
        .json(&json!({"client_name": "x".repeat(101)}))
        .send()
        .await
        .refused(400, "invalid_field");
    let turned = json!({"client_name": "dropleaf\u{202e}gnp.exe"});
    node.post("/device/code").json(&turned).send().await.refused(400, "invalid_field");
    let twice = [("client_name", "a"), ("client_name", "b")];
    node.post("/device/code").fields(&twice).send().await.refused(400, "invalid_request");
    node.post("/device/code")
        .body("application/json", vec![b' '; 20_000])
        .send()
        .await
        .refused(413, "too_large");
    node.get("/device/code").send().await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn what_a_program_calls_itself_cannot_dress_up_the_page() {
    let node = Node::start().await;
    let ann = node.newcomer("ann@example.org").await;
    let body = json!({"client_name": "<b>dropleaf</b>\u{0}"});
    let begun = node.post("/device/code").json(&body).send().await.expect(200).json();
    let page = look(&ann, code(&begun)).await.expect(200).text();
    assert!(page.contains("&#60;b&#62;dropleaf") || page.contains("&lt;b&gt;dropleaf"), "{page}");
    assert!(page.contains("Apps choose their own names"));
}
