//! `PATCH /sites/{idOrSlug}`: settings; only what is sent changes. Spec §3, §4.

use crate::harness::{DAY, Form, HOUR, NOW, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

#[tokio::test]
async fn only_sent_fields_change() {
    on_each_database(Setup::new, async |node| {
        let form =
            Form::file("a.html", page("Before")).field("csp_strict", "true").field("expires_in_hours", "5");
        let site = node.publish(form).await;
        let answer = node.patch_site(&site, json!({"title": "After"})).await.expect(200).json();
        assert_eq!(answer["ok"], true);
        assert_eq!(answer["warnings"], json!([]));
        let after = node.read_site(&site).await;
        let mut expected = site.clone();
        expected["title"] = json!("After");
        expected["updated_at"] = answer["updated_at"].clone();
        expected.as_object_mut().unwrap().remove("warnings");
        assert_eq!(after, expected);
    })
    .await;
}

#[tokio::test]
async fn empty_change_changes_nothing() {
    let node = Node::start().await;
    let site = node.publish_page("Same").await;
    let answer = node.patch_site(&site, json!({})).await.expect(200).json();
    assert_eq!(answer["updated_at"], site["updated_at"]);
}

#[tokio::test]
async fn visibility_moves_between_unlisted_public_and_burn() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Moving").await;
        node.patch_site(&site, json!({"visibility": "public"})).await.refused(400, "slug_required");
        node.patch_site(&site, json!({"visibility": "public", "slug": "moving"})).await.expect(200);
        let public = node.read_site(&site).await;
        assert_eq!(public["slug"], "moving");
        let slug_url = public["url"].as_str().unwrap();
        node.get(slug_url).send().await.expect(200);

        node.patch_site(&site, json!({"visibility": "unlisted"})).await.expect(200);
        assert_eq!(node.read_site(&site).await["slug"], Value::Null);
        node.get(slug_url).send().await.expect(404);
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);

        node.patch_site(&site, json!({"visibility": "public"})).await.expect(200);
        assert_eq!(node.read_site(&site).await["slug"], "moving", "the name was kept for it");

        node.patch_site(&site, json!({"visibility": "burn"})).await.expect(200);
        assert_eq!(node.read_site(&site).await["visibility"], "burn");
        node.patch_site(&site, json!({"visibility": "secret"})).await.refused(400, "invalid_field");
    })
    .await;
}

#[tokio::test]
async fn token_link_still_works_when_public() {
    let node = Node::start().await;
    let site = node.publish_page("Both").await;
    node.patch_site(&site, json!({"visibility": "public", "slug": "both-ways"})).await.expect(200);
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    let after = node.read_site(&site).await;
    assert_eq!(after["unlisted_token"], site["unlisted_token"]);
    assert_eq!(after["id"], site["id"]);
}

#[tokio::test]
async fn expiry_is_set_and_removed_by_either_name() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Timed").await;
        for (change, expected) in [
            (json!({"expires_at": NOW + HOUR}), json!(NOW + HOUR)),
            (json!({"expires_at": null}), Value::Null),
            (json!({"expires_in_hours": 48}), json!(NOW + 2 * DAY)),
            (json!({"expires_in_hours": null}), Value::Null),
            (json!({"expires_in_hours": 0.5}), json!(NOW + 1800)),
            (json!({"expires_in_hours": "never"}), Value::Null),
        ] {
            node.patch_site(&site, change.clone()).await.expect(200);
            assert_eq!(node.read_site(&site).await["expires_at"], expected, "{change}");
        }
        for change in [
            json!({"expires_at": NOW}),
            json!({"expires_at": NOW - 5}),
            json!({"expires_at": "tomorrow"}),
            json!({"expires_at": 1.5}),
            json!({"expires_at": i64::MAX}),
            json!({"expires_in_hours": 0}),
            json!({"expires_in_hours": "soon"}),
        ] {
            node.patch_site(&site, change).await.refused(400, "invalid_field");
        }
    })
    .await;
}

