//! SQL for `oauth_requests`: consent pages waiting for an answer, each bound to the session it was shown in.

use crate::db::{DbError, Row, Stmt, columns};
use crate::oauth_clients::scopes;
use crate::store::Store;
use dropleaf_core::oauth::request::AccessRequest;

/// The request was already answered, belongs to another session, or has expired.
pub const ENDED: &str = "oauth_request_ended";

columns! { RequestColumns, request_columns: client_id, client_name, redirect_uri, scopes, resource, challenge, state }

fn row(row: &Row<'_>) -> Result<AccessRequest, DbError> {
    const COLUMN: RequestColumns = RequestColumns::starting_at(0);
    Ok(AccessRequest {
        client_id: row.string(COLUMN.client_id)?,
        client_name: row.string(COLUMN.client_name)?,
        redirect_uri: row.string(COLUMN.redirect_uri)?,
        scopes: scopes(row, COLUMN.scopes)?,
        resource: row.string(COLUMN.resource)?,
        challenge: row.string(COLUMN.challenge)?,
        state: row.opt_string(COLUMN.state)?,
    })
}

impl Store {
    /// The pending request of this session with this id.
    pub async fn find_request(
        &self,
        id_hash: &[u8; 32],
        session_id: &str,
        now: i64,
    ) -> Result<Option<AccessRequest>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    request_columns!(),
                    " FROM oauth_requests WHERE id_hash = $1 AND session_id = $2 AND expires_at > $3"
                ),
                &[id_hash.into(), session_id.into(), now.into()],
                row,
            )
            .await
    }
}

pub fn insert(id_hash: &[u8; 32], session_id: &str, request: &AccessRequest, expires_at: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO oauth_requests (id_hash, session_id, client_id, client_name, redirect_uri, scopes, resource, \
         challenge, state, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        vec![
            id_hash.into(),
            session_id.into(),
            request.client_id.as_str().into(),
            request.client_name.as_str().into(),
            request.redirect_uri.as_str().into(),
            request.scopes.to_string().into(),
            request.resource.as_str().into(),
            request.challenge.as_str().into(),
            request.state.as_deref().into(),
            expires_at.into(),
        ],
    )
}

/// Deletes all but the newest requests of a session.
pub fn keep_newest(session_id: &str, count: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM oauth_requests WHERE session_id = $1 AND id_hash NOT IN (SELECT id_hash FROM oauth_requests \
         WHERE session_id = $1 ORDER BY expires_at DESC, id_hash LIMIT $2)",
        vec![session_id.into(), count.into()],
    )
}

/// Takes the request: of any number of concurrent answers, one succeeds.
pub fn take(id_hash: &[u8; 32], session_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM oauth_requests WHERE id_hash = $1 AND session_id = $2 AND expires_at > $3",
        vec![id_hash.into(), session_id.into(), now.into()],
    )
    .one(ENDED)
}

pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM oauth_requests WHERE expires_at <= $1", vec![now.into()])
}
