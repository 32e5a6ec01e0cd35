//! SQL for `idempotency`: the first response to a request that may be repeated.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use bytes::Bytes;

/// Another node answered a request with the same key first.
pub const ANSWERED: &str = "idempotency_answered";

#[derive(Debug, Clone)]
pub struct StoredResponse {
    pub request_hash: [u8; 32],
    pub status: i64,
    pub sealed: Bytes,
}

columns! { ResponseColumns, response_columns: request_hash, status, sealed }

fn row(row: &Row<'_>) -> Result<StoredResponse, DbError> {
    const COLUMN: ResponseColumns = ResponseColumns::starting_at(0);
    Ok(StoredResponse {
        request_hash: row.hash(COLUMN.request_hash)?,
        status: row.int(COLUMN.status)?,
        sealed: Bytes::copy_from_slice(row.bytes(COLUMN.sealed)?),
    })
}

impl Store {
    /// A response that is repeated says that its effect is there, so it must be durable. Most keys are new, and cost a plain read.
    pub async fn find_response(
        &self,
        scope: &str,
        key_hash: &[u8; 32],
        not_before: i64,
    ) -> Result<Option<StoredResponse>, DbError> {
        const FIND: &str = concat!(
            "SELECT ",
            response_columns!(),
            " FROM idempotency WHERE scope = $1 AND key_hash = $2 AND created_at > $3"
        );
        let args = [scope.into(), (*key_hash).into(), not_before.into()];
        match self.db.get(FIND, &args, row).await? {
            Some(_) => self.db.get_durable(FIND, &args, row).await,
            None => Ok(None),
        }
    }
}

/// Stores a response in the batch of its effect. An entry older than `not_before` has expired and is overwritten.
pub fn insert(
    scope: &str,
    key_hash: &[u8; 32],
    response: &StoredResponse,
    now: i64,
    not_before: i64,
) -> Stmt {
    Stmt::new(
        "INSERT INTO idempotency (scope, key_hash, request_hash, status, sealed, created_at) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (scope, key_hash) DO UPDATE SET request_hash = excluded.request_hash, status = excluded.status, \
         sealed = excluded.sealed, created_at = excluded.created_at WHERE idempotency.created_at <= $7",
        vec![
            scope.into(),
            (*key_hash).into(),
            response.request_hash.into(),
            response.status.into(),
            response.sealed.clone().into(),
            now.into(),
            not_before.into(),
        ],
    )
    .one(ANSWERED)
}

/// Deletes old responses. Rows with status 0 refer to a payment instead; they are kept longer, as it may be unfinished.
pub fn delete_old(not_before: i64, names_not_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM idempotency WHERE created_at <= $1 AND (status <> 0 OR created_at <= $2)",
        vec![not_before.into(), names_not_before.into()],
    )
}

/// Deletes the rows that refer to this: it was never created.
pub fn delete_reference(scope: &str, sealed: &[u8]) -> Stmt {
    Stmt::new("DELETE FROM idempotency WHERE scope = $1 AND sealed = $2", vec![scope.into(), sealed.into()])
}

/// Restarts the retention period of the rows that refer to this at `at`.
pub fn extend_reference(scope: &str, sealed: &[u8], at: i64) -> Stmt {
    Stmt::new(
        "UPDATE idempotency SET created_at = $1 WHERE scope = $2 AND sealed = $3 AND created_at < $1",
        vec![at.into(), scope.into(), sealed.into()],
    )
}
