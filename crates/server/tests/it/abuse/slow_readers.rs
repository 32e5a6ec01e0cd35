//! Clients that request much and read little: HTTP/2 windows that never open while pings continue, and one network that
//! opens as many connections as it can.

use crate::harness::mcp::LEGACY;
use crate::harness::mcp_line::{BOTH, begin, uri_of};
use crate::harness::{Form, Node, Setup, noise};
use bytes::Bytes;
use dropleaf_content::hostile::{Archive, Item};
use h2::client::{Builder, SendRequest};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

const FILES: usize = 20;
const FILE_BYTES: usize = 1 << 20;
/// Longer than anything here takes, unless it hangs.
const HANGS: Duration = Duration::from_mins(2);

fn address(node: &Node) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], node.port))
}

async fn connect(node: &Node, source: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((source, 0))).unwrap();
    socket.connect(address(node)).await.unwrap()
}

/// A connection that accepts `window` bytes of each response, and sends pings until the server ends it.
async fn pinging(node: &Node, window: u32) -> (SendRequest<Bytes>, JoinSet<()>) {
    let stream = connect(node, [127, 0, 0, 1]).await;
    let (client, mut connection) =
        Builder::new().initial_window_size(window).handshake::<_, Bytes>(stream).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    let mut until_closed = JoinSet::new();
    until_closed.spawn(async move {
        let pinging = async {
            while pings.ping(h2::Ping::opaque()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! { _ = connection => {}, () = pinging => {} }
    });
    (client, until_closed)
}

async fn ask(client: &SendRequest<Bytes>, url: &str) -> h2::client::ResponseFuture {
    let request = http::Request::get(url).body(()).unwrap();
    client.clone().ready().await.unwrap().send_request(request, true).unwrap().0
}

async fn read_all(client: &SendRequest<Bytes>, url: &str) -> Vec<u8> {
    let response = ask(client, url).await.await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let mut whole = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        whole.extend_from_slice(&piece);
    }
    whole
}

fn name(n: usize) -> String {
    format!("{n}.bin")
}

/// Publishes an archive of large files; returns its address.
async fn publish(node: &Node) -> String {
    let index = Item::deflated("index.html", b"<!doctype html><title>Files</title>");
    let files = (0..FILES).map(|n| Item::stored(name(n), &noise(&name(n), FILE_BYTES)));
    let bytes = std::iter::once(index).chain(files).fold(Archive::default(), Archive::item).build().bytes;
    node.publish(Form::file("files.zip", bytes)).await["url"].as_str().unwrap().to_owned()
}

/// A server with the minimum memory for responses: 1 MiB per network.
fn small() -> Setup {
    Setup::new().with_rates().set("limits.unsent_bytes", "0")
}

/// One that also has short timeouts.
fn impatient() -> Setup {
    small().set("limits.header_seconds", "1").set("limits.idle_seconds", "1")
}

#[tokio::test]
async fn pings_do_not_keep_a_connection_that_takes_nothing() {
    let node = impatient().start().await;
    let url = publish(&node).await;
    for file in ["", "0.bin"] {
        let (client, mut closed) = pinging(&node, 0).await;
        let answer = ask(&client, &format!("{url}{file}")).await.await.unwrap();
        assert_eq!(answer.status(), 200);
        tokio::time::timeout(HANGS, closed.join_next()).await.expect("the server ends it");
    }
}

#[tokio::test]
async fn new_requests_do_not_keep_a_connection_that_leaves_its_answers() {
    let node = impatient().start().await;
    let url = publish(&node).await;
    let (client, mut closed) = pinging(&node, 0).await;
    let _kept = ask(&client, &format!("{url}0.bin")).await.await.unwrap();
    let asking = async {
        loop {
            let request = http::Request::head(&url).body(()).unwrap();
            let Ok(mut ready) = client.clone().ready().await else { break };
            let Ok((answer, _)) = ready.send_request(request, true) else { break };
            let _ = answer.await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = tokio::time::timeout(HANGS, closed.join_next()) => assert!(ended.is_ok(), "the server ends it"),
        () = asking => {}
    }
}

#[tokio::test]
async fn files_arrive_whole_though_the_memory_for_answers_is_used_up() {
    let node = small().start().await;
    let url = publish(&node).await;
    let (greedy, _greedy) = pinging(&node, 0).await;
    let mut untaken = Vec::new();
    for n in 0..FILES {
        untaken.push(ask(&greedy, &format!("{url}{}", name(n))).await);
    }
    // The other connection still holds its network's whole share: this one continues in chunks.
    let (modest, _modest) = pinging(&node, 1 << 20).await;
    let reading = async {
        let urls: Vec<_> = (0..FILES).map(|n| format!("{url}{}", name(n))).collect();
        futures_util::future::join_all(urls.iter().map(|url| read_all(&modest, url))).await
    };
    let files = tokio::time::timeout(HANGS, reading).await.expect("they arrive");
    for (n, file) in files.iter().enumerate() {
        assert!(*file == noise(&name(n), FILE_BYTES), "{n}");
    }
}

#[tokio::test]
async fn ranges_and_validators_hold_for_files_sent_in_pieces() {
    let node = small().start().await;
    let url = format!("{}3.bin", publish(&node).await);
    let whole = noise("3.bin", FILE_BYTES);
    // More than the network's share, so that it cannot be sent whole.
    let (blocking, _open) = pinging(&node, 0).await;
    let _kept = ask(&blocking, &url).await.await.unwrap();
    let answer = node.get(&url).header("range", "bytes=70000-899999").send().await.expect(206);
    assert_eq!(answer.header("content-range"), format!("bytes 70000-899999/{FILE_BYTES}"));
    assert!(answer.body == whole[70_000..900_000]);
    let answer = node.get(&url).header("accept-encoding", "br, gzip").send().await.expect(200);
    assert!(answer.body == whole);
    node.get(&url).header("if-none-match", answer.header("etag")).send().await.expect(304);
}

#[tokio::test]
async fn streams_of_one_network_do_not_wait_for_each_other_for_ever() {
    let node = small().start().await;
    let html = format!("<!doctype html><title>Long</title><p>{}</p>", "Words. ".repeat(50_000));
    let site = node.publish(Form::file("long.html", html.clone())).await;
    let path = format!("/sites/{}/content", site["id"].as_str().unwrap());
    // Decompression takes most of the network's memory, so that only one can be read at a time.
    let reads = (0..8).map(|_| node.get(&path).key(&node.key).send());
    let answers =
        tokio::time::timeout(HANGS, futures_util::future::join_all(reads)).await.expect("they arrive");
    for answer in answers {
        assert!(answer.expect(200).text() == html);
    }
}

#[tokio::test]
async fn answers_of_tools_do_not_wait_for_clients_that_leave_them() {
    let node = impatient().start().await;
    let html = format!("<!doctype html><title>Long</title><p>{}</p>", "Words. ".repeat(20_000));
    let site = node.publish(Form::file("long.html", html)).await;
    let uri = format!("{}/content", uri_of(&site));
    let session = begin(&node, &node.key).await;
    let (client, mut closed) = pinging(&node, 0).await;
    let request = http::Request::post(format!("http://localhost:{}/mcp", node.port))
        .header("authorization", format!("Bearer {}", node.key))
        .header("accept", BOTH)
        .header("content-type", "application/json")
        .header("mcp-session-id", session)
        .header("mcp-protocol-version", LEGACY)
        .body(())
        .unwrap();
    let (answer, mut body) = client.clone().ready().await.unwrap().send_request(request, false).unwrap();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}});
    body.send_data(message.to_string().into(), true).unwrap();
    assert_eq!(answer.await.unwrap().status(), 200);
    // Requests continue, so that the connection is not merely idle.
    let asking = async {
        loop {
            let request =
                http::Request::get(format!("http://localhost:{}/healthz", node.port)).body(()).unwrap();
            let Ok(mut ready) = client.clone().ready().await else { break };
            let Ok((answer, _)) = ready.send_request(request, true) else { break };
            let _ = answer.await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = tokio::time::timeout(HANGS, closed.join_next()) => assert!(ended.is_ok(), "the server ends it"),
        () = asking => {}
    }
}

