//! Limits the duration of a request, counted from the arrival of its last byte. So an upload may take as long as its
//! minimum rate allows (`extract/pace.rs`), but processing it no longer than any other request.

use axum::body::Body;
use bytes::Bytes;
use dropleaf_core::{Code, Error};
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// `Retry-After` of a request that timed out.
const RETRY_SECONDS: i64 = 5;
/// A body above this size is an upload: its content is unpacked, checked and stored, which may take twice as long.
const UPLOAD_BYTES: usize = 64 * 1024;
const UPLOAD_FACTOR: u32 = 2;
/// How much longer work may take that loses something if it is given up: a secret that is shown once, or the only view of a
/// page.
pub(in crate::http) const LONG_FACTOR: u32 = 4;

/// The time limit of one request.
#[derive(Debug)]
pub(in crate::http) struct Deadline {
    limit: Duration,
    progress: Arc<Mutex<Progress>>,
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    /// When the last chunk of the body arrived, or the head if there was none.
    at: Instant,
    /// The handler is waiting for more of the body.
    waits_for_client: bool,
    /// How much of the body has arrived.
    bytes: usize,
}

/// Why a request timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Late {
    /// The rest of the body did not arrive.
    Client,
    /// The server was not done.
    Server,
}

impl Deadline {
    pub(in crate::http) fn new(limit: Duration) -> Self {
        let progress = Progress { at: Instant::now(), waits_for_client: false, bytes: 0 };
        Self { limit, progress: Arc::new(Mutex::new(progress)) }
    }

    /// Wraps the body; every chunk that arrives moves the deadline.
    pub(in crate::http) fn watch(&self, body: Body) -> WatchedBody {
        WatchedBody { body, progress: Arc::clone(&self.progress) }
    }

    /// Runs the work until the deadline. If it passes, the work is dropped; a write that was queued is still committed.
    pub(in crate::http) async fn limit<T>(&self, work: impl Future<Output = T>) -> Result<T, Late> {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout_at(self.end(read(&self.progress)), &mut work).await {
                return Ok(done);
            }
            let now = read(&self.progress);
            if self.end(now) <= Instant::now() {
                return Err(if now.waits_for_client { Late::Client } else { Late::Server });
            }
        }
    }

    fn end(&self, progress: Progress) -> Instant {
        progress.at + if progress.bytes > UPLOAD_BYTES { self.limit * UPLOAD_FACTOR } else { self.limit }
    }
}

fn read(progress: &Mutex<Progress>) -> Progress {
    *progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error for the client.
pub(in crate::http) fn refusal(late: Late, is_safe: bool) -> Error {
    match late {
        Late::Client => Error::plain(Code::RequestTimeout),
        Late::Server if is_safe => Error::plain(Code::Overloaded).retry_after(RETRY_SECONDS),
        Late::Server => Error::plain(Code::TimedOut).retry_after(RETRY_SECONDS),
    }
}

/// A request body that records when its chunks arrive.
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
        if let Poll::Ready(frame) = &polled {
            progress.at = Instant::now();
            if let Some(Ok(frame)) = frame {
                progress.bytes = progress.bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
            }
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

    const MINUTE: Duration = Duration::from_mins(1);

    /// A body of `pieces` chunks, one every ten seconds, which then ends or stalls.
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
        let deadline = Deadline::new(MINUTE);
        let (begun, body) = (Instant::now(), deadline.watch(slow(30, true)));
        let late = deadline.limit(async { (body.collect().await, pending::<()>().await) }).await;
        assert_eq!(late.map(|_| ()), Err(Late::Server));
        assert_eq!(begun.elapsed().as_secs(), 310 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn upload_may_take_twice_as_long_to_be_processed() {
        for (bytes, seconds) in [(UPLOAD_BYTES, 60), (UPLOAD_BYTES + 1, 120)] {
            let deadline = Deadline::new(MINUTE);
            let (begun, body) = (Instant::now(), deadline.watch(Body::from(vec![0_u8; bytes])));
            let late = deadline.limit(async { (body.collect().await, pending::<()>().await) }).await;
            assert_eq!(late.map(|_| ()), Err(Late::Server));
            assert_eq!(begun.elapsed().as_secs(), seconds, "{bytes} bytes");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_stops_arriving_is_the_clients_delay() {
        let deadline = Deadline::new(MINUTE);
        let (begun, body) = (Instant::now(), deadline.watch(slow(3, false)));
        let late = deadline.limit(body.collect()).await.map(|_| ());
        assert_eq!((late, begun.elapsed().as_secs()), (Err(Late::Client), 30 + 60));
        assert_eq!(refusal(Late::Client, false).code, Code::RequestTimeout);
    }

    #[tokio::test(start_paused = true)]
    async fn work_without_a_body_is_over_in_time_or_refused() {
        let deadline = Deadline::new(MINUTE);
        let slept = deadline.limit(tokio::time::sleep(Duration::from_secs(59))).await;
        assert_eq!(slept, Ok(()));
        let deadline = Deadline::new(MINUTE);
        assert_eq!(deadline.limit(pending::<()>()).await, Err(Late::Server));
        let (read, changed) = (refusal(Late::Server, true), refusal(Late::Server, false));
        assert_eq!((read.code, changed.code), (Code::Overloaded, Code::TimedOut));
        assert_eq!(changed.retry_after, Some(RETRY_SECONDS));
        assert!(changed.detail.contains("Idempotency-Key") && !read.detail.contains("Idempotency-Key"));
    }
}
