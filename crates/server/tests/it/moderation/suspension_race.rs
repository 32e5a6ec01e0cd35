//! An account suspended during a request: a request that was already authorized writes nothing afterwards.

use crate::harness::{
    Ask, DnsServer, Form, Node, Person, Setup, harvest, on_each_database, page, site_path, zip,
};
use crate::moderation::suspension::key_of;
use dropleaf_app::{
    Caller, DevicePollResult, DeviceRequest, GrantedClient, NewPasskey, NewPaySession, PatchRequest, Upload,
    Writer,
};
use dropleaf_core::Code;
use dropleaf_core::device_login::DeviceLoginKind;
use dropleaf_core::oauth::request::AccessRequest;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::pay_session::Feature;
use dropleaf_core::scope::Scopes;
use dropleaf_core::session::SignInMethod;
use dropleaf_core::share_token::ShareTokenRequest;
use dropleaf_core::site_change::Field;
use dropleaf_core::unlock::Sku;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CODE: &str = "account_suspended";

/// Like another process, just after the credential was read: this node does not know yet.
async fn suspend_meanwhile(node: &Node, person: &Person<'_>) {
    let sql = "UPDATE accounts SET suspended_at = 1, suspended_reason = 'spam' WHERE id = $1";
    node.exec(sql, vec![person.account.id.as_str().into()]).await;
}

async fn lift_meanwhile(node: &Node, person: &Person<'_>) {
    let sql = "UPDATE accounts SET suspended_at = NULL, suspended_reason = NULL WHERE id = $1";
    node.exec(sql, vec![person.account.id.as_str().into()]).await;
}

async fn new_key(node: &Node, key: &str) -> Value {
    node.post("/api-keys").key(key).json(&json!({"name": "k"})).send().await.expect(201).json()
}

