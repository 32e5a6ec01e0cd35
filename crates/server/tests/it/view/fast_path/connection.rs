//! What a connection does around its responses: access, rows that expire, counters, the drain, the stop and slow readers.

use super::{FAST, connect, converse_all, count_fast, path_of, plain, with};
use crate::access::burn::burning;
use crate::harness::{Form, NOW, Node, Setup, StillTime, in_time, on_each_database, page, zip};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Reads one response: its head in lower case, and its body.
async fn read_one(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let reading = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.unwrap();
        (head, body)
    };
    in_time("a response", reading).await
}

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    read_one(stream).await.0
}

/// An open connection that the fast path serves, and the request that it answers.
async fn fast_connection(node: &Node, site: &Value) -> (TcpStream, String) {
    let request = plain(&(format!("localhost:{}", node.port), path_of(site)));
    node.get(&path_of(site)).send().await.expect(200);
    let mut stream = connect(node).await;
    assert!(ask(&mut stream, &request).await.contains(FAST));
    (stream, request)
}

#[tokio::test]
async fn a_change_of_access_is_in_force_on_an_open_connection() {
    for (change, status) in [
        (json!({"password": "hunter2"}), 401),
        (json!({"email_gate_domain": "example.org"}), 401),
        (json!({"csp_strict": true}), 200),
    ] {
        let node = Node::start().await;
        let site = node.publish_page("Changed").await;
        let (mut stream, request) = fast_connection(&node, &site).await;
        node.patch_site(&site, change.clone()).await.expect(200);
        let head = ask(&mut stream, &request).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{change}: {head}");
        assert!(!head.contains(FAST), "{change}: {head}");
    }
}

#[tokio::test]
async fn a_page_expires_on_an_open_connection_to_the_second() {
    let node = Node::start().await;
    let site = node.publish_page("Ends").await;
    node.patch_site(&site, json!({"expires_at": NOW + 60})).await.expect(200);
    let (mut stream, request) = fast_connection(&node, &site).await;
    node.clock.advance(59);
    assert!(ask(&mut stream, &request).await.starts_with("HTTP/1.1 200 "));
    node.clock.advance(1);
    assert!(ask(&mut stream, &request).await.starts_with("HTTP/1.1 410 "));
}

#[tokio::test]
async fn a_row_that_is_too_old_is_read_again_and_the_connection_stays_fast() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Old").await;
        // Reading the row again has a time limit.
        let _still = StillTime::new();
        let (mut stream, request) = fast_connection(node, &site).await;
        for _ in 0..5 {
            node.clock.advance(100);
            let head = ask(&mut stream, &request).await;
            assert!(head.starts_with("HTTP/1.1 200") && head.contains(FAST), "{head}");
        }
        node.exec("UPDATE sites SET state = 'deleted'", Vec::new()).await;
        node.clock.advance(100);
        assert!(ask(&mut stream, &request).await.starts_with("HTTP/1.1 410"));
    })
    .await;
}

