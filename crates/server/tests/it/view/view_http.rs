//! HTTP features that browsers and caches use: HEAD, validators, ranges, codings, large files.

use crate::harness::{Form, Node, Setup, noise, on_each_database, zip};
use std::io::Read;

fn text() -> String {
    use std::fmt::Write;
    (0..600).fold(String::from("<!doctype html><title>Long</title>"), |mut text, n| {
        write!(text, "<p>line {n}</p>").unwrap();
        text
    })
}

async fn publish(node: &Node, body: &str) -> String {
    node.publish(Form::file("a.html", body)).await["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn head_tells_what_get_would_send() {
    let node = Node::start().await;
    let url = publish(&node, &text()).await;
    let get = node.get(&url).send().await.expect(200);
    let head = node.head(&url).send().await.expect(200);
    assert!(head.body.is_empty());
    assert_eq!(head.header("content-length"), text().len().to_string());
    for name in ["etag", "content-type", "content-security-policy", "cache-control", "accept-ranges"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    node.head("/p/AAAAAAAAAAAAAAAAAAAAAA/").send().await.expect(404);
}

#[tokio::test]
async fn unchanged_page_is_304_and_a_changed_one_200() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", text())).await;
        let url = site["url"].as_str().unwrap();
        let etag = node.get(url).send().await.header("etag").to_owned();
        assert!(etag.starts_with('"') && etag.len() > 10, "strong: {etag}");
        for condition in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".into()] {
            let answer = node.get(url).header("if-none-match", &condition).send().await.expect(304);
            assert!(answer.body.is_empty());
            assert_eq!(answer.header("etag"), etag);
            assert_eq!(answer.header("cache-control"), "private, no-cache");
        }
        node.get(url).header("if-none-match", "\"other\"").send().await.expect(200);
        let put = node.put(&crate::harness::site_path(&site)).key(&node.key);
        put.json(&serde_json::json!({"html": "<p>changed"})).send().await.expect(200);
        let answer = node.get(url).header("if-none-match", &etag).send().await.expect(200);
        assert_ne!(answer.header("etag"), etag);
    })
    .await;
}

#[tokio::test]
async fn ranges_are_answered_exactly() {
    let node = Node::start().await;
    let (url, body) = (publish(&node, &text()).await, text());
    let size = body.len();
    for (range, first, last) in [
        ("bytes=0-0".to_owned(), 0, 0),
        ("bytes=5-9".to_owned(), 5, 9),
        (format!("bytes={}-", size - 4), size - 4, size - 1),
        ("bytes=-4".to_owned(), size - 4, size - 1),
        (format!("bytes=0-{}", size * 2), 0, size - 1),
        (format!("bytes=-{}", size * 2), 0, size - 1),
    ] {
        let ask = node.get(&url).header("range", &range).header("accept-encoding", "zstd, br, gzip");
        let answer = ask.send().await.expect(206);
        assert_eq!(answer.text(), body[first..=last], "{range}");
        assert_eq!(answer.header("content-range"), format!("bytes {first}-{last}/{size}"), "{range}");
        assert!(!answer.has("content-encoding"), "a range is of the plain bytes");
    }
    for range in [format!("bytes={size}-"), format!("bytes={}-{}", size + 5, size + 9), "bytes=-0".into()] {
        let answer = node.get(&url).header("range", &range).send().await.expect(416);
        assert_eq!(answer.header("content-range"), format!("bytes */{size}"), "{range}");
    }
    for range in ["bytes=9-5", "bytes=a-b", "lines=1-2", "bytes=0-1,4-5", "bytes=--1"] {
        let answer = node.get(&url).header("range", range).send().await.expect(200);
        assert_eq!(answer.body.len(), size, "{range} is answered with the whole");
    }
}

#[tokio::test]
async fn range_of_a_changed_page_gets_the_whole() {
    let node = Node::start().await;
    let url = publish(&node, &text()).await;
    let etag = node.get(&url).send().await.header("etag").to_owned();
    let fresh = node.get(&url).header("range", "bytes=0-3").header("if-range", &etag);
    fresh.send().await.expect(206);
    let stale = node.get(&url).header("range", "bytes=0-3").header("if-range", "\"older\"");
    stale.send().await.expect(200);
}

