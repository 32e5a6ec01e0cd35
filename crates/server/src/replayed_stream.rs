//! A stream of which some bytes have been read already: they are read again first.

use bytes::{Buf, Bytes};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug)]
pub(crate) struct ReplayedStream<S> {
    before: Bytes,
    stream: S,
}

impl<S> ReplayedStream<S> {
    pub(crate) const fn new(before: Bytes, stream: S) -> Self {
        Self { before, stream }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReplayedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.before.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let part = self.before.len().min(buffer.remaining());
        buffer.put_slice(&self.before[..part]);
        self.before.advance(part);
        if self.before.is_empty() {
            self.before = Bytes::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReplayedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn what_was_read_comes_first_in_pieces_of_any_size() {
        for size in 1..9 {
            let (mut client, server) = duplex(64);
            client.write_all(b" HTTP/1.1").await.unwrap();
            client.shutdown().await.unwrap();
            let mut stream = ReplayedStream::new(Bytes::from_static(b"GET /"), server);
            let (mut all, mut buffer) = (Vec::new(), vec![0; size]);
            loop {
                match stream.read(&mut buffer).await.unwrap() {
                    0 => break,
                    count => all.extend_from_slice(&buffer[..count]),
                }
            }
            assert_eq!(all, b"GET / HTTP/1.1", "{size}");
        }
    }
}
