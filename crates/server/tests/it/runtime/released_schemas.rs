//! Upgrades: a server starts on the store of every released schema, serves its pages, and knows its keys and sessions. The
//! rows themselves are checked in the tests of the store.

use crate::harness::released_store::{self, ReleasedStore};
use crate::harness::{Answer, DAY, Dropleaf, Node, Setup};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_core::{hex, secret};
use serde_json::Value;
use tempfile::TempDir;

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn page<'a>(released: &'a ReleasedStore, name: &str) -> &'a Value {
    &released.contents["pages"][name]
}

/// An address of the server. It keeps the one it had, because access tokens are issued for it.
fn at(released: &ReleasedStore, path: &str) -> String {
    format!("{}{path}", text(&released.contents, "base_url"))
}

/// The address of a page.
fn link(released: &ReleasedStore, name: &str) -> String {
    at(released, &format!("/p/{}/", text(page(released, name), "token")))
}

async fn start(released: &ReleasedStore, dir: TempDir) -> Node {
    let setup = Setup::new().set("secret_key", &released.secret_key);
    setup.set("base_url", at(released, "")).at(released.taken_at).start_in(dir).await
}

/// As an operator upgrades: the new version starts in the data folder of the old one, which is laid out like a backup.
async fn upgrade(released: &ReleasedStore) -> Node {
    let dir = TempDir::new().unwrap();
    std::fs::rename(&released.backup, dir.path().join("data")).unwrap();
    start(released, dir).await
}

async fn restore(released: &ReleasedStore) -> Node {
    let dir = TempDir::new().unwrap();
    let (backup, data) = (released.backup.to_str().unwrap(), dir.path().join("data"));
    Dropleaf::in_dir(dir.path()).prints(&["backup", "restore", backup, "--data-dir", data.to_str().unwrap()]);
    start(released, dir).await
}

#[track_caller]
fn is_the_document(answer: Answer, page: &Value, name: &str) {
    let answer = answer.expect(200);
    assert_eq!(hex::encode(&secret::digest(&answer.body)), text(page, "sha256"), "{name}");
}

/// Views pages of every kind.
async fn serves_pages(node: &Node, released: &ReleasedStore) {
    for name in [
        "plain",
        "pdf",
        "large",
        "encrypted",
        "archive",
        "strict",
        "versions",
        "expiring",
        "anonymous",
        "paid",
    ] {
        let page = page(released, name);
        is_the_document(node.get(&link(released, name)).send().await, page, name);
    }
    let public = page(released, "public");
    let own_host = at(released, "/").replace("localhost", &format!("{}.localhost", text(public, "slug")));
    is_the_document(node.get(&own_host).send().await, public, "public");
    let markdown = node.get(&link(released, "markdown")).send().await.expect(200);
    assert!(markdown.text().contains("Field notes"));
    for name in ["burnt", "expired", "deleted", "purged"] {
        node.get(&link(released, name)).send().await.expect(410);
    }
}

/// A page is served at its custom domains, and what is stored encrypted for their certificates opens. The first stores are
/// older than custom domains.
async fn serves_custom_domains(node: &Node, released: &ReleasedStore) {
    if released.schema < 9 {
        return;
    }
    let (page, app) = (page(released, "domain"), node.app());
    let name = |what: &str| text(&page["domains"], what);
    for what in ["primary", "second", "failing"] {
        let shown = node.get(&app.hosts.domain_url(name(what))).send().await;
        is_the_document(shown, page, what);
        let issued = app.find_issued(name(what)).await.unwrap().unwrap();
        assert!(issued.chain_and_key_pem.starts_with(b"-----BEGIN CERTIFICATE-----"), "{what}");
    }
    for what in ["pending", "failed", "former"] {
        node.get(&app.hosts.domain_url(name(what))).send().await.refused(421, "misdirected_host");
    }
    assert!(app.find_challenge(ChallengeKind::TlsAlpn01, name("ordered")).await.unwrap().is_some());
    for authority in node.rows("SELECT directory_url FROM acme_accounts", vec![], |row| row.string(0)).await {
        assert!(app.find_acme_account(&authority).await.unwrap().is_some());
    }
    let listed = node.get(&at(released, "/custom-domains")).key(text(&released.contents, "key")).send().await;
    let listed = listed.expect(200).json();
    let listed: Vec<&str> =
        listed["domains"].as_array().unwrap().iter().map(|domain| text(domain, "hostname")).collect();
    for (what, name) in page["domains"].as_object().unwrap() {
        assert_eq!(listed.contains(&name.as_str().unwrap()), what != "former", "{what}");
    }
}

