//! Finds out whether PostgreSQL is behind a pooler, such as `PgBouncer`, that gives every transaction another connection.
//!
//! Prepared statements then work only if the pooler knows about them (`PgBouncer` 1.21 with `max_prepared_statements`), and
//! LISTEN works only over a direct connection. Both would otherwise fail later and in ways that are hard to understand.

use deadpool_postgres::Object;
use tokio_postgres::error::SqlState;

use super::DbError;

const PROCESS: &str = "SELECT pg_backend_pid()";
const TRIES: u32 = 3;

/// Fails with what to do if a pooler is in the way. `listens_directly`: there is another address for LISTEN.
pub(super) async fn check(one: &Object, other: &Object, listens_directly: bool) -> Result<(), DbError> {
    match is_pooled(one, other).await {
        Err(error) => Err(explain(error)),
        Ok(true) if !listens_directly => Err(DbError::internal(
            "the database is behind a pooler in transaction mode, over which nodes receive no notifications: set \
             `database.listen_url` to the address of PostgreSQL itself, or use `pool_mode = session`",
        )),
        Ok(_) => Ok(()),
    }
}

/// Whether a connection has another process on the server after a second connection has begun a transaction: a pooler has
/// given its process to the other.
async fn is_pooled(one: &Object, other: &Object) -> Result<bool, tokio_postgres::Error> {
    let statement = one.prepare(PROCESS).await?;
    // More than once: on a busy pooler the first connection may get its process back by chance.
    for _ in 0..TRIES {
        let before: i32 = one.query_one(&statement, &[]).await?.try_get(0)?;
        other.batch_execute("BEGIN").await?;
        let after = one.query_one(&statement, &[]).await;
        other.batch_execute("ROLLBACK").await?;
        let after: i32 = after?.try_get(0)?;
        if before != after {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Says what a lost or foreign prepared statement means.
pub(super) fn explain(error: tokio_postgres::Error) -> DbError {
    let is_lost = error.code().is_some_and(|code| {
        *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT
    });
    if !is_lost {
        return error.into();
    }
    DbError::internal(
        "the database is behind a pooler in transaction mode that loses prepared statements: use PgBouncer 1.21 or later \
         with `max_prepared_statements`, or `pool_mode = session`",
    )
}