#[tokio::test]
async fn new_expiry_brings_an_expired_page_back() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Brief")).field("expires_in_hours", "1")).await;
        let url = site["url"].as_str().unwrap();
        for swept in [false, true] {
            node.clock.advance(2 * HOUR);
            if swept {
                assert_eq!(node.app().sweep().await.unwrap().expired, 1);
            }
            node.get(url).send().await.expect(410);
            node.patch_site(&site, json!({"expires_in_hours": 1})).await.expect(200);
            node.get(url).send().await.expect(200);
        }
        let me = node.get("/me").key(&node.key).send().await.expect(200).json();
        assert_eq!(me["counts"]["active_pages"], 1);
    })
    .await;
}

#[tokio::test]
async fn password_and_email_gate_are_set_and_cleared() {
    let node = Node::start().await;
    let site = node.publish_page("Gated").await;
    node.patch_site(&site, json!({"password": "secret"})).await.expect(200);
    assert_eq!(node.read_site(&site).await["password_protected"], true);
    node.patch_site(&site, json!({"password": null})).await.expect(200);
    assert_eq!(node.read_site(&site).await["password_protected"], false);
    for name in ["email_gate_domain", "allowed_email_domain"] {
        node.patch_site(&site, json!({name: "Example.org"})).await.expect(200);
        assert_eq!(node.read_site(&site).await["email_gate"]["domain"], "example.org");
        node.patch_site(&site, json!({name: null})).await.expect(200);
        assert_eq!(node.read_site(&site).await["email_gate"], Value::Null);
    }
    node.patch_site(&site, json!({"password": ""})).await.refused(400, "invalid_field");
    node.patch_site(&site, json!({"email_gate_domain": "a@b@c"})).await.refused(400, "invalid_field");
}

#[tokio::test]
async fn agentation_and_csp_strict_are_flags() {
    let node = Node::start().await;
    let site = node.publish_page("Flags").await;
    node.patch_site(&site, json!({"agentation": true, "csp_strict": true})).await.expect(200);
    let after = node.read_site(&site).await;
    assert_eq!((&after["agentation"], &after["csp_strict"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn known_field_of_the_wrong_type_is_400() {
    let node = Node::start().await;
    let site = node.publish_page("Typed").await;
    for (name, value) in [
        ("slug", json!(5)),
        ("visibility", json!(null)),
        ("password", json!(12)),
        ("email_gate_domain", json!([])),
        ("agentation", json!("true")),
        ("csp_strict", json!(1)),
        ("title", json!({})),
    ] {
        let answer = node.patch_site(&site, json!({name: value})).await.refused(400, "invalid_field");
        assert!(answer.json()["error_description"].as_str().unwrap().contains(name));
    }
    assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
}

#[tokio::test]
async fn unknown_field_is_ignored_with_a_warning() {
    let node = Node::start().await;
    let site = node.publish_page("Plain").await;
    let answer = node.patch_site(&site, json!({"colour": "red", "title": "T"})).await.expect(200).json();
    assert!(answer["warnings"][0].as_str().unwrap().contains("`colour`"));
    assert_eq!(node.read_site(&site).await["title"], "T");
}

#[tokio::test]
async fn page_of_another_account_is_404() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    let patch = node.patch(&site_path(&site)).key(&stranger).json(&json!({"title": "Theirs"}));
    patch.send().await.refused(404, "not_found");
    let patch = node.patch(&site_path(&site)).json(&json!({"title": "Nobody's"}));
    patch.send().await.refused(401, "auth required");
}

#[tokio::test]
async fn two_names_of_one_setting_that_contradict_are_400() {
    let node = Node::start().await;
    let site = node.publish_page("Plain").await;
    for change in [
        json!({"expires_at": NOW + 9000, "expires_in_hours": 5}),
        json!({"expires_at": NOW + 9000, "expires_in_hours": null}),
        json!({"expires_at": null, "expires_in_hours": 5}),
        json!({"slug": "one-name", "public_slug": "another"}),
        json!({"email_gate_domain": "example.com", "allowed_email_domain": null}),
    ] {
        node.patch_site(&site, change).await.refused(400, "invalid_field");
    }
    assert_eq!(node.read_site(&site).await["updated_at"], site["updated_at"]);
    node.patch_site(&site, json!({"expires_at": null, "expires_in_hours": null})).await.expect(200);
}
