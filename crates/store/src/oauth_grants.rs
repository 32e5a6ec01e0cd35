//! SQL for `oauth_grants`: the access that a person gave a client. A revoked grant is kept for a day, so that its tokens are
//! recognised as revoked rather than unknown.

use crate::accounts::{self, AccountColumns, account_columns};
use crate::db::{DbError, Row, Stmt, columns};
use crate::oauth_clients::scopes;
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::grant::Grant;

pub const UNKNOWN: &str = "unknown_grant";
/// The grant was revoked or has expired.
pub const DEAD: &str = "dead_grant";

columns! {
    GrantColumns, grant_columns, "g.":
    id, client_id, client_name, account_id, scopes, resource, created_at, last_used_at, ends_at, revoked_at,
}

pub(crate) use grant_columns;

pub(crate) fn grant(row: &Row<'_>, column: GrantColumns) -> Result<Grant, DbError> {
    Ok(Grant {
        id: row.string(column.id)?,
        client_id: row.string(column.client_id)?,
        client_name: row.string(column.client_name)?,
        account_id: row.string(column.account_id)?,
        scopes: scopes(row, column.scopes)?,
        resource: row.string(column.resource)?,
        created_at: row.int(column.created_at)?,
        last_used_at: row.opt_int(column.last_used_at)?,
        ends_at: row.int(column.ends_at)?,
        revoked_at: row.opt_int(column.revoked_at)?,
    })
}

impl Store {
    /// A valid grant and its account.
    pub async fn find_live_grant(&self, id: &str, now: i64) -> Result<Option<(Account, Grant)>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    account_columns!(),
                    ", ",
                    grant_columns!(),
                    " FROM oauth_grants g JOIN accounts a ON a.id = g.account_id \
                     WHERE g.id = $1 AND g.revoked_at IS NULL AND g.ends_at > $2"
                ),
                &[id.into(), now.into()],
                |row| {
                    Ok((accounts::row(row)?, grant(row, GrantColumns::starting_at(AccountColumns::COUNT))?))
                },
            )
            .await
    }

    /// The grants through which clients can still act for an account (with a working token or key), newest first.
    pub async fn list_grants(&self, account_id: &str, now: i64) -> Result<Vec<Grant>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    grant_columns!(),
                    " FROM oauth_grants g WHERE g.account_id = $1 AND g.revoked_at IS NULL AND g.ends_at > $2 AND ( \
                     EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.grant_id = g.id AND t.expires_at > $2 \
                     AND t.replaced_at IS NULL AND (t.kind = 'access' OR t.used_at IS NULL)) \
                     OR EXISTS (SELECT 1 FROM api_keys k WHERE k.grant_id = g.id)) \
                     ORDER BY g.created_at DESC, g.id DESC LIMIT 1000"
                ),
                vec![account_id.into(), now.into()],
                |row| grant(row, GrantColumns::starting_at(0)),
            )
            .await
    }
}

pub fn insert(grant: &Grant) -> Stmt {
    Stmt::new(
        "INSERT INTO oauth_grants (id, client_id, client_name, account_id, scopes, resource, created_at, last_used_at, \
         ends_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)",
        vec![
            grant.id.as_str().into(),
            grant.client_id.as_str().into(),
            grant.client_name.as_str().into(),
            grant.account_id.as_str().into(),
            grant.scopes.to_string().into(),
            grant.resource.as_str().into(),
            grant.created_at.into(),
            grant.last_used_at.into(),
            grant.ends_at.into(),
        ],
    )
}

/// Marks the grant as used if it is still valid: whatever is issued in the same transaction comes from a valid grant.
pub fn require_live(id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_grants SET last_used_at = $1 WHERE id = $2 AND revoked_at IS NULL AND ends_at > $1",
        vec![now.into(), id.into()],
    )
    .one(DEAD)
}

/// Records a use, unless one was recorded since `not_since`.
pub fn touch(id: &str, now: i64, not_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_grants SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at <= $3)",
        vec![now.into(), id.into(), not_since.into()],
    )
}

/// Revokes a grant of any account. No error if it is already revoked.
pub fn revoke(id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_grants SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL",
        vec![now.into(), id.into()],
    )
}

/// Revokes a grant of this account.
pub fn revoke_of(account_id: &str, id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_grants SET revoked_at = $1 WHERE account_id = $2 AND id = $3 AND revoked_at IS NULL",
        vec![now.into(), account_id.into(), id.into()],
    )
    .one(UNKNOWN)
}

/// Grants that can be deleted: expired, revoked, or with a code that was never redeemed.
macro_rules! ended {
    () => {
        "SELECT g.id FROM oauth_grants g WHERE g.ends_at <= $1 OR g.revoked_at <= $2 OR (g.last_used_at IS NULL \
         AND g.created_at <= $2 AND NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.grant_id = g.id) \
         AND NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.grant_id = g.id))"
    };
}

/// Deletes what has ended: tokens, codes, keys, then the grants themselves. Revoked and never used grants are kept until
/// `day_ago`.
pub fn delete_ended(now: i64, day_ago: i64) -> Vec<Stmt> {
    let both = || vec![now.into(), day_ago.into()];
    vec![
        Stmt::new("DELETE FROM oauth_tokens WHERE expires_at <= $1", vec![now.into()]),
        Stmt::new("DELETE FROM oauth_codes WHERE expires_at <= $1", vec![day_ago.into()]),
        Stmt::new(concat!("DELETE FROM oauth_codes WHERE grant_id IN (", ended!(), ")"), both()),
        Stmt::new(
            "DELETE FROM oauth_tokens WHERE grant_id IN (SELECT id FROM oauth_grants WHERE ends_at <= $1 OR revoked_at <= $2)",
            both(),
        ),
        Stmt::new(
            "DELETE FROM api_keys WHERE grant_id IN (SELECT id FROM oauth_grants WHERE ends_at <= $1 OR revoked_at <= $2)",
            both(),
        ),
        Stmt::new(concat!("DELETE FROM oauth_grants WHERE id IN (", ended!(), ")"), both()),
    ]
}
