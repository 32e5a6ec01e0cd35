//! Answers the most frequent request, a view of a page in memory, without hyper: one read, one write. Anything
//! else on a connection ends this: hyper gets the connection with the bytes that were read, and keeps it. docs/adr/0024.

mod date;
mod request;
mod response;

pub(crate) use request::FastRequest;
pub(crate) use response::{FastHead, FastResponse, Missing};

use crate::connection::Connection;
use crate::connection_activity::ConnectionActivity;
use crate::drain::Drain;
use crate::wire::Answerer;
use bytes::Bytes;
use http::Version;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, timeout_at};

/// The most that is read at once. A request that is longer is left to hyper.
const READ_BYTES: usize = 4096;
/// How long a row and a body may take to be read. After that hyper gets the request, and waits on.
const LOAD_TIME: Duration = Duration::from_millis(100);
/// After so many responses in a row others get their turn: time limits of this connection, and other connections.
const RESPONSES_IN_A_ROW: u32 = 16;

/// The first part of a connection.
#[derive(Debug)]
pub(crate) struct FastPath<'a, S, A> {
    pub(crate) stream: &'a mut S,
    pub(crate) answerer: &'a A,
    pub(crate) connection: &'a Arc<Connection>,
    pub(crate) activity: &'a Arc<ConnectionActivity>,
    pub(crate) drain: &'a Drain,
    /// Set to end the connection once no response is being written.
    pub(crate) is_closing: &'a AtomicBool,
}

/// What hyper goes on with.
#[derive(Debug)]
pub(crate) struct HandOver {
    /// Read from the client, and not answered.
    pub(crate) bytes: Bytes,
    /// Whether a request has been answered, so that the protocol is known.
    pub(crate) is_http1: bool,
}

enum Step {
    /// A response was prepared; these bytes follow its request.
    Write(Vec<u8>),
    /// These bytes cannot be answered here.
    HandOver(Bytes),
    Close,
}

impl<S: AsyncRead + AsyncWrite + Unpin, A: Answerer> FastPath<'_, S, A> {
    /// Serves the connection as long as it can. None if the connection has been closed.
    pub(crate) async fn serve(mut self) -> io::Result<Option<HandOver>> {
        let mut response = FastResponse::new();
        let (mut pipelined, mut is_http1) = (Vec::new(), false);
        let mut written = 0_u32;
        loop {
            let mut step = match &*pipelined {
                _ if self.is_closing() => Step::Close,
                [] => poll_fn(|cx| self.poll_read(cx, &mut response)).await?,
                bytes => self.answer(bytes, Instant::now(), &mut response),
            };
            if let Step::HandOver(bytes) = &step
                && let Some(missing) = response.take_missing()
            {
                let bytes = bytes.clone();
                step = self.answer_after_loading(bytes, missing, &mut response).await;
            }
            match step {
                Step::Write(rest) => {
                    is_http1 = true;
                    pipelined = rest;
                    poll_fn(|cx| response.poll_write(self.stream, cx)).await?;
                    written = (written + 1) % RESPONSES_IN_A_ROW;
                    if written == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                Step::HandOver(bytes) => return Ok(Some(HandOver { bytes, is_http1 })),
                Step::Close => {
                    self.stream.shutdown().await?;
                    return Ok(None);
                }
            }
        }
    }

    fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, response: &mut FastResponse) -> Poll<io::Result<Step>> {
        if self.is_closing() {
            return Poll::Ready(Ok(Step::Close));
        }
        // On the stack, so that an idle connection holds no buffer.
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(self.answer(buffer.filled(), Instant::now(), response)))
    }

    /// Answers the first request of these bytes. At the end of the stream there are none, which is also left to hyper.
    fn answer(&self, bytes: &[u8], since: Instant, response: &mut FastResponse) -> Step {
        // During a drain every response says that it is the last one.
        let request = if self.drain.has_begun() { None } else { FastRequest::parse(bytes) };
        match request {
            Some((request, length))
                if self.answerer.answer_fast(&request, since, self.connection, response) =>
            {
                // The response is prepared, so the request is over.
                drop(self.activity.begin(Version::HTTP_11));
                Step::Write(bytes[length..].to_vec())
            }
            _ => Step::HandOver(Bytes::copy_from_slice(bytes)),
        }
    }

    /// The same after what was missing in memory was read. Rows expire often, and a connection that hyper has got does not come
    /// back.
    async fn answer_after_loading(
        &mut self,
        bytes: Bytes,
        missing: Missing,
        response: &mut FastResponse,
    ) -> Step {
        let since = Instant::now();
        let _working = self.activity.work();
        let mut loading = Some(missing);
        while let Some(missing) = loading.take() {
            let is_row = matches!(missing, Missing::Row(_));
            let loaded = self.answerer.load(missing, self.connection);
            if timeout_at(since + LOAD_TIME, loaded).await.is_err() {
                break;
            }
            match self.answer(&bytes, since, response) {
                // A row, and then a body. What is still missing does not exist.
                Step::HandOver(_) => {
                    loading =
                        response.take_missing().filter(|next| is_row && matches!(next, Missing::Body(..)));
                }
                answered => return answered,
            }
        }
        Step::HandOver(bytes)
    }
}
