//! Maps storage errors to error codes for callers, in one place, so that every operation reports them alike.

use crate::accounts;
use crate::blobs::BlobError;
use crate::db::DbError;
use dropleaf_core::{Code, Error, account};

/// `Retry-After` in seconds for storage that is unreachable.
const RETRY: i64 = 5;
/// `Retry-After` in seconds for a full write queue, which empties much faster.
const BUSY_RETRY: i64 = 1;

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        match &error {
            DbError::Guard(accounts::SUSPENDED) => account::suspended(),
            DbError::Full => Self::plain(Code::StorageFull),
            DbError::Busy => Self::plain(Code::Overloaded).retry_after(BUSY_RETRY),
            DbError::Nul => Self::new(Code::InvalidRequest, "Text must not contain the NUL character."),
            DbError::Unavailable(_) => Self::plain(Code::StorageUnavailable).retry_after(RETRY),
            DbError::Guard(_) | DbError::NewerSchema { .. } | DbError::Internal(_) => {
                Self::plain(Code::Internal)
            }
        }
        .with_source(error)
    }
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        match &error {
            BlobError::Full => Self::plain(Code::StorageFull),
            BlobError::Unavailable(_) => Self::plain(Code::StorageUnavailable).retry_after(RETRY),
            BlobError::Missing | BlobError::Corrupt | BlobError::Internal(_) => Self::plain(Code::Internal),
        }
        .with_source(error)
    }
}
