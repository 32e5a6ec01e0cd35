//! Buffers an uploaded file: in memory while it is small, in a temporary file once it is large.

use super::size_limit::too_large;
use bytes::{Bytes, BytesMut};
use dropleaf_app::UploadBody;
use dropleaf_core::{Code, Error, Result};
use std::io::{Seek, Write};

/// Files up to this size stay in memory.
const MEMORY_BYTES: usize = 64 * 1024;

/// Holds a small file in memory and moves a large one to an unlinked file.
#[derive(Debug)]
pub(super) struct Spool {
    memory: BytesMut,
    file: Option<std::fs::File>,
    size: u64,
    hasher: Option<blake3::Hasher>,
    dir: std::path::PathBuf,
}

impl Spool {
    pub(super) fn new(dir: std::path::PathBuf, is_hashed: bool) -> Self {
        let hasher = is_hashed.then(blake3::Hasher::new);
        Self { memory: BytesMut::new(), file: None, size: 0, hasher, dir }
    }

    pub(super) async fn add(&mut self, piece: Bytes, limit: u64) -> Result<()> {
        self.size += piece.len() as u64;
        if self.size > limit {
            return Err(too_large(limit));
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&piece);
        }
        self.memory.extend_from_slice(&piece);
        // Written in large chunks, on a blocking thread.
        if self.memory.len() > if self.file.is_some() { 4 * MEMORY_BYTES } else { MEMORY_BYTES } {
            self.spill().await?;
        }
        Ok(())
    }

    async fn spill(&mut self) -> Result<()> {
        let (data, file, dir) = (self.memory.split().freeze(), self.file.take(), self.dir.clone());
        let write = move || -> std::io::Result<std::fs::File> {
            let mut file = match file {
                Some(file) => file,
                None => tempfile::tempfile_in(dir)?,
            };
            file.write_all(&data)?;
            Ok(file)
        };
        let file = tokio::task::spawn_blocking(write).await.map_err(Error::internal)?.map_err(disk_error)?;
        self.file = Some(file);
        Ok(())
    }

    pub(super) async fn finish(mut self) -> Result<(UploadBody, Option<[u8; 32]>)> {
        let hash = self.hasher.take().map(|hasher| hasher.finalize().into());
        if self.file.is_some() {
            self.spill().await?;
        }
        match self.file {
            None => Ok((UploadBody::Memory(self.memory.freeze()), hash)),
            Some(mut file) => {
                file.rewind().map_err(disk_error)?;
                Ok((UploadBody::File(file), hash))
            }
        }
    }
}

fn disk_error(error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::plain(Code::StorageFull).with_source(error);
    }
    Error::internal(error)
}
