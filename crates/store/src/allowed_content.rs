//! SQL for `allowed_content`: content that an operator allows to be published even if the checks refuse it.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::appeal::{AllowedContent, Appeal};

/// The content is not allowed, or no longer.
pub const NOT_ALLOWED: &str = "content_not_allowed";

fn row(row: &Row<'_>) -> Result<AllowedContent, DbError> {
    Ok(AllowedContent {
        digest: row.hash(0)?,
        appeal_id: row.opt_text(1)?.map(str::to_owned),
        reason: row.text(2)?.to_owned(),
        created_at: row.int(3)?,
    })
}

impl Store {
    /// The operator's decision that allows this content, if there is one.
    pub async fn find_allowed(&self, digest: [u8; 32]) -> Result<Option<AllowedContent>, DbError> {
        let sql = "SELECT digest, appeal_id, reason, created_at FROM allowed_content WHERE digest = $1";
        self.db.get(sql, &[digest.into()], row).await
    }

    /// The content that this appeal allowed. The appeal itself may have been deleted since.
    pub async fn find_allowed_by(&self, appeal_id: &str) -> Result<Option<AllowedContent>, DbError> {
        let sql = "SELECT digest, appeal_id, reason, created_at FROM allowed_content WHERE appeal_id = $1";
        self.db.get(sql, &[appeal_id.into()], row).await
    }

    /// The newest entries.
    pub async fn list_allowed(&self, limit: i64) -> Result<Vec<AllowedContent>, DbError> {
        let sql = "SELECT digest, appeal_id, reason, created_at FROM allowed_content \
                   ORDER BY created_at DESC, digest LIMIT $1";
        self.db.list(sql, vec![limit.into()], row).await
    }
}

/// Allows the content from now on. If it was allowed before, the newer appeal and reason replace the older ones.
pub fn insert(appeal: &Appeal, reason: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO allowed_content (digest, appeal_id, reason, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (digest) DO UPDATE SET appeal_id = excluded.appeal_id, reason = excluded.reason, \
         created_at = excluded.created_at",
        vec![appeal.digest.into(), appeal.id.as_str().into(), reason.into(), now.into()],
    )
}

/// Withdraws the permission: the content is checked like any other again.
pub fn delete(digest: [u8; 32]) -> Stmt {
    Stmt::new("DELETE FROM allowed_content WHERE digest = $1", vec![digest.into()]).one(NOT_ALLOWED)
}
