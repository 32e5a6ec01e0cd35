//! Client calls and how their responses are interpreted. The test server sends one prepared response per connection.

use dropleaf_client::{Client, ClientError, Key, PageOptions, Polled, Upload};
use std::io::Write;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers one request; the task returns the request as received.
async fn answering(status: &str, headers: &str, body: &str) -> (Client, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client =
        Client::new(&format!("http://{}", listener.local_addr().unwrap()), Some("k".into())).unwrap();
    let answer = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut seen = Vec::new();
        let mut piece = [0; 4096];
        while !is_whole(&seen) {
            let read = stream.read(&mut piece).await.unwrap();
            seen.extend_from_slice(&piece[..read]);
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(seen).unwrap()
    });
    (client, task)
}

fn is_whole(seen: &[u8]) -> bool {
    let text = String::from_utf8_lossy(seen).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .split("content-length: ")
        .nth(1)
        .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse::<usize>().unwrap());
    body.len() >= length
}

#[tokio::test]
async fn refusal_carries_the_servers_code_and_words() {
    let body = r#"{"error":"rate_limited","error_description":"Too many.\u001b[2J"}"#;
    let (client, _) = answering("429 Too Many Requests", "Retry-After: 7\r\n", body).await;
    let error = client.me().await.unwrap_err();
    assert_eq!((error.code(), error.status()), (Some("rate_limited"), Some(429)));
    assert_eq!(error.to_string(), "Too many.\\u{1b}[2J (try again in 7 s)");
    let (client, _) = answering("429 Too Many Requests", "Retry-After: 7\r\n", body).await;
    let error = client.download("a b", None, 1000, &mut Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "Too many.\\u{1b}[2J (try again in 7 s)", "downloads as well");
}

#[tokio::test]
async fn a_response_that_is_too_large_is_not_read_to_its_end() {
    let body = format!(r#"{{"id":"{}"}}"#, "x".repeat(17 << 20));
    let (client, _) = answering("200 OK", "", &body).await;
    assert!(matches!(client.me().await, Err(ClientError::UnexpectedResponse { status: 200, .. })));
}

#[tokio::test]
async fn server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Client::new(&server, None).unwrap().me().await.unwrap_err();
    let words = error.to_string();
    assert!(words.starts_with(&format!("cannot reach {server}: ")), "{words}");
    assert!(words.contains("refused"), "{words}");
}

#[tokio::test]
async fn something_else_that_answers_is_told_apart() {
    for (status, body) in
        [("200 OK", "<html>"), ("404 Not Found", "<html>"), ("200 OK", "{}"), ("500 X", "{}")]
    {
        let (client, _) = answering(status, "", body).await;
        assert!(matches!(client.me().await, Err(ClientError::UnexpectedResponse { .. })), "{status} {body}");
    }
}

#[tokio::test]
async fn redirect_is_not_followed_with_the_key() {
    let (client, _) = answering("302 Found", "Location: http://127.0.0.1:1/\r\n", "").await;
    assert!(matches!(client.me().await, Err(ClientError::UnexpectedResponse { status: 302, .. })));
}

#[tokio::test]
async fn published_file_travels_with_its_options_and_the_key() {
    let body = r#"{"id":"site_1","url":"http://x/p/t/","title":"T","visibility":"unlisted","expires_at":null,
        "expires_at_iso":null,"version":3}"#;
    let (client, seen) = answering("201 Created", "", body).await;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"<p>hello</p>").unwrap();
    let upload = Upload::new("page.html".into(), file, [7; 16]).unwrap();
    let options = PageOptions { slug: Some("my-page".into()), burn: true, ..PageOptions::default() };
    let site = client.publish(&upload, &options, "once").await.unwrap();
    assert_eq!((site.url.as_str(), site.more["version"].as_i64()), ("http://x/p/t/", Some(3)));
    let seen = seen.await.unwrap();
    assert!(seen.starts_with("POST /sites HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("authorization: Bearer k\r\n"), "{seen}");
    assert!(seen.contains("idempotency-key: once\r\n"), "{seen}");
    assert!(seen.contains("content-length: ") && !seen.contains("chunked"), "{seen}");
    assert_eq!(*upload.progress().borrow(), upload.length());
    for part in ["name=\"slug\"\r\n\r\nmy-page\r\n", "name=\"burn_after_read\"\r\n\r\ntrue", "<p>hello</p>"] {
        assert!(seen.contains(part), "{part} in {seen}");
    }
}

type IsIt = fn(&Polled<Key>) -> bool;

#[tokio::test]
async fn answers_to_a_poll_are_told_apart() {
    let expected: [(&str, IsIt); 4] = [
        ("authorization_pending", |polled| matches!(polled, Polled::Pending)),
        ("slow_down", |polled| matches!(polled, Polled::SlowDown)),
        ("access_denied", |polled| matches!(polled, Polled::Denied)),
        ("expired_token", |polled| matches!(polled, Polled::Expired)),
    ];
    for (error, is_it) in expected {
        let body = format!(r#"{{"error":"{error}"}}"#);
        let (client, _) = answering("400 Bad Request", "", &body).await;
        assert!(is_it(&client.poll_device("d").await.unwrap()), "{error}");
    }
    let (client, seen) = answering("200 OK", "", r#"{"access_token":"a","expires_in":3600}"#).await;
    let Polled::Ready(tokens) = client.poll_tokens("c", "d").await.unwrap() else { panic!("tokens") };
    assert_eq!(tokens.access_token, "a");
    assert!(
        seen.await.unwrap().contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code")
    );
    let (client, _) = answering("400 Bad Request", "", r#"{"error":"invalid_grant"}"#).await;
    assert_eq!(client.poll_device("d").await.unwrap_err().code(), Some("invalid_grant"));
}
