//! SQL for `mcp_sessions`: the parameters of `initialize`, the owner of the session and what it is subscribed to.

use crate::db::{DbError, Outcome, Row, Stmt, columns};
use crate::store::Store;

/// The session's subscriptions changed meanwhile, or the session is gone.
pub const CHANGED: &str = "mcp_session_changed";
/// Stored form of an empty list of subscriptions. The empty text means that the client never subscribed, and so gets
/// everything.
const NOTHING: &str = "-";

/// A stored session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSession {
    pub id: String,
    pub account_id: String,
    /// The key or grant it was started with.
    pub principal: String,
    /// The parameters of `initialize`, as JSON.
    pub params: String,
    /// The resources it is subscribed to, as the last parts of their URIs. `None` if it never subscribed.
    pub watched: Option<Vec<String>>,
    pub created_at: i64,
    pub last_seen_at: i64,
}

columns! { SessionColumns, session_columns: id, account_id, principal, params, watched, created_at, last_seen_at }

fn row(row: &Row<'_>) -> Result<McpSession, DbError> {
    const COLUMN: SessionColumns = SessionColumns::starting_at(0);
    Ok(McpSession {
        id: row.string(COLUMN.id)?,
        account_id: row.string(COLUMN.account_id)?,
        principal: row.string(COLUMN.principal)?,
        params: row.string(COLUMN.params)?,
        watched: watched(row.text(COLUMN.watched)?),
        created_at: row.int(COLUMN.created_at)?,
        last_seen_at: row.int(COLUMN.last_seen_at)?,
    })
}

impl Store {
    /// When a session of this principal was last used; reads nothing else of it.
    pub async fn mcp_session_seen_at(&self, id: &str, principal: &str) -> Result<Option<i64>, DbError> {
        let sql = "SELECT last_seen_at FROM mcp_sessions WHERE id = $1 AND principal = $2";
        self.db.get(sql, &[id.into(), principal.into()], |row| row.int(0)).await
    }

    pub async fn find_mcp_session(&self, id: &str) -> Result<Option<McpSession>, DbError> {
        self.db
            .get(
                concat!("SELECT ", session_columns!(), " FROM mcp_sessions WHERE id = $1"),
                &[id.into()],
                row,
            )
            .await
    }
}

fn watched(text: &str) -> Option<Vec<String>> {
    let listed = text.split_whitespace().filter(|entry| *entry != NOTHING);
    (!text.is_empty()).then(|| listed.map(str::to_owned).collect())
}

fn written(watched: Option<&[String]>) -> String {
    match watched {
        None => String::new(),
        Some([]) => NOTHING.to_owned(),
        Some(listed) => listed.join(" "),
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
            written(session.watched.as_deref()).into(),
            session.created_at.into(),
            session.last_seen_at.into(),
        ],
    )
}

/// Records a use, unless one was recorded since `not_since`.
pub fn touch(id: &str, now: i64, not_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE mcp_sessions SET last_seen_at = $1 WHERE id = $2 AND last_seen_at <= $3",
        vec![now.into(), id.into(), not_since.into()],
    )
}

/// Changes the subscriptions, unless they have changed since `before`.
pub fn watch(id: &str, before: Option<&[String]>, after: &[String]) -> Stmt {
    Stmt::new(
        "UPDATE mcp_sessions SET watched = $1 WHERE id = $2 AND watched = $3",
        vec![written(Some(after)).into(), id.into(), written(before).into()],
    )
    .one(CHANGED)
}

pub fn delete(id: &str, principal: &str) -> Stmt {
    Stmt::new("DELETE FROM mcp_sessions WHERE id = $1 AND principal = $2", vec![id.into(), principal.into()])
}

/// Deletes the least recently used sessions of an account, so that at most `most` besides this one are left; see [`deleted`].
pub fn delete_beyond(account_id: &str, newest: &str, most: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM mcp_sessions WHERE account_id = $1 AND id <> $2 AND id NOT IN \
         (SELECT id FROM mcp_sessions WHERE account_id = $1 AND id <> $2 \
         ORDER BY last_seen_at DESC, created_at DESC, id LIMIT $3) RETURNING id",
        vec![account_id.into(), newest.into(), most.into()],
    )
}

/// The sessions that [`delete_beyond`] deleted.
pub fn deleted(outcome: &Outcome) -> Result<Vec<String>, DbError> {
    outcome.rows.iter().map(|row| row.as_row().string(0)).collect()
}

/// Deletes the sessions of a key.
pub fn delete_of_key(key_id: &str) -> Stmt {
    Stmt::new("DELETE FROM mcp_sessions WHERE principal = $1", vec![key_id.into()])
}

/// Deletes the sessions of a grant, including those started with keys it created. Must run before these keys are deleted.
pub fn delete_of_grant(grant_id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM mcp_sessions WHERE principal = $1 \
         OR principal IN (SELECT id FROM api_keys WHERE grant_id = $1)",
        vec![grant_id.into()],
    )
}

pub fn delete_unused(since: i64) -> Stmt {
    Stmt::new("DELETE FROM mcp_sessions WHERE last_seen_at <= $1", vec![since.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn having_asked_for_nothing_is_not_the_same_as_never_having_asked() {
        for listed in [None, Some(vec![]), Some(vec!["site_1".to_owned(), "site_1/content".to_owned()])] {
            assert_eq!(watched(&written(listed.as_deref())), listed);
        }
    }
}
