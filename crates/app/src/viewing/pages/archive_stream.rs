//! Streams the files of a version as one zip archive. The archive is written while it is sent, so memory holds one piece of
//! it at a time. The same files give the same bytes: entries are in the order of their paths and have a fixed date.

use super::ServedFile;
use super::file_stream::ChunkSender;
use crate::app::App;
use crate::infra::body_source::BodySource;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Pieces that wait for the reader.
const WAITING_PIECES: usize = 4;

impl App {
    /// The archive of these files, which must be in the order of their paths. If a body is missing or damaged, the stream
    /// ends with an error, so that no reader takes it for complete.
    pub fn stream_archive(&self, files: Vec<Arc<ServedFile>>) -> BoxStream<'static, io::Result<Bytes>> {
        let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING_PIECES);
        let bodies = BodySource { store: self.store.clone(), runtime: Handle::current() };
        Handle::current().spawn_blocking(move || {
            if let Err(error) = write_archive(&files, &bodies, &sender) {
                // The receiver may be gone; then the error is not needed.
                let _ = sender.blocking_send(Err(error));
            }
        });
        futures_util::stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|piece| (piece, receiver))
        })
        .boxed()
    }
}

fn write_archive(
    files: &[Arc<ServedFile>],
    bodies: &BodySource,
    sender: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(ChunkSender::new(sender));
    for file in files {
        zip.start_file(file.path.as_str(), entry_options(file.size_bytes, file.is_compressible))?;
        let body = bodies.open(&file.hash)?;
        let mut body = body.ok_or_else(|| io::Error::other("a file of the archive no longer exists"))?;
        io::copy(&mut body, &mut zip)?;
    }
    zip.finish()?.into_inner().flush()
}

/// The options of an entry: always the same date and rights, so that equal content gives equal archives.
pub(crate) fn entry_options(size_bytes: u64, is_compressible: bool) -> SimpleFileOptions {
    let method = if is_compressible { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .large_file(size_bytes >= u64::from(u32::MAX))
}
