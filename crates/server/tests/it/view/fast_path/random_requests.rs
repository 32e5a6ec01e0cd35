//! Random conversations: pipelined requests with random header lines, some of them damaged.

use super::request_variants::LINES;
use super::{compare, plain, publish, with};
use crate::harness::Node;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A mutation of a conversation: a byte is replaced, removed or repeated.
fn mutated(mut bytes: Vec<u8>, at: usize, kind: u8) -> Vec<u8> {
    let at = at % bytes.len();
    match kind % 8 {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        2 => bytes.insert(at, b'\r'),
        3 => bytes.insert(at, b'\n'),
        4 => bytes.insert(at, b' '),
        5 => bytes[at] = 0,
        6 => bytes[at] ^= 0x20,
        _ => bytes[at] = kind,
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn random_conversations_get_the_same_bytes_on_both_paths() {
    let node = Node::start().await;
    let targets = publish(&node).await;
    let request = (0..targets.len() * 2, prop::collection::vec(0..LINES.len(), 0..4));
    let mutation = prop::option::of((any::<usize>(), any::<u8>()));
    let conversation = (prop::collection::vec(request, 1..5), mutation);
    let mut runner = TestRunner::deterministic();
    let sent: Vec<Vec<Vec<u8>>> = (0..1500)
        .map(|_| {
            let (requests, mutation) = conversation.new_tree(&mut runner).unwrap().current();
            let requests = requests.into_iter().map(|(target, lines)| {
                // Half of them are for the first, so that enough are answered on the fast path.
                let request = plain(targets.get(target).unwrap_or(&targets[0]));
                lines
                    .iter()
                    .fold(request, |request, line| String::from_utf8(with(&request, LINES[*line])).unwrap())
            });
            let bytes = requests.collect::<String>().into_bytes();
            vec![match mutation {
                Some((at, kind)) => mutated(bytes, at, kind),
                None => bytes,
            }]
        })
        .collect();
    let fast = compare(&node, &sent).await;
    assert!(fast > 300, "{fast} responses came from the fast path");
}
