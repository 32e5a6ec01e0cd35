//! SQL for `sessions`: found by the hash of the secret in the browser's cookie.

use crate::accounts::{self, AccountColumns, account_columns};
use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::session::{Session, SignInMethod};

pub const UNKNOWN: &str = "unknown_session";

columns! {
    SessionColumns, session_columns, "s.":
    id, account_id, device, method, proved_at, created_at, last_seen_at, expires_at,
}

fn session(row: &Row<'_>, column: SessionColumns) -> Result<Session, DbError> {
    let method = row.text(column.method)?;
    Ok(Session {
        id: row.string(column.id)?,
        account_id: row.string(column.account_id)?,
        device: row.string(column.device)?,
        method: SignInMethod::parse(method)
            .ok_or_else(|| DbError::internal(format!("unknown session method {method}")))?,
        proved_at: row.int(column.proved_at)?,
        created_at: row.int(column.created_at)?,
        last_seen_at: row.int(column.last_seen_at)?,
        expires_at: row.int(column.expires_at)?,
    })
}

impl Store {
    /// The open session and its account in one read, because every page of the dashboard needs them.
    pub async fn find_session(
        &self,
        secret_hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<(Account, Session)>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    account_columns!(),
                    ", ",
                    session_columns!(),
                    " FROM sessions s JOIN accounts a ON a.id = s.account_id \
                     WHERE s.secret_hash = $1 AND s.expires_at > $2"
                ),
                &[(*secret_hash).into(), now.into()],
                |row| {
                    Ok((
                        accounts::row(row)?,
                        session(row, SessionColumns::starting_at(AccountColumns::COUNT))?,
                    ))
                },
            )
            .await
    }

    /// An account's open sessions, most recently used first.
    pub async fn list_sessions(&self, account_id: &str, now: i64) -> Result<Vec<Session>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    session_columns!(),
                    " FROM sessions s WHERE account_id = $1 AND expires_at > $2 \
                     ORDER BY last_seen_at DESC, id LIMIT 1000"
                ),
                vec![account_id.into(), now.into()],
                |row| session(row, SessionColumns::starting_at(0)),
            )
            .await
    }
}

pub fn insert(session: &Session, secret_hash: &[u8; 32]) -> Stmt {
    Stmt::new(
        "INSERT INTO sessions (id, account_id, secret_hash, device, method, proved_at, created_at, last_seen_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        vec![
            session.id.as_str().into(),
            session.account_id.as_str().into(),
            (*secret_hash).into(),
            session.device.as_str().into(),
            session.method.as_str().into(),
            session.proved_at.into(),
            session.created_at.into(),
            session.last_seen_at.into(),
            session.expires_at.into(),
        ],
    )
}

/// Records a use and extends the session, unless a use was recorded since `not_since`.
pub fn touch(id: &str, now: i64, expires_at: i64, not_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE sessions SET last_seen_at = $1, expires_at = $2 WHERE id = $3 AND last_seen_at <= $4",
        vec![now.into(), expires_at.into(), id.into(), not_since.into()],
    )
}

pub fn delete(account_id: &str, id: &str) -> Stmt {
    Stmt::new("DELETE FROM sessions WHERE account_id = $1 AND id = $2", vec![account_id.into(), id.into()])
        .one(UNKNOWN)
}

/// Deletes every session of an account but this one.
pub fn delete_others(account_id: &str, id: &str) -> Stmt {
    Stmt::new("DELETE FROM sessions WHERE account_id = $1 AND id <> $2", vec![account_id.into(), id.into()])
}

/// Deletes the session that a browser had before it signed in again, if the new one was created.
pub fn delete_replaced(old_hash: &[u8; 32], new_id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM sessions WHERE secret_hash = $1 AND EXISTS (SELECT 1 FROM sessions n WHERE n.id = $2)",
        vec![(*old_hash).into(), new_id.into()],
    )
}

pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM sessions WHERE expires_at <= $1", vec![now.into()])
}
