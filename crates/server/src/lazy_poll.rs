//! A future that is polled only after it was woken. Next to a busy connection it costs one check of a flag, whereas a plain
//! `select!` would poll its timers and notifications again with every request.

use futures_util::task::AtomicWaker;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) struct Aside<F> {
    inner: Pin<Box<F>>,
    bell: Arc<Bell>,
    waker: Waker,
}

struct Bell {
    rung: AtomicBool,
    outer: AtomicWaker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.outer.wake();
    }
}

impl<F: Future> Aside<F> {
    pub(crate) fn new(inner: F) -> Self {
        // Set, so that the first poll starts it.
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), outer: AtomicWaker::new() });
        let waker = Waker::from(Arc::clone(&bell));
        Self { inner: Box::pin(inner), bell, waker }
    }
}

impl<F: Future> Future for Aside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // Registered before the flag is read: a wake in between wakes the task again.
        self.bell.outer.register(cx.waker());
        if !self.bell.rung.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.bell.rung.store(false, Ordering::Relaxed);
        let this = &mut *self;
        this.inner.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn it_is_polled_when_it_is_woken_and_only_then() {
        let (polls, bell) = (AtomicU32::new(0), Notify::new());
        let work = async {
            let mut wait = std::pin::pin!(bell.notified());
            std::future::poll_fn(|cx| {
                polls.fetch_add(1, Ordering::Relaxed);
                wait.as_mut().poll(cx)
            })
            .await;
            7
        };
        let mut aside = Aside::new(work);
        for _ in 0..100 {
            assert!(futures_util::poll!(&mut aside).is_pending());
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        bell.notify_one();
        assert_eq!(aside.await, 7);
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_inside_wakes_whoever_waits() {
        let aside = Aside::new(tokio::time::sleep(std::time::Duration::from_secs(3)));
        tokio::time::timeout(std::time::Duration::from_secs(4), aside).await.expect("it ends by itself");
    }
}
