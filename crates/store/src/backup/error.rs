//! Errors of backup and restore, worded for the operator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blobs::BlobError;
use crate::db::DbError;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Nothing was changed; the message says what prevents it.
    #[error("{0}")]
    Refused(String),
    /// The backup or the source is damaged or incomplete.
    #[error("{0}")]
    Damaged(String),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl BackupError {
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> BackupError + use<> {
        let path = path.to_owned();
        move |source| BackupError::File { path, source }
    }
}

impl From<rusqlite::Error> for BackupError {
    fn from(error: rusqlite::Error) -> Self {
        BackupError::Db(error.into())
    }
}

impl From<tokio_postgres::Error> for BackupError {
    fn from(error: tokio_postgres::Error) -> Self {
        BackupError::Db(error.into())
    }
}

impl From<tokio::task::JoinError> for BackupError {
    fn from(error: tokio::task::JoinError) -> Self {
        BackupError::Db(DbError::Internal(Arc::new(error)))
    }
}
