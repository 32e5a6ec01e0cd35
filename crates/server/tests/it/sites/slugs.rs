//! Public names: which are allowed, who owns them, and how long a released one is reserved.

use crate::harness::{DAY, Form, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

fn named(slug: &str) -> Form {
    Form::file("a.html", page("Named")).field("slug", slug)
}

#[tokio::test]
async fn slugs_that_break_the_rules_are_400() {
    let node = Node::start().await;
    let long = "a".repeat(64);
    for slug in [
        "ab", "-abc", "abc-", "a_b", "a b", "ä-x", "a.b", &long, "s-abc", "xn--abc", "www", "api", "admin",
        "ns1", "mail",
    ] {
        node.post("/sites").key(&node.key).form(named(slug)).send().await.refused(400, "invalid_slug");
        let site = node.publish_page("Plain").await;
        node.patch_site(&site, json!({"slug": slug})).await.refused(400, "invalid_slug");
    }
    for slug in ["abc", "a-1", "0x0", &"a".repeat(63)] {
        node.publish(named(slug)).await;
    }
}

#[tokio::test]
async fn taken_slug_is_409() {
    on_each_database(Setup::new, async |node| {
        node.publish(named("mine")).await;
        let stranger = node.account("solo").await;
        for key in [&node.key, &stranger] {
            node.post("/sites").key(key).form(named("mine")).send().await.refused(409, "slug_taken");
        }
        let other = node.publish_page("Other").await;
        let patch = node.patch_site(&other, json!({"slug": "mine", "visibility": "public"})).await;
        patch.refused(409, "slug_taken");
        let put = node.put(&site_path(&other)).key(&node.key).form(named("mine")).send().await;
        put.refused(409, "slug_taken");
        assert_eq!(node.read_site(&other).await["version"], 1, "a refused PUT changes nothing");
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_takers_exactly_one_gets_the_slug() {
    on_each_database(Setup::new, async |node| {
        let tries = (0..10).map(|_| node.post("/sites").key(&node.key).form(named("contested")).send());
        let answers = futures_util::future::join_all(tries).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 9);
    })
    .await;
}

#[tokio::test]
async fn freed_slug_waits_90_days_for_its_last_owner() {
    on_each_database(Setup::new, async |node| {
        let stranger = node.account("solo").await;
        let site = node.publish(named("freed")).await;
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        let taken = node.post("/sites").key(&stranger).form(named("freed")).send().await;
        taken.refused(409, "slug_taken");
        let again = node.publish(named("freed")).await;
        assert_eq!(again["slug"], "freed", "its last owner may take it back at once");

        node.delete(&site_path(&again)).key(&node.key).send().await.expect(200);
        node.clock.advance(90 * DAY - 1);
        let taken = node.post("/sites").key(&stranger).form(named("freed")).send().await;
        taken.refused(409, "slug_taken");
        node.clock.advance(1);
        let theirs = node.publish_as(&stranger, named("freed")).await;
        assert_eq!(theirs["slug"], "freed");
    })
    .await;
}

#[tokio::test]
async fn changed_slug_leaves_the_old_address_at_once() {
    let node = Node::start().await;
    let site = node.publish(named("old-name")).await;
    let old = site["url"].as_str().unwrap();
    node.get(old).send().await.expect(200);
    node.patch_site(&site, json!({"slug": "new-name"})).await.expect(200);
    node.get(old).send().await.expect(404);
    let after = node.read_site(&site).await;
    assert_eq!(after["slug"], "new-name");
    node.get(after["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn cleared_slug_makes_the_page_unlisted() {
    let node = Node::start().await;
    let site = node.publish(named("to-clear")).await;
    node.patch_site(&site, json!({"slug": null})).await.expect(200);
    let after = node.read_site(&site).await;
    assert_eq!((&after["visibility"], &after["slug"]), (&json!("unlisted"), &Value::Null));
    node.patch_site(&site, json!({"visibility": "public"})).await.refused(400, "slug_required");
}

#[tokio::test]
async fn slug_makes_an_unlisted_page_public_and_contradicts_a_private_visibility() {
    on_each_database(Setup::new, async |node| {
        for name in ["slug", "public_slug"] {
            let site = node.publish_page("Shown").await;
            let slug = name.replace('_', "-");
            let answer = node.patch_site(&site, json!({name: slug})).await.expect(200).json();
            assert_eq!(answer["warnings"], json!([]));
            let after = node.read_site(&site).await;
            assert_eq!((&after["visibility"], &after["slug"]), (&json!("public"), &json!(slug)));
            node.get(after["url"].as_str().unwrap()).send().await.expect(200);
        }
        let site = node.publish_page("Waiting").await;
        for visibility in ["unlisted", "burn"] {
            let change = json!({"slug": "for-later", "visibility": visibility});
            node.patch_site(&site, change).await.refused(400, "invalid_field");
        }
        let after = node.read_site(&site).await;
        assert_eq!((&after["visibility"], &after["slug"]), (&json!("unlisted"), &Value::Null));
        node.get(&format!("http://for-later.localhost:{}/", node.port)).send().await.expect(404);
        let burns = node.publish(Form::file("a.html", page("Once")).field("burn_after_read", "true")).await;
        node.patch_site(&burns, json!({"slug": "not-yet"})).await.expect(200);
        assert_eq!(node.read_site(&burns).await["visibility"], "burn");
    })
    .await;
}
