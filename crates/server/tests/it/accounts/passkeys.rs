//! `/login/passkey/…` and `/dashboard/account/passkeys/…`: what must fail. The browser tests cover a real
//! authenticator.

use crate::harness::{Ask, DAY, HOUR, Node, Setup, Tab, on_each_database};
use dropleaf_app::NewPasskey;
use dropleaf_core::account::Account;
use serde_json::{Value, json};

const USE: [&str; 2] = ["/login/passkey/begin", "/login/passkey/finish"];
const ADD: [&str; 2] = ["/dashboard/account/passkeys/begin", "/dashboard/account/passkeys/finish"];

async fn account(node: &Node, email: &str) -> Account {
    node.app().create_account(email, None, false).await.unwrap()
}

/// As the page's script sends it, but without `Origin`.
fn json(tab: &Tab<'_>, path: &str, body: &Value) -> Ask {
    tab.script(path).header("x-form-token", &tab.token()).header("accept", "application/json").json(body)
}

/// What the handler passes on after verifying a new passkey.
fn checked(credential_id: Vec<u8>) -> NewPasskey {
    NewPasskey { credential_id, user_handle: vec![7; 16], credential: "{}".into() }
}

/// The response of an unknown authenticator.
fn invented(challenge: &Value) -> Value {
    let client =
        json!({"type": "webauthn.get", "challenge": challenge, "origin": "http://localhost"}).to_string();
    let text = |bytes: &[u8]| dropleaf_core::secret::text(bytes);
    json!({"id": text(b"nobody"), "rawId": text(b"nobody"), "type": "public-key", "extensions": {}, "response": {
        "clientDataJSON": text(client.as_bytes()), "authenticatorData": text(&[0; 37]), "signature": text(&[0; 70]),
        "userHandle": text(&[7; 16]),
    }})
}

#[tokio::test]
async fn question_is_answered_once_in_time_and_where_it_was_asked() {
    on_each_database(Setup::new, async |node| {
        let origin = node.base_url();
        let tab = Tab::at(node, "/login").await;
        let other = Tab::at(node, "/login").await;
        let ask =
            async || json(&tab, USE[0], &json!({})).header("origin", &origin).send().await.expect(200).json();
        let finish = async |tab: &Tab<'_>, body: &Value| {
            json(tab, USE[1], body)
                .header("origin", &origin)
                .send()
                .await
                .refused(400, "invalid_passkey")
                .text()
        };
        let asked = ask().await;
        assert_eq!(asked["publicKey"]["allowCredentials"], json!([]));
        assert_eq!(asked["publicKey"]["userVerification"], "required");
        let answer = json!({"credential": invented(&asked["publicKey"]["challenge"])});
        let words = finish(&other, &answer).await;
        assert_eq!(
            node.count("SELECT COUNT(*) FROM passkey_ceremonies").await,
            1,
            "another browser used nothing up"
        );
        assert_eq!(finish(&tab, &answer).await, words);
        assert_eq!(node.count("SELECT COUNT(*) FROM passkey_ceremonies").await, 0);
        assert_eq!(finish(&tab, &answer).await, words);

        ask().await;
        node.clock.advance(300);
        assert_eq!(finish(&tab, &answer).await, words);
        ask().await;
        node.clock.advance(300);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM passkey_ceremonies").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
    })
    .await;
}

#[tokio::test]
async fn known_and_unknown_credentials_are_refused_in_the_same_words() {
    let node = Node::start().await;
    let ann = account(&node, "ann@example.org").await;
    let origin = node.base_url();
    let tab = Tab::at(&node, "/login").await;
    let attempt = async || {
        let asked = json(&tab, USE[0], &json!({})).header("origin", &origin).send().await.expect(200).json();
        let answer = json!({"credential": invented(&asked["publicKey"]["challenge"])});
        let answer = json(&tab, USE[1], &answer).header("origin", &origin).send().await;
        (answer.status, answer.text())
    };
    let unknown = attempt().await;
    node.app().add_passkey(&ann, checked(b"nobody".to_vec()), "Laptop".into()).await.unwrap();
    assert_eq!(attempt().await, unknown);
}

#[tokio::test]
async fn name_of_an_account_is_kept_with_its_passkeys() {
    on_each_database(Setup::new, async |node| {
        let (ann, bob) = (account(node, "ann@example.org").await, account(node, "bob@example.org").await);
        let origin = node.base_url();
        let named = async |account: &Account| {
            let tab = node.signed_in(account).await;
            let asked = json(&tab, ADD[0], &json!({})).header("origin", &origin).send().await.expect(200);
            asked.json()["publicKey"]["user"]["id"].as_str().unwrap().to_owned()
        };
        // Random until there is a passkey: it is not derived from a key that could be lost.
        assert_ne!(named(&ann).await, named(&ann).await);
        node.app().add_passkey(&ann, checked(vec![1]), "Laptop".into()).await.unwrap();
        let kept = dropleaf_core::secret::text(&[7; 16]);
        assert_eq!((named(&ann).await, named(&ann).await), (kept.clone(), kept.clone()));
        assert_ne!(named(&bob).await, kept);
    })
    .await;
}

