//! SQL for `mcp_answers`: the encrypted answer to a message, for a client whose connection was cut.

use crate::db::{DbError, Stmt, Val};
use crate::store::Store;
use bytes::Bytes;

/// An answer to be stored.
#[derive(Debug, Clone)]
pub struct McpAnswer<'a> {
    pub id_hash: [u8; 32],
    pub session_id: &'a str,
    pub account_id: &'a str,
    pub sealed: Bytes,
    pub created_at: i64,
}

impl Store {
    /// The answer with this id, if it belongs to the session and was stored after `not_before`.
    pub async fn find_mcp_answer(
        &self,
        id_hash: &[u8; 32],
        session_id: &str,
        not_before: i64,
    ) -> Result<Option<Bytes>, DbError> {
        let sql = "SELECT sealed FROM mcp_answers WHERE id_hash = $1 AND session_id = $2 AND created_at > $3";
        let args: [Val; 3] = [(*id_hash).into(), session_id.into(), not_before.into()];
        self.db.get(sql, &args, |row| Ok(Bytes::copy_from_slice(row.bytes(0)?))).await
    }
}

/// Stores an answer. A second one with the same id changes nothing.
pub fn insert(answer: &McpAnswer<'_>) -> Stmt {
    Stmt::new(
        "INSERT INTO mcp_answers (id_hash, session_id, account_id, sealed, bytes, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id_hash) DO NOTHING",
        vec![
            answer.id_hash.into(),
            answer.session_id.into(),
            answer.account_id.into(),
            answer.sealed.clone().into(),
            i64::try_from(answer.sealed.len()).unwrap_or(i64::MAX).into(),
            answer.created_at.into(),
        ],
    )
}

/// Deletes the oldest answers of an account, so that the rest are at most `most` with at most `bytes` in total.
pub fn delete_beyond(account_id: &str, most: i64, bytes: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM mcp_answers WHERE id_hash IN (SELECT id_hash FROM (SELECT id_hash, \
         ROW_NUMBER() OVER newest AS place, CAST(SUM(bytes) OVER newest AS BIGINT) AS total \
         FROM mcp_answers WHERE account_id = $1 \
         WINDOW newest AS (ORDER BY created_at DESC, id_hash ROWS UNBOUNDED PRECEDING)) AS ranked \
         WHERE place > $2 OR total > $3)",
        vec![account_id.into(), most.into(), bytes.into()],
    )
}

pub fn delete_old(not_before: i64) -> Stmt {
    Stmt::new("DELETE FROM mcp_answers WHERE created_at <= $1", vec![not_before.into()])
}

/// Deletes the answers of a session that has ended.
pub fn delete_of_session(account_id: &str, session_id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM mcp_answers WHERE account_id = $1 AND session_id = $2",
        vec![account_id.into(), session_id.into()],
    )
}
