//! Errors of backup and restore, worded for the operator.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::Error as StoreError;

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
    /// The destination refuses the credentials.
    #[error("{0}")]
    NotAllowed(String),
    /// The destination does not respond, or with an error.
    #[error("{0}")]
    Unreachable(String),
    #[error("{0} is full. Nothing that was complete has changed; make room and try again")]
    Full(String),
    /// The caller stopped it; the next backup continues.
    #[error("the backup was stopped before it was complete")]
    Stopped,
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl BackupError {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> BackupError + use<> {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                BackupError::Full(path.display().to_string())
            }
            _ => BackupError::File { path, source },
        }
    }

    /// What an error of the object store at `name` means for the operator.
    pub(super) fn of_store(name: &str, error: &(dyn Error + 'static)) -> BackupError {
        let text = error.to_string();
        let mut next = Some(error);
        while let Some(cause) = next {
            if let Some(io) = cause.downcast_ref::<io::Error>()
                && matches!(io.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            {
                return BackupError::Full(name.to_owned());
            }
            next = cause.source();
        }
        // 507 Insufficient Storage, and the codes of servers that limit a bucket.
        if ["507 ", "QuotaExceeded", "StorageFull"].iter().any(|code| text.contains(code)) {
            return BackupError::Full(name.to_owned());
        }
        match error.downcast_ref::<StoreError>() {
            Some(StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. }) => {
                BackupError::NotAllowed(format!(
                    "{name} refuses the credentials: check `backup.access_key_id` and `backup.secret_access_key`, and that the \
                     key may list, read, write and delete there"
                ))
            }
            Some(StoreError::NotFound { .. }) => {
                BackupError::Damaged(format!("{name} has no such object or bucket: {text}"))
            }
            _ => BackupError::Unreachable(format!("{name} cannot be used: {text}")),
        }
    }

    /// The same for the errors of body storage.
    pub(super) fn of_blob(name: &str, error: &BlobError) -> BackupError {
        match error {
            BlobError::Full => BackupError::Full(name.to_owned()),
            BlobError::Unavailable(source) | BlobError::Internal(source) => {
                Self::of_store(name, source.as_ref())
            }
            BlobError::Missing => BackupError::Damaged(format!("{name} does not exist")),
            BlobError::Corrupt => BackupError::Damaged(format!("{name}: {error}")),
        }
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
