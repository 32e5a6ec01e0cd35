//! A bounded queue of permits for work that anyone can request: a few run, a few wait, and the rest are refused, which
//! protects memory and more urgent work.

use dropleaf_core::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub(crate) struct PermitQueue {
    /// For running and waiting callers.
    slots: Arc<Semaphore>,
    permits: Arc<Semaphore>,
}

/// A permit, returned when it is dropped. It moves with the work: a caller that disconnects must not admit another one
/// while its work is still running.
#[derive(Debug)]
pub(crate) struct Permit {
    _permit: OwnedSemaphorePermit,
    _slot: OwnedSemaphorePermit,
}

impl PermitQueue {
    pub(crate) fn new(permits: usize, waiting: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(permits + waiting)),
            permits: Arc::new(Semaphore::new(permits)),
        }
    }

    /// Waits for a permit, if there is a place to wait.
    pub(crate) async fn acquire(&self) -> Option<Permit> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        Some(Permit { _permit: permit, _slot: slot })
    }

    /// The same, but no longer than this.
    pub(crate) async fn acquire_within(&self, longest: Duration) -> Option<Permit> {
        tokio::time::timeout(longest, self.acquire()).await.ok().flatten()
    }
}

/// Runs work on a blocking thread and returns its permit when the work is done, not when the caller disconnects, because
/// the work continues without them.
pub(crate) async fn run_blocking_with_permit<T: Send + 'static>(
    permit: impl Send + 'static,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let work = move || {
        let _held = permit;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn turn_stays_with_the_work_when_the_caller_leaves() {
        let permits = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&permits).acquire_owned().await.unwrap();
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let mut asked = Box::pin(run_blocking_with_permit(permit, move || Ok(wait.recv())));
        assert!((&mut asked).now_or_never().is_none(), "it works");
        drop(asked);
        assert_eq!(permits.available_permits(), 0, "and goes on without its caller");
        go_on.send(()).unwrap();
        permits.acquire().await.unwrap().forget();
    }

    #[tokio::test]
    async fn few_work_few_wait_and_the_rest_is_sent_away() {
        let queue = PermitQueue::new(1, 1);
        let first = queue.acquire().await.unwrap();
        let mut second = Box::pin(queue.acquire());
        assert!((&mut second).now_or_never().is_none(), "it waits");
        assert!(queue.acquire().await.is_none(), "there is no place left");
        drop(first);
        let second = second.await.unwrap();
        assert!(queue.acquire_within(Duration::ZERO).await.is_none(), "its time is over");
        drop(second);
        assert!(queue.acquire_within(Duration::ZERO).await.is_some());
    }
}
