//! A server that is about to stop: it is not ready, still serves, and ends its connections without losing a request.

use crate::harness::{Background, Dropleaf, Node, in_time};
use futures_util::future::{join, join_all};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUEST: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

async fn connect(port: u16) -> TcpStream {
    in_time("a connection", TcpStream::connect(("127.0.0.1", port))).await.unwrap()
}

/// The head of one response, in lower case. Its body is read too.
async fn response(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let read_head = async {
        while !read.ends_with(b"\r\n\r\n") {
            read.push(stream.read_u8().await.unwrap());
        }
    };
    in_time("the head of a response", read_head).await;
    let head = String::from_utf8(read).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    in_time("the body of a response", stream.read_exact(&mut body)).await.unwrap();
    head
}

async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(REQUEST.as_bytes()).await.unwrap();
    response(stream).await
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    in_time("the end of a connection", stream.read(&mut [0])).await.unwrap() == 0
}

fn is_last(head: &str) -> bool {
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    head.contains("\r\nconnection: close\r\n")
}

#[tokio::test]
async fn draining_server_is_not_ready_and_serves_each_connection_once_more() {
    let node = Node::start().await;
    let mut kept = connect(node.port).await;
    assert!(!is_last(&ask(&mut kept).await));
    node.get("/readyz").send().await.expect(200);
    node.running.begin_drain();
    let refused = node.get("/readyz").send().await.refused(503, "not_ready");
    assert_eq!(refused.header("retry-after"), "5");
    node.get("/readyz?for=views").send().await.refused(503, "not_ready");
    assert!(refused.text().contains("stopping"), "{}", refused.text());
    assert!(is_last(&ask(&mut kept).await));
    assert!(is_closed(&mut kept).await);
    let mut new = connect(node.port).await;
    assert!(is_last(&ask(&mut new).await), "connections are still accepted");
    assert!(is_closed(&mut new).await);
    let site = node.publish_page("Still published").await;
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn drain_closes_unused_connections_but_none_on_which_a_request_has_begun() {
    let node = Node::start().await;
    let (mut unused, mut begun) = (connect(node.port).await, connect(node.port).await);
    for stream in [&mut unused, &mut begun] {
        assert!(!is_last(&ask(stream).await));
    }
    let (first, rest) = REQUEST.split_at(10);
    begun.write_all(first.as_bytes()).await.unwrap();
    node.running.begin_drain();
    assert!(is_closed(&mut unused).await);
    begun.write_all(rest.as_bytes()).await.unwrap();
    assert!(is_last(&response(&mut begun).await));
    assert!(is_closed(&mut begun).await);
}

#[tokio::test]
async fn stop_answers_a_request_that_has_begun_to_arrive() {
    let node = Node::start().await;
    let port = node.port;
    let (mut used, mut new) = (connect(port).await, connect(port).await);
    assert!(!is_last(&ask(&mut used).await));
    let (first, rest) = REQUEST.split_at(10);
    for stream in [&mut used, &mut new] {
        stream.write_all(first.as_bytes()).await.unwrap();
    }
    let rests = async {
        let closed = async { while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {} };
        in_time("the end of the listener", closed).await;
        for stream in [&mut used, &mut new] {
            stream.write_all(rest.as_bytes()).await.unwrap();
            assert!(is_last(&response(stream).await));
            assert!(is_closed(stream).await);
        }
    };
    join(node.stop(), rests).await;
}

#[tokio::test]
async fn requests_over_http_2_go_on_elsewhere_when_the_drain_begins() {
    let node = Node::start().await;
    let client = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let url = format!("{}/healthz", node.base_url());
    let ask = async || {
        let answer = in_time("an answer", client.get(&url).send()).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, reqwest::Version::HTTP_2));
    };
    ask().await;
    let during = join_all((0..50).map(|_| ask()));
    let begin = async { node.running.begin_drain() };
    join(during, begin).await;
    for _ in 0..20 {
        ask().await;
    }
}

#[tokio::test]
async fn first_signal_begins_the_drain_and_the_second_ends_it() {
    dropleaf::tls::install_provider();
    let dir = TempDir::new().unwrap();
    let settings = ["serve", "--listen", "localhost:0", "--set", "shutdown.drain_seconds=600"];
    let mut command = Dropleaf::in_dir(dir.path()).command(&settings);
    let mut server = Background(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let base_url = lines.find_map(|line| {
        let url = line.trim().strip_prefix("API and docs")?;
        Some(url.trim().trim_end_matches("/docs").to_owned())
    });
    let base_url = base_url.unwrap();
    assert!(lines.any(|line| line.contains("curl -H")), "the startup message ends");
    let pid = server.0.id().to_string();
    let tell = || assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |path: &str| {
        let answer = client.get(format!("{base_url}{path}")).send().await.unwrap();
        answer.status().as_u16()
    };
    assert_eq!(status("/readyz").await, 200);
    tell();
    in_time("the drain", async { while status("/readyz").await != 503 {} }).await;
    assert_eq!(status("/docs").await, 200);
    tell();
    let code = tokio::task::spawn_blocking(move || server.0.wait().unwrap().code());
    assert_eq!(in_time("the end of the server", code).await.unwrap(), Some(0));
}
