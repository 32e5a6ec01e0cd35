//! A change made elsewhere, on another node or by the command line, takes effect within a second.

use super::{Ask, Node};

/// Advances the node's clock by a second; its first response then must have this status.
pub(crate) async fn a_second_later(node: &Node, ask: Ask, status: u16) {
    node.clock.advance(1);
    let answer = ask.send().await;
    assert_eq!(answer.status, status, "after a second: {}", answer.text());
}
