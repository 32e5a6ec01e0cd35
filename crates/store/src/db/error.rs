//! The six ways a database call fails, as far as a caller can act on them.

use std::error::Error;
use std::sync::Arc;

/// Where a failure came from. Shared, because one failed commit answers many callers.
pub type Source = Arc<dyn Error + Send + Sync>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum DbError {
    /// A guarded statement touched another number of rows than it had to; nothing of its batch happened.
    #[error("guard failed: {0}")]
    Guard(&'static str),
    /// A text holds a NUL. PostgreSQL keeps no such text, so none is kept and none is found, whichever database it is.
    #[error("a text with a NUL was bound")]
    Nul,
    #[error("the disk of the database is full")]
    Full,
    /// Too many writes wait already: this one was not queued, so nothing of it happens.
    #[error("too many writes wait for the database")]
    Busy,
    /// Connection lost, database busy or closed: the same call may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] Source),
    #[error("database error: {0}")]
    Internal(#[source] Source),
}

/// A failure that has no error of a driver behind it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Message(pub(crate) String);

impl DbError {
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        DbError::Unavailable(Arc::new(Message(message.into())))
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        DbError::Internal(Arc::new(Message(message.into())))
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        if let rusqlite::Error::SqliteFailure(inner, _) = &error {
            match inner.code {
                ErrorCode::DiskFull => return DbError::Full,
                // The wal-index could not grow: the only cause besides a broken disk is a full one.
                ErrorCode::SystemIoFailure if inner.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
                    return DbError::Full;
                }
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen => {
                    return DbError::Unavailable(Arc::new(error));
                }
                _ => {}
            }
        }
        DbError::Internal(Arc::new(error))
    }
}

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        use tokio_postgres::error::SqlState;
        let Some(state) = error.code() else {
            // No SQLSTATE: the server never answered, or the answer did not fit the asked type.
            let io = matches!(error.source(), Some(source) if source.is::<std::io::Error>());
            return if error.is_closed() || io || error.to_string().starts_with("error connecting") {
                DbError::Unavailable(Arc::new(error))
            } else {
                DbError::Internal(Arc::new(error))
            };
        };
        if *state == SqlState::DISK_FULL {
            return DbError::Full;
        }
        if lost(&error) || *state == SqlState::TOO_MANY_CONNECTIONS || retryable(&error) {
            DbError::Unavailable(Arc::new(error))
        } else {
            DbError::Internal(Arc::new(error))
        }
    }
}

impl From<deadpool_postgres::PoolError> for DbError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(inner) => match DbError::from(inner) {
                // A refused login is for the operator to mend; until then the database is not there.
                DbError::Internal(source) => DbError::Unavailable(source),
                other => other,
            },
            other => DbError::Unavailable(Arc::new(other)),
        }
    }
}

/// The server ended the connection, or was on its way down or up.
pub(crate) fn lost(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    let code = error.code().map_or("", SqlState::code);
    code.starts_with("08") || code.starts_with("57P")
}

/// Serialization failure or deadlock: the transaction was undone and may be run again.
pub(crate) fn retryable(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error.code().is_some_and(|state| {
        *state == SqlState::T_R_SERIALIZATION_FAILURE || *state == SqlState::T_R_DEADLOCK_DETECTED
    })
}
