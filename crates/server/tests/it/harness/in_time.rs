//! A guard against hangs: what a test waits for fails with a message, long before the test run is stopped without one.

use std::fmt::Display;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Nothing takes longer, even on a busy machine. It is not a measure of speed.
const PATIENCE: Duration = Duration::from_mins(2);

/// Waits for `work` as a whole, however often it makes progress.
pub(crate) async fn in_time<T>(what: impl Display, work: impl Future<Output = T>) -> T {
    let (start, mut work) = (Instant::now(), pin!(work));
    loop {
        if let Ok(done) = timeout(PATIENCE, &mut work).await {
            return done;
        }
        // A test that advances tokio's time has not waited that long.
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
    }
}
