//! Streams large files from storage in pieces, whole or a range, without holding them in memory.

use super::ServedFile;
use crate::app::App;
use bytes::Bytes;
use dropleaf_core::Result;
use dropleaf_store::blobs::Encoding;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use std::io::{self, Read, Write};
use std::ops::Range;
use tokio::sync::mpsc;
use tokio_util::io::{StreamReader, SyncIoBridge};

const PIECE: usize = 64 * 1024;

/// A range of a file as a stream.
pub struct FileStream {
    /// The length of the stream in bytes.
    pub bytes: u64,
    pub stream: BoxStream<'static, io::Result<Bytes>>,
}

impl std::fmt::Debug for FileStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl App {
    /// The bytes of a large file as uploaded, or a range of them.
    pub async fn stream_file(&self, file: &ServedFile, range: Option<Range<u64>>) -> Result<FileStream> {
        let blob = self.store.blobs.open_body(&self.store.db, &file.hash).await?;
        let range = range.unwrap_or(0..file.size_bytes);
        let bytes = range.end - range.start;
        let stream = match blob.encoding {
            Encoding::Identity if bytes < file.size_bytes => {
                blob.range(range).await?.map_err(io::Error::other).boxed()
            }
            Encoding::Identity => blob.stream().await?.map_err(io::Error::other).boxed(),
            Encoding::Zstd => {
                decompress_stream(blob.stream().await?.map_err(io::Error::other).boxed(), range)
            }
        };
        Ok(FileStream { bytes, stream })
    }

    /// The stored zstd form of a large file. None if it is stored in another encoding.
    pub async fn stream_file_zstd(&self, file: &ServedFile) -> Result<Option<FileStream>> {
        let blob = self.store.blobs.open_body(&self.store.db, &file.hash).await?;
        if blob.encoding != Encoding::Zstd {
            return Ok(None);
        }
        let bytes = blob.stored_bytes;
        Ok(Some(FileStream { bytes, stream: blob.stream().await?.map_err(io::Error::other).boxed() }))
    }
}

/// Decompresses on a blocking thread and passes on only the range. Stops when the viewer disconnects.
fn decompress_stream(
    stored: BoxStream<'static, io::Result<Bytes>>,
    range: Range<u64>,
) -> BoxStream<'static, io::Result<Bytes>> {
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(4);
    let handle = tokio::runtime::Handle::current();
    handle.clone().spawn_blocking(move || {
        let reader = SyncIoBridge::new_with_handle(StreamReader::new(stored), handle);
        if let Err(error) = decompress(reader, range, &sender) {
            // The receiver may be gone; then the error is not needed.
            let _ = sender.blocking_send(Err(error));
        }
    });
    futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    })
    .boxed()
}

fn decompress(
    reader: impl Read,
    range: Range<u64>,
    sender: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let mut decoder = zstd::stream::Decoder::new(reader)?;
    io::copy(&mut (&mut decoder).take(range.start), &mut io::sink())?;
    let mut rest = decoder.take(range.end - range.start);
    let mut out = ChunkSender::new(sender);
    io::copy(&mut rest, &mut out)?;
    out.flush()
}

pub(super) struct ChunkSender<'a> {
    sender: &'a mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl<'a> ChunkSender<'a> {
    pub(super) fn new(sender: &'a mpsc::Sender<io::Result<Bytes>>) -> Self {
        Self { sender, piece: Vec::with_capacity(PIECE) }
    }
}

impl Write for ChunkSender<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(data);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.sender.blocking_send(Ok(piece.into())).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}
