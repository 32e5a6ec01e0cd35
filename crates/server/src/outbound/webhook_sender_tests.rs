//! Tests of the sender: what it sends, and which addresses it never contacts.

use super::*;
use async_trait::async_trait;
use dropleaf_app::DnsFailure;
use dropleaf_core::host::Origin;
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Answers each question about a name with the next of its answers; the last one is repeated.
#[derive(Debug, Default)]
struct ScriptedDns {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    questions: AtomicUsize,
}

impl ScriptedDns {
    fn answers(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |all: &&[&str]| all.iter().map(|ip| ip.parse().unwrap()).collect();
        self.answers.lock().unwrap().insert(name.into(), answers.iter().map(parse).collect());
        self
    }

    fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl DnsLookup for ScriptedDns {
    async fn cname_chain(&self, _: &str) -> Result<Vec<String>, DnsFailure> {
        Ok(Vec::new())
    }

    async fn txt(&self, _: &str) -> Result<Vec<String>, DnsFailure> {
        Ok(Vec::new())
    }

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DnsFailure> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        let mut all = self.answers.lock().unwrap();
        let Some(answers) = all.get_mut(name) else { return Ok(Vec::new()) };
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Ok(next.unwrap_or_default())
    }
}

/// Counts the connections to a port of this machine and answers each with the same text.
struct Receiver {
    port: u16,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl Receiver {
    async fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, heads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, seen) = (Arc::clone(&connections), Arc::clone(&heads));
        let mut task = JoinSet::new();
        task.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let mut buffer = vec![0; 16 * 1024];
                let mut read = 0;
                while !buffer[..read].ends_with(b"}") {
                    match stream.read(&mut buffer[read..]).await {
                        Ok(0) | Err(_) => break,
                        Ok(more) => read += more,
                    }
                    // The beginning of a TLS handshake.
                    if buffer[0] == 0x16 {
                        break;
                    }
                }
                seen.lock().unwrap().push(String::from_utf8_lossy(&buffer[..read]).into_owned());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { port, connections, heads, _task: task }
    }

    fn count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn sender(dns: ScriptedDns, allow_loopback: bool) -> WebhookSender {
    sender_with(Arc::new(dns), allow_loopback)
}

fn sender_with(dns: Arc<ScriptedDns>, allow_loopback: bool) -> WebhookSender {
    crate::tls::install_provider();
    let base = Origin::parse("https://drop.example").unwrap();
    let hosts = Hosts::new(base.clone(), base, "drop.example".into(), true);
    WebhookSender::with(hosts, Some(dns), allow_loopback, Duration::from_secs(30)).unwrap()
}

async fn send(sender: &WebhookSender, url: &str) -> Result<u16, String> {
    let message = WebhookMessage {
        url: url.into(),
        id: "evt_1".into(),
        timestamp: 1_700_000_000,
        signature: "v1,c2ln".into(),
        body: r#"{"type":"webhook.test"}"#.into(),
    };
    sender.post(&message).await
}

