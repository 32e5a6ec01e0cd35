//! How long a request may take: so many seconds since its last byte arrived. An upload may therefore take as long as its
//! pace allows (`extract/pace.rs`), and the work on it no longer than anything else.

use axum::body::Body;
use bytes::Bytes;
use dropleaf_core::{Code, Error};
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// When a request that was refused for taking too long is worth sending again.
const RETRY_SECONDS: i64 = 5;

/// The time limit of one request.
#[derive(Debug)]
pub(in crate::http) struct Deadline {
    seconds: Duration,
    progress: Arc<Mutex<Progress>>,
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    /// When the last piece of the body arrived, or the head if there was none.
    at: Instant,
    /// The handler has asked for more of the body than has arrived.
    waits_for_client: bool,
}

/// What kept a request from being answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Late {
    /// The rest of the body did not arrive.
    Client,
    /// The server was not done.
    Server,
}

impl Deadline {
    pub(in crate::http) fn new(seconds: u64) -> Self {
        let progress = Progress { at: Instant::now(), waits_for_client: false };
        Self { seconds: Duration::from_secs(seconds.max(1)), progress: Arc::new(Mutex::new(progress)) }
    }

    /// The body, whose arrival moves the deadline.
    pub(in crate::http) fn watch(&self, body: Body) -> WatchedBody {
        WatchedBody { body, progress: Arc::clone(&self.progress) }
    }

    /// The outcome of the work, unless the deadline passes first. The work is then dropped; a write that was queued is
    /// still committed.
    pub(in crate::http) async fn limit<T>(&self, work: impl Future<Output = T>) -> Result<T, Late> {
        let mut work = pin!(work);
        loop {
            let until = read(&self.progress).at + self.seconds;
            if let Ok(done) = tokio::time::timeout_at(until, &mut work).await {
                return Ok(done);
            }
            let now = read(&self.progress);
            if now.at + self.seconds <= Instant::now() {
                return Err(if now.waits_for_client { Late::Client } else { Late::Server });
            }
        }
    }
}

fn read(progress: &Mutex<Progress>) -> Progress {
    *progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a client is told.
pub(in crate::http) fn refusal(late: Late, is_safe: bool) -> Error {
    match late {
        Late::Client => Error::plain(Code::RequestTimeout),
        Late::Server if is_safe => Error::plain(Code::Overloaded).retry_after(RETRY_SECONDS),
        Late::Server => {
            let detail = "The request timed out. The change may still be applied. Check first, or send it again with the same \
                          Idempotency-Key.";
            Error::new(Code::Overloaded, detail).retry_after(RETRY_SECONDS)
        }
    }
}

/// A request's body whose arrival is watched.
#[derive(Debug)]
pub(in crate::http) struct WatchedBody {
    body: Body,
    progress: Arc<Mutex<Progress>>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.waits_for_client = polled.is_pending();
        if polled.is_ready() {
            progress.at = Instant::now();
        }
        drop(progress);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use std::convert::Infallible;
    use std::future::pending;

    /// A body of so many pieces, one every ten seconds, and then its end or nothing any more.
    fn slow(pieces: u32, ends: bool) -> Body {
        Body::from_stream(stream::unfold(0, move |sent| async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            match (sent < pieces, ends) {
                (true, _) => Some((Ok::<_, Infallible>(Bytes::from_static(b"piece")), sent + 1)),
                (false, true) => None,
                (false, false) => pending().await,
            }
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_given_its_time_from_the_last_byte_on() {
        let deadline = Deadline::new(60);
        let (begun, body) = (Instant::now(), deadline.watch(slow(30, true)));
        let late = deadline.limit(async { (body.collect().await, pending::<()>().await) }).await;
        assert_eq!(late.map(|_| ()), Err(Late::Server));
        assert_eq!(begun.elapsed().as_secs(), 310 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_stops_arriving_is_the_clients_delay() {
        let deadline = Deadline::new(60);
        let (begun, body) = (Instant::now(), deadline.watch(slow(3, false)));
        let late = deadline.limit(body.collect()).await.map(|_| ());
        assert_eq!((late, begun.elapsed().as_secs()), (Err(Late::Client), 30 + 60));
        assert_eq!(refusal(Late::Client, false).code, Code::RequestTimeout);
    }

    #[tokio::test(start_paused = true)]
    async fn work_without_a_body_is_over_in_time_or_refused() {
        let deadline = Deadline::new(60);
        let slept = deadline.limit(tokio::time::sleep(Duration::from_secs(59))).await;
        assert_eq!(slept, Ok(()));
        let deadline = Deadline::new(60);
        assert_eq!(deadline.limit(pending::<()>()).await, Err(Late::Server));
        let (read, changed) = (refusal(Late::Server, true), refusal(Late::Server, false));
        assert_eq!((read.code, changed.code), (Code::Overloaded, Code::Overloaded));
        assert_eq!(changed.retry_after, Some(RETRY_SECONDS));
        assert!(changed.detail.contains("Idempotency-Key") && !read.detail.contains("Idempotency-Key"));
    }
}
