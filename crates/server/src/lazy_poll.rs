//! A future that is polled only after it was woken. Next to a busy connection it costs one check of a flag, whereas a plain
//! `select!` would poll its timers and notifications again with every request.

use futures_util::task::AtomicWaker;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) struct LazyPoll<F> {
    inner: Pin<Box<F>>,
    flag: Arc<WakeFlag>,
    waker: Waker,
}

struct WakeFlag {
    is_woken: AtomicBool,
    outer: AtomicWaker,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.outer.wake();
    }
}

impl<F: Future> LazyPoll<F> {
    pub(crate) fn new(inner: F) -> Self {
        // Set, so that the first poll starts it.
        let flag = Arc::new(WakeFlag { is_woken: AtomicBool::new(true), outer: AtomicWaker::new() });
        let waker = Waker::from(Arc::clone(&flag));
        Self { inner: Box::pin(inner), flag, waker }
    }
}

impl<F: Future> Future for LazyPoll<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // Registered before the flag is read: a wake in between wakes the task again.
        self.flag.outer.register(cx.waker());
        if !self.flag.is_woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.flag.is_woken.store(false, Ordering::Relaxed);
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
        let mut lazy = LazyPoll::new(work);
        for _ in 0..100 {
            assert!(futures_util::poll!(&mut lazy).is_pending());
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        bell.notify_one();
        assert_eq!(lazy.await, 7);
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_inside_wakes_the_waiting_task() {
        let lazy = LazyPoll::new(tokio::time::sleep(std::time::Duration::from_secs(3)));
        tokio::time::timeout(std::time::Duration::from_secs(4), lazy).await.expect("it ends by itself");
    }
}
