//! Waits for a change that was made elsewhere, on another node or by the command line, and holds it to its promise.

use super::Ask;
use std::time::{Duration, Instant};

/// How long a change may take to be in force everywhere.
const PROMISED: Duration = Duration::from_secs(1);

/// Asks until the status is there. What was asked later than the promise must have it, however long the answer took:
/// so a busy machine fails nobody.
pub(crate) async fn within_a_second(ask: impl Fn() -> Ask, status: u16) {
    let changed = Instant::now();
    loop {
        let asked = Instant::now();
        let answer = ask().send().await;
        if answer.status == status {
            return;
        }
        assert!(asked - changed < PROMISED, "still {} after a second, not {status}", answer.status);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
