//! Chosen conversations: every kind of request, requests cut and sent together, and attempts to hide one in another.

use super::request_variants::{LINES, request_lines};
use super::{BROWSER, compare, compare_with_old_rows, plain, publish, with};
use crate::harness::Node;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_request_gets_the_same_bytes_on_both_paths() {
    let node = Node::start().await;
    let targets = publish(&node).await;
    let mut sent: Vec<Vec<Vec<u8>>> = Vec::new();
    for target in &targets {
        let request = plain(target);
        sent.push(vec![request.clone().into_bytes()]);
        for lines in
            [BROWSER, "If-None-Match: *", "Accept-Encoding: gzip", "Range: bytes=0-3", "Connection: close"]
        {
            sent.push(vec![with(&request, lines)]);
        }
    }
    for target in [&targets[0], &targets[14]] {
        let request = plain(target);
        sent.extend(LINES.iter().map(|lines| vec![with(&request, lines)]));
        sent.extend(request_lines(target).into_iter().map(|request| vec![request.into_bytes()]));
        let long = |bytes: usize| with(&request, &format!("Accept: {}", "a".repeat(bytes)));
        sent.extend([3000, 3900, 5000, 40_000].map(|bytes| vec![long(bytes)]));
        sent.extend(
            [10, 60, 120].map(|count| vec![with(&request, &["Accept: a"; 120][..count].join("\r\n"))]),
        );
        sent.push(vec![request.replace("Host", "hOsT").into_bytes()]);
        sent.push(vec![request.replace("\r\n", "\n").into_bytes()]);
        sent.push(vec![request.replace("Host: ", "Host:").into_bytes()]);
        sent.push(vec![request.replace("Host: ", "Host: \t ").into_bytes()]);
        sent.push(vec![format!("\r\n\r\n{request}").into_bytes()]);
        sent.push(vec![request.replacen("Host: ", "Host: x@", 1).into_bytes()]);
        sent.push(vec![request.to_uppercase().into_bytes()]);
    }
    let fast = compare(&node, &sent).await;
    assert!(fast > 60, "{fast} of {} responses came from the fast path", sent.len());
}

#[tokio::test]
async fn rows_that_must_be_read_first_change_nothing() {
    let node = Node::start().await;
    let targets = publish(&node).await;
    let requests: Vec<Vec<u8>> = targets.iter().map(|target| plain(target).into_bytes()).collect();
    let alone = requests.iter().step_by(2).map(|request| vec![request.clone()]);
    let from_browsers = targets.iter().skip(14).step_by(6).map(|target| vec![with(&plain(target), BROWSER)]);
    let mut sent: Vec<Vec<Vec<u8>>> = alone.chain(from_browsers).collect();
    sent.push(vec![with(&plain(&targets[0]), "If-None-Match: *")]);
    sent.push(vec![requests.concat()]);
    sent.push(vec![[requests[0].clone(), requests[1].clone(), requests[0].clone()].concat()]);
    let fast = compare_with_old_rows(&node, &sent).await;
    assert!(fast > 10, "{fast} of {} responses came from the fast path", sent.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_cut_anywhere_and_sent_together_get_the_same_bytes() {
    let node = Node::start().await;
    let targets = publish(&node).await;
    let one = plain(&targets[0]).into_bytes();
    let three = [one.clone(), with(&plain(&targets[0]), BROWSER), one.clone()].concat();
    let mut sent: Vec<Vec<Vec<u8>>> = Vec::new();
    for at in 1..three.len() {
        sent.push(vec![three[..at].to_vec(), three[at..].to_vec()]);
    }
    sent.push(one.chunks(1).map(<[u8]>::to_vec).collect());
    sent.push(vec![one.repeat(200)]);
    sent.push(vec![[one.repeat(20), with(&plain(&targets[0]), "Cookie: a=b"), one.repeat(20)].concat()]);
    let fast = compare(&node, &sent).await;
    assert!(fast > 200, "{fast} responses came from the fast path");
}

/// Requests that two parsers may read differently, each followed by one that must not be answered as the other's body.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_is_hidden_in_another() {
    let node = Node::start().await;
    let targets = publish(&node).await;
    let (page, hidden) = (plain(&targets[0]), plain(&targets[1]));
    let mut sent = Vec::new();
    for lines in [
        format!("Content-Length: {}", hidden.len()),
        format!("Content-Length: {}\r\nContent-Length: 0", hidden.len()),
        format!("Content-Length: 0\r\nContent-Length: {}", hidden.len()),
        format!("Content-Length : {}", hidden.len()),
        format!("Content-Length:\u{b}{}", hidden.len()),
        format!("content-length: {}\r\nConnection: keep-alive, Content-Length", hidden.len()),
        "Transfer-Encoding: chunked".to_owned(),
        "Transfer-Encoding: chunked\r\nContent-Length: 4".to_owned(),
        "Transfer-Encoding: x, chunked".to_owned(),
        "Transfer-Encoding: chunked, identity".to_owned(),
        "Transfer-Encoding\t: chunked".to_owned(),
        "X: y\r\n Transfer-Encoding: chunked".to_owned(),
        "X: y\rTransfer-Encoding: chunked".to_owned(),
        "X: y\nTransfer-Encoding: chunked".to_owned(),
        "X: y\r\n\r\nTransfer-Encoding: chunked".to_owned(),
    ] {
        for body in [
            hidden.clone(),
            format!("0\r\n\r\n{hidden}"),
            format!("{:x}\r\n{hidden}\r\n0\r\n\r\n", hidden.len()),
        ] {
            let request = [&with(&page, &lines), body.as_bytes()].concat();
            sent.push(vec![[page.as_bytes(), &request].concat()]);
            sent.push(vec![request]);
        }
    }
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    sent.push(vec![[page.as_bytes(), preface].concat()]);
    compare(&node, &sent).await;
}
