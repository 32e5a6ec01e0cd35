//! Operating the server: first start, health, metrics, logs without secrets, both HTTP versions, graceful shutdown.

use crate::harness::{Form, Node, ReservedPort, Setup, page};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/test-only.cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/test-only.key.pem");

/// A running server process.
struct Process {
    child: Child,
    base_url: String,
    key: Option<String>,
}

impl Process {
    /// Waits for the last line of the startup message, which at a first start is the example.
    fn start(dir: &TempDir, first: bool) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dropleaf"))
            .current_dir(dir.path())
            .env_clear()
            .args(["serve", "--listen", "localhost:0", "--set", "log.level=debug"])
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut base_url, mut key) = (String::new(), None);
        while let Some(Ok(line)) = lines.next() {
            if let Some(url) = line.trim().strip_prefix("API and docs") {
                url.trim().trim_end_matches("/docs").clone_into(&mut base_url);
            }
            if line.trim().starts_with("stk_live_") {
                key = Some(line.trim().to_owned());
            }
            if line.contains(if first { "curl -H" } else { "  Data  " }) {
                break;
            }
        }
        Self { child, base_url, key }
    }

    fn stop(mut self) -> i32 {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

#[tokio::test]
async fn first_start_prints_a_key_that_works_and_the_second_does_not() {
    let dir = TempDir::new().unwrap();
    let client = client();
    let process = Process::start(&dir, true);
    let key = process.key.clone().unwrap();
    let me = client.get(format!("{}/me", process.base_url)).bearer_auth(&key).send().await.unwrap();
    assert_eq!(me.status(), 200);
    assert_eq!(process.stop(), 0, "it ends well when it is told to");
    let again = Process::start(&dir, false);
    assert_eq!(again.key, None);
    let me = client.get(format!("{}/me", again.base_url)).bearer_auth(&key).send().await.unwrap();
    assert_eq!(me.status(), 200);
    again.stop();
}

async fn read(ask: reqwest::RequestBuilder) -> serde_json::Value {
    serde_json::from_slice(&ask.send().await.unwrap().bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn logs_never_contain_secrets() {
    let dir = TempDir::new().unwrap();
    let process = Process::start(&dir, true);
    let (client, base) = (client(), process.base_url.clone());
    let key = process.key.clone().unwrap();
    let (kind, body) = Form::file("a.html", page("Logged")).field("password", "hush-password").encode();
    let made = client.post(format!("{base}/sites?query=hush-query")).header("content-type", kind).body(body);
    let site = read(made).await;
    let (token, claim) = (site["unlisted_token"].as_str().unwrap(), site["claim_token"].as_str().unwrap());
    for target in [format!("/p/{token}/?t=hush-share"), format!("/sites/{token}?q=hush-q"), "/me".into()] {
        client.get(format!("{base}{target}")).bearer_auth(&key).send().await.unwrap();
    }
    let put = client.put(format!("{base}/sites/{token}")).header("authorization", format!("Claim {claim}"));
    put.header("content-type", "application/json")
        .body(json!({"html": "<p>"}).to_string())
        .send()
        .await
        .unwrap();
    let (kind, body) = Form::file("a.html", page("Shared")).field("password", "hush-password").encode();
    let own = client.post(format!("{base}/sites")).bearer_auth(&key).header("content-type", kind).body(body);
    let own = read(own).await;
    let shares = format!("{base}/sites/{}/share-tokens", own["id"].as_str().unwrap());
    let share = read(client.post(shares).bearer_auth(&key)).await;
    let share_token = share["token"].as_str().unwrap();
    let link = share["url"].as_str().unwrap();
    assert_eq!(client.get(link).send().await.unwrap().status(), 200);
    client.get(link).header("user-agent", "Mozilla/5.0").send().await.unwrap();
    let revoked = client.delete(format!("{base}/share-tokens/{share_token}")).bearer_auth(&key).send().await;
    assert_eq!(revoked.unwrap().status(), 200);
    client.get(format!("{base}/me")).bearer_auth("stk_live_hush-wrong-key").send().await.unwrap();
    process.stop();
    let mut log = String::new();
    std::fs::File::open(dir.path().join("log")).unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("request completed"), "there is a log: {log}");
    for secret in [token, claim, &key, share_token, "hush-"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    for line in log.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "JSON away from a terminal: {line}");
    }
}

#[tokio::test]
async fn metrics_are_shown_on_their_own_listener() {
    let free = ReservedPort::new();
    let node = Setup::new().set("metrics.listen", format!("127.0.0.1:{}", free.number)).start().await;
    let site = node.publish_page("Measured").await;
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    let text = node.client.get(format!("{}/metrics", free.url())).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("dropleaf_responses_total"), "{text}");
    assert!(!text.contains(site["unlisted_token"].as_str().unwrap()));
    node.get("/metrics").send().await.expect(404);
}

#[tokio::test]
async fn http_2_is_spoken_in_the_clear() {
    let node = Node::start().await;
    let site = node.publish_page("Two").await;
    let client = builder().http2_prior_knowledge().build().unwrap();
    let answer = client.get(site["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    assert_eq!(answer.text().await.unwrap(), page("Two"));
    let me = client.get(format!("{}/me", node.base_url())).bearer_auth(&node.key).send().await.unwrap();
    assert_eq!(me.status(), 200);
}

#[tokio::test]
async fn tls_with_given_files_speaks_both_versions() {
    let node = Setup::new().set("tls.cert_file", CERT).set("tls.key_file", KEY).start().await;
    assert!(node.base_url().starts_with("https://localhost:"));
    let target = format!("{}/healthz", node.base_url());
    let both = builder().tls_danger_accept_invalid_certs(true).build().unwrap();
    let answer = both.get(&target).send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2, "chosen in the handshake");
    assert!(answer.headers().contains_key("strict-transport-security"));
    let old = builder().tls_danger_accept_invalid_certs(true).http1_only().build().unwrap();
    assert_eq!(old.get(&target).send().await.unwrap().version(), reqwest::Version::HTTP_11);
}

#[tokio::test]
async fn restart_keeps_every_page_and_key() {
    let node = Node::start().await;
    let site = node.publish_page("Lasting").await;
    let key = node.key.clone();
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    let dir = node.stop().await;
    let node = Setup::new().start_in(dir).await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    assert_eq!(node.get(&path).send().await.expect(200).text(), page("Lasting"));
    let read = node.get(&crate::harness::site_path(&site)).key(&key).send().await.expect(200).json();
    assert_eq!(read["view_count"], 2, "views were written at the end");
}

#[tokio::test]
async fn stop_lets_requests_under_way_end() {
    let node = Node::start().await;
    let large = crate::harness::noise("slow", 8 << 20);
    let site = node.publish(Form::file("x", &large).field("e2e", "true")).await;
    let mut answer = node.client.get(site["url"].as_str().unwrap()).send().await.unwrap();
    let first = answer.chunk().await.unwrap().unwrap().len();
    let rest = async {
        let mut total = first;
        while let Some(piece) = answer.chunk().await.unwrap() {
            total += piece.len();
        }
        total
    };
    let (_dir, total) = futures_util::future::join(node.stop(), rest).await;
    assert_eq!(total, large.len());
}

fn builder() -> reqwest::ClientBuilder {
    dropleaf::tls::install_provider();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy()
}

fn client() -> reqwest::Client {
    builder().build().unwrap()
}
