//! What trouble with the storage means to a caller: one place, so that every act says the same.

use crate::accounts;
use crate::blobs::BlobError;
use crate::db::DbError;
use dropleaf_core::{Code, Error, account};

/// Seconds after which storage that cannot be reached is worth asking again.
const RETRY: i64 = 5;
/// Seconds after which a full queue of writes is worth trying again: it is worked off far more quickly.
const BUSY_RETRY: i64 = 1;

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        match &error {
            DbError::Guard(accounts::SUSPENDED) => account::suspended(),
            DbError::Full => Self::plain(Code::StorageFull),
            DbError::Busy => Self::plain(Code::Overloaded).retry_after(BUSY_RETRY),
            DbError::Nul => Self::new(Code::InvalidRequest, "Text must not hold the character NUL."),
            DbError::Unavailable(_) => Self::plain(Code::StorageUnavailable).retry_after(RETRY),
            DbError::Guard(_) | DbError::Internal(_) => Self::plain(Code::Internal),
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
