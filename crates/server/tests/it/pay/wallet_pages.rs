//! What the wallet's signature allows: replacing the content of its own pages, claimed or not, and nothing else. And
//! what a paid page keeps. Spec §5 rule 3, §8.

use crate::harness::{Answer, DAY, Form, NOW, Node, Purse, Setup, on_each_database, page, site_path};
use crate::pay::wallet::{challenge, content, paid_page, put, signed};
use dropleaf_pay::payer::EvmPayer;
use serde_json::{Value, json};

#[tokio::test]
async fn only_pages_that_the_wallet_paid_for_are_its_own() {
    let node = Node::start().await;
    let (purse, stranger) = (Purse::new(), EvmPayer::new(&[5; 32]).unwrap());
    let mine = paid_page(&node, &purse, 1).await;
    let theirs = paid_page(&node, &Purse { evm: stranger, ..Purse::new() }, 2).await;
    let (free, owned) = (node.publish_anonymously().await, node.publish_page("Owned").await);
    let missing = json!({"id": "site_aaaaaaaaaaaaaaaaaaaa"});
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    for site in [&theirs, &free, &owned, &missing] {
        put(&node, site, &credential, "Not mine").await.refused(404, "not_found");
    }
    put(&node, &mine, &credential, "Mine").await.expect(200);
}

#[tokio::test]
async fn a_refused_page_uses_nothing_up() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    let path = site_path(&site);
    let put_json =
        async |body: Value| node.put(&path).header("authorization", &credential).json(&body).send().await;
    put_json(json!({})).await.refused(400, "invalid_field");
    put_json(json!({"html": ""})).await.refused(400, "empty_file");
    let stale = json!({"html": page("x"), "expected_updated_at": 1});
    put_json(stale).await.refused(409, "conflict");
    let form = Form::file("a.exe", "x");
    let answer = node.put(&path).header("authorization", &credential).form(form).send().await;
    answer.refused(400, "unsupported_type");
    put(&node, &site, &credential, "At last").await.expect(200);
}

#[tokio::test]
async fn it_changes_no_settings() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    for (name, value) in
        [("password", "hunter2"), ("slug", "mine"), ("expires_in_hours", "1"), ("csp_strict", "true")]
    {
        let form = Form::file("a.html", page("x")).field(name, value);
        let answer = node.put(&site_path(&site)).header("authorization", &credential).form(form).send().await;
        answer.refused(403, "forbidden");
    }
    put(&node, &site, &credential, "Content").await.expect(200);
}

#[tokio::test]
async fn on_any_other_route_it_is_401() {
    let node = Node::start().await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    let credential = signed(&challenge(&node, &purse).await, &purse.evm);
    let path = site_path(&site);
    let under = |tail: &str| format!("{path}{tail}");
    for ask in [
        node.get(&path),
        node.get("/sites"),
        node.get("/me"),
        node.get("/api-keys"),
        node.get(&under("/content")),
        node.get(&under("/versions")),
        node.delete(&path),
        node.patch(&path).json(&json!({"title": "x"})),
        node.post(&under("/rollback")).json(&json!({"version": 1})),
        node.post(&under("/restore")),
        node.post(&under("/claim")).json(&json!({"claim_token": site["claim_token"]})),
        node.post(&under("/share-tokens")).json(&json!({})),
        node.post("/api-keys").json(&json!({})),
        node.post("/sites").form(Form::file("a.html", page("x"))),
        node.post("/unlock?feature=make_permanent"),
    ] {
        let answer = ask.header("authorization", &credential).send().await.refused(401, "invalid_credential");
        let why = answer.json()["error_description"].as_str().unwrap().to_owned();
        assert!(why.contains("PUT /sites/{id}"), "{why}");
    }
    put(&node, &site, &credential, "Still good").await.expect(200);
}

async fn claim(node: &Node, site: &Value, key: &str) -> Answer {
    let body = json!({"claim_token": site["claim_token"]});
    node.post(&format!("{}/claim", site_path(site))).key(key).json(&body).send().await
}

