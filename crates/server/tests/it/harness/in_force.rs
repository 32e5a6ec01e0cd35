//! A change that was made elsewhere, on another node or by the command line, is in force after a second.

use super::{Ask, Node};

/// Lets a second pass on the clock of the node that is asked; its first answer then must have this status.
pub(crate) async fn a_second_later(node: &Node, ask: Ask, status: u16) {
    node.clock.advance(1);
    let answer = ask.send().await;
    assert_eq!(answer.status, status, "after a second: {}", answer.text());
}
