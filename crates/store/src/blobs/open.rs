//! Reads bodies: whole and verified for the cache, or as a stream if they are too large for memory.

use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use super::{BlobError, BlobRow, Blobs, Encoding, StoredBody};
use crate::db::Db;

/// Up to this size, hashing and decompressing take less time than handing the work to another thread.
const SMALL: u64 = 64 << 10;

pub type BlobStream = BoxStream<'static, Result<Bytes, BlobError>>;

impl Blobs {
    /// The bytes as uploaded, checked against their hash. For bodies that fit into memory.
    pub async fn read(&self, db: &Db, hash: &[u8; 32]) -> Result<Bytes, BlobError> {
        let row = Self::find_row(db, hash).await?.ok_or(BlobError::Missing)?;
        let (row, stored) = match self.stored(&row).await {
            Err(BlobError::Missing) => {
                // The body was swept and uploaded again since the row was read: the new row has a new key.
                let row = Self::find_row(db, hash).await?.ok_or(BlobError::Missing)?;
                let stored = self.stored(&row).await?;
                (row, stored)
            }
            stored => (row, stored?),
        };
        let hash = *hash;
        if row.size_bytes.max(row.stored_bytes) <= SMALL {
            return restore(row.encoding, row.size_bytes, stored, &hash);
        }
        tokio::task::spawn_blocking(move || restore(row.encoding, row.size_bytes, stored, &hash))
            .await
            .map_err(|lost| BlobError::Internal(Arc::new(lost)))?
    }

    async fn stored(&self, row: &BlobRow) -> Result<Bytes, BlobError> {
        match &row.location {
            StoredBody::Inline(body) => Ok(body.clone()),
            StoredBody::Object(key) => Ok(self.store.get(&Path::from(key.as_str())).await?.bytes().await?),
        }
    }

    /// Opens the object of a row that was read earlier, without reading the database again.
    pub(crate) fn open_object(
        &self,
        hash: [u8; 32],
        encoding: Encoding,
        size_bytes: u64,
        stored_bytes: u64,
        key: &str,
    ) -> OpenBlob {
        let (location, store) = (StoredBody::Object(key.to_owned()), Arc::clone(&self.store));
        OpenBlob { encoding, size_bytes, stored_bytes, hash, location, store }
    }

    /// The stored form, for bodies too large for memory.
    pub async fn open_body(&self, db: &Db, hash: &[u8; 32]) -> Result<OpenBlob, BlobError> {
        let row = Self::find_row(db, hash).await?.ok_or(BlobError::Missing)?;
        Ok(OpenBlob {
            encoding: row.encoding,
            size_bytes: row.size_bytes,
            stored_bytes: row.stored_bytes,
            hash: *hash,
            location: row.location,
            store: Arc::clone(&self.store),
        })
    }
}

/// Decompresses a stored form and verifies it.
fn restore(encoding: Encoding, size_bytes: u64, stored: Bytes, hash: &[u8; 32]) -> Result<Bytes, BlobError> {
    let bytes = match encoding {
        Encoding::Identity => stored,
        Encoding::Zstd => {
            // The size comes from our own row, so a damaged object cannot make us allocate more.
            let limit = usize::try_from(size_bytes).map_err(|_| BlobError::Corrupt)?;
            zstd::bulk::decompress(&stored, limit).map_err(|_| BlobError::Corrupt)?.into()
        }
    };
    let whole = bytes.len() as u64 == size_bytes && blake3::hash(&bytes) == *hash;
    if whole { Ok(bytes) } else { Err(BlobError::Corrupt) }
}

/// A body that was found but not read yet.
#[derive(Clone)]
pub struct OpenBlob {
    pub encoding: Encoding,
    pub size_bytes: u64,
    pub stored_bytes: u64,
    hash: [u8; 32],
    location: StoredBody,
    store: Arc<dyn ObjectStore>,
}

impl std::fmt::Debug for OpenBlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (encoding, size) = (self.encoding, self.size_bytes);
        f.debug_struct("OpenBlob")
            .field("encoding", &encoding)
            .field("size_bytes", &size)
            .finish_non_exhaustive()
    }
}

