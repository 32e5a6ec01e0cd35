//! `/sites/{id}/share-tokens`: creating and listing share links. Spec §2 `ShareToken`, §4 Share tokens.

use crate::harness::{Answer, DAY, Form, HOUR, NOW, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

const SECRET: &str = "behind the gate";

pub(crate) async fn locked(node: &Node) -> Value {
    node.publish(Form::file("page.html", page(SECRET)).field("password", "hunter2")).await
}

pub(crate) async fn share(node: &Node, site: &Value, wish: Value) -> Value {
    let path = format!("{}/share-tokens", site_path(site));
    node.post(&path).key(&node.key).json(&wish).send().await.expect(201).json()
}

pub(crate) async fn listed(node: &Node, site: &Value) -> Vec<Value> {
    let path = format!("{}/share-tokens", site_path(site));
    let list = node.get(&path).key(&node.key).send().await.expect(200).json();
    list["tokens"].as_array().unwrap().clone()
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

pub(crate) fn opens(answer: &Answer) -> bool {
    answer.status == 200 && answer.text().contains(SECRET)
}

#[tokio::test]
async fn token_has_every_field_and_shows_again_in_the_list() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let wish = json!({"note": "for Ada", "expires_in": 3600, "max_uses": 5, "bypass_email_gate": true});
        let mut made = share(node, &site, wish).await;
        let token = text(&made, "token").to_owned();
        assert!(token.starts_with("shr_") && token.len() == 26, "{token}");
        assert_eq!(made["url"], format!("{}?t={token}", text(&site, "url")));
        assert_eq!(made["warnings"], json!([]));
        made.as_object_mut().unwrap().remove("warnings");
        let expected = json!({
            "id": made["id"], "token": token, "site_id": site["id"], "url": made["url"], "note": "for Ada",
            "created_at": NOW, "expires_at": NOW + HOUR, "max_uses": 5, "uses": 0, "last_used_at": null,
            "bypass_email_gate": true,
        });
        assert_eq!(made, expected);
        node.clock.advance(1);
        let bare = share(node, &site, json!({})).await;
        for name in ["note", "expires_at", "max_uses", "last_used_at"] {
            assert_eq!(bare[name], Value::Null, "{name}");
        }
        assert_eq!(bare["bypass_email_gate"], false);
        let list = listed(node, &site).await;
        assert_eq!(list.iter().map(|item| &item["id"]).collect::<Vec<_>>(), [&bare["id"], &made["id"]]);
        assert_eq!(list[1], expected);
    })
    .await;
}

#[tokio::test]
async fn public_page_is_shared_at_its_public_address() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("x")).field("slug", "shared-garden")).await;
    let made = share(&node, &site, json!({})).await;
    assert_eq!(made["url"], format!("{}?t={}", text(&site, "url"), text(&made, "token")));
    assert!(text(&made, "url").contains("//shared-garden."));
}

#[tokio::test]
async fn other_names_are_taken_and_unknown_fields_are_warnings() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made =
        share(&node, &site, json!({"label": "old name", "expires_in_hours": 1.5, "colour": "red"})).await;
    assert_eq!((&made["note"], &made["expires_at"]), (&json!("old name"), &json!(NOW + 5400)));
    assert_eq!(made["warnings"], json!(["The unknown field `colour` was ignored."]));
    let both = json!({"note": "one", "label": "one", "expires_in": 7200, "expires_in_hours": 2});
    let made = share(&node, &site, both).await;
    assert_eq!((&made["note"], &made["expires_at"]), (&json!("one"), &json!(NOW + 7200)));
    let never =
        share(&node, &site, json!({"expires_in_hours": "never", "note": null, "max_uses": null})).await;
    assert_eq!(never["expires_at"], Value::Null);
}

#[tokio::test]
async fn wrong_types_and_senseless_values_are_400() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let path = format!("{}/share-tokens", site_path(&site));
    for bad in [
        json!({"note": 5}),
        json!({"note": "new", "label": "old"}),
        json!({"expires_in": 60, "expires_in_hours": 9}),
        json!({"expires_in": 60, "expires_in_hours": "never"}),
        json!({"note": "x".repeat(201)}),
        json!({"note": "a\u{0}b"}),
        json!({"expires_in": 0}),
        json!({"expires_in": -60}),
        json!({"expires_in": "60"}),
        json!({"expires_in": 1.5}),
        json!({"expires_in": i64::MAX}),
        json!({"expires_in_hours": 0}),
        json!({"expires_in_hours": "soon"}),
        json!({"max_uses": 0}),
        json!({"max_uses": -1}),
        json!({"max_uses": "3"}),
        json!({"bypass_email_gate": "yes"}),
        json!({"bypass_email_gate": null}),
    ] {
        node.post(&path).key(&node.key).json(&bad).send().await.refused(400, "invalid_field");
    }
    node.post(&path)
        .key(&node.key)
        .body("application/json", "[1]")
        .send()
        .await
        .refused(400, "invalid_request");
    assert!(listed(&node, &site).await.is_empty());
}

