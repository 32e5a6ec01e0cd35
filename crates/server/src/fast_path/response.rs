//! A response of the fast path: its head as bytes, in the order and form in which hyper would write it, and its body from
//! memory. Both are written with one call.

use super::date::DateHeader;
use bytes::{Buf, Bytes};
use dropleaf_app::{ContentCoding, PageKey, ServedFile};
use std::io::{self, IoSlice, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// Enough for the head of a page.
const HEAD_BYTES: usize = 1024;

#[derive(Debug)]
pub(crate) struct FastResponse {
    head: Vec<u8>,
    /// How much of the head has been written.
    written: usize,
    /// What has not been written of the body. Holds its charge until then.
    body: Bytes,
    date: DateHeader,
    /// What was missing in memory to answer the last request.
    missing: Option<Missing>,
}

/// What a request could be answered with, if it was in memory.
#[derive(Debug)]
pub(crate) enum Missing {
    Row(PageKey),
    Body(Arc<ServedFile>, ContentCoding),
}

/// What a head consists of. The lines end with CRLF.
#[derive(Debug)]
pub(crate) struct FastHead<'a> {
    pub(crate) status_line: &'a [u8],
    pub(crate) lines: &'a [u8],
    pub(crate) etag: &'a [u8],
    /// Not for a response without content.
    pub(crate) content_type: Option<&'a [u8]>,
    pub(crate) content_encoding: Option<&'a str>,
    /// `Strict-Transport-Security`.
    pub(crate) transport_security: Option<&'a [u8]>,
    pub(crate) now: i64,
}

impl FastResponse {
    pub(super) const fn new() -> Self {
        Self { head: Vec::new(), written: 0, body: Bytes::new(), date: DateHeader::new(), missing: None }
    }

    /// Replaces the response, which must have been written. The length of the body is sent if it has a type.
    pub(crate) fn set(&mut self, head: &FastHead<'_>, body: Bytes) {
        let out = &mut self.head;
        out.clear();
        out.reserve(HEAD_BYTES);
        out.extend_from_slice(head.status_line);
        out.extend_from_slice(head.lines);
        push_line(out, b"etag: ", head.etag);
        if let Some(kind) = head.content_type {
            push_line(out, b"content-type: ", kind);
        }
        if let Some(coding) = head.content_encoding {
            push_line(out, b"content-encoding: ", coding.as_bytes());
        }
        if let Some(policy) = head.transport_security {
            push_line(out, b"strict-transport-security: ", policy);
        }
        if head.content_type.is_some() {
            // Writing to a vector cannot fail.
            let _ = write!(out, "content-length: {}", body.len());
            out.extend_from_slice(b"\r\n");
        }
        push_line(out, b"date: ", self.date.at(head.now));
        out.extend_from_slice(b"\r\n");
        self.written = 0;
        self.body = body;
    }

    /// The request could be answered if this was in memory.
    pub(crate) fn set_missing(&mut self, missing: Missing) {
        self.missing = Some(missing);
    }

    pub(super) fn take_missing(&mut self) -> Option<Missing> {
        self.missing.take()
    }

    /// Writes and flushes what is left.
    pub(super) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.written < self.head.len() || !self.body.is_empty() {
            let pieces = [IoSlice::new(&self.head[self.written..]), IoSlice::new(&self.body)];
            let mut count = ready!(Pin::new(&mut *stream).poll_write_vectored(cx, &pieces))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = count.min(self.head.len() - self.written);
            self.written += of_head;
            count -= of_head;
            if count == self.body.len() {
                // Releases its charge.
                self.body = Bytes::new();
            } else {
                self.body.advance(count);
            }
        }
        Pin::new(stream).poll_flush(cx)
    }
}

fn push_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
