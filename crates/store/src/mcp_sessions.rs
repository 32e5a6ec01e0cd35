//! Rows of `mcp_sessions`: what a client said when it began, and whose session it is.

use crate::db::{DbError, Stmt};
use crate::store::Store;

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSession {
    pub id: String,
    pub account_id: String,
    /// The key or the grant it was begun with.
    pub principal: String,
    /// The parameters of `initialize`, as JSON.
    pub params: String,
    /// The pages it watches. None: all of the account's.
    pub watched: Vec<String>,
    pub created_at: i64,
    pub last_seen_at: i64,
}

impl Store {
    pub async fn find_mcp_session(&self, id: &str) -> Result<Option<McpSession>, DbError> {
        self.db
            .get(
                "SELECT id, account_id, principal, params, watched, created_at, last_seen_at FROM mcp_sessions WHERE id = $1",
                &[id.into()],
                |row| {
                    Ok(McpSession {
                        id: row.text(0)?.to_owned(),
                        account_id: row.text(1)?.to_owned(),
                        principal: row.text(2)?.to_owned(),
                        params: row.text(3)?.to_owned(),
                        watched: row.text(4)?.split_whitespace().map(str::to_owned).collect(),
                        created_at: row.int(5)?,
                        last_seen_at: row.int(6)?,
                    })
                },
            )
            .await
    }
}

pub fn insert(session: &McpSession) -> Stmt {
    Stmt::new(
        "INSERT INTO mcp_sessions (id, account_id, principal, params, watched, created_at, last_seen_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        vec![
            session.id.as_str().into(),
            session.account_id.as_str().into(),
            session.principal.as_str().into(),
            session.params.as_str().into(),
            session.watched.join(" ").into(),
            session.created_at.into(),
            session.last_seen_at.into(),
        ],
    )
}

/// Notes a use, unless one was noted since `not_since`.
pub fn touch(id: &str, now: i64, not_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE mcp_sessions SET last_seen_at = $1 WHERE id = $2 AND last_seen_at <= $3",
        vec![now.into(), id.into(), not_since.into()],
    )
}

pub fn watch(id: &str, principal: &str, watched: &[String]) -> Stmt {
    Stmt::new(
        "UPDATE mcp_sessions SET watched = $1 WHERE id = $2 AND principal = $3",
        vec![watched.join(" ").into(), id.into(), principal.into()],
    )
}

pub fn delete(id: &str, principal: &str) -> Stmt {
    Stmt::new("DELETE FROM mcp_sessions WHERE id = $1 AND principal = $2", vec![id.into(), principal.into()])
}

/// Ends the oldest sessions of a principal that has more than `most`.
pub fn delete_beyond(principal: &str, most: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM mcp_sessions WHERE principal = $1 AND id NOT IN \
         (SELECT id FROM mcp_sessions WHERE principal = $1 ORDER BY last_seen_at DESC, id LIMIT $2)",
        vec![principal.into(), most.into()],
    )
}

pub fn delete_unused(since: i64) -> Stmt {
    Stmt::new("DELETE FROM mcp_sessions WHERE last_seen_at <= $1", vec![since.into()])
}
