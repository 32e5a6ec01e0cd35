//! The cookies of gates: what they open, and what invalidates them.

use crate::access::gates::{PASSWORD, locked, open, own_host, url};
use crate::harness::{Form, HOUR, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

#[tokio::test]
async fn cookie_of_one_site_opens_no_other() {
    on_each_database(Setup::new, async |node| {
        let (a, b) = (locked(node, "A").await, locked(node, "B").await);
        let (root_a, root_b) = (own_host(node, &a).await, own_host(node, &b).await);
        let cookie = open(node, &root_a).await;
        node.get(&root_a).cookie(&cookie).send().await.expect(200);
        node.get(&root_b).cookie(&cookie).send().await.expect(401);
        // At the shared address the cookie's name contains the site, and a value under another site's name is not
        // accepted.
        let (shared_a, shared_b) = (open(node, url(&a)).await, open(node, url(&b)).await);
        let (name_a, value_a) = shared_a.split_once('=').unwrap();
        let (name_b, _) = shared_b.split_once('=').unwrap();
        assert_ne!(name_a, name_b);
        node.get(url(&a)).cookie(&shared_a).send().await.expect(200);
        node.get(url(&b)).cookie(&shared_a).send().await.expect(401);
        node.get(url(&b)).cookie(&format!("{name_b}={value_a}")).send().await.expect(401);
        node.get(url(&b)).cookie(&format!("{shared_a}; {shared_b}")).send().await.expect(200);
        // The e-mail gate uses another name, and the same value is not accepted there.
        node.patch_site(&a, json!({"email_gate_domain": "example.org"})).await.expect(200);
        let fresh = open(node, &root_a).await;
        let email = fresh.replace("__Host-g=", "__Host-e=");
        let answer = node.get(&root_a).cookie(&format!("{fresh}; {email}"));
        answer.header("accept", "application/json").send().await.refused(401, "email_required");
    })
    .await;
}

#[tokio::test]
async fn tampered_and_expired_cookies_open_nothing() {
    let node = Node::start().await;
    let site = locked(&node, "Tampered").await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    for at in "__Host-g=".len()..cookie.len() {
        let mut bytes = cookie.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let status = node.get(&root).cookie(&changed).send().await.status;
        // The last character has two unused bits; strict decoding requires them to be zero.
        assert_eq!(status, 401, "position {at}");
    }
    for odd in ["__Host-g=", "__Host-g", "__Host-g=====", "g=x", "__Host-g=%00", ";;;="] {
        node.get(&root).cookie(odd).send().await.expect(401);
    }
    node.clock.advance(12 * HOUR - 1);
    node.get(&root).cookie(&cookie).send().await.expect(200);
    node.clock.advance(1);
    node.get(&root).cookie(&cookie).send().await.expect(401);
}

#[tokio::test]
async fn changed_gates_revoke_earlier_access() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Changed").await;
        let root = own_host(node, &site).await;
        let first = open(node, &root).await;
        node.patch_site(&site, json!({"title": "Another title"})).await.expect(200);
        node.get(&root).cookie(&first).send().await.expect(200);
        // Also if the new password equals the old one: setting it means that everyone is asked again.
        node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
        node.get(&root).cookie(&first).send().await.expect(401);

        let second = open(node, &root).await;
        node.patch_site(&site, json!({"password": null})).await.expect(200);
        node.get(&root).send().await.expect(200);
        node.patch_site(&site, json!({"password": PASSWORD})).await.expect(200);
        node.get(&root).cookie(&second).send().await.expect(401);

        let third = open(node, &root).await;
        for domain in [json!("example.org"), Value::Null] {
            node.patch_site(&site, json!({"email_gate_domain": domain})).await.expect(200);
            node.get(&root).cookie(&third).send().await.expect(401);
        }
        let put = Form::file("page.html", page("Replaced")).field("password", PASSWORD);
        let fourth = open(node, &root).await;
        node.put(&site_path(&site)).key(&node.key).form(put).send().await.expect(200);
        node.get(&root).cookie(&fourth).send().await.expect(401);
        node.get(&root).cookie(&open(node, &root).await).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn claiming_revokes_earlier_access() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("Unowned")).field("password", PASSWORD);
    let site = node.post("/sites").form(form).send().await.expect(201).json();
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    node.get(&root).cookie(&cookie).send().await.expect(200);
    let claim = node.post(&format!("{}/claim", site_path(&site))).key(&node.key);
    claim.json(&json!({"claim_token": site["claim_token"]})).send().await.expect(200);
    node.get(&root).cookie(&cookie).send().await.expect(401);
    node.get(&root).cookie(&open(&node, &root).await).send().await.expect(200);
}
