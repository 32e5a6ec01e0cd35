//! SQL for `oauth_clients`: clients that registered themselves. Clients identified by a metadata URL have no row.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::oauth::client::{AuthMethod, Client};
use dropleaf_core::scope::Scopes;

columns! {
    ClientColumns, client_columns:
    id, name, uri, redirect_uris, auth_method, scopes, device_codes, created_at, secret_hash,
}

fn row(row: &Row<'_>) -> Result<(Client, Option<[u8; 32]>), DbError> {
    const COLUMN: ClientColumns = ClientColumns::starting_at(0);
    let method = row.text(COLUMN.auth_method)?;
    let client = Client {
        id: row.string(COLUMN.id)?,
        name: row.string(COLUMN.name)?,
        uri: row.opt_string(COLUMN.uri)?,
        redirect_uris: row.text(COLUMN.redirect_uris)?.lines().map(str::to_owned).collect(),
        auth_method: AuthMethod::parse(method)
            .ok_or_else(|| DbError::internal(format!("unknown client auth method {method}")))?,
        scopes: scopes(row, COLUMN.scopes)?,
        uses_device_codes: row.flag(COLUMN.device_codes)?,
        created_at: row.int(COLUMN.created_at)?,
    };
    Ok((client, row.opt_hash(COLUMN.secret_hash)?))
}

/// A column of scopes.
pub(crate) fn scopes(row: &Row<'_>, at: usize) -> Result<Scopes, DbError> {
    Scopes::parse(row.text(at)?)
        .ok_or_else(|| DbError::internal(format!("column {at} holds an unknown scope")))
}

impl Store {
    /// A client and the hash of its secret, if it has one.
    pub async fn find_client(&self, id: &str) -> Result<Option<(Client, Option<[u8; 32]>)>, DbError> {
        self.db
            .get(
                concat!("SELECT ", client_columns!(), " FROM oauth_clients WHERE id = $1"),
                &[id.into()],
                row,
            )
            .await
    }
}

pub fn insert(client: &Client, secret_hash: Option<&[u8; 32]>) -> Stmt {
    Stmt::new(
        "INSERT INTO oauth_clients (id, secret_hash, name, uri, redirect_uris, auth_method, scopes, device_codes, \
         created_at, last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)",
        vec![
            client.id.as_str().into(),
            secret_hash.into(),
            client.name.as_str().into(),
            client.uri.as_deref().into(),
            client.redirect_uris.join("\n").into(),
            client.auth_method.as_str().into(),
            client.scopes.to_string().into(),
            client.uses_device_codes.into(),
            client.created_at.into(),
        ],
    )
}

/// Records that a person granted it access. Does nothing for a client without a row.
pub fn touch(id: &str, now: i64) -> Stmt {
    Stmt::new("UPDATE oauth_clients SET last_used_at = $1 WHERE id = $2", vec![now.into(), id.into()])
}

/// Deletes the oldest clients that were never granted access, so that at most `most` besides this one are left.
pub fn delete_beyond(newest: &str, most: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE last_used_at IS NULL AND id <> $1 \
         ORDER BY created_at DESC, id DESC LIMIT 1000000 OFFSET $2) \
         AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = oauth_clients.id)",
        vec![newest.into(), most.max(0).into()],
    )
}

/// Deletes clients that were never granted access, and those without a grant for long.
pub fn delete_unused(made_before: i64, used_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM oauth_clients WHERE (last_used_at IS NULL AND created_at <= $1) \
         OR (last_used_at <= $2 AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = oauth_clients.id))",
        vec![made_before.into(), used_before.into()],
    )
}
