//! `Idempotency-Key` on requests that create something.

use crate::harness::oauth::let_in;
use crate::harness::{Answer, DAY, Form, Node, Setup, on_each_database, page};
use serde_json::json;

async fn post(node: &Node, key: Option<&str>, once: &str, title: &str) -> Answer {
    let ask = node.post("/sites").header("idempotency-key", once).form(Form::file("a.html", page(title)));
    match key {
        Some(key) => ask.key(key).send().await,
        None => ask.send().await,
    }
}

#[tokio::test]
async fn same_key_and_body_give_the_first_answer_again() {
    on_each_database(Setup::new, async |node| {
        let first = post(node, Some(&node.key), "once-1", "Same").await.expect(201);
        node.clock.advance(60);
        let second = post(node, Some(&node.key), "once-1", "Same").await.expect(201);
        assert_eq!(first.body, second.body, "byte for byte");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
        post(node, Some(&node.key), "once-2", "Same").await.expect(201);
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn same_key_with_another_body_is_422() {
    on_each_database(Setup::new, async |node| {
        post(node, Some(&node.key), "once", "One").await.expect(201);
        post(node, Some(&node.key), "once", "Other").await.refused(422, "idempotency_mismatch");
        let form = Form::file("a.html", page("One")).field("title", "More");
        let ask = node.post("/sites").key(&node.key).header("idempotency-key", "once").form(form);
        ask.send().await.refused(422, "idempotency_mismatch");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    })
    .await;
}

#[tokio::test]
async fn concurrent_repeats_make_one_page() {
    on_each_database(Setup::new, async |node| {
        let tries = (0..10).map(|_| post(node, Some(&node.key), "racing", "Same"));
        let answers = futures_util::future::join_all(tries).await;
        let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert!(!made.is_empty() && made.iter().all(|answer| answer.body == made[0].body));
        for other in answers.iter().filter(|answer| answer.status != 201) {
            let other = other.clone().refused(409, "idempotency_in_flight");
            assert_eq!(other.header("retry-after"), "1");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    })
    .await;
}

#[tokio::test]
async fn keys_of_different_accounts_do_not_meet() {
    let node = Node::start().await;
    let stranger = node.account("solo").await;
    let mine = post(&node, Some(&node.key), "shared", "Same").await.expect(201).json();
    let theirs = post(&node, Some(&stranger), "shared", "Same").await.expect(201).json();
    let nobodys = post(&node, None, "shared", "Same").await.expect(201).json();
    assert_ne!(mine["id"], theirs["id"]);
    assert_ne!(mine["id"], nobodys["id"]);
    post(&node, Some(&stranger), "shared", "Other").await.refused(422, "idempotency_mismatch");
}

#[tokio::test]
async fn claim_token_in_the_repeat_is_the_same_and_not_stored_readably() {
    on_each_database(Setup::new, async |node| {
        let first = post(node, None, "anonymous-once", "Same").await.expect(201).json();
        let second = post(node, None, "anonymous-once", "Same").await.expect(201).json();
        assert_eq!(first["claim_token"], second["claim_token"]);
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
        let token = first["claim_token"].as_str().unwrap().as_bytes();
        let stored = node.rows("SELECT sealed, key_hash FROM idempotency", vec![], |row| {
            Ok([row.bytes(0)?, row.bytes(1)?].concat())
        });
        for row in stored.await {
            assert!(!row.windows(token.len()).any(|window| window == token));
            assert!(!row.windows(9).any(|window| window == b"anonymous"));
            assert!(!row.windows(5).any(|window| window == b"title"));
        }
        let claim = node.post(&format!("/sites/{}/claim", second["id"].as_str().unwrap())).key(&node.key);
        claim.json(&json!({"claim_token": second["claim_token"]})).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn key_is_forgotten_after_24_hours() {
    on_each_database(Setup::new, async |node| {
        let first = post(node, Some(&node.key), "daily", "Same").await.expect(201).json();
        node.clock.advance(DAY - 1);
        let again = post(node, Some(&node.key), "daily", "Same").await.expect(201).json();
        assert_eq!(first["id"], again["id"]);
        node.clock.advance(1);
        let fresh = post(node, Some(&node.key), "daily", "Other").await.expect(201).json();
        assert_ne!(first["id"], fresh["id"]);
    })
    .await;
}

#[tokio::test]
async fn failed_request_leaves_the_key_free() {
    let node = Node::start().await;
    let free = node.account("free").await;
    for n in 0..3 {
        post(&node, Some(&free), &format!("n{n}"), "Page").await.expect(201);
    }
    post(&node, Some(&free), "fourth", "Page").await.refused(402, "plan_page_limit");
    node.clock.advance(7 * DAY);
    post(&node, Some(&free), "fourth", "Page").await.expect(201);
}

#[tokio::test]
async fn bad_keys_are_400() {
    let node = Node::start().await;
    for once in ["", " ", &"k".repeat(256)] {
        post(&node, Some(&node.key), once, "Page").await.refused(400, "invalid_field");
    }
    post(&node, Some(&node.key), &"k".repeat(255), "Page").await.expect(201);
}

#[tokio::test]
async fn new_api_key_is_repeated_with_its_secret() {
    on_each_database(Setup::new, async |node| {
        let make = async |name: &str| {
            let ask = node.post("/api-keys").key(&node.key).header("idempotency-key", "a-key");
            ask.json(&json!({"name": name})).send().await
        };
        let first = make("agent").await.expect(201);
        let second = make("agent").await.expect(201);
        assert_eq!(first.body, second.body);
        make("other").await.refused(422, "idempotency_mismatch");
        assert_eq!(node.count("SELECT COUNT(*) FROM api_keys").await, 2, "the operator's and this one");
    })
    .await;
}

#[tokio::test]
async fn answers_do_not_cross_between_a_person_and_their_programs() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let mine = node.app().create_key(&person.account, None, None, |_| Vec::new()).await.unwrap();
        let dropleaf_app::IdempotentResult::New(owner) = mine else { panic!("a fresh key") };
        let (one, other) = (let_in(&person, "").await, let_in(&person, "").await);
        let site = post(node, Some(&owner.secret), "a page", "Page").await.expect(201).json();
        let share = format!("{}/share-tokens", crate::harness::site_path(&site));
        for path in ["/api-keys", share.as_str()] {
            let mut answers = Vec::new();
            for credential in [&owner.secret, &one.access, &other.access] {
                let make = async || {
                    let ask = node.post(path).key(credential).header("idempotency-key", path);
                    ask.json(&json!({})).send().await.expect(201)
                };
                let first = make().await;
                assert_eq!(first.body, make().await.body, "{path}: to the same caller, the same answer");
                answers.push(first.json()["id"].as_str().unwrap().to_owned());
            }
            answers.sort();
            answers.dedup();
            assert_eq!(answers.len(), 3, "{path}: to each their own");
        }
        let mut sites = Vec::new();
        for credential in [&owner.secret, &one.access, &other.access] {
            sites.push(
                post(node, Some(credential), "same page", "Page").await.expect(201).json()["id"].clone(),
            );
        }
        assert!(sites[0] != sites[1] && sites[1] != sites[2] && sites[0] != sites[2]);
    })
    .await;
}