/// Each operation that writes, by its name in the document, as a request that would succeed.
#[expect(clippy::too_many_lines, reason = "a list")]
async fn operations(node: &Node, key: &str) -> Vec<(&'static str, Box<dyn Fn() -> Ask>)> {
    let client = node.client.clone();
    let base = format!("http://127.0.0.1:{}", node.port);
    let ask = move |method: Method, path: &str, key: &str| {
        Ask::new(client.request(method, format!("{base}{path}"))).key(key)
    };
    node.post("/unlock?feature=custom_domain").key(key).send().await.expect(200);
    let (spare, key) = (new_key(node, key).await["id"].as_str().unwrap().to_owned(), key.to_owned());
    let site = node.publish_as(&key, Form::file("a.html", page("One")).field("agentation", "true")).await;
    let at = site_path(&site);
    node.put(&at).key(&key).form(Form::file("a.html", page("Two"))).send().await.expect(200);
    let gone = site_path(&node.publish_as(&key, Form::file("a.html", page("Gone"))).await);
    node.delete(&gone).key(&key).send().await.expect(200);
    let files = zip(&[("index.html", page("Archive").as_str()), ("a.json", "{}")]);
    let archive = site_path(&node.publish_as(&key, Form::file("site.zip", files)).await);
    let unowned = node.publish_anonymously().await;
    let links = format!("{at}/share-tokens");
    let link = node.post(&links).key(&key).json(&json!({})).send().await.expect(201).json();
    let link = link["id"].as_str().unwrap().to_owned();
    let said = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    let comment = node.post(&said).json(&json!({"comment": "Hm."})).send().await.expect(201).json();
    let comment = format!("/feedback/{}", comment["id"].as_str().unwrap());
    let claim = json!({"claim_token": unowned["claim_token"]});
    let with = |method: Method, path: String, body: Option<Value>| -> Box<dyn Fn() -> Ask> {
        let (ask, key) = (ask.clone(), key.clone());
        Box::new(move || {
            let asked = ask(method.clone(), &path, &key);
            body.as_ref().map_or_else(|| ask(method.clone(), &path, &key), |body| asked.json(body))
        })
    };
    let form = |method: Method, path: String, text: String| -> Box<dyn Fn() -> Ask> {
        let (ask, key) = (ask.clone(), key.clone());
        Box::new(move || ask(method.clone(), &path, &key).form(Form::file("a.html", text.clone())))
    };
    let (post, delete) = (Method::POST, Method::DELETE);
    let domain = "/custom-domains/reports.customer.example";
    let (webhook, delivery) = webhook_with_delivery(node, &key).await;
    let url = json!({"url": "https://hooks.example.com/"});
    let add = json!({"hostname": "reports.customer.example", "site_id": site["id"]});
    vec![
        // First: then the plan has room for the rest.
        ("post /unlock", with(post.clone(), "/unlock?feature=higher_limits".into(), None)),
        ("post /publish", with(post.clone(), "/publish".into(), Some(json!({"html": page("Bought")})))),
        ("post /provision", with(post.clone(), "/provision".into(), Some(json!({})))),
        ("post /pay/sessions", with(post.clone(), "/pay/sessions".into(), Some(json!({"feature": "topup"})))),
        ("patch /me", with(Method::PATCH, "/me".into(), Some(json!({"notify": "daily"})))),
        ("post /api-keys", with(post.clone(), "/api-keys".into(), Some(json!({"name": "x"})))),
        ("delete /api-keys/{id}", with(delete.clone(), format!("/api-keys/{spare}"), None)),
        ("post /custom-domains", with(post.clone(), "/custom-domains".into(), Some(add))),
        (
            "patch /custom-domains/{hostname}",
            with(Method::PATCH, domain.into(), Some(json!({"primary": true}))),
        ),
        ("post /custom-domains/{hostname}/verify", with(post.clone(), format!("{domain}/verify"), None)),
        ("post /webhooks", with(post.clone(), "/webhooks".into(), Some(url))),
        ("patch /webhooks/{id}", with(Method::PATCH, webhook.clone(), Some(json!({"description": "x"})))),
        ("post /webhooks/{id}/rotate", with(post.clone(), format!("{webhook}/rotate"), None)),
        ("post /webhooks/{id}/test", with(post.clone(), format!("{webhook}/test"), None)),
        ("post /webhooks/{id}/deliveries/{deliveryId}/retry", with(post.clone(), delivery, None)),
        ("post /webhooks/{id}/receive", with(post.clone(), format!("{webhook}/receive"), Some(json!({})))),
        ("post /appeals", form(post.clone(), "/appeals".into(), harvest("race"))),
        (
            "post /sites/{idOrSlug}/feedback/{id}/replies",
            with(post.clone(), format!("{at}{comment}/replies"), Some(json!({"text": "Yes."}))),
        ),
        (
            "post /sites/{idOrSlug}/feedback/{id}/reopen",
            with(post.clone(), format!("{at}{comment}/reopen"), None),
        ),
        (
            "post /sites/{idOrSlug}/feedback/resolve",
            with(post.clone(), format!("{at}/feedback/resolve"), Some(json!({"query": "Hm"}))),
        ),
        ("post /feedback/{id}/resolve", with(post.clone(), format!("{comment}/resolve"), Some(json!({})))),
        ("delete /feedback/{id}", with(delete.clone(), comment, None)),
        ("delete /share-tokens/{tokenId}", with(delete.clone(), format!("/share-tokens/{link}"), None)),
        ("post /sites", form(post.clone(), "/sites".into(), page("New"))),
        ("patch /sites/{idOrSlug}", with(Method::PATCH, at.clone(), Some(json!({"title": "Other"})))),
        (
            "patch /sites/{idOrSlug}/content",
            with(
                Method::PATCH,
                format!("{at}/content"),
                Some(json!({"edits": [{"find": "<title>", "replace": "<title>New "}]})),
            ),
        ),
        (
            "put /sites/{idOrSlug}/files/{path}",
            with(Method::PUT, format!("{archive}/files/a.json"), Some(json!({"a": 1}))),
        ),
        (
            "delete /sites/{idOrSlug}/files/{path}",
            with(delete.clone(), format!("{archive}/files/a.json"), None),
        ),
        ("put /sites/{idOrSlug}", form(Method::PUT, at.clone(), page("Three"))),
        (
            "post /sites/{idOrSlug}/claim",
            with(post.clone(), format!("{}/claim", site_path(&unowned)), Some(claim)),
        ),
        ("post /sites/{idOrSlug}/restore", with(post.clone(), format!("{gone}/restore"), None)),
        (
            "post /sites/{idOrSlug}/rollback",
            with(post.clone(), format!("{at}/rollback"), Some(json!({"version": 1}))),
        ),
        ("post /sites/{idOrSlug}/share-tokens", with(post, links, Some(json!({})))),
    ]
}

/// The address of a webhook whose events are fetched, and the one that retries a delivery of it.
async fn webhook_with_delivery(node: &Node, key: &str) -> (String, String) {
    let post = async |path: &str, body: Value| node.post(path).key(key).json(&body).send().await;
    let made: Value = post("/webhooks", json!({"listen": true})).await.expect(201).json();
    let webhook = format!("/webhooks/{}", made["id"].as_str().unwrap());
    let sent: Value = node.post(&format!("{webhook}/test")).key(key).send().await.expect(200).json();
    post(&format!("{webhook}/receive"), json!({"received": 1})).await.expect(200);
    let delivery = format!("{webhook}/deliveries/{}/retry", sent["id"].as_str().unwrap());
    (webhook, delivery)
}