#[tokio::test]
async fn a_claimed_page_can_still_be_replaced_by_the_wallet_that_paid() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let site = paid_page(node, &purse, 1).await;
        claim(node, &site, &node.key).await.expect(200);
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        put(node, &site, &credential, "By its wallet").await.expect(200);
        assert!(content(node, &site).await.contains("By its wallet"));
        assert_eq!(node.read_site(&site).await["version"], 2);
        // The claim token is used up.
        let token = format!("Claim {}", site["claim_token"].as_str().unwrap());
        put(node, &site, &token, "x").await.refused(403, "invalid_claim_token");
    })
    .await;
}

#[tokio::test]
async fn a_paid_page_takes_no_place_in_a_plan_and_keeps_its_life() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let key = node.account("free").await;
        for n in 0..3 {
            node.publish_as(&key, Form::file("a.html", page(&format!("N{n}")))).await;
        }
        // The plan is full, and allows seven days.
        let site = paid_page(node, &purse, 1).await;
        claim(node, &site, &key).await.expect(200);
        let path = site_path(&site);
        let read = async || node.get(&path).key(&key).send().await.expect(200).json();
        assert_eq!(read().await["expires_at"], Value::Null);
        let active = async || node.get("/me").key(&key).send().await.json()["counts"]["active_pages"].clone();
        assert_eq!(active().await, 3);

        let change = async |change: Value| node.patch(&path).key(&key).json(&change).send().await;
        change(json!({"expires_at": NOW + 400 * DAY})).await.expect(200);
        change(json!({"expires_at": null})).await.expect(200);
        assert_eq!(read().await["expires_at"], Value::Null);

        node.delete(&path).key(&key).send().await.expect(200);
        assert_eq!(active().await, 3);
        node.post(&format!("{path}/restore")).key(&key).send().await.expect(200);
        assert_eq!((active().await, &read().await["expires_at"]), (json!(3), &Value::Null));

        // An expiry set by the owner ends it, and a later one restores it, with the plan still full.
        change(json!({"expires_at": NOW + 60})).await.expect(200);
        node.clock.advance(60);
        node.app().sweep().await.unwrap();
        assert_eq!(active().await, 3);
        change(json!({"expires_at": null})).await.expect(200);
        assert_eq!(active().await, 3);
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(
            node.count("SELECT COUNT(*) FROM sites WHERE payment_id IS NOT NULL AND counted = 0").await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn revisions_of_a_paid_page_are_free() {
    let node = Setup::new().set("plans.free.publishes_a_day", "1").start().await;
    let key = node.account("free").await;
    let purse = Purse::new();
    let site = paid_page(&node, &purse, 1).await;
    claim(&node, &site, &key).await.expect(200);
    for n in 0..5 {
        let credential = if n % 2 == 0 {
            format!("Bearer {key}")
        } else {
            signed(&challenge(&node, &purse).await, &purse.evm)
        };
        put(&node, &site, &credential, &format!("Revision {n}")).await.expect(200);
    }
    node.publish_as(&key, Form::file("a.html", page("One a day"))).await;
    let more = node.post("/sites").key(&key).form(Form::file("a.html", page("Two"))).send().await;
    more.refused(429, "plan_daily_limit");
}

#[tokio::test]
async fn the_owner_of_a_claimed_page_ends_what_the_wallet_may_do() {
    on_each_database(Setup::new, async |node| {
        let purse = Purse::new();
        let (site, other) = (paid_page(node, &purse, 1).await, paid_page(node, &purse, 2).await);
        claim(node, &site, &node.key).await.expect(200);
        let odd = json!({"wallet": purse.evm.address.to_string()});
        node.patch_site(&site, odd).await.refused(400, "invalid_field");
        node.patch_site(&site, json!({"title": "Mine"})).await.expect(200);
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        put(node, &site, &credential, "By wallet").await.expect(200);
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        node.patch_site(&site, json!({"wallet": null})).await.expect(200);
        put(node, &site, &credential, "x").await.refused(404, "not_found");
        assert!(content(node, &site).await.contains("By wallet"));
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        put(node, &other, &credential, "Still its own").await.expect(200);
    })
    .await;
}
