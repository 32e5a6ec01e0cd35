//! SQL for `oauth_codes`: found by the hash of the code, usable once.

use crate::db::{DbError, Stmt, columns};
use crate::oauth_grants::{GrantColumns, grant, grant_columns};
use crate::store::Store;
use dropleaf_core::oauth::grant::Grant;

/// The code was already redeemed, or has expired.
pub const USED: &str = "oauth_code_used";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    pub redirect_uri: String,
    pub challenge: String,
    pub expires_at: i64,
    pub used_at: Option<i64>,
}

columns! { CodeColumns, code_columns, "c.": redirect_uri, challenge, expires_at, used_at }

impl Store {
    /// A code and its grant, whether or not the code was used.
    pub async fn find_code(&self, hash: &[u8; 32]) -> Result<Option<(CodeRow, Grant)>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    code_columns!(),
                    ", ",
                    grant_columns!(),
                    " FROM oauth_codes c JOIN oauth_grants g ON g.id = c.grant_id WHERE c.code_hash = $1"
                ),
                &[hash.into()],
                |row| {
                    const COLUMN: CodeColumns = CodeColumns::starting_at(0);
                    let code = CodeRow {
                        redirect_uri: row.string(COLUMN.redirect_uri)?,
                        challenge: row.string(COLUMN.challenge)?,
                        expires_at: row.int(COLUMN.expires_at)?,
                        used_at: row.opt_int(COLUMN.used_at)?,
                    };
                    Ok((code, grant(row, GrantColumns::starting_at(CodeColumns::COUNT))?))
                },
            )
            .await
    }
}

pub fn insert(hash: &[u8; 32], grant_id: &str, code: &CodeRow) -> Stmt {
    Stmt::new(
        "INSERT INTO oauth_codes (code_hash, grant_id, redirect_uri, challenge, expires_at, used_at) \
         VALUES ($1, $2, $3, $4, $5, NULL)",
        vec![
            hash.into(),
            grant_id.into(),
            code.redirect_uri.as_str().into(),
            code.challenge.as_str().into(),
            code.expires_at.into(),
        ],
    )
}

/// Redeems the code: of any number of concurrent attempts, one succeeds.
pub fn take(hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE oauth_codes SET used_at = $1 WHERE code_hash = $2 AND used_at IS NULL AND expires_at > $1",
        vec![now.into(), hash.into()],
    )
    .one(USED)
}
