//! Views are answered on two paths that no client can tell apart: the same bytes are sent to both, and all that comes back is
//! compared. Only the date tells a test which path answered: the fast path has the clock of the test.

mod connection;
mod other_servers;
mod random_requests;
mod request_variants;
mod same_bytes;

use crate::harness::{Form, Node, StillTime, in_time, noise, page, pdf, zip};
use futures_util::future::join_all;
use serde_json::Value;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The day of the tests' clock.
const FAST: &str = "date: Tue, 14 Nov 2023";

/// Sent last on every connection. However the bytes before it are read, the server ends the connection here.
const LAST: &[u8] =
    b"GET /p/AAAAAAAAAAAAAAAAAAAAAA/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

fn set_fast(node: &Node, is_on: bool) {
    node.running.resolved.fast_path.store(is_on, Ordering::Relaxed);
}

async fn connect(node: &Node) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", node.port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends these pieces and [`LAST`] on one connection, and returns all that comes back until it ends.
async fn converse(node: &Node, pieces: &[Vec<u8>]) -> Vec<u8> {
    let exchange = async {
        let mut stream = connect(node).await;
        let (end, before) = pieces.split_last().unwrap();
        for piece in before {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        stream.write_all(&[end, LAST].concat()).await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        all
    };
    in_time("the end of a connection", exchange).await
}

/// The same for several connections at a time, on one path.
async fn converse_all(node: &Node, fast: bool, sent: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    set_fast(node, fast);
    let mut all = Vec::new();
    for part in sent.chunks(100) {
        all.extend(join_all(part.iter().map(|pieces| converse(node, pieces))).await);
    }
    all
}

/// Without what differs between any two responses: the date, and the ID of the request.
fn masked(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let differs = |line: &str| line.starts_with("date: ") || line.starts_with("x-request-id: ");
    text.split_inclusive('\n').filter(|line| !differs(line)).collect()
}

fn count_fast(answers: &[Vec<u8>]) -> usize {
    answers.iter().map(|answer| String::from_utf8_lossy(answer).matches(FAST).count()).sum()
}

/// Sends the same on both paths and compares; returns how many responses the fast path gave.
async fn compare(node: &Node, sent: &[Vec<Vec<u8>>]) -> usize {
    let (theirs, ours) = (converse_all(node, false, sent).await, converse_all(node, true, sent).await);
    assert_eq!(count_fast(&theirs), 0);
    for ((pieces, theirs), ours) in sent.iter().zip(&theirs).zip(&ours) {
        let asked = String::from_utf8_lossy(&pieces.concat()).into_owned();
        assert_eq!(masked(ours), masked(theirs), "asked: {asked}");
    }
    count_fast(&ours)
}

/// The same one by one, with rows that are too old and must be read first.
async fn compare_with_old_rows(node: &Node, sent: &[Vec<Vec<u8>>]) -> usize {
    // Reading has a time limit.
    let _still = StillTime::new();
    let mut fast = 0;
    for pieces in sent {
        let mut answers = Vec::new();
        for is_on in [false, true] {
            set_fast(node, is_on);
            node.clock.advance(70);
            answers.push(converse(node, pieces).await);
        }
        let asked = String::from_utf8_lossy(&pieces.concat()).into_owned();
        assert_eq!(masked(&answers[1]), masked(&answers[0]), "asked: {asked}");
        fast += count_fast(&answers);
    }
    fast
}

/// Publishes pages of all kinds, and returns hosts and paths of requests. The first one is a document.
async fn publish(node: &Node) -> Vec<(String, String)> {
    let (long, large) = ("<p>line</p>".repeat(400), noise("large", 200_000));
    let files = [
        ("index.html", page("Files")),
        ("long.html", format!("<!doctype html><title>Long</title>{long}")),
        ("a b.txt", "with a space".into()),
        ("style.css", "p{color:red}".repeat(60)),
        ("empty.txt", String::new()),
        ("run.bat", "echo".into()),
        ("sub/index.html", page("Sub")),
        ("404.html", "<p>none".into()),
        ("large.txt", large.iter().map(|byte| char::from(b'a' + byte % 26)).collect()),
    ];
    let archive = zip(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let site = node.publish(Form::file("s.zip", archive.clone())).await;
    let localhost = format!("localhost:{}", node.port);
    let mut targets = Vec::new();
    for name in files.map(|(name, _)| name).into_iter().chain(["", "sub", "sub/", "none", "_dropleaf/x"]) {
        let name = name.replace(' ', "%20");
        targets.push((localhost.clone(), format!("{}{name}", path_of(&site))));
    }
    let own = own_host(node, &site).await;
    for path in ["", "style.css", "none", "robots.txt"] {
        targets.push((own.clone(), format!("{}{path}", path_of(&site))));
    }
    targets.extend(["/", "/robots.txt", "/healthz"].map(|path| (own.clone(), path.to_owned())));
    let public = node.publish(Form::file("s.zip", archive).field("slug", "open-files")).await;
    let public_host = host_of(public["url"].as_str().unwrap());
    for path in ["/", "/style.css", "/robots.txt", "/readyz", "/sub", "/none"] {
        targets.push((public_host.clone(), path.to_owned()));
    }
    let special = [
        Form::file("a.html", page("Gated")).field("password", "hunter2"),
        Form::file("a.html", page("Strict")).field("csp_strict", "true"),
        Form::file("a.html", page("Toolbar")).field("agentation", "true"),
        Form::file("a.html", page("Live")).field("live", "true"),
        Form::file("a.pdf", pdf()),
        Form::file("a.html", noise("sealed", 300)).field("e2e", "true"),
        Form::file("a.html", "<!doctype html><script src=/app.js></script>"),
        Form::file("a.md", "# Text"),
    ];
    for form in special {
        let site = node.publish(form).await;
        targets.push((own_host(node, &site).await, path_of(&site)));
        targets.push((localhost.clone(), path_of(&site)));
    }
    let deleted = node.publish_page("Deleted").await;
    node.delete(&crate::harness::site_path(&deleted)).key(&node.key).send().await;
    targets.push((localhost.clone(), path_of(&deleted)));
    for path in ["/", "/p/", "/p/AAAAAAAAAAAAAAAAAAAAAA/", "/p/short/", "/docs", "/none", "/healthz"] {
        targets.push((localhost.clone(), path.to_owned()));
    }
    targets.push(("unknown.example".into(), "/".into()));
    // So that rows and files are in memory.
    for (host, path) in &targets {
        for coding in ["identity", "gzip", "br", "zstd"] {
            let target = format!("http://{host}{path}");
            node.get(&target).header("accept-encoding", coding).send().await;
        }
    }
    targets
}

fn path_of(site: &Value) -> String {
    format!("/p/{}/", site["unlisted_token"].as_str().unwrap())
}

fn host_of(url: &str) -> String {
    url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned()
}

async fn own_host(node: &Node, site: &Value) -> String {
    host_of(node.get(&path_of(site)).browser().send().await.expect(307).header("location"))
}

fn plain((host, path): &(String, String)) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

fn with(request: &str, lines: &str) -> Vec<u8> {
    request.replacen("\r\n\r\n", &format!("\r\n{lines}\r\n\r\n"), 1).into_bytes()
}

const BROWSER: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36\r\nSec-Fetch-Mode: navigate\r\n\
                       Sec-Fetch-Dest: document\r\nSec-Fetch-Site: none\r\nAccept-Encoding: gzip, deflate, br, zstd";
