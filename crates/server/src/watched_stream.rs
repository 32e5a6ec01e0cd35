//! A connection's stream that reports the body bytes sent to `connection_activity`, so that a client that has stopped reading can be told
//! apart from a slow one, and that measures the size of request heads.

use crate::body_counter::BodyCounter;
use crate::connection_activity::ConnectionActivity;
use crate::large_heads::HeadMeter;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug)]
pub(crate) struct WatchedStream<S> {
    stream: S,
    counter: BodyCounter,
    heads: HeadMeter,
    activity: Arc<ConnectionActivity>,
}

impl<S> WatchedStream<S> {
    pub(crate) fn new(stream: S, heads: HeadMeter, activity: Arc<ConnectionActivity>) -> Self {
        Self { stream, counter: BodyCounter::default(), heads, activity }
    }

    /// Counts the written part of these pieces.
    fn report<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>, written: usize) {
        let (mut left, mut counted) = (written, 0);
        for piece in pieces {
            let part = left.min(piece.len());
            counted += self.counter.count(&piece[..part]);
            left -= part;
            if left == 0 {
                break;
            }
        }
        if counted > 0 {
            self.activity.sent(counted as u64);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let this = &mut *self;
        let arrived = &buffer.filled()[before..];
        this.activity.received(arrived.len() as u64);
        Poll::Ready(this.heads.count(arrived, &this.activity))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(written)) = outcome {
            self.report(std::iter::once(bytes), written);
        }
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        if let Poll::Ready(Ok(written)) = outcome {
            self.report(pieces.iter().map(|piece| &**piece), written);
        }
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