/// Reads one response; returns its head.
async fn read_answer(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase().replacen("http", "HTTP", 1);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    head
}

#[tokio::test]
async fn uploads_on_many_connections_are_not_taken_for_large_heads() {
    let node = small().set("limits.anonymous_per_hour", "1000").start().await;
    let mut connections = Vec::new();
    // An upload makes the server read larger chunks; the head and the body of the next arrive together.
    for round in 0..2 {
        for n in 0..12 {
            if round == 0 {
                connections.push(connect(&node, [127, 0, 0, 1]).await);
            }
            let html = format!("<!doctype html><title>{n}</title><p>{}</p>", "Words. ".repeat(9_000));
            let body = json!({"html": html}).to_string();
            let head = format!(
                "POST /check HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
                node.port,
                node.key,
                body.len()
            );
            let stream = &mut connections[n];
            stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await.unwrap();
            let head = tokio::time::timeout(HANGS, read_answer(stream)).await.expect("an answer");
            assert!(head.starts_with("HTTP/1.1 200"), "connection {n}, round {round}: {head}");
        }
    }
}

#[tokio::test]
async fn one_network_leaves_connections_to_others() {
    let node = Setup::new().with_rates().set("limits.connections", "64").start().await;
    let mut held = Vec::new();
    let refused = loop {
        let mut stream = connect(&node, [127, 0, 0, 9]).await;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        match stream.read(&mut answer).await {
            Ok(1..) => held.push(stream),
            Ok(0) | Err(_) => break held.len(),
        }
    };
    assert_eq!(refused, 8, "an eighth of all");
    let mut other = connect(&node, [127, 0, 0, 10]).await;
    other.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