/// The operations of the document that a suspended account may not call.
async fn described(node: &Node) -> BTreeSet<String> {
    let document: Value = node.get("/openapi.json").send().await.json();
    let mut found = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let ways = operation["security"].as_array().unwrap();
            let writes = method != "get"
                && !matches!(path.as_str(), "/check" | "/mcp")
                && !(method == "delete"
                    && matches!(
                        path.as_str(),
                        "/sites/{idOrSlug}" | "/custom-domains/{hostname}" | "/webhooks/{id}"
                    ));
            if writes && ways.iter().any(|way| way.get("api_key").is_some()) {
                found.insert(format!("{method} {path}"));
            }
        }
    }
    found
}

#[tokio::test]
async fn every_operation_is_undone_when_the_suspension_came_before_its_commit() {
    // Only on SQLite: on PostgreSQL a late notification of an earlier change may evict the cached credential at any
    // moment.
    let dns = DnsServer::start().await;
    let node = &Setup::new().set("dns.servers", dns.address()).set("dns.timeout_seconds", "30").start().await;
    let person = node.newcomer_on("free").await;
    node.app().credit_account("test", &person.account.id, 10_000, "test", None).await.unwrap();
    let key = key_of(node, &person).await;
    let site = node.publish_as(&key, Form::file("a.html", page("Mine"))).await;
    let operations = operations(node, &key).await;
    let known: BTreeSet<String> = operations.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, described(node).await);
    for (name, ask) in operations {
        // The clock does not advance, so the credential read here stays cached.
        node.get("/me").key(&key).send().await.expect(200);
        suspend_meanwhile(node, &person).await;
        // The extractor still accepts it: this changes nothing, so nothing is committed.
        node.patch(&site_path(&site)).key(&key).json(&json!({})).send().await.expect(200);
        let refused = ask().send().await;
        assert_eq!((refused.status, &refused.json()["error"]), (403, &json!(CODE)), "{name}");
        lift_meanwhile(node, &person).await;
        let done = ask().send().await;
        assert!((200..300).contains(&done.status), "{name}: {}", done.text());
    }
}

#[tokio::test]
async fn what_only_people_do_is_undone_as_well() {
    on_each_database(Setup::new, async |node| {
        let (app, person) = (node.app(), node.newcomer_on("pro").await);
        let account = &person.account;
        let session = app.start_session(account, SignInMethod::Code, "Firefox").await.unwrap().session;
        let resource = format!("{}/mcp", node.base_url());
        let client = GrantedClient { id: "client_1", name: "A program" };
        app.grant_access(client, &account.id, Scopes::ALL, &resource).await.unwrap();
        let grant = app.list_grants(account).await.unwrap().remove(0).id;
        let passkey = |id: u8| NewPasskey {
            credential_id: vec![id],
            user_handle: vec![7; 16],
            credential: "{}".into(),
        };
        app.add_passkey(account, passkey(1), "One".into()).await.unwrap();
        let one = app.list_passkeys(account).await.unwrap().remove(0).id;
        let request = AccessRequest {
            client_id: "client_1".into(),
            client_name: "A program".into(),
            redirect_uri: "http://127.0.0.1/".into(),
            scopes: Scopes::ALL,
            resource: resource.clone(),
            challenge: "x".repeat(43),
            state: None,
        };
        let consent = app.store_consent_request(&session, &request).await.unwrap();
        let device = async |kind| {
            let asked = DeviceRequest {
                client_id: "client_1".into(),
                client_name: "A laptop".into(),
                kind,
                scopes: Scopes::ALL,
                resource: resource.clone(),
            };
            app.start_device_login(asked, None).await.unwrap()
        };
        let (asked, allowed) = (device(DeviceLoginKind::Key).await, device(DeviceLoginKind::Key).await);
        let answer = async |code: &str| app.answer_device_login(account, &session, code, true, None).await;
        answer(&allowed.login.user_code).await.unwrap().unwrap();
        let redeem = || app.poll_device_login(&allowed.device_code, DeviceLoginKind::Key, None);

        app.credit_account("test", &account.id, 2500, "test", None).await.unwrap();
        let top_up = || NewPaySession {
            feature: Feature::Topup,
            amount_minor: None,
            account: Some(account),
            ip: None,
        };

        suspend_meanwhile(node, &person).await;
        let code = asked.login.user_code;
        let refusals = [
            app.add_passkey(account, passkey(2), "Two".into()).await.unwrap_err(),
            app.remove_passkey(account, &one).await.unwrap_err(),
            app.answer_consent(account, &session, &consent, true).await.unwrap_err(),
            app.revoke_grant(account, &grant).await.unwrap_err(),
            answer(&code).await.unwrap_err(),
            redeem().await.unwrap_err(),
            app.unlock_from_form(account, Sku::HigherLimits, "1").await.unwrap_err(),
            app.create_pay_session(top_up()).await.unwrap_err(),
        ];
        for refused in refusals {
            assert_eq!(refused.code, Code::AccountSuspended, "{refused:?}");
        }
        lift_meanwhile(node, &person).await;
        app.add_passkey(account, passkey(2), "Two".into()).await.unwrap();
        app.remove_passkey(account, &one).await.unwrap();
        app.answer_consent(account, &session, &consent, true).await.unwrap().unwrap();
        app.revoke_grant(account, &grant).await.unwrap();
        answer(&code).await.unwrap().unwrap();
        assert!(matches!(redeem().await.unwrap(), DevicePollResult::Key(_)));
        assert!(app.unlock_from_form(account, Sku::HigherLimits, "1").await.unwrap());
        app.create_pay_session(top_up()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn deletion_goes_on_but_keeps_what_an_operator_may_have_to_look_at() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let publish = async || node.publish_as(&key, Form::file("a.html", page("Mine"))).await;
        let (plain, purged) = (publish().await, publish().await);
        suspend_meanwhile(node, &person).await;
        node.delete(&site_path(&plain)).key(&key).send().await.expect(200);
        let path = format!("{}?purge=true", site_path(&purged));
        let kept = node.delete(&path).key(&key).send().await.expect(200).json();
        assert!(kept["restorable_until"].is_i64(), "{kept}");
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 2);
    })
    .await;
}