#[tokio::test]
async fn every_coding_decodes_to_the_same_bytes() {
    on_each_database(Setup::new, async |node| {
        let (url, body) = (publish(node, &text()).await, text());
        let mut etags = Vec::new();
        for (accept, coding) in [
            ("zstd, br, gzip", "zstd"),
            ("gzip, br", "br"),
            ("gzip", "gzip"),
            ("identity", ""),
            ("zstd;q=0, br;q=0, gzip", "gzip"),
        ] {
            for _cold_then_warm in 0..2 {
                let answer = node.get(&url).header("accept-encoding", accept).send().await.expect(200);
                assert_eq!(answer.header("content-encoding"), coding, "{accept}");
                assert!(answer.header("vary").contains("Accept-Encoding"));
                assert_eq!(decode(coding, &answer.body), body.as_bytes(), "{accept}");
                assert_eq!(answer.header("content-length"), answer.body.len().to_string());
                etags.push((coding, answer.header("etag").to_owned()));
                if !coding.is_empty() {
                    assert!(answer.body.len() < body.len() / 2, "{accept}");
                }
            }
        }
        etags.sort_unstable();
        etags.dedup();
        assert_eq!(etags.len(), 4, "each coding has its own validator: {etags:?}");
    })
    .await;
}

fn decode(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match coding {
        "zstd" => out = zstd::stream::decode_all(bytes).unwrap(),
        "br" => _ = brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out).unwrap(),
        "gzip" => _ = flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).unwrap(),
        _ => out = bytes.to_vec(),
    }
    out
}

#[tokio::test]
async fn packed_formats_are_not_packed_again() {
    let node = Node::start().await;
    let picture = "\u{1}".repeat(2000);
    let site = node.publish(Form::file("s.zip", zip(&[("index.html", "<p>"), ("a.png", &picture)]))).await;
    let ask = node.get(&format!("{}a.png", site["url"].as_str().unwrap())).header("accept-encoding", "gzip");
    assert!(!ask.send().await.expect(200).has("content-encoding"));
}

#[tokio::test]
async fn large_file_is_streamed_ranged_and_sent_as_stored() {
    on_each_database(Setup::new, large_file).await;
}

async fn large_file(node: &Node) {
    // Compressible text and incompressible noise: the two ways a body is stored.
    let packable: Vec<u8> =
        noise("seed", 1000).into_iter().cycle().map(|b| b'a' + b % 26).take(6 << 20).collect();
    for (name, body) in [("big.html", packable), ("big.bin", noise("incompressible", 6 << 20))] {
        let form = Form::file(name, &body);
        let form = if name == "big.bin" { form.field("e2e", "true") } else { form };
        let site = node.publish(form).await;
        let url = site["url"].as_str().unwrap();
        let whole = node.get(url).send().await.expect(200);
        assert_eq!(whole.header("content-length"), body.len().to_string());
        assert!(whole.body == body, "{name}: the whole");
        let part = node.get(url).header("range", "bytes=3000000-4999999").send().await.expect(206);
        assert!(part.body == body[3_000_000..5_000_000], "{name}: a range");
        let tail = node.get(url).header("range", "bytes=-1000").send().await.expect(206);
        assert!(tail.body == body[body.len() - 1000..], "{name}: the tail");
        let packed = node.get(url).header("accept-encoding", "zstd").send().await.expect(200);
        let coding = packed.header("content-encoding").to_owned();
        assert_eq!(coding, if name == "big.html" { "zstd" } else { "" });
        assert!(decode(&coding, &packed.body) == body, "{name}: as stored");
        let head = node.head(url).send().await.expect(200);
        assert_eq!(head.header("content-length"), body.len().to_string());
        let etag = whole.header("etag");
        node.get(url).header("if-none-match", etag).send().await.expect(304);
    }
}

#[tokio::test]
async fn weights_of_codings_are_honoured() {
    let node = Node::start().await;
    let url = publish(&node, &text()).await;
    for (accept, coding) in [
        ("gzip;q=1.0, br;q=0.5, zstd;q=0.1", "gzip"),
        ("gzip;q=0.5, br;q=0.5", "br"),
        ("zstd;q=0, *", "br"),
        ("identity;q=0, *;q=0.1", "zstd"),
        ("gzip;q=0.5, identity", ""),
        ("gzip;q=0.000", ""),
        ("gzip;q=2", ""),
        ("*;q=0", ""),
    ] {
        let answer = node.get(&url).header("accept-encoding", accept).send().await.expect(200);
        let sent = if answer.has("content-encoding") { answer.header("content-encoding") } else { "" };
        assert_eq!(sent, coding, "{accept}");
        assert!(answer.header("vary").to_ascii_lowercase().contains("accept-encoding"), "{accept}");
    }
}
