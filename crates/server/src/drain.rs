//! Whether the server is about to stop. From then on it is not ready, and each response asks the client to use another
//! connection; new connections are still served until the drain is over.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct Drain {
    /// Beside the token, because every request reads it and the token has a lock.
    has_begun: AtomicBool,
    begun: CancellationToken,
}

impl Drain {
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
        self.begun.cancel();
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Completes when the drain begins.
    pub(crate) async fn begun(&self) {
        self.begun.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_drain_begins_once_and_for_all() {
        let drain = Drain::default();
        assert!(!drain.has_begun());
        assert!(futures_util::poll!(std::pin::pin!(drain.begun())).is_pending());
        drain.begin();
        drain.begin();
        assert!(drain.has_begun());
        drain.begun().await;
    }
}