#[tokio::test]
async fn tokens_of_other_people_are_404() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({})).await;
    let stranger = node.account("solo").await;
    let path = format!("{}/share-tokens", site_path(&site));
    node.get(&path).key(&stranger).send().await.refused(404, "not_found");
    node.post(&path).key(&stranger).json(&json!({})).send().await.refused(404, "not_found");
    for by in ["id", "token"] {
        let revoke = node.delete(&format!("/share-tokens/{}", text(&made, by))).key(&stranger);
        revoke.send().await.refused(404, "not_found");
    }
    for name in ["share_none", "shr_AAAAAAAAAAAAAAAAAAAAAA", "%00"] {
        node.delete(&format!("/share-tokens/{name}")).key(&node.key).send().await.refused(404, "not_found");
    }
    assert!(opens(&node.get(text(&made, "url")).send().await));
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    node.get(&path).key(&node.key).send().await.refused(404, "not_found");
    node.post(&path).key(&node.key).send().await.refused(404, "not_found");
    node.get(text(&made, "url")).send().await.expect(410);
}

#[tokio::test]
async fn expired_page_gets_no_new_token() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", "<p>").field("expires_in_hours", "1")).await;
    node.clock.advance(HOUR);
    let path = format!("{}/share-tokens", site_path(&site));
    node.post(&path).key(&node.key).json(&json!({})).send().await.refused(410, "expired");
    node.get(&path).key(&node.key).send().await.expect(200);
}

#[tokio::test]
async fn repeat_with_the_same_key_makes_one_token() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let path = format!("{}/share-tokens", site_path(&site));
        let ask = |note: &str| {
            let ask = node.post(&path).key(&node.key).header("idempotency-key", "once");
            ask.json(&json!({"note": note})).send()
        };
        let first = ask("a").await.expect(201);
        let again = ask("a").await.expect(201);
        assert_eq!(first.body, again.body);
        ask("b").await.refused(422, "idempotency_mismatch");
        assert_eq!(listed(node, &site).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn tokens_lie_in_the_database_hashed_and_sealed_only() {
    let node = Node::start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({"note": "x"})).await;
    let token = text(&made, "token");
    node.get(text(&made, "url")).send().await.expect(200);
    for name in ["dropleaf.db", "dropleaf.db-wal"] {
        let bytes = std::fs::read(node.data_dir().join(name)).unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|window| window == token.as_bytes()), "{name}");
    }
    let hashes = node.rows("SELECT token_hash FROM share_tokens", vec![], |row| row.hash(0)).await;
    assert_eq!(hashes, [dropleaf_core::secret::hash(token)]);
}

#[tokio::test]
async fn thousand_tokens_are_enough() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        let path = format!("{}/share-tokens", site_path(&site));
        for _ in 0..20 {
            let asks = (0..50).map(|_| node.post(&path).key(&node.key).send());
            for answer in futures_util::future::join_all(asks).await {
                answer.expect(201);
            }
        }
        node.post(&path).key(&node.key).send().await.refused(409, "too_many");
        assert_eq!(listed(node, &site).await.len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn purged_page_leaves_no_token_behind() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node).await;
        share(node, &site, json!({})).await;
        let path = format!("{}?purge=true", site_path(&site));
        node.delete(&path).key(&node.key).send().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM share_tokens").await, 0);
        // The tombstone is deleted a year later; no row refers to it.
        node.clock.advance(400 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}

#[tokio::test]
async fn tokens_outlive_the_secret_they_were_sealed_under() {
    let secret = |digit: &str| Setup::new().set("secret_key", digit.repeat(64));
    let node = secret("1").start().await;
    let site = locked(&node).await;
    let made = share(&node, &site, json!({})).await;
    let key = node.key.clone();
    let dir = node.stop().await;
    let node = secret("2").start_in(dir).await;
    let list =
        node.get(&format!("{}/share-tokens", site_path(&site))).key(&key).send().await.expect(200).json();
    let id = text(&list["tokens"][0], "id").to_owned();
    assert_eq!((text(&list["tokens"][0], "token"), id.as_str()), (id.as_str(), text(&made, "id")));
    let path = format!("/p/{}/?t={}", text(&site, "unlisted_token"), text(&made, "token"));
    node.get(&path).send().await.expect(200);
    node.delete(&format!("/share-tokens/{id}")).key(&key).send().await.expect(200);
    node.get(&path).send().await.expect(401);
}
