//! Holds one body between two stores: small ones in memory, others in a file that is deleted when it is closed.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::BackupError;
use crate::blobs::NewBody;

const IN_MEMORY: u64 = 1 << 20;

pub(super) enum Spool {
    Memory(Vec<u8>),
    File { file: tokio::fs::File, folder: PathBuf, written: u64 },
}

impl Spool {
    pub(super) fn new(expected: u64, folder: &Path) -> Result<Self, BackupError> {
        if expected <= IN_MEMORY {
            return Ok(Spool::Memory(Vec::new()));
        }
        let file = tempfile::tempfile_in(folder).map_err(BackupError::file(folder))?;
        Ok(Spool::File { file: tokio::fs::File::from_std(file), folder: folder.to_owned(), written: 0 })
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        match self {
            Spool::Memory(buffer) => buffer.extend_from_slice(bytes),
            Spool::File { file, folder, written } => {
                file.write_all(bytes).await.map_err(BackupError::file(folder))?;
                *written += bytes.len() as u64;
            }
        }
        Ok(())
    }

    pub(super) async fn into_body(self) -> Result<NewBody, BackupError> {
        match self {
            Spool::Memory(buffer) => Ok(NewBody::Memory(Bytes::from(buffer))),
            Spool::File { mut file, folder, written } => {
                file.flush().await.map_err(BackupError::file(&folder))?;
                Ok(NewBody::File { file: file.into_std().await, stored_bytes: written })
            }
        }
    }
}