impl OpenBlob {
    /// All stored bytes. If the body does not match its hash, the stream ends with `Corrupt`.
    pub async fn stream(&self) -> Result<BlobStream, BlobError> {
        let bytes = self.bytes_of(None).await?;
        Ok(verified(bytes, Check::new(self.encoding)?, self.stored_bytes, self.hash))
    }

    /// A range of the stored bytes, which are those of the body itself if it is stored uncompressed. Not verified against the
    /// hash.
    pub async fn range(&self, range: Range<u64>) -> Result<BlobStream, BlobError> {
        if range.start >= range.end || range.end > self.stored_bytes {
            return Err(BlobError::internal("range outside the body"));
        }
        self.bytes_of(Some(range)).await
    }

    async fn bytes_of(&self, range: Option<Range<u64>>) -> Result<BlobStream, BlobError> {
        match &self.location {
            StoredBody::Inline(body) => {
                let part = range.map_or(0..body.len(), |range| clamp(range.start)..clamp(range.end));
                if part.end > body.len() {
                    return Err(BlobError::Corrupt);
                }
                Ok(stream::once(std::future::ready(Ok(body.slice(part)))).boxed())
            }
            StoredBody::Object(key) => {
                let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
                let found = self.store.get_opts(&Path::from(key.as_str()), options).await?;
                Ok(found.into_stream().map_err(BlobError::from).boxed())
            }
        }
    }
}

fn clamp(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Whether a stored form decompresses to bytes with this hash.
pub(crate) fn matches(stored: impl Read, encoding: Encoding, hash: &[u8; 32]) -> Result<bool, BlobError> {
    match hash_of(stored, encoding) {
        Ok(found) => Ok(found == *hash),
        Err(BlobError::Corrupt) => Ok(false),
        Err(error) => Err(error),
    }
}

fn hash_of(mut stored: impl Read, encoding: Encoding) -> Result<blake3::Hash, BlobError> {
    let mut check = Check::new(encoding)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stored.read(&mut buffer)? {
            0 => return check.hash(),
            n => check.take(&buffer[..n])?,
        }
    }
}

/// Hashes the decompressed bytes of a stream.
pub(crate) enum Check {
    Plain(Box<blake3::Hasher>),
    Zstd(Box<zstd::stream::write::Decoder<'static, blake3::Hasher>>),
}

impl Check {
    pub(crate) fn new(encoding: Encoding) -> Result<Self, BlobError> {
        Ok(match encoding {
            Encoding::Identity => Check::Plain(Box::default()),
            Encoding::Zstd => {
                Check::Zstd(Box::new(zstd::stream::write::Decoder::new(blake3::Hasher::new())?))
            }
        })
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        match self {
            Check::Plain(hasher) => {
                hasher.update(bytes);
                Ok(())
            }
            Check::Zstd(decoder) => decoder.write_all(bytes).map_err(|_| BlobError::Corrupt),
        }
    }

    pub(crate) fn hash(self) -> Result<blake3::Hash, BlobError> {
        match self {
            Check::Plain(hasher) => Ok(hasher.finalize()),
            Check::Zstd(mut decoder) => {
                decoder.flush().map_err(|_| BlobError::Corrupt)?;
                Ok(decoder.into_inner().finalize())
            }
        }
    }
}

fn verified(bytes: BlobStream, check: Check, stored_bytes: u64, hash: [u8; 32]) -> BlobStream {
    let start = (bytes, Some(check), 0_u64);
    stream::try_unfold(start, move |(mut bytes, check, seen)| async move {
        let Some(mut check) = check else { return Ok(None) };
        match bytes.try_next().await? {
            Some(chunk) => {
                let seen = seen + chunk.len() as u64;
                check.take(&chunk)?;
                // The hash is verified before the last chunk is sent, so no client receives a complete but wrong body.
                let rest = if seen < stored_bytes {
                    Some(check)
                } else if seen == stored_bytes && check.hash()? == hash {
                    None
                } else {
                    return Err(BlobError::Corrupt);
                };
                Ok(Some((chunk, (bytes, rest, seen))))
            }
            None => Err(BlobError::Corrupt),
        }
    })
    .boxed()
}
