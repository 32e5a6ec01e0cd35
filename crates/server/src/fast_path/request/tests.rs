//! Which requests the fast path recognizes, and that all others are left to hyper.

use super::FastRequest;

const PLAIN: &str = "GET /p/AAAAAAAAAAAAAAAAAAAAAA/ HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";

fn with(lines: &str) -> String {
    PLAIN.replace("\r\n\r\n", &format!("\r\n{lines}\r\n\r\n"))
}

#[test]
fn a_plain_request_is_recognized_with_its_length() {
    let text = format!("{PLAIN}GET /next");
    let (request, length) = FastRequest::parse(text.as_bytes()).unwrap();
    assert_eq!(length, PLAIN.len());
    assert_eq!(
        request,
        FastRequest { path: "/p/AAAAAAAAAAAAAAAAAAAAAA/", host: "localhost:8080", ..FastRequest::default() }
    );
}

#[test]
fn a_browsers_request_is_recognized() {
    let text = with(
        "Connection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"156\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\n\
         Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/html,*/*;q=0.8\r\nSec-Fetch-Site: none\r\n\
         Sec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\nAccept-Encoding: gzip, br\r\n\
         Accept-Language: en\r\nIf-None-Match: \"a\"\r\nX-Forwarded-For: 192.0.2.1\r\nSec-Purpose: prefetch",
    );
    let (request, _) = FastRequest::parse(text.as_bytes()).unwrap();
    assert_eq!(request.user_agent, Some("Mozilla/5.0"));
    assert_eq!(
        (request.fetch_mode, request.fetch_site, request.fetch_dest),
        (Some("navigate"), Some("none"), Some("document"))
    );
    assert_eq!(request.accept_encoding, Some("gzip, br"));
    assert_eq!((request.if_none_match, request.purpose), (Some("\"a\""), Some("prefetch")));
}

#[test]
fn whatever_is_unusual_is_left_to_hyper() {
    for lines in [
        "Content-Length: 0",
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "transfer-encoding : chunked",
        "Expect: 100-continue",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABk",
        "Connection: close",
        "Connection: keep-alive, close",
        "Connection: upgrade",
        "TE: trailers",
        "Trailer: x",
        "Range: bytes=0-1",
        "If-Range: \"a\"",
        "If-Match: \"a\"",
        "Cookie: a=b",
        "Authorization: Basic YTpi",
        "Service-Worker: script",
        "X-Unknown: a",
        "Host: localhost:8080",
        "User-Agent: a\r\nUser-Agent: b",
        "Accept-Encoding: gzip\r\nAccept-Encoding: br",
        "User-Agent: \u{e9}",
        "Accept: a\nAccept: b",
        "Accept: a\r\n b",
        " Accept: a",
        "Accept",
        "Accept : a",
        "Acc\u{e9}pt: a",
        ": a",
    ] {
        assert_eq!(FastRequest::parse(with(lines).as_bytes()), None, "{lines}");
    }
    for text in [
        PLAIN.replace("GET", "HEAD"),
        PLAIN.replace("GET", "get"),
        PLAIN.replace("GET", "POST"),
        PLAIN.replace("HTTP/1.1", "HTTP/1.0"),
        PLAIN.replace("HTTP/1.1", "HTTP/2.0"),
        PLAIN.replace(" HTTP/1.1", ""),
        PLAIN.replace("GET /", "GET  /"),
        PLAIN.replace("GET /", "GET http://localhost:8080/"),
        PLAIN.replace("GET /", "GET *"),
        PLAIN.replace("/ HTTP", "/?t=secret HTTP"),
        PLAIN.replace("/ HTTP", "/? HTTP"),
        PLAIN.replace("/ HTTP", "/#a HTTP"),
        PLAIN.replace("/ HTTP", "/a;b HTTP"),
        PLAIN.replace("/ HTTP", "/\u{e9} HTTP"),
        PLAIN.replace("Host: localhost:8080\r\n", ""),
        PLAIN.replace("localhost:8080", ""),
        PLAIN.replace("localhost:8080", "\u{fc}.localhost:8080"),
        PLAIN.replace("\r\n", "\n"),
        format!("\r\n{PLAIN}"),
        with(&"Accept: a\r\n".repeat(100)),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        String::new(),
    ] {
        assert_eq!(FastRequest::parse(text.as_bytes()), None, "{text}");
    }
    for end in 0..PLAIN.len() {
        assert_eq!(FastRequest::parse(&PLAIN.as_bytes()[..end]), None, "not complete at {end}");
    }
}
