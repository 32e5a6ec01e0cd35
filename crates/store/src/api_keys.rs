//! SQL for `api_keys`. Keys are found by the hash of the secret, which is never stored itself.

use crate::accounts::{self, AccountColumns, account_columns};
use crate::db::{DbError, Row, Stmt, columns};
use crate::oauth_clients::scopes;
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::api_key::{self, ApiKey};
use dropleaf_core::scope::Scopes;

pub const UNKNOWN: &str = "unknown_key";
/// The account has the maximum number of keys.
pub const FULL: &str = "keys_full";

columns! { KeyColumns, key_columns, "k.": id, account_id, name, prefix, created_at, last_used, grant_id, scopes }

fn key(row: &Row<'_>, column: KeyColumns) -> Result<ApiKey, DbError> {
    Ok(ApiKey {
        id: row.string(column.id)?,
        account_id: row.string(column.account_id)?,
        name: row.string(column.name)?,
        prefix: row.string(column.prefix)?,
        created_at: row.int(column.created_at)?,
        last_used: row.opt_int(column.last_used)?,
        grant_id: row.opt_string(column.grant_id)?,
        scopes: opt_scopes(row, column.scopes)?,
    })
}

/// A nullable column of scopes; null means all scopes.
fn opt_scopes(row: &Row<'_>, column: usize) -> Result<Scopes, DbError> {
    if row.opt_text(column)?.is_some() { scopes(row, column) } else { Ok(Scopes::ALL) }
}

/// An account, one of its keys, and the scopes the key has in effect.
pub type KeyWithAccount = (Account, ApiKey, Scopes);

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            ", ",
            key_columns!(),
            ", g.scopes FROM api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN oauth_grants g ON g.id = k.grant_id ",
            $tail
        )
    };
}

fn key_with_account(row: &Row<'_>) -> Result<KeyWithAccount, DbError> {
    const KEY: KeyColumns = KeyColumns::starting_at(AccountColumns::COUNT);
    const GRANTED: usize = AccountColumns::COUNT + KeyColumns::COUNT;
    let (key, granted) = (key(row, KEY)?, opt_scopes(row, GRANTED)?);
    let scopes = key.scopes.and(granted);
    Ok((accounts::row(row)?, key, scopes))
}

impl Store {
    /// The key, its account and its scopes in one read, because every authenticated request needs them. A key created by an
    /// OAuth client works only while the client's grant is valid, and allows no more than the grant.
    pub async fn find_key(&self, hash: &[u8; 32], now: i64) -> Result<Option<KeyWithAccount>, DbError> {
        self.db.get(select!(
                    "WHERE k.key_hash = $1 AND (k.grant_id IS NULL OR (g.revoked_at IS NULL AND g.ends_at > $2))"
                ), &[(*hash).into(), now.into()], key_with_account).await
    }

    /// The same by the key's id, for things that were created with it.
    pub async fn find_key_by_id(&self, id: &str, now: i64) -> Result<Option<KeyWithAccount>, DbError> {
        self.db
            .get(
                select!(
                    "WHERE k.id = $1 AND (k.grant_id IS NULL OR (g.revoked_at IS NULL AND g.ends_at > $2))"
                ),
                &[id.into(), now.into()],
                key_with_account,
            )
            .await
    }

    /// An account's keys, or only those of one grant.
    pub async fn list_keys(&self, account_id: &str, grant_id: Option<&str>) -> Result<Vec<ApiKey>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    key_columns!(),
                    " FROM api_keys k WHERE account_id = $1 AND (CAST($2 AS TEXT) IS NULL OR grant_id = $2) \
                     ORDER BY created_at DESC, id DESC LIMIT 1000"
                ),
                vec![account_id.into(), grant_id.into()],
                |row| key(row, KeyColumns::starting_at(0)),
            )
            .await
    }
}

/// Adds a key unless the account has the maximum number. The limit is exact if `counters::lock_account`
/// is earlier in the batch.
pub fn insert(key: &ApiKey, hash: &[u8; 32]) -> Stmt {
    Stmt::new(
        "INSERT INTO api_keys (id, account_id, name, prefix, key_hash, created_at, last_used, grant_id, scopes) \
         SELECT $1, $2, $3, $4, $5, $6, NULL, $7, $8 \
         WHERE (SELECT COUNT(*) FROM api_keys WHERE account_id = $2) < $9",
        vec![
            key.id.as_str().into(),
            key.account_id.as_str().into(),
            key.name.as_str().into(),
            key.prefix.as_str().into(),
            (*hash).into(),
            key.created_at.into(),
            key.grant_id.as_deref().into(),
            (key.scopes != Scopes::ALL).then(|| key.scopes.to_string()).into(),
            api_key::MOST.into(),
        ],
    )
    .one(FULL)
}

/// Deletes the keys that an OAuth client created for itself.
pub fn delete_of_grant(grant_id: &str) -> Stmt {
    Stmt::new("DELETE FROM api_keys WHERE grant_id = $1", vec![grant_id.into()])
}

/// Deletes a key of the account; with `grant_id`, only if it belongs to that grant.
pub fn delete(account_id: &str, grant_id: Option<&str>, id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM api_keys WHERE account_id = $1 AND id = $2 AND (CAST($3 AS TEXT) IS NULL OR grant_id = $3)",
        vec![account_id.into(), id.into(), grant_id.into()],
    )
    .one(UNKNOWN)
}

/// Records that the key was used, unless a use was recorded since `not_since`: at most one write a minute for each key.
pub fn touch(id: &str, now: i64, not_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE api_keys SET last_used = $1 WHERE id = $2 AND (last_used IS NULL OR last_used <= $3)",
        vec![now.into(), id.into(), not_since.into()],
    )
}