#[tokio::test]
async fn request_that_began_before_it_writes_nothing_after_it() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let site = node.publish_as(&key, Form::file("a.html", page("One"))).await;
        let put = node.put(&site_path(&site)).key(&key).form(Form::file("a.html", page("Two")));
        put.send().await.expect(200);
        let deleted = node.publish_as(&key, Form::file("a.html", page("Gone"))).await;
        node.delete(&site_path(&deleted)).key(&key).send().await.expect(200);
        let unowned = node.publish_anonymously().await;
        let (gone, claim) = (deleted["id"].as_str().unwrap(), unowned["claim_token"].as_str().unwrap());
        // The account as it was when the head of the request was read.
        let (app, account, id) = (node.app(), person.account.clone(), site["id"].as_str().unwrap());
        let maker = VersionMaker::unnamed(MakerKind::Dashboard);
        let writer = Writer::Account(account.clone(), maker.clone());
        let seen = app.check_writer(&writer, id, None).await.unwrap();
        suspend_meanwhile(node, &person).await;
        let (upload, options) = (|| Upload::html(page("Three")), UploadOptions::default);
        let refused = app.replace_site(&writer, id, seen, upload(), options()).await.unwrap_err();
        assert_eq!(refused.code, Code::AccountSuspended);
        let refused = app.rollback_site(&account, id, 1, maker.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::AccountSuspended);
        let caller = Caller { account: Some(account), grant_id: None, ip: None, maker: Some(maker) };
        let create = app.create_site(&caller, upload(), options(), None, |_| Vec::new());
        assert_eq!(Box::pin(create).await.unwrap_err().code, Code::AccountSuspended);
        let patch = || PatchRequest { title: Field::Value("Other".into()), ..PatchRequest::default() };
        let account = &person.account;
        let link = || app.create_share_token(account, id, ShareTokenRequest::default(), None, |_| Vec::new());
        let refusals = [
            app.change_site(account, id, patch()).await.unwrap_err(),
            app.restore_site(account, gone).await.unwrap_err(),
            app.claim_site(account, unowned["id"].as_str().unwrap(), claim).await.unwrap_err(),
            link().await.unwrap_err(),
            app.create_key(account, None, None, |_| Vec::new()).await.unwrap_err(),
        ];
        for refused in refusals {
            assert_eq!(refused.code, Code::AccountSuspended, "{refused:?}");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 4);
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 3);
        assert_eq!(node.count("SELECT COUNT(*) FROM share_tokens").await, 0);
        lift_meanwhile(node, &person).await;
        app.change_site(account, id, patch()).await.unwrap();
        app.restore_site(account, gone).await.unwrap();
        app.claim_site(account, unowned["id"].as_str().unwrap(), claim).await.unwrap();
        link().await.unwrap();
    })
    .await;
}
