//! The seven kinds of database errors that a caller can tell apart.

use std::error::Error;
use std::sync::Arc;

/// The cause of a failure. Shared, because one failed commit fails many callers.
pub type Source = Arc<dyn Error + Send + Sync>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum DbError {
    /// A guarded statement affected another number of rows than required; nothing of its batch was committed.
    #[error("guard failed: {0}")]
    Guard(&'static str),
    /// A text contains NUL. PostgreSQL cannot store such a text, so none is stored or looked up in either database.
    #[error("text with a NUL character was bound")]
    Nul,
    #[error("the disk of the database is full")]
    Full,
    /// The queue of writes is full: this one was not queued, so nothing of it happens.
    #[error("too many writes are waiting for the database")]
    Busy,
    /// Connection lost, database busy or closed: the same call may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] Source),
    /// A newer program has upgraded the database.
    #[error(
        "the database has schema version {found}, and this program knows versions up to {known}: start the newer program, \
         or restore a backup from before the upgrade into an empty database"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("database error: {0}")]
    Internal(#[source] Source),
}

/// An error without an underlying driver error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Message(pub(crate) String);

impl DbError {
    /// Whether the same call may succeed later by itself. False for what the operator has to change first, such as a wrong
    /// password or a database with a newer schema.
    pub fn may_pass(&self) -> bool {
        match self {
            DbError::Busy => true,
            // Also while the server is a replica, which may be promoted.
            DbError::Unavailable(source) => !is_login_refused(&**source),
            DbError::Guard(_)
            | DbError::Nul
            | DbError::Full
            | DbError::NewerSchema { .. }
            | DbError::Internal(_) => false,
        }
    }

    /// Whether the server gave up waiting for a lock.
    pub(crate) fn is_lock_timeout(&self) -> bool {
        let DbError::Unavailable(source) = self else { return false };
        find_driver_error(&**source).and_then(tokio_postgres::Error::code)
            == Some(&tokio_postgres::error::SqlState::LOCK_NOT_AVAILABLE)
    }

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
                // The wal-index could not grow: apart from a broken disk, only a full one causes this.
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
            // No SQLSTATE: the server never answered, or a value did not match the requested type.
            return if is_unanswered(&error) || error.to_string().starts_with("error connecting") {
                DbError::Unavailable(Arc::new(error))
            } else {
                DbError::Internal(Arc::new(error))
            };
        };
        if *state == SqlState::DISK_FULL {
            return DbError::Full;
        }
        let is_busy = *state == SqlState::TOO_MANY_CONNECTIONS || *state == SqlState::LOCK_NOT_AVAILABLE;
        if is_busy || is_connection_lost(&error) || is_retryable(&error) {
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
                // The operator has to fix a refused login; until then the database is unavailable.
                DbError::Internal(source) => DbError::Unavailable(source),
                other => other,
            },
            other => DbError::Unavailable(Arc::new(other)),
        }
    }
}

/// The connection ended before the server answered.
fn is_unanswered(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || matches!(error.source(), Some(source) if source.is::<std::io::Error>())
}

/// The connection ended, the server closed it because it is shutting down or starting up, or another server is the primary now.
pub(crate) fn is_connection_lost(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    let Some(code) = error.code().map(SqlState::code) else { return is_unanswered(error) };
    code.starts_with("08") || code.starts_with("57P") || is_read_only(error)
}

/// Serialization failure or deadlock: the transaction was rolled back and can be retried.
pub(crate) fn is_retryable(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error.code().is_some_and(|state| {
        *state == SqlState::T_R_SERIALIZATION_FAILURE || *state == SqlState::T_R_DEADLOCK_DETECTED
    })
}

fn find_driver_error<'a>(source: &'a (dyn Error + 'static)) -> Option<&'a tokio_postgres::Error> {
    std::iter::successors(Some(source), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// The server does not accept this user, or this program cannot log in with these settings.
fn is_login_refused(source: &(dyn Error + 'static)) -> bool {
    find_driver_error(source).is_some_and(|error| {
        if let Some(state) = error.code() {
            return state.code().starts_with("28");
        }
        let text = error.to_string();
        text.starts_with("invalid configuration") || text.starts_with("authentication error")
    })
}

pub(crate) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::READ_ONLY_SQL_TRANSACTION)
}
