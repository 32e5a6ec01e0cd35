//! How `/openapi.json` and `/docs` are sent: compressed, with a validator, and as 304 when unchanged.

use crate::harness::{Answer, Node};
use std::io::Read;

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut plain = Vec::new();
    match answer.header("content-encoding") {
        "gzip" => flate2::read::GzDecoder::new(&*answer.body).read_to_end(&mut plain).unwrap(),
        "br" => brotli::Decompressor::new(&*answer.body, 4096).read_to_end(&mut plain).unwrap(),
        "zstd" => zstd::stream::read::Decoder::new(&*answer.body).unwrap().read_to_end(&mut plain).unwrap(),
        other => panic!("coded as {other:?}"),
    };
    plain
}

#[tokio::test]
async fn description_and_reference_are_sent_compressed() {
    let node = Node::start().await;
    for path in ["/openapi.json", "/docs"] {
        let plain = node.get(path).send().await.expect(200);
        assert!(!plain.has("content-encoding"), "{path}: nobody asked for it");
        for coding in ["gzip", "br", "zstd"] {
            let coded = node.get(path).header("accept-encoding", coding).send().await.expect(200);
            assert_eq!(coded.header("content-encoding"), coding, "{path}");
            assert!(coded.body.len() * 4 < plain.body.len(), "{path} {coding}: {} bytes", coded.body.len());
            assert_eq!(unpacked(&coded), plain.body, "{path} {coding}");
            assert_eq!(coded.header("content-type"), plain.header("content-type"), "{path} {coding}");
            assert_ne!(coded.header("etag"), plain.header("etag"), "{path}: another body, another validator");
            assert_eq!(coded.header("vary"), "Accept-Encoding", "{path}");
        }
    }
}

#[tokio::test]
async fn description_and_reference_are_not_sent_again_to_who_has_them() {
    let node = Node::start().await;
    for path in ["/openapi.json", "/docs"] {
        for coding in ["identity", "gzip", "br"] {
            let ask = || node.get(path).header("accept-encoding", coding);
            let first = ask().send().await.expect(200);
            assert_eq!(first.header("cache-control"), "public, max-age=300", "{path}");
            let etag = first.header("etag").to_owned();
            assert!(etag.starts_with('"') && etag.ends_with('"'), "{path}: {etag}");
            let again = ask().header("if-none-match", &etag).send().await.expect(304);
            assert!(again.body.is_empty() && !again.has("content-type"), "{path}");
            assert_eq!(again.header("etag"), etag, "{path}");
            assert_eq!(again.header("cache-control"), "public, max-age=300", "{path}");
            assert_eq!(again.header("vary"), "Accept-Encoding", "{path}");
            ask().header("if-none-match", "\"another\"").send().await.expect(200);
        }
    }
}

#[tokio::test]
async fn reference_keeps_its_policy_when_it_is_compressed() {
    let node = Node::start().await;
    let coded = node.get("/docs").header("accept-encoding", "br").browser().send().await.expect(200);
    assert!(coded.header("content-security-policy").contains("style-src 'sha256-"));
    assert_eq!(coded.header("x-frame-options"), "DENY");
    for path in ["/openapi.json", "/docs"] {
        for coding in ["identity", "gzip", "br", "zstd"] {
            let whole = node.get(path).header("accept-encoding", coding).send().await.expect(200);
            let head = node.head(path).header("accept-encoding", coding).send().await.expect(200);
            assert!(head.body.is_empty() && head.has("etag"), "{path} {coding}");
            let length = whole.body.len().to_string();
            assert_eq!(head.header("content-length"), length, "{path} {coding}");
            assert_eq!(whole.header("content-length"), length, "{path} {coding}");
        }
    }
}
