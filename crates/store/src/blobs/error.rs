//! Errors of body storage.

use std::error::Error;
use std::io;
use std::sync::Arc;

use crate::db::{DbError, Source};

#[derive(Debug, Clone, thiserror::Error)]
pub enum BlobError {
    #[error("no such body")]
    Missing,
    /// The stored bytes are not the uploaded ones.
    #[error("a stored body does not match its hash")]
    Corrupt,
    #[error("the disk is full")]
    Full,
    #[error("bodies are not available: {0}")]
    Unavailable(#[source] Source),
    #[error("body storage: {0}")]
    Internal(#[source] Source),
}

impl BlobError {
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        BlobError::Internal(Arc::new(io::Error::other(message.into())))
    }
}

impl From<DbError> for BlobError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Full => BlobError::Full,
            DbError::Unavailable(source) => BlobError::Unavailable(source),
            DbError::Internal(source) => BlobError::Internal(source),
            busy @ DbError::Busy => BlobError::Unavailable(Arc::new(busy)),
            own @ (DbError::Guard(_) | DbError::Nul | DbError::NewerSchema { .. }) => {
                BlobError::Internal(Arc::new(own))
            }
        }
    }
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        if no_space(&error) { BlobError::Full } else { BlobError::Internal(Arc::new(error)) }
    }
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Failure;
        match &error {
            Failure::NotFound { .. } => BlobError::Missing,
            _ if in_chain(&error, no_space) => BlobError::Full,
            // An error of an S3 server after all retries may be temporary; refusals and bad paths are not.
            Failure::Generic { store: "S3", .. } => BlobError::Unavailable(Arc::new(error)),
            _ => BlobError::Internal(Arc::new(error)),
        }
    }
}

fn no_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn in_chain(error: &(dyn Error + 'static), test: fn(&io::Error) -> bool) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<io::Error>().is_some_and(test) {
            return true;
        }
        next = error.source();
    }
    false
}
