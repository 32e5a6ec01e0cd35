//! `/dashboard/keys`: creating needs a recent sign-in; a key is shown once and revoked at once.

use crate::harness::{HOUR, Setup, on_each_database};

/// The key in a page that shows one.
fn key_in(html: &str) -> Option<String> {
    let at = html.find("stk_live_")?;
    html.get(at..at + 45).map(str::to_owned)
}

#[tokio::test]
async fn key_is_shown_on_the_answer_of_its_form_and_nowhere_else() {
    on_each_database(Setup::new, async |node| {
        let ada = node.newcomer("ada@example.org").await;
        let empty = ada.get("/dashboard/keys").await.expect(200);
        assert!(empty.text().contains("No keys yet"));
        let made = ada.submit("/dashboard/keys", &[("name", "build <server>")]).await.expect(200);
        assert_eq!(made.header("cache-control"), "no-store");
        assert!(!made.has("location"), "no address carries it");
        let key = key_in(&made.text()).unwrap();
        assert!(made.text().contains("build &#60;server&#62;"));
        assert!(made.text().contains(&format!("{}/sites", node.base_url())), "a command to try it");
        node.get("/me").key(&key).send().await.expect(200);
        let list = ada.get("/dashboard/keys").await.expect(200).text();
        assert!(list.contains(&key[..13]) && !list.contains(&key), "the list shows its beginning");
        assert!(list.contains("last used"), "and when it was used");
    })
    .await;
}

#[tokio::test]
async fn revoked_key_is_401_at_once() {
    on_each_database(Setup::new, async |node| {
        let ada = node.newcomer("ada@example.org").await;
        let made = ada.submit("/dashboard/keys", &[("name", "one")]).await.expect(200);
        let key = key_in(&made.text()).unwrap();
        node.get("/me").key(&key).send().await.expect(200);
        let id = node.app().list_keys(&ada.account, None).await.unwrap()[0].id.clone();
        let gone = ada.submit(&format!("/dashboard/keys/{id}/revoke"), &[]).await.expect(303);
        assert_eq!(gone.header("location"), "/dashboard/keys?done=key-revoked#outcome");
        node.get("/me").key(&key).send().await.refused(401, "invalid_credential");
        assert!(ada.get("/dashboard/keys?done=key-revoked").await.text().contains("Key revoked"));
        ada.submit(&format!("/dashboard/keys/{id}/revoke"), &[]).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn key_needs_a_recent_proof() {
    let node = Setup::new().start().await;
    let ada = node.newcomer("ada@example.org").await;
    node.clock.advance(HOUR + 1);
    let list = ada.get("/dashboard/keys").await.expect(200).text();
    assert!(list.contains("Sign in again") && !list.contains("name=\"name\""));
    let sent = ada.submit("/dashboard/keys", &[("name", "late")]).await.expect(303);
    assert!(sent.header("location").starts_with("/login?"), "{}", sent.header("location"));
    assert!(node.app().list_keys(&ada.account, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn name_that_breaks_the_rules_comes_back_with_the_problem() {
    let node = Setup::new().start().await;
    let ada = node.newcomer("ada@example.org").await;
    let again = ada.submit("/dashboard/keys", &[("name", &"x".repeat(101))]).await.expect(400);
    assert!(
        again.text().contains("at most 100 visible characters") && again.text().contains(&"x".repeat(101))
    );
    assert!(node.app().list_keys(&ada.account, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn forms_of_others_make_and_revoke_nothing() {
    let node = Setup::new().start().await;
    let ada = node.newcomer("ada@example.org").await;
    let eve = node.newcomer("eve@example.org").await;
    ada.cannot_be_imitated("/dashboard/keys", &[("name", "x")]).await;
    assert!(node.app().list_keys(&ada.account, None).await.unwrap().is_empty());
    ada.submit("/dashboard/keys", &[]).await.expect(200);
    let id = node.app().list_keys(&ada.account, None).await.unwrap()[0].id.clone();
    let revoke = format!("/dashboard/keys/{id}/revoke");
    ada.cannot_be_imitated(&revoke, &[]).await;
    eve.submit(&revoke, &[]).await.expect(404);
    assert_eq!(node.app().list_keys(&ada.account, None).await.unwrap().len(), 1);
    let out = node.get("/dashboard/keys").browser().send().await.expect(303);
    assert_eq!(out.header("location"), "/login?next=%2Fdashboard%2Fkeys");
    let signed_out = node.post("/dashboard/keys").browser().header("origin", &node.base_url());
    assert!(signed_out.send().await.expect(303).header("location").starts_with("/login"));
}
