//! Client metadata documents: fetched safely, cached for a while, refused with an error page.

use crate::harness::oauth::{
    CALLBACK, assert_nothing_granted, authorize_path, code, refresh, sent_to, trade,
};
use crate::harness::{Node, Setup, StillTime};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A web server with one document, which a test may change.
struct Host {
    id: String,
    asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<(String, String)>>,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let id = format!("http://127.0.0.1:{}/client.json", listener.local_addr().unwrap().port());
        let asked = Arc::new(AtomicUsize::new(0));
        let answer = Arc::new(Mutex::new((String::new(), String::new())));
        let (count, given) = (Arc::clone(&asked), Arc::clone(&answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (head, body) = given.lock().unwrap().clone();
                let mut asked = [0; 4096];
                let _ = stream.read(&mut asked).await;
                let length = body.len();
                let text =
                    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        let host = Self { id, asked, answer };
        host.says("200 OK", &host.document());
        host
    }

    fn document(&self) -> Value {
        json!({
            "client_id": self.id, "client_name": "Described", "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        })
    }

    fn says(&self, head: &str, body: &Value) {
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        *self.answer.lock().unwrap() = (head.to_owned(), body);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn node() -> Node {
    Setup::new().set("oauth.allow_loopback_documents", "true").start().await
}

#[tokio::test]
async fn program_is_let_in_by_its_address_and_refreshes() {
    let (node, host) = (node().await, Host::start().await);
    let person = node.newcomer("ada@example.org").await;
    let page = person.get(&authorize_path(&host.id, &[])).await.expect(200).text();
    let shown = host.id.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    assert!(page.contains("Described") && page.contains(&shown), "{page}");
    assert!(page.contains("Any program on this device could claim to be this app."));
    let given = code(&person, &host.id, &[]).await;
    trade(&node, "https://evil.example/client.json", &given, &[]).await.refused(400, "invalid_grant");
    trade(&node, &host.id, &given, &[("client_secret", "x")]).await.refused(401, "invalid_client");
    let tokens = trade(&node, &host.id, &given, &[]).await.expect(200).json();
    node.get("/me").key(tokens["access_token"].as_str().unwrap()).send().await.expect(200);
    let token = tokens["refresh_token"].as_str().unwrap();
    refresh(&node, "https://evil.example/client.json", token, &[]).await.refused(400, "invalid_grant");
    refresh(&node, &host.id, token, &[]).await.expect(200);
    let apps = person.get("/dashboard/apps").await.expect(200).text();
    assert!(apps.contains(&shown));
}

#[tokio::test]
async fn document_is_kept_for_its_time_and_a_failure_is_not() {
    let (node, host) = (node().await, Host::start().await);
    let person = node.newcomer("ada@example.org").await;
    let path = authorize_path(&host.id, &[]);
    host.says("500 Oh", &json!(""));
    for asked in 1..=2 {
        person.get(&path).await.expect(400);
        assert_eq!(host.asked(), asked);
    }
    host.says("200 OK\r\nCache-Control: max-age=10", &host.document());
    for _ in 0..3 {
        person.get(&path).await.expect(200);
    }
    assert_eq!(host.asked(), 3);
    node.clock.advance(299);
    person.get(&path).await.expect(200);
    assert_eq!(host.asked(), 3, "five minutes at least");
    node.clock.advance(1);
    host.says("200 OK\r\nCache-Control: max-age=999999999", &host.document());
    person.get(&path).await.expect(200);
    node.clock.advance(86_399);
    person.get(&path).await.expect(200);
    assert_eq!(host.asked(), 4);
    node.clock.advance(1);
    person.get(&path).await.expect(200);
    assert_eq!(host.asked(), 5, "a day at most");
}

#[tokio::test]
async fn document_that_cannot_be_believed_is_a_page() {
    let (node, host) = (node().await, Host::start().await);
    let person = node.newcomer("ada@example.org").await;
    let with = |name: &str, value: Value| {
        let mut document = host.document();
        document[name] = value;
        document
    };
    for (head, body) in [
        ("302 Found\r\nLocation: http://127.0.0.1:1/x", host.document()),
        ("404 Not Found", host.document()),
        ("200 OK", json!("no json")),
        ("200 OK", json!([])),
        ("200 OK", with("client_id", json!("http://127.0.0.1:1/other"))),
        ("200 OK", with("client_secret", json!("x"))),
        ("200 OK", with("token_endpoint_auth_method", json!("client_secret_post"))),
        ("200 OK", with("redirect_uris", json!(["javascript:alert(1)"]))),
        ("200 OK", with("redirect_uris", json!([]))),
        ("200 OK", with("client_name", json!(null))),
        ("200 OK", with("padding", json!("x".repeat(70_000)))),
    ] {
        host.says(head, &body);
        let answer = person.get(&authorize_path(&host.id, &[])).await.expect(400);
        assert!(!answer.has("location"), "{head}");
    }
    host.says("200 OK", &host.document());
    let elsewhere = authorize_path(&host.id, &[("redirect_uri", "https://evil.example/")]);
    person.get(&elsewhere).await.expect(400);
    assert_nothing_granted(&node).await;
}

#[tokio::test]
async fn addresses_of_neighbours_are_never_asked() {
    let (node, host) = (Node::start().await, Host::start().await);
    let person = node.newcomer("ada@example.org").await;
    let port = host.id.split(':').nth(2).unwrap().split('/').next().unwrap().to_owned();
    for id in [
        host.id.clone(),
        format!("https://127.0.0.1:{port}/client.json"),
        format!("https://localhost:{port}/client.json"),
        format!("https://[::ffff:127.0.0.1]:{port}/client.json"),
        "https://10.0.0.1/client.json".into(),
        "https://169.254.169.254/latest/meta-data".into(),
        "https://2130706433/c".into(),
        "https://a.example".into(),
        "file:///etc/passwd".into(),
    ] {
        let answer = person.get(&authorize_path(&id, &[])).await.expect(400);
        assert!(!answer.has("location"), "{id}");
    }
    assert_eq!(host.asked(), 0);
}

#[tokio::test]
async fn documents_can_be_switched_off() {
    let host = Host::start().await;
    let setup =
        Setup::new().set("oauth.allow_loopback_documents", "true").set("oauth.client_documents", "false");
    let node = setup.start().await;
    node.get(&authorize_path(&host.id, &[])).send().await.expect(400);
    assert_eq!(host.asked(), 0);
    let document = node.get("/.well-known/oauth-authorization-server").send().await.json();
    assert_eq!(document["client_id_metadata_document_supported"], false);
    trade(&node, &host.id, "x", &[]).await.refused(401, "invalid_client");
}

#[tokio::test]
async fn nobody_can_make_the_server_ask_without_end() {
    let host = Host::start().await;
    let setup = Setup::new().with_rates().set("oauth.allow_loopback_documents", "true");
    let setup = setup.set("trusted_proxies", "127.0.0.0/8,::1/128");
    let node = setup.set("limits.anonymous_attempts_per_minute", "2").start().await;
    let person = node.newcomer("ada@example.org").await;
    host.says("404 Not Found", &json!(""));
    let path = authorize_path(&host.id, &[]);
    // Requests by a proxy without a client address are counted together.
    for status in [400, 400, 429, 429] {
        person.get(&path).await.expect(status);
    }
    assert_eq!(host.asked(), 2);
    person.look(&path).from("203.0.113.7").send().await.expect(400);
    host.says("200 OK", &host.document());
    node.clock.advance(60);
    let page = person.get(&path).await.expect(200);
    sent_to(&person.consent(&page, "deny").await, CALLBACK);
}

#[tokio::test]
async fn documents_are_fetched_for_people_alone() {
    let (node, host) = (node().await, Host::start().await);
    for changes in [vec![], vec![("prompt", "none")], vec![("scope", "nonsense")]] {
        let answer = node.get(&authorize_path(&host.id, &changes)).send().await.expect(303);
        assert!(answer.header("location").starts_with("/login?next="));
    }
    trade(&node, &host.id, "x", &[]).await.refused(400, "invalid_grant");
    refresh(&node, &host.id, "x", &[]).await.refused(400, "invalid_grant");
    assert_eq!(host.asked(), 0);
    let person = node.newcomer("ada@example.org").await;
    person.get(&authorize_path(&host.id, &[])).await.expect(200);
    assert_eq!(host.asked(), 1);
}

#[tokio::test]
async fn slow_hosts_that_strangers_name_stand_in_nobodys_way() {
    let (node, host) = (node().await, Host::start().await);
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = format!("http://127.0.0.1:{}/client.json", silent.local_addr().unwrap().port());
    let ask = || node.post("/oauth/device_authorization").fields(&[("client_id", slow.as_str())]).send();
    let person = node.newcomer("ada@example.org").await;
    // No timeout fires during the test.
    let _still = StillTime::new();
    let strangers = futures_util::future::join_all((0..12).map(|_| ask()));
    let look = async {
        // Anonymous requests hold every slot they may use.
        let (_held, _) = silent.accept().await.unwrap();
        person.get(&authorize_path(&host.id, &[])).await
    };
    tokio::select! {
        page = look => { page.expect(200); }
        _ = strangers => panic!("the strangers were answered first"),
    }
}

#[tokio::test]
async fn pages_of_this_server_cannot_speak_for_a_program() {
    let node = node().await;
    let person = node.newcomer("ada@example.org").await;
    let base = node.base_url();
    let port = base.rsplit(':').next().unwrap().to_owned();
    for id in [
        format!("{base}/p/x/client.json"),
        format!("http://127.0.0.1:{port}/client.json"),
        format!("https://s-abc.localhost:{port}/client.json"),
    ] {
        let answer = person.get(&authorize_path(&id, &[])).await.expect(400);
        assert!(answer.text().contains("Pages on this server cannot act as an app."), "{id}");
    }
}
