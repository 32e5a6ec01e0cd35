//! `/api-keys`: a key is shown once and revoked at once. Spec §4 API keys, §5.

use crate::harness::oauth::{let_in, refresh};
use crate::harness::{NOW, Node, Setup, on_each_database};
use serde_json::{Value, json};

#[tokio::test]
async fn new_key_is_shown_once_and_works() {
    on_each_database(Setup::new, async |node| {
        let made = node.post("/api-keys").key(&node.key).json(&json!({"name": "build agent"}));
        let made = made.send().await.expect(201).json();
        let key = made["key"].as_str().unwrap();
        assert!(key.starts_with("stk_live_") && key.len() == 45, "{key}");
        assert!(key[9..].bytes().all(|b| b.is_ascii_alphanumeric()));
        assert_eq!(made["prefix"], key[..13]);
        assert_eq!(
            (&made["name"], &made["created_at"], &made["last_used"]),
            (&json!("build agent"), &json!(NOW), &Value::Null)
        );
        node.get("/me").key(key).send().await.expect(200);
        let list = node.get("/api-keys").key(&node.key).send().await.expect(200);
        assert!(!list.text().contains(key), "a list never shows a key");
        let list = list.json();
        let shown = list["keys"].as_array().unwrap().iter().find(|k| k["id"] == made["id"]).unwrap();
        assert!(shown.get("key").is_none());
        assert_eq!(shown["prefix"], made["prefix"]);
    })
    .await;
}

#[tokio::test]
async fn keys_are_stored_as_hashes_only() {
    let node = Node::start().await;
    let made = node.post("/api-keys").key(&node.key).send().await.expect(201).json();
    let key = made["key"].as_str().unwrap();
    let stored = node.rows("SELECT key_hash FROM api_keys", vec![], |row| Ok(row.bytes(0)?.to_vec())).await;
    assert!(stored.contains(&dropleaf_core::secret::hash(key).to_vec()));
    let file = std::fs::read(node.data_dir().join("dropleaf.db")).unwrap();
    let wal = std::fs::read(node.data_dir().join("dropleaf.db-wal")).unwrap_or_default();
    for bytes in [file, wal] {
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()));
    }
}

