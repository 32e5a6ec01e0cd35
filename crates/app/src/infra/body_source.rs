//! Reads file bodies on a blocking thread, as uploaded, without holding them in memory. For writers of archives.

use dropleaf_store::Store;
use dropleaf_store::blobs::{BlobError, Encoding};
use futures_util::{StreamExt, TryStreamExt};
use std::io::{self, Read};
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};

/// The source of file bodies.
pub(crate) struct BodySource {
    pub(crate) store: Store,
    pub(crate) runtime: Handle,
}

impl BodySource {
    /// None if the body no longer exists. Must not be called on a thread of the runtime.
    pub(crate) fn open(&self, hash: &[u8; 32]) -> io::Result<Option<Box<dyn Read>>> {
        let opened = self.runtime.block_on(async {
            let blob = self.store.blobs.open_body(&self.store.db, hash).await?;
            Ok::<_, BlobError>((blob.encoding, blob.stream().await?))
        });
        let (encoding, stream) = match opened {
            Ok(opened) => opened,
            Err(BlobError::Missing) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        };
        let stream = stream.map_err(io::Error::other).boxed();
        let reader = SyncIoBridge::new_with_handle(StreamReader::new(stream), self.runtime.clone());
        Ok(Some(match encoding {
            Encoding::Identity => Box::new(reader),
            Encoding::Zstd => Box::new(zstd::stream::Decoder::new(reader)?),
        }))
    }
}