#[tokio::test]
async fn scripts_of_other_sites_are_refused() {
    let node = Node::start().await;
    let ann = account(&node, "ann@example.org").await;
    let origin = node.base_url();
    let (visitor, person) = (Tab::at(&node, "/login").await, node.signed_in(&ann).await);
    for (tab, paths) in [(&visitor, USE), (&*person, ADD)] {
        for path in paths {
            for foreign in ["https://evil.example", "null", "http://s-abc.localhost"] {
                let answer = json(tab, path, &json!({})).header("origin", foreign).send().await.expect(403);
                assert!(answer.text().contains("cross_site"), "{path}");
            }
            json(tab, path, &json!({})).send().await.expect(403);
            let bare = tab.script(path).header("origin", &origin).json(&json!({}));
            bare.send().await.expect(403);
            // A token in the body does not count: a form of another site could send it.
            let lied = tab.form(path, &[]).header("origin", &origin);
            lied.send().await.expect(403);
            let odd = tab.script(path).header("origin", &origin).header("x-form-token", &tab.token());
            odd.body("application/json", "{").send().await.expect(400);
        }
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM passkey_ceremonies").await, 0);
}

#[tokio::test]
async fn adding_asks_for_a_recent_proof() {
    let node = Node::start().await;
    let ann = account(&node, "ann@example.org").await;
    let origin = node.base_url();
    let tab = node.signed_in(&ann).await;
    let asked = json(&tab, ADD[0], &json!({})).header("origin", &origin).send().await.expect(200).json();
    assert_eq!(asked["publicKey"]["user"]["name"], "ann@example.org");
    assert_eq!(asked["publicKey"]["authenticatorSelection"]["residentKey"], "required");
    json(&tab, ADD[1], &json!({"credential": {}}))
        .header("origin", &origin)
        .send()
        .await
        .refused(400, "invalid_passkey");
    node.clock.advance(HOUR);
    for path in ADD {
        let answer = json(&tab, path, &json!({})).header("origin", &origin).send().await;
        assert_eq!(
            answer.refused(403, "proof_needed").json()["to"],
            "/login?again=1&next=%2Fdashboard%2Faccount"
        );
    }
    let shown = tab.get("/dashboard/account").await.expect(200).text();
    assert!(shown.contains("Sign in again to add a passkey") && !shown.contains("id=\"add-passkey\""));
    tab.get("/login?again=1&next=/dashboard/account").await.expect(200);
}

#[tokio::test]
async fn passkeys_are_listed_and_removed_by_their_owner_alone() {
    on_each_database(Setup::new, async |node| {
        let (ann, bob) = (account(node, "ann@example.org").await, account(node, "bob@example.org").await);
        node.app().add_passkey(&ann, checked(vec![1]), "Ann's <laptop>".into()).await.unwrap();
        // The same credential cannot belong to another account.
        let taken = node.app().add_passkey(&bob, checked(vec![1]), "Theft".into()).await.unwrap_err();
        assert_eq!(taken.code.as_str(), "too_many");
        let id = node.app().list_passkeys(&ann).await.unwrap()[0].id.clone();
        let remove = format!("/dashboard/account/passkeys/{id}/remove");
        let thief = node.signed_in(&bob).await;
        assert!(!thief.get("/dashboard/account").await.expect(200).text().contains(&id));
        thief.submit(&remove, &[]).await.expect(404);
        node.clock.advance(DAY);
        let tab = node.signed_in(&ann).await;
        let shown = tab.get("/dashboard/account").await.expect(200).text();
        assert!(shown.contains("Ann&#39;s &#60;laptop&#62;") && shown.contains("not used yet"), "{shown}");
        let gone = tab.submit(&remove, &[]).await.expect(303);
        assert_eq!(gone.header("location"), "/dashboard/account?done=passkey-removed#outcome");
        assert!(node.app().list_passkeys(&ann).await.unwrap().is_empty());
        tab.submit(&remove, &[]).await.expect(404);
        for n in 0..20 {
            node.app().add_passkey(&ann, checked(vec![2, n]), "Key".into()).await.unwrap();
        }
        let full = node.app().add_passkey(&ann, checked(vec![3]), "Key".into()).await.unwrap_err();
        assert_eq!(full.code.as_str(), "too_many");
    })
    .await;
}

#[tokio::test]
async fn server_at_an_ip_address_offers_none() {
    let node = Setup::new().set("listen", "127.0.0.1:0").start().await;
    let tab = Tab::at(&node, "/login").await;
    let shown = tab.get("/login").await.expect(200).text();
    assert!(!shown.contains("passkey"), "{shown}");
    json(&tab, USE[0], &json!({})).header("origin", &node.base_url()).send().await.expect(404);
}

#[tokio::test]
async fn questions_to_visitors_are_counted() {
    let node = Setup::new().with_rates().set("limits.anonymous_attempts_per_minute", "3").start().await;
    let tab = Tab::at(&node, "/login").await;
    let origin = node.base_url();
    for _ in 0..3 {
        json(&tab, USE[0], &json!({})).header("origin", &origin).send().await.expect(200);
    }
    let full = json(&tab, USE[0], &json!({})).header("origin", &origin).send().await;
    assert!(full.refused(429, "rate_limited").has("retry-after"));
}
