//! SQL for `oauth_tokens`: found by the hash of the token, which is never stored itself.

use crate::accounts::{self, AccountColumns, account_columns};
use crate::db::{DbError, Stmt, columns};
use crate::oauth_clients::scopes;
use crate::oauth_grants::{GrantColumns, grant, grant_columns};
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::oauth::grant::Grant;
use dropleaf_core::oauth::token::OAuthTokenKind;
use dropleaf_core::scope::Scopes;

/// The refresh token was already used.
pub const REUSED: &str = "oauth_token_reused";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub kind: OAuthTokenKind,
    pub scopes: Scopes,
    pub issued_at: i64,
    pub expires_at: i64,
    pub used_at: Option<i64>,
}

/// An access token with its grant and account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRow {
    pub account: Account,
    pub grant: Grant,
    pub scopes: Scopes,
    pub expires_at: i64,
    pub used_at: Option<i64>,
    /// When other tokens were issued in its place.
    pub replaced_at: Option<i64>,
}

columns! { AccessColumns, access_columns, "t.": scopes, expires_at, used_at, replaced_at }
columns! { TokenColumns, token_columns, "t.": kind, scopes, issued_at, expires_at, used_at }

impl Store {
    /// The access token, its grant and its account in one read, if token and grant are valid. The token itself may have been
    /// replaced.
    pub async fn find_access(&self, hash: &[u8; 32], now: i64) -> Result<Option<AccessRow>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    account_columns!(),
                    ", ",
                    grant_columns!(),
                    ", ",
                    access_columns!(),
                    " FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id \
                     JOIN accounts a ON a.id = g.account_id WHERE t.token_hash = $1 AND t.kind = 'access' \
                     AND t.expires_at > $2 AND g.revoked_at IS NULL AND g.ends_at > $2"
                ),
                &[hash.into(), now.into()],
                |row| {
                    const GRANT: GrantColumns = GrantColumns::starting_at(AccountColumns::COUNT);
                    const TOKEN: AccessColumns =
                        AccessColumns::starting_at(AccountColumns::COUNT + GrantColumns::COUNT);
                    Ok(AccessRow {
                        account: accounts::row(row)?,
                        grant: grant(row, GRANT)?,
                        scopes: scopes(row, TOKEN.scopes)?,
                        expires_at: row.int(TOKEN.expires_at)?,
                        used_at: row.opt_int(TOKEN.used_at)?,
                        replaced_at: row.opt_int(TOKEN.replaced_at)?,
                    })
                },
            )
            .await
    }

    /// A token of either kind with its grant, whatever their state.
    pub async fn find_token(&self, hash: &[u8; 32]) -> Result<Option<(TokenRow, Grant)>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    token_columns!(),
                    ", ",
                    grant_columns!(),
                    " FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.token_hash = $1"
                ),
                &[hash.into()],
                |row| {
                    const COLUMN: TokenColumns = TokenColumns::starting_at(0);
                    let token = TokenRow {
                        kind: if row.text(COLUMN.kind)? == OAuthTokenKind::Access.as_str() {
                            OAuthTokenKind::Access
                        } else {
                            OAuthTokenKind::Refresh
                        },
                        scopes: scopes(row, COLUMN.scopes)?,
                        issued_at: row.int(COLUMN.issued_at)?,
                        expires_at: row.int(COLUMN.expires_at)?,
                        used_at: row.opt_int(COLUMN.used_at)?,
                    };
                    Ok((token, grant(row, GrantColumns::starting_at(TokenColumns::COUNT))?))
                },
            )
            .await
    }
}

/// A new token of a grant; `parent` is the refresh token it was exchanged for.
pub fn insert(hash: &[u8; 32], grant_id: &str, token: &TokenRow, parent: Option<&[u8; 32]>) -> Stmt {
    Stmt::new(
        "INSERT INTO oauth_tokens (token_hash, grant_id, kind, scopes, issued_at, expires_at, used_at, parent_hash) \
         VALUES ($1, $2, $3, $4, $5, $6, NULL, $7)",
        vec![
            hash.into(),
            grant_id.into(),
            token.kind.as_str().into(),
            token.scopes.to_string().into(),
            token.issued_at.into(),
            token.expires_at.into(),
            parent.into(),
        ],
    )
}

/// Redeems a refresh token: of any number of concurrent attempts, one succeeds.
pub fn take_refresh(hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_tokens SET used_at = $1 WHERE token_hash = $2 AND kind = 'refresh' AND used_at IS NULL \
         AND replaced_at IS NULL AND expires_at > $1",
        vec![now.into(), hash.into()],
    )
    .one(REUSED)
}

/// Marks the two tokens issued for this refresh token as replaced (lost in transit), if neither was used and it was first
/// redeemed after `since`. Their rows stay: a client that presents one of them later has stolen it.
pub fn replace(parent: &[u8; 32], now: i64, since: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_tokens SET replaced_at = $1 WHERE parent_hash = $2 AND used_at IS NULL AND replaced_at IS NULL \
         AND EXISTS (SELECT 1 FROM oauth_tokens p WHERE p.token_hash = $2 AND p.used_at > $3)",
        vec![now.into(), parent.into(), since.into()],
    )
    .rows(2, REUSED)
}

/// Records the first use of an access token.
pub fn note_use(hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_tokens SET used_at = $1 WHERE token_hash = $2 AND used_at IS NULL",
        vec![now.into(), hash.into()],
    )
}

pub fn delete(hash: &[u8; 32]) -> Stmt {
    Stmt::new("DELETE FROM oauth_tokens WHERE token_hash = $1", vec![hash.into()])
}
