//! Writes a stored form to the object store, durably and in bounded memory.

use std::io::{Read, Seek, SeekFrom};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};

use super::{BlobError, NewBody};

/// Larger bodies are uploaded in parts. S3 requires at least 5 MiB in each part but the last.
const PART: u64 = 8 << 20;

/// The rest of a stored form, read part by part.
enum Parts {
    Memory(Bytes),
    File { file: Option<std::fs::File>, left: u64 },
}

impl Parts {
    async fn open(body: NewBody) -> Result<Self, BlobError> {
        match body {
            NewBody::Memory(bytes) => Ok(Parts::Memory(bytes)),
            NewBody::File { file, stored_bytes } => {
                let mut file = Some(file);
                rewind(&mut file).await?;
                Ok(Parts::File { file, left: stored_bytes })
            }
        }
    }

    fn left(&self) -> u64 {
        match self {
            Parts::Memory(bytes) => bytes.len() as u64,
            Parts::File { left, .. } => *left,
        }
    }

    /// The next part; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, BlobError> {
        let wanted = self.left().min(PART);
        if wanted == 0 {
            return Ok(None);
        }
        match self {
            Parts::Memory(bytes) => Ok(Some(bytes.split_to(usize::try_from(wanted).unwrap_or(usize::MAX)))),
            Parts::File { file, left } => {
                *left -= wanted;
                read(file, wanted).await.map(Some)
            }
        }
    }
}

pub(crate) async fn put(store: &dyn ObjectStore, key: &str, body: NewBody) -> Result<(), BlobError> {
    let key = Path::from(key);
    let mut parts = Parts::open(body).await?;
    if parts.left() > PART {
        return in_parts(store, &key, parts).await;
    }
    let bytes = parts.next().await?.unwrap_or_default();
    store.put(&key, PutPayload::from_bytes(bytes)).await?;
    Ok(())
}

/// Reads the whole stored form into memory, for bodies that go into the database.
pub(super) async fn into_memory(body: NewBody) -> Result<Bytes, BlobError> {
    match body {
        NewBody::Memory(bytes) => Ok(bytes),
        NewBody::File { file, stored_bytes } => {
            let mut reader = Some(file);
            rewind(&mut reader).await?;
            read(&mut reader, stored_bytes).await
        }
    }
}

async fn in_parts(store: &dyn ObjectStore, key: &Path, parts: Parts) -> Result<(), BlobError> {
    let mut upload = store.put_multipart(key).await?;
    let done = send_parts(upload.as_mut(), parts).await;
    if done.is_err() {
        // Parts that cannot be deleted now are not listed and only cost space.
        let _ = upload.abort().await;
    }
    done
}

async fn send_parts(upload: &mut dyn MultipartUpload, mut parts: Parts) -> Result<(), BlobError> {
    while let Some(part) = parts.next().await? {
        upload.put_part(PutPayload::from_bytes(part)).await?;
    }
    upload.complete().await?;
    Ok(())
}

async fn rewind(file: &mut Option<std::fs::File>) -> Result<(), BlobError> {
    on_file(file, |file| file.seek(SeekFrom::Start(0)).map(|_| ())).await
}

async fn read(file: &mut Option<std::fs::File>, wanted: u64) -> Result<Bytes, BlobError> {
    on_file(file, move |file| {
        let mut buffer = vec![0; usize::try_from(wanted).map_err(std::io::Error::other)?];
        file.read_exact(&mut buffer)?;
        Ok(Bytes::from(buffer))
    })
    .await
}

/// Moves the file to the blocking pool for one operation.
async fn on_file<T: Send + 'static>(
    slot: &mut Option<std::fs::File>,
    work: impl FnOnce(&mut std::fs::File) -> std::io::Result<T> + Send + 'static,
) -> Result<T, BlobError> {
    let mut file =
        slot.take().ok_or_else(|| BlobError::internal("file handle lost in an earlier failure"))?;
    let (file, done) = tokio::task::spawn_blocking(move || {
        let done = work(&mut file);
        (file, done)
    })
    .await
    .map_err(|lost| BlobError::internal(lost.to_string()))?;
    *slot = Some(file);
    Ok(done?)
}