/// The gates open with the password and the share link, which is stored sealed.
async fn opens_gates(node: &Node, released: &ReleasedStore) {
    node.get(&link(released, "email_gate")).send().await.expect(401);
    let locked = page(released, "password");
    node.get(&link(released, "password")).send().await.expect(401);
    let password = STANDARD.encode(format!("anybody:{}", text(locked, "password")));
    let opened = node
        .get(&link(released, "password"))
        .header("authorization", &format!("Basic {password}"))
        .send()
        .await;
    is_the_document(opened, locked, "password");
    let query = text(&released.contents, "share_query");
    let shared = node.get(&format!("{}{query}", link(released, "password"))).send().await;
    is_the_document(shared, locked, "share link");
    let tokens = at(released, &format!("/sites/{}/share-tokens", text(locked, "id")));
    let listed = node.get(&tokens).key(text(&released.contents, "key")).send().await.expect(200).text();
    assert!(listed.contains(query.trim_start_matches("?t=")), "the sealed tokens are opened: {listed}");
}

/// The owner's key works.
async fn knows_its_owner(node: &Node, released: &ReleasedStore) {
    let key = text(&released.contents, "key");
    let me = node.get(&at(released, "/me")).key(key).send().await.expect(200).json();
    assert_eq!(me["email"], released.contents["email"]);
    let account = node.app().get_account(text(&me, "id")).await.unwrap();
    assert!(account.balance_minor > 0, "{me}");
    assert_eq!(me["balance_minor"], 0, "real money is not spent in the sandbox");
    assert_eq!(me["unlocks"].as_array().unwrap().len(), 3, "{me}");
    let listed = node.get(&at(released, "/sites?limit=100")).key(key).send().await.expect(200).json();
    let ids: Vec<&str> = listed["sites"].as_array().unwrap().iter().map(|site| text(site, "id")).collect();
    for name in ["plain", "large", "password", "public", "burn", "claimed"] {
        assert!(ids.contains(&text(page(released, name), "id")), "{name}");
    }
    let deleted = text(page(released, "deleted"), "id");
    assert!(!ids.contains(&deleted));
    node.post(&at(released, &format!("/sites/{deleted}/restore"))).key(key).send().await.expect(200);
    let kept = at(released, &format!("/sites/{}/versions", text(page(released, "versions"), "id")));
    let versions = node.get(&kept).key(key).send().await.expect(200).json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 3, "{versions}");
    for name in ["operator_key", "provisioned_key"] {
        node.get(&at(released, "/me")).key(text(&released.contents, name)).send().await.expect(200);
    }
}

/// Evidence opens with the secret key; sweeps complete the unfinished takedown, and a year later keep what does not expire.
async fn keeps_working(node: &Node, released: &ReleasedStore) {
    let sealed = "SELECT site_id FROM evidence WHERE bundle_id IS NOT NULL";
    for site in node.rows(sealed, vec![], |row| row.string(0)).await {
        assert!(node.app().open_evidence("a test", &site, "a test").await.is_ok());
    }
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM sealing_tries").await, 0);
    node.clock.advance(400 * DAY);
    node.app().sweep().await.unwrap();
    let plain = page(released, "plain");
    is_the_document(node.get(&link(released, "plain")).send().await, plain, "plain");
    node.get(&link(released, "expiring")).send().await.expect(410);
}

#[tokio::test]
async fn server_upgrades_the_data_folder_of_every_released_schema() {
    for released in released_store::all() {
        let node = upgrade(&released).await;
        assert!(node.key.is_empty(), "the operator exists");
        serves_pages(&node, &released).await;
        serves_custom_domains(&node, &released).await;
        opens_gates(&node, &released).await;
        knows_its_owner(&node, &released).await;
        let cookie = text(&released.contents, "session_cookie");
        let shown =
            node.get(&at(&released, "/dashboard/account")).browser().cookie(cookie).send().await.expect(200);
        assert!(shown.text().contains("ann@example.org"));
        node.get(&at(&released, "/me"))
            .key(text(&released.contents, "access_token"))
            .send()
            .await
            .expect(200);
        keeps_working(&node, &released).await;
        node.stop().await;
    }
}

#[tokio::test]
async fn server_starts_on_a_restored_backup_of_every_released_schema() {
    for released in released_store::all() {
        let node = restore(&released).await;
        serves_pages(&node, &released).await;
        serves_custom_domains(&node, &released).await;
        opens_gates(&node, &released).await;
        knows_its_owner(&node, &released).await;
        node.get(&at(&released, "/me"))
            .key(text(&released.contents, "access_token"))
            .send()
            .await
            .expect(401);
        keeps_working(&node, &released).await;
        node.stop().await;
    }
}