#[tokio::test]
async fn name_is_optional_and_checked() {
    let node = Node::start().await;
    let bare = node.post("/api-keys").key(&node.key).send().await.expect(201).json();
    assert_eq!(bare["name"], "API key");
    let null = node.post("/api-keys").key(&node.key).json(&json!({"name": null}));
    null.send().await.refused(400, "invalid_field");
    for name in [json!(5), json!("x".repeat(101)), json!("a\u{0}b")] {
        let ask = node.post("/api-keys").key(&node.key).json(&json!({"name": name}));
        ask.send().await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn revoked_key_stops_working_at_once() {
    on_each_database(Setup::new, async |node| {
        let made = node.post("/api-keys").key(&node.key).send().await.expect(201).json();
        let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        node.get("/me").key(key).send().await.expect(200);
        let revoked = node.delete(&format!("/api-keys/{id}")).key(&node.key).send().await.expect(200);
        assert_eq!(revoked.json()["ok"], true);
        node.get("/me").key(key).send().await.refused(401, "invalid_credential");
        node.delete(&format!("/api-keys/{id}")).key(&node.key).send().await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn key_of_another_account_is_404() {
    let node = Node::start().await;
    let stranger = node.account("solo").await;
    let list = node.get("/api-keys").key(&stranger).send().await.expect(200).json();
    let id = list["keys"][0]["id"].as_str().unwrap();
    node.delete(&format!("/api-keys/{id}")).key(&node.key).send().await.refused(404, "not_found");
    node.get("/me").key(&stranger).send().await.expect(200);
}

#[tokio::test]
async fn last_used_is_written_at_most_once_a_minute() {
    on_each_database(Setup::new, async |node| {
        let last_used = async || {
            let list = node.get("/api-keys").key(&node.key).send().await.expect(200).json();
            list["keys"][0]["last_used"].clone()
        };
        assert_eq!(last_used().await, NOW);
        node.clock.advance(59);
        assert_eq!(last_used().await, NOW);
        node.clock.advance(2);
        last_used().await;
        assert_eq!(last_used().await, NOW + 61);
    })
    .await;
}

#[tokio::test]
async fn bad_keys_are_401_without_a_hint() {
    let node = Node::start().await;
    let mut mistyped = node.key.clone().into_bytes();
    mistyped[20] = if mistyped[20] == b'a' { b'b' } else { b'a' };
    let unknown = dropleaf_core::Minter::seeded(0).api_key();
    for key in [String::from_utf8(mistyped).unwrap(), unknown, "stk_live_".into(), "other".into()] {
        let answer = node.get("/me").key(&key).send().await.refused(401, "invalid_credential");
        assert!(!answer.text().contains(&key));
    }
    for value in ["Bearer", "stk_live_x", "Digest a=b", ""] {
        node.get("/me").header("authorization", value).send().await.expect(401);
    }
}

#[tokio::test]
async fn account_sees_itself() {
    on_each_database(Setup::new, async |node| {
        let me = node.get("/me").key(&node.key).send().await.expect(200).json();
        assert_eq!(me["email"], "operator@localhost");
        assert_eq!(
            (&me["plan"], &me["balance_minor"], &me["unlocks"]),
            (&json!("pro"), &json!(0), &json!([]))
        );
        assert_eq!(me["counts"], json!({"active_pages": 0, "publishes_today": 0}));
        assert_eq!(
            me["limits"],
            json!({
                "active_pages": null, "longest_life_seconds": null, "publishes_a_day": null,
                "upload_bytes": 26_214_400, "unpacked_bytes": 104_857_600, "files": 2000,
            })
        );
        let free = node.account("free").await;
        node.publish_as(&free, crate::harness::Form::file("a.html", "<p>")).await;
        let me = node.get("/me").key(&free).send().await.expect(200).json();
        assert_eq!(me["counts"], json!({"active_pages": 1, "publishes_today": 1}));
        assert_eq!(me["limits"]["active_pages"], 3);
        assert_eq!(me["limits"]["longest_life_seconds"], 604_800);
    })
    .await;
}

#[tokio::test]
async fn program_sees_and_revokes_its_own_keys_alone() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let mine = node.app().create_key(&person.account, Some("mine"), None, |_| Vec::new()).await.unwrap();
        let dropleaf_app::IdempotentResult::New(owner) = mine else { panic!("a fresh key") };
        let (one, other) = (let_in(&person, "").await, let_in(&person, "").await);
        let make = async |access: &str, name: &str| {
            node.post("/api-keys").key(access).json(&json!({"name": name})).send().await.expect(201).json()
        };
        let (ones, others) = (make(&one.access, "one").await, make(&other.access, "other").await);
        let ones_key = ones["key"].as_str().unwrap();
        let names = async |credential: &str| {
            let list = node.get("/api-keys").key(credential).send().await.expect(200).json();
            let mut names: Vec<String> = list["keys"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| key["name"].as_str().unwrap().into())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&one.access).await, ["one"]);
        assert_eq!(names(ones_key).await, ["one"], "a program's key sees what the program sees");
        assert_eq!(names(&owner.secret).await, ["mine", "one", "other"]);
        let path = |id: &Value| format!("/api-keys/{}", id.as_str().unwrap());
        for id in [&json!(owner.key.id), &others["id"]] {
            for credential in [one.access.as_str(), ones_key] {
                node.delete(&path(id)).key(credential).send().await.refused(404, "not_found");
            }
        }
        node.get("/me").key(&owner.secret).send().await.expect(200);
        node.get("/me").key(others["key"].as_str().unwrap()).send().await.expect(200);
        node.delete(&path(&ones["id"])).key(&one.access).send().await.expect(200);
        node.delete(&path(&others["id"])).key(&owner.secret).send().await.expect(200);
        assert_eq!(names(&owner.secret).await, ["mine"]);
    })
    .await;
}

#[tokio::test]
async fn key_allows_no_more_than_the_token_it_was_made_with() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let program = let_in(&person, "").await;
        let make = async |access: &str| {
            let ask = node.post("/api-keys").key(access).header("idempotency-key", "one key");
            ask.json(&json!({})).send().await
        };
        let wide = make(&program.access).await.expect(201).json();
        node.get("/sites").key(wide["key"].as_str().unwrap()).send().await.expect(200);
        let narrow = [("scope", "sites:write")];
        let next = refresh(node, &program.client_id, &program.refresh, &narrow).await.expect(200).json();
        let access = next["access_token"].as_str().unwrap();
        make(access).await.refused(422, "idempotency_mismatch");
        let less = node.post("/api-keys").key(access).json(&json!({})).send().await.expect(201).json();
        let key = less["key"].as_str().unwrap();
        node.get("/sites").key(key).send().await.expect(200);
        let kept = "SELECT COUNT(*) FROM api_keys WHERE scopes = 'sites:write'";
        assert_eq!(node.count(kept).await, 1, "a key remembers what its maker was allowed");
        let again = node.post("/api-keys").key(key).json(&json!({})).send().await.expect(201).json();
        node.get("/sites").key(again["key"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(node.count(kept).await, 2, "and hands on no more");
    })
    .await;
}

#[tokio::test]
async fn account_has_a_hundred_keys_and_no_more_under_a_race() {
    on_each_database(Setup::new, async |node| {
        let create = || node.post("/api-keys").key(&node.key).json(&json!({"name": "one of many"})).send();
        let answers = futures_util::future::join_all((0..110).map(|_| create())).await;
        let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert_eq!(made.len(), 99, "the one that asks is the hundredth");
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            assert_eq!((answer.status, &answer.json()["error"]), (409, &json!("too_many")));
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM api_keys").await, 100);
        let id = made[0].json()["id"].as_str().unwrap().to_owned();
        node.delete(&format!("/api-keys/{id}")).key(&node.key).send().await.expect(200);
        create().await.expect(201);
        let stranger = node.account("pro").await;
        node.post("/api-keys").key(&stranger).json(&json!({})).send().await.expect(201);
    })
    .await;
}
