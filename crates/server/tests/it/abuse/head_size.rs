//! Requests with large heads, and planted cookies.

use crate::access::gates::{locked, open, own_host};
use crate::api::foreign_origin::raw;
use crate::harness::{Node, page};
use reqwest::header::{COOKIE, HOST, HeaderMap, HeaderValue};

/// Cookies of 3900 bytes that a page on a sibling host can store for the parent domain.
fn bomb(cookies: usize) -> String {
    (0..cookies).map(|n| format!("c{n}={}", "x".repeat(3900))).collect::<Vec<_>>().join("; ")
}

/// One client for each HTTP version.
fn clients() -> [reqwest::Client; 2] {
    let builder = || reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    [builder().http1_only().build().unwrap(), builder().http2_prior_knowledge().build().unwrap()]
}

#[tokio::test]
async fn too_many_cookies_are_431_and_cleared() {
    let node = Node::start().await;
    let site = node.publish_page("Bombed").await;
    let paths =
        ["/dashboard", &format!("/p/{}/", site["unlisted_token"].as_str().unwrap()), "/me", "/healthz"];
    for client in clients() {
        // Up to the number that Chromium keeps for a domain.
        for cookies in [9, 40, 180] {
            for path in paths {
                let ask =
                    client.get(format!("http://127.0.0.1:{}{path}", node.port)).header(COOKIE, bomb(cookies));
                let ask = ask.header("accept", "text/html").header("sec-fetch-site", "none");
                let answer = ask.send().await.unwrap();
                assert_eq!(answer.status(), 431, "{path} with {cookies} cookies");
                assert_eq!(answer.headers()["clear-site-data"], "\"cookies\"");
                assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
                let text = answer.text().await.unwrap();
                assert!(text.contains("<h1>Your browser sent too much data</h1>"), "{text}");
                assert!(text.contains("They have been cleared. Reload the page"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn refusal_of_a_large_head_is_worded_for_whoever_asks() {
    let node = Node::start().await;
    let ask = || node.get("/me").header("cookie", &bomb(40));
    ask().header("accept", "application/json").send().await.refused(431, "headers_too_large");
    let text = ask().header("accept", "text/plain").send().await.expect(431);
    assert!(text.text().starts_with("431 Your browser sent too much data."), "{}", text.text());
    // Without https and off loopback, browsers clear nothing and send no fetch metadata.
    let plain = ask().header("accept", "text/html").send().await.expect(431);
    assert!(plain.text().contains("Delete the cookies of this site") && !plain.text().contains("cleared"));
    let other = node.get("/me").header("x-long", &"x".repeat(40_000)).header("accept", "application/json");
    let other = other.send().await.refused(431, "headers_too_large");
    assert!(!other.has("clear-site-data"), "cookies are not to blame");
    let address = node.get(&format!("/me?{}", "x".repeat(40_000))).header("accept", "application/json");
    address.send().await.refused(431, "headers_too_large");
    let address = node.get(&format!("/me?{}", "x".repeat(40_000))).header("accept", "text/html");
    let address = address.send().await.expect(431);
    assert!(address.text().contains("address of this request is too long"), "{}", address.text());
    assert!(!address.text().contains("ookies") && !address.has("clear-site-data"));
    // A head within the limit is served.
    node.get("/healthz").header("cookie", &bomb(7)).send().await.expect(200);
}

#[tokio::test]
async fn what_is_longer_than_is_ever_read_ends_without_an_answer_of_ours() {
    let node = Node::start().await;
    let mut head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: ".to_vec();
    // Exactly as much as is read: an unread byte would reset the connection before the response.
    head.resize(768 * 1024, b'x');
    let answer = raw(&node, &head).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    node.get("/healthz").send().await.expect(200);
}

#[tokio::test]
async fn cookie_that_is_not_ascii_does_not_shut_a_gate() {
    let node = Node::start().await;
    let site = locked(&node, "Inside").await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    let (host, path) =
        root.strip_prefix("http://").unwrap().split_at(root.find("/p/").unwrap() - "http://".len());
    for line in ["planted=\u{e9}; ".as_bytes(), b"planted=\xff\xfe; ", b"\xe9; \xc3\x28=1; "] {
        let mut head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: ").into_bytes();
        head.extend_from_slice(line);
        head.extend_from_slice(format!("{cookie}; z=\r\n\r\n").as_bytes());
        let answer = raw(&node, &head).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    // HTTP/2 sends each pair in a separate header, and some HTTP/1.1 clients do.
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_str(host).unwrap());
    for line in [b"planted=\xff".as_slice(), cookie.as_bytes(), b"\xfe"] {
        headers.append(COOKIE, HeaderValue::from_bytes(line).unwrap());
    }
    let [http_1, _] = clients();
    let answer =
        http_1.get(format!("http://127.0.0.1:{}{path}", node.port)).headers(headers.clone()).send().await;
    assert_eq!(answer.unwrap().text().await.unwrap(), page("Inside"));
    headers.remove(HOST);
    let two = reqwest::Client::builder().no_proxy().http2_prior_knowledge();
    let name = host.split(':').next().unwrap();
    let two = two.resolve(name, std::net::SocketAddr::from(([127, 0, 0, 1], node.port))).build().unwrap();
    let answer = two.get(&root).headers(headers).send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    assert_eq!(answer.text().await.unwrap(), page("Inside"));
}
