//! SQL for `share_tokens`: found by the hash of the token, shown to the owner from the sealed copy.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use bytes::Bytes;
use dropleaf_core::share_token::{self, ShareToken};

pub const UNKNOWN: &str = "unknown_share_token";
/// The page has the maximum number of tokens.
pub const FULL: &str = "share_tokens_full";

columns! {
    TokenColumns, token_columns:
    id, site_id, note, bypass_email_gate, max_uses, uses, created_at, expires_at, last_used_at,
}

fn row(row: &Row<'_>) -> Result<ShareToken, DbError> {
    const COLUMN: TokenColumns = TokenColumns::starting_at(0);
    Ok(ShareToken {
        id: row.string(COLUMN.id)?,
        site_id: row.string(COLUMN.site_id)?,
        note: row.opt_string(COLUMN.note)?,
        bypass_email_gate: row.flag(COLUMN.bypass_email_gate)?,
        max_uses: row.opt_int(COLUMN.max_uses)?,
        uses: row.int(COLUMN.uses)?,
        created_at: row.int(COLUMN.created_at)?,
        expires_at: row.opt_int(COLUMN.expires_at)?,
        last_used_at: row.opt_int(COLUMN.last_used_at)?,
    })
}

impl Store {
    /// A site's tokens with their sealed copies, newest first.
    pub async fn list_share_tokens(&self, site_id: &str) -> Result<Vec<(ShareToken, Bytes)>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    token_columns!(),
                    ", sealed FROM share_tokens WHERE site_id = $1 ORDER BY created_at DESC, id DESC"
                ),
                vec![site_id.into()],
                |found| Ok((row(found)?, Bytes::copy_from_slice(found.bytes(TokenColumns::COUNT)?))),
            )
            .await
    }

    /// A token of this site by its id.
    pub async fn find_share_token(&self, site_id: &str, id: &str) -> Result<Option<ShareToken>, DbError> {
        self.db
            .get(
                concat!("SELECT ", token_columns!(), " FROM share_tokens WHERE id = $1 AND site_id = $2"),
                &[id.into(), site_id.into()],
                row,
            )
            .await
    }

    /// A token of this site by its hash, if it is valid now. Does not count a use.
    pub async fn find_open_share_token(
        &self,
        site_id: &str,
        hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<ShareToken>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    token_columns!(),
                    " FROM share_tokens WHERE token_hash = $1 AND site_id = $2 \
                     AND (expires_at IS NULL OR expires_at > $3) AND (max_uses IS NULL OR uses < max_uses)"
                ),
                &[hash.into(), site_id.into(), now.into()],
                row,
            )
            .await
    }

    /// Counts a use of a token of this site, if it is valid. One statement decides between concurrent uses of the last one.
    pub async fn take_share_use(
        &self,
        site_id: &str,
        hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<ShareToken>, DbError> {
        let stmt = Stmt::new(
            concat!(
                "UPDATE share_tokens SET uses = uses + 1, last_used_at = $1 WHERE token_hash = $2 AND site_id = $3 \
                 AND (expires_at IS NULL OR expires_at > $1) AND (max_uses IS NULL OR uses < max_uses) RETURNING ",
                token_columns!()
            ),
            vec![now.into(), hash.into(), site_id.into()],
        );
        let outcome = self.db.exec(stmt).await?;
        outcome.rows.first().map(|found| row(&found.as_row())).transpose()
    }
}

/// Adds a token, unless the page has the maximum number.
pub fn insert(token: &ShareToken, hash: &[u8; 32], sealed: Bytes) -> Stmt {
    Stmt::new(
        "INSERT INTO share_tokens (id, site_id, token_hash, sealed, note, bypass_email_gate, max_uses, uses, created_at, \
         expires_at, last_used_at) \
         SELECT $1, $2, $3, $4, $5, \
         $6, $7, $8, $9, $10, $11 \
         WHERE (SELECT COUNT(*) FROM share_tokens WHERE site_id = $2) < $12",
        vec![
            token.id.as_str().into(),
            token.site_id.as_str().into(),
            hash.into(),
            sealed.into(),
            token.note.as_deref().into(),
            token.bypass_email_gate.into(),
            token.max_uses.into(),
            token.uses.into(),
            token.created_at.into(),
            token.expires_at.into(),
            token.last_used_at.into(),
            share_token::MOST.into(),
        ],
    )
    .one(FULL)
}

/// Deletes an account's token, given by its id or by the hash of the token itself.
pub fn delete(account_id: &str, id: &str, hash: &[u8; 32]) -> Stmt {
    Stmt::new(
        "DELETE FROM share_tokens WHERE (id = $1 OR token_hash = $2) \
         AND site_id IN (SELECT id FROM sites WHERE account_id = $3)",
        vec![id.into(), hash.into(), account_id.into()],
    )
    .one(UNKNOWN)
}

/// Deletes every token of a site.
pub fn delete_of(site_id: &str) -> Stmt {
    Stmt::new("DELETE FROM share_tokens WHERE site_id = $1", vec![site_id.into()])
}

/// Deletes the tokens of sites that are about to be deleted; see [`crate::sites::delete_tombstones`].
pub fn delete_old(purged_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM share_tokens WHERE site_id IN \
         (SELECT id FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1)",
        vec![purged_before.into()],
    )
}