#[tokio::test]
async fn addresses_that_are_not_public_are_never_connected_to() {
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let names: &[(&str, &[&str])] = &[
        ("loopback.example", &["127.0.0.1"]),
        ("loopback6.example", &["::1"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
        ("compatible.example", &["::7f00:1"]),
        ("nat64.example", &["64:ff9b::7f00:1"]),
        ("6to4.example", &["2002:7f00:1::"]),
        ("teredo.example", &["2001::1"]),
        ("any.example", &["0.0.0.0"]),
        ("any6.example", &["::"]),
        ("private.example", &["10.0.0.1"]),
        ("private2.example", &["172.16.0.1"]),
        ("private3.example", &["192.168.1.1"]),
        ("shared.example", &["100.64.0.1"]),
        ("metadata.example", &["169.254.169.254"]),
        ("metadata6.example", &["fd00:ec2::254"]),
        ("link-local.example", &["fe80::1"]),
        ("unique-local.example", &["fc00::1"]),
        ("multicast.example", &["224.0.0.1"]),
        ("multicast6.example", &["ff02::1"]),
        ("broadcast.example", &["255.255.255.255"]),
        // One of several is enough.
        ("mixed.example", &["1.1.1.1", "127.0.0.1"]),
    ];
    let dns = names.iter().fold(ScriptedDns::default(), |dns, (name, ips)| dns.answers(name, &[ips]));
    let sender = sender(dns, false);
    let mut urls: Vec<String> =
        names.iter().map(|(name, _)| format!("https://{name}:{}/hook", receiver.port)).collect();
    let port = receiver.port;
    urls.extend(
        ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "0.0.0.0", "localhost"]
            .map(|host| format!("https://{host}:{port}/hook")),
    );
    // Other spellings of 127.0.0.1, which the URL parser reads as such.
    urls.extend(
        ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"].map(|host| format!("https://{host}:{port}/")),
    );
    assert!(urls.len() >= 20);
    for url in &urls {
        let error = send(&sender, url).await.unwrap_err();
        let refusals = [Refusal::NotPublic.to_string(), Refusal::InvalidUrl.to_string()];
        assert!(refusals.contains(&error), "{url}: {error}");
    }
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_name_is_resolved_once_for_each_connection_and_checked_every_time() {
    let receiver = Receiver::start("no TLS here").await;
    // Allowed when it is checked, and another address for a program that would ask again before it connects.
    let dns = Arc::new(ScriptedDns::default().answers("rebind.example", &[&["127.0.0.1"], &["10.0.0.1"]]));
    let sender = sender_with(Arc::clone(&dns), true);
    let url = format!("https://rebind.example:{}/hook", receiver.port);
    let first = send(&sender, &url).await.unwrap_err();
    assert!(first.contains("cannot be reached"), "the receiver has no certificate: {first}");
    assert_eq!((receiver.count(), dns.questions()), (1, 1), "it connected to the address that was checked");
    assert_eq!(send(&sender, &url).await.unwrap_err(), Refusal::NotPublic.to_string());
    assert_eq!((receiver.count(), dns.questions()), (1, 2));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = Receiver::start("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let location = format!("http://127.0.0.1:{}/", target.port);
        let answer = format!("HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let redirecting = Receiver::start(answer.leak()).await;
        let sender = sender(ScriptedDns::default(), true);
        let answered = send(&sender, &format!("http://127.0.0.1:{}/", redirecting.port)).await.unwrap();
        assert_eq!(answered.to_string(), status[..3]);
        assert_eq!(redirecting.count(), 1);
    }
    assert_eq!(target.count(), 0);
}

#[tokio::test]
async fn a_message_has_its_headers_and_its_body_and_nothing_else_about_us() {
    let receiver = Receiver::start("HTTP/1.1 204 No Content\r\n\r\n").await;
    let sender = sender(ScriptedDns::default(), true);
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/hook?t=1", receiver.port);
        assert_eq!(send(&sender, &url).await, Ok(204));
    }
    let heads = receiver.heads.lock().unwrap().clone();
    assert_eq!(heads.len(), 2);
    let (head, body) = heads[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(body, r#"{"type":"webhook.test"}"#);
    assert!(head.starts_with("POST /hook?t=1 HTTP/1.1\r\n"), "{head}");
    for line in [
        "content-type: application/json",
        "webhook-id: evt_1",
        "webhook-timestamp: 1700000000",
        "webhook-signature: v1,c2ln",
        "user-agent: dropleaf-webhooks",
    ] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
}

#[tokio::test]
async fn errors_are_in_our_words_without_the_url() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let sender = sender(ScriptedDns::default(), true);
    let error = send(&sender, &format!("http://127.0.0.1:{free}/secret-path")).await.unwrap_err();
    assert!(error.contains("cannot be reached") && !error.contains("secret-path"), "{error}");
    let error = send(&sender, "https://unknown.example/secret-path").await.unwrap_err();
    assert_eq!(error, Refusal::Unknown.to_string());
    for ours in ["https://drop.example/x", "https://s-abc.drop.example/"] {
        assert_eq!(send(&sender, ours).await.unwrap_err(), Refusal::InvalidUrl.to_string());
    }
}
