//! `POST /sites/{idOrSlug}/claim`: claiming a page without an owner. Spec §3 site lifecycle, §7.

use crate::harness::{Answer, DAY, Form, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn claim(node: &Node, site: &Value, key: &str, token: &str) -> Answer {
    let path = format!("{}/claim", site_path(site));
    node.post(&path).key(key).json(&json!({"claim_token": token})).send().await
}

fn token(site: &Value) -> &str {
    site["claim_token"].as_str().unwrap()
}

#[tokio::test]
async fn claimed_page_is_owned_and_permanent() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        let answer = claim(node, &site, &node.key, token(&site)).await.expect(200).json();
        assert_eq!((&answer["ok"], &answer["id"]), (&json!(true), &site["id"]));
        let owned = node.read_site(&site).await;
        assert_eq!(owned["expires_at"], Value::Null);
        assert_eq!(owned["url"], site["url"]);
        node.clock.advance(400 * DAY);
        node.app().sweep().await.unwrap();
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn replayed_claim_by_the_same_account_is_200() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        let first = claim(node, &site, &node.key, token(&site)).await.expect(200).json();
        let second = claim(node, &site, &node.key, token(&site)).await.expect(200).json();
        assert_eq!(first, second);
        let me = node.get("/me").key(&node.key).send().await.json();
        assert_eq!(me["counts"]["active_pages"], 1, "it is counted once");
    })
    .await;
}

#[tokio::test]
async fn invalid_claim_token_is_403() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let other = node.publish_anonymously().await;
    for token in [token(&other), "clm_000000000000000000000000000000000000", "clm_", ""] {
        claim(&node, &site, &node.key, token).await.refused(403, "invalid_claim_token");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE account_id IS NOT NULL").await, 0);
}

#[tokio::test]
async fn page_claimed_by_another_account_is_409() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        claim(node, &site, &node.key, token(&site)).await.expect(200);
        let stranger = node.account("solo").await;
        claim(node, &site, &stranger, token(&site)).await.refused(409, "already_claimed");
    })
    .await;
}

#[tokio::test]
async fn expired_page_is_410() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        node.clock.advance(DAY);
        claim(node, &site, &node.key, token(&site)).await.refused(410, "expired");
        node.app().sweep().await.unwrap();
        claim(node, &site, &node.key, token(&site)).await.refused(410, "expired");
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_claims_exactly_one_account_wins() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        let mut keys = Vec::new();
        for _ in 0..6 {
            keys.push(node.account("solo").await);
        }
        let claims = keys.iter().map(|key| claim(node, &site, key, token(&site)));
        let answers = futures_util::future::join_all(claims).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 403 | 409)));
        assert_eq!(node.count("SELECT CAST(SUM(active_pages) AS BIGINT) FROM accounts").await, 1);
    })
    .await;
}

#[tokio::test]
async fn unknown_page_is_404_and_missing_credential_401() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let missing = json!({"id": "site_aaaaaaaaaaaaaaaaaaaa"});
    claim(&node, &missing, &node.key, token(&site)).await.refused(404, "not_found");
    let path = format!("{}/claim", site_path(&site));
    let body = json!({"claim_token": token(&site)});
    node.post(&path).json(&body).send().await.refused(401, "auth required");
    node.post(&path).key(&node.key).json(&json!({})).send().await.refused(400, "invalid_field");
    node.post(&path)
        .key(&node.key)
        .json(&json!({"claim_token": 5}))
        .send()
        .await
        .refused(400, "invalid_field");
}

#[tokio::test]
async fn owned_page_that_was_never_claimable_is_refused() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let other = node.publish_anonymously().await;
    claim(&node, &site, &node.key, token(&other)).await.refused(403, "invalid_claim_token");
    let stranger = node.account("solo").await;
    claim(&node, &site, &stranger, token(&other)).await.refused(409, "already_claimed");
}

#[tokio::test]
async fn claim_counts_against_the_plan() {
    let node = Node::start().await;
    let key = node.account("free").await;
    for n in 0..3 {
        node.publish_as(&key, Form::file("a.html", page(&format!("N{n}")))).await;
    }
    let site = node.publish_anonymously().await;
    claim(&node, &site, &key, token(&site)).await.refused(402, "plan_page_limit");
    claim(&node, &site, &node.key, token(&site)).await.expect(200);
}
