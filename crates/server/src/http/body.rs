//! The response body: bytes in memory on the hot path, anything else boxed.

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

#[derive(Debug)]
pub enum OutBody {
    /// One chunk, or nothing.
    Ready(Option<Bytes>),
    Boxed(Body),
}

impl OutBody {
    pub const fn empty() -> Self {
        Self::Ready(None)
    }
}

/// A body that keeps a value alive until the body is sent, read or dropped.
#[derive(Debug)]
pub(super) struct Keeping<B, T> {
    body: B,
    _kept: T,
}

impl<B, T> Keeping<B, T> {
    pub(super) fn new(body: B, kept: T) -> Self {
        Self { body, _kept: kept }
    }
}

impl OutBody {
    #[must_use]
    pub fn keeping<T: Send + Unpin + 'static>(self, kept: T) -> Self {
        Self::Boxed(Body::new(Keeping::new(self, kept)))
    }
}

impl<B: http_body::Body + Unpin, T: Unpin> http_body::Body for Keeping<B, T> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl From<Bytes> for OutBody {
    fn from(bytes: Bytes) -> Self {
        Self::Ready((!bytes.is_empty()).then_some(bytes))
    }
}

impl From<String> for OutBody {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl http_body::Body for OutBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Self::Ready(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Boxed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(bytes) => bytes.is_none(),
            Self::Boxed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Boxed(body) => body.size_hint(),
        }
    }
}
