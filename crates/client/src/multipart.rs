//! A `multipart/form-data` body with one file that is read while it is sent, and a length that is known in advance.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How much of the file is in memory at a time.
const PIECE: u64 = 64 * 1024;

/// The file could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFailure {
    #[error("the file became shorter while it was sent; try again")]
    Shortened,
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
}

/// The file of a form: read at explicit positions, so that the same open file can be sent again.
#[derive(Debug, Clone)]
pub(crate) struct FilePart {
    pub(crate) file: Arc<File>,
    pub(crate) length: u64,
    /// Receives how many bytes of the file were handed to the connection.
    pub(crate) sent: watch::Sender<u64>,
}

/// The form as a request body.
#[derive(Debug)]
pub(crate) struct FormBody {
    head: Option<Bytes>,
    part: FilePart,
    at: u64,
    reading: Option<JoinHandle<Result<Bytes, ReadFailure>>>,
    tail: Option<Bytes>,
}

impl FormBody {
    /// `boundary` must not occur in the file or the fields; a random one does not.
    pub(crate) fn new(boundary: &str, name: &str, part: FilePart, fields: &[(&str, String)]) -> Self {
        let mut head = String::new();
        for (name, value) in fields {
            let _ = write!(
                head,
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        }
        // Writing to a String cannot fail.
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            quoted(name)
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        Self { head: Some(head.into()), part, at: 0, reading: None, tail: Some(tail.into()) }
    }
}

impl Body for FormBody {
    type Data = Bytes;
    type Error = ReadFailure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ReadFailure>>> {
        let this = &mut *self;
        if let Some(head) = this.head.take() {
            return Poll::Ready(Some(Ok(Frame::data(head))));
        }
        if this.at == this.part.length {
            return Poll::Ready(this.tail.take().map(|tail| Ok(Frame::data(tail))));
        }
        let (part, at) = (&this.part, this.at);
        let reading = this.reading.get_or_insert_with(|| {
            let (file, most) = (Arc::clone(&part.file), PIECE.min(part.length - at));
            tokio::task::spawn_blocking(move || read_piece(&file, at, most))
        });
        let outcome = ready!(Pin::new(reading).poll(cx));
        this.reading = None;
        let piece = outcome.unwrap_or_else(|error| Err(ReadFailure::Io(error.into())))?;
        this.at += piece.len() as u64;
        this.part.sent.send_replace(this.at);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        SizeHint::with_exact(length(&self.head) + self.part.length - self.at + length(&self.tail))
    }

    fn is_end_stream(&self) -> bool {
        self.tail.is_none()
    }
}

fn read_piece(file: &File, at: u64, most: u64) -> Result<Bytes, ReadFailure> {
    let mut piece = vec![0; usize::try_from(most).unwrap_or_default()];
    match file.read_at(&mut piece, at) {
        Ok(0) => Err(ReadFailure::Shortened),
        Ok(read) => {
            piece.truncate(read);
            Ok(piece.into())
        }
        Err(error) => Err(ReadFailure::Io(error)),
    }
}

/// Escapes a file name as browsers do, so that it cannot end the quoted string.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::Write;

    fn part(content: &[u8], length: u64) -> FilePart {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        FilePart { file: Arc::new(file), length, sent: watch::Sender::new(0) }
    }

    async fn read(mut body: FormBody) -> Result<Vec<u8>, ReadFailure> {
        let mut out = Vec::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            out.extend_from_slice(&frame?.into_data().unwrap());
        }
        Ok(out)
    }

    #[tokio::test]
    async fn the_announced_length_is_the_length_sent() {
        for size in [0, 1, 64 * 1024, 64 * 1024 + 1, 300_000] {
            let content = vec![b'x'; size];
            let part = part(&content, size as u64);
            let sent = part.sent.subscribe();
            let body = FormBody::new("edge", "a.html", part, &[("slug", "s".into())]);
            let announced = body.size_hint().exact().unwrap();
            let out = read(body).await.unwrap();
            assert_eq!((out.len() as u64, *sent.borrow()), (announced, size as u64));
            assert!(out.starts_with(b"--edge\r\n") && out.ends_with(b"\r\n--edge--\r\n"));
        }
    }

    #[tokio::test]
    async fn a_file_that_became_shorter_is_an_error() {
        let body = FormBody::new("edge", "a.html", part(b"short", 100), &[]);
        assert!(matches!(read(body).await, Err(ReadFailure::Shortened)));
    }

    #[tokio::test]
    async fn a_name_cannot_end_its_quotation() {
        let out = read(FormBody::new("edge", "a\"\r\nX: y.html", part(b"", 0), &[])).await.unwrap();
        assert!(String::from_utf8(out).unwrap().contains("filename=\"a%22%0D%0AX: y.html\""));
    }
}