#[tokio::test]
async fn a_connection_begins_fast_although_nothing_is_in_memory() {
    on_each_database(Setup::new, async |node| {
        let _still = StillTime::new();
        let (small, large) = (page("Cold"), format!("<!doctype html>{}", "<p>cold</p>".repeat(30_000)));
        for (text, is_fast) in [(small, true), (large, false)] {
            let site = node.publish(Form::file("a.html", text)).await;
            let request = plain(&(format!("localhost:{}", node.port), path_of(&site)));
            for lines in ["Accept: text/html", "Accept-Encoding: gzip"] {
                let asked = String::from_utf8(with(&request, lines)).unwrap();
                let head = ask(&mut connect(node).await, &asked).await;
                assert!(head.starts_with("HTTP/1.1 200"), "{head}");
                // A body in the bucket may take long.
                assert_eq!(head.contains(FAST), is_fast, "{lines}: {head}");
                let again = ask(&mut connect(node).await, &asked).await;
                assert!(again.contains(FAST), "{lines}: {again}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn many_viewers_of_a_row_that_expires_share_one_read() {
    const VIEWERS: usize = 700;
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Popular").await;
        let _still = StillTime::new();
        let mut open = Vec::new();
        for _ in 0..VIEWERS {
            open.push(fast_connection(node, &site).await);
        }
        // More than can read at a time and wait for that.
        node.clock.advance(100);
        let answers = open.iter_mut().map(|(stream, request)| ask(stream, request));
        for head in futures_util::future::join_all(answers).await {
            assert!(head.starts_with("HTTP/1.1 200") && head.contains(FAST), "{head}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_page_that_does_not_exist_leaves_the_fast_path() {
    let node = Node::start().await;
    let (mut stream, request) = fast_connection(&node, &node.publish_page("Open").await).await;
    let missing = plain(&(format!("localhost:{}", node.port), "/p/AAAAAAAAAAAAAAAAAAAAAA/".to_owned()));
    for asked in [missing, request] {
        let head = ask(&mut stream, &asked).await;
        assert!(!head.contains(FAST), "{head}");
    }
}

#[tokio::test]
async fn gates_and_single_views_are_never_answered_on_the_fast_path() {
    let node = Node::start().await;
    for form in [Form::file("a.html", page("Gated")).field("password", "hunter2"), burning("Once")] {
        let site = node.publish(form).await;
        let open = node.publish_page("Open").await;
        let (mut stream, _) = fast_connection(&node, &open).await;
        let head = ask(&mut stream, &plain(&(format!("localhost:{}", node.port), path_of(&site)))).await;
        assert!(!head.contains(FAST), "{head}");
    }
}

#[tokio::test]
async fn both_paths_count_views_and_responses_alike() {
    let node = Node::start().await;
    let site =
        node.publish(Form::file("s.zip", zip(&[("index.html", &page("Counted")), ("a.css", "p{}")]))).await;
    let target = |path: &str| (format!("localhost:{}", node.port), format!("{}{path}", path_of(&site)));
    let sent: Vec<Vec<Vec<u8>>> = [
        vec![plain(&target("")).into_bytes()],
        vec![plain(&target("a.css")).into_bytes()],
        vec![with(&plain(&target("")), "If-None-Match: *")],
        vec![with(&plain(&target("")), "Sec-Purpose: prefetch\r\nSec-Fetch-Mode: no-cors")],
        vec![plain(&target("")).repeat(7).into_bytes()],
        vec![plain(&target("none")).into_bytes()],
    ]
    .into();
    converse_all(&node, false, &sent).await;
    let counts = async || {
        let views = node.read_site(&site).await["view_count"].as_i64().unwrap();
        let metrics = node.running.metrics.render();
        let pages =
            metrics.lines().filter(|line| line.starts_with("dropleaf_responses_total{surface=\"Page\""));
        let took = metrics
            .lines()
            .filter(|line| line.starts_with("dropleaf_response_seconds_count{surface=\"Page\"}"));
        let number = |line: &str| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap();
        (views, pages.map(number).sum::<i64>(), took.map(number).sum::<i64>())
    };
    let first = counts().await;
    converse_all(&node, false, &sent).await;
    let second = counts().await;
    let answers = converse_all(&node, true, &sent).await;
    let third = counts().await;
    assert_eq!(count_fast(&answers), 11);
    assert_eq!(second.0 - first.0, 9);
    assert_eq!((second.0 - first.0, second.1 - first.1), (third.0 - second.0, third.1 - second.1));
    assert_eq!((second.1 - first.1, second.1 - first.1), (second.2 - first.2, third.2 - second.2));
    assert!(second.1 > first.1);
}

#[tokio::test]
async fn a_drain_and_a_stop_end_a_fast_connection_after_its_last_response() {
    let node = Node::start().await;
    let site = node.publish_page("Drained").await;
    let (mut used, request) = fast_connection(&node, &site).await;
    let (mut unused, _) = fast_connection(&node, &site).await;
    node.running.begin_drain();
    let head = ask(&mut used, &request).await;
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("connection: close\r\n"), "{head}");
    for stream in [&mut used, &mut unused] {
        assert_eq!(in_time("the end of a connection", stream.read(&mut [0])).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_stop_answers_a_request_that_has_begun_on_a_fast_connection() {
    let node = Node::start().await;
    let site = node.publish_page("Stopped").await;
    let (mut stream, request) = fast_connection(&node, &site).await;
    let port = node.port;
    stream.write_all(&request.as_bytes()[..10]).await.unwrap();
    let rest = async {
        let closed = async { while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {} };
        in_time("the end of the listener", closed).await;
        let head = ask(&mut stream, &request[10..]).await;
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("connection: close\r\n"), "{head}");
    };
    futures_util::future::join(node.stop(), rest).await;
}

#[tokio::test]
async fn half_a_request_after_a_response_keeps_a_connection_no_longer_than_none() {
    let setup = Setup::new().set("limits.header_seconds", "1").set("limits.idle_seconds", "3600");
    let node = setup.start().await;
    let site = node.publish_page("Half").await;
    let (mut stream, _) = fast_connection(&node, &site).await;
    stream.write_all(b"GET /").await.unwrap();
    assert_eq!(in_time("the end of a connection", stream.read(&mut [0])).await.unwrap(), 0);
}

#[tokio::test]
async fn a_client_that_stops_reading_is_disconnected() {
    let node = Setup::new().set("limits.header_seconds", "1").set("limits.idle_seconds", "1").start().await;
    let text = format!("<!doctype html><title>Large</title>{}", "<p>line</p>".repeat(300_000));
    let site = node.publish(Form::file("a.html", text)).await;
    let (mut stream, request) = fast_connection(&node, &site).await;
    let (mut idle, _) = fast_connection(&node, &site).await;
    stream.write_all(request.repeat(3).as_bytes()).await.unwrap();
    assert_eq!(in_time("the end of an idle connection", idle.read(&mut [0])).await.unwrap(), 0);
    let ended = async {
        while node.running.metrics.connections.get() > 0 {
            tokio::task::yield_now().await;
        }
    };
    in_time("the end of the connections", ended).await;
    drop(stream);
}
