//! SQL for `allowed_content`: content that an operator allows to be published even if the checks refuse it.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::appeal::{AllowedContent, Appeal};

/// The content is not allowed, or no longer.
pub const NOT_ALLOWED: &str = "content_not_allowed";

columns! { AllowedColumns, allowed_columns: digest, appeal_id, reason, created_at }

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", allowed_columns!(), " FROM allowed_content ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<AllowedContent, DbError> {
    const COLUMN: AllowedColumns = AllowedColumns::starting_at(0);
    Ok(AllowedContent {
        digest: row.hash(COLUMN.digest)?,
        appeal_id: row.opt_string(COLUMN.appeal_id)?,
        reason: row.string(COLUMN.reason)?,
        created_at: row.int(COLUMN.created_at)?,
    })
}

impl Store {
    /// The operator's decision that allows this content, if there is one.
    pub async fn find_allowed(&self, digest: [u8; 32]) -> Result<Option<AllowedContent>, DbError> {
        let sql = select!("WHERE digest = $1");
        self.db.get(sql, &[digest.into()], row).await
    }

    /// The content that this appeal allowed. The appeal itself may have been deleted since.
    pub async fn find_allowed_by(&self, appeal_id: &str) -> Result<Option<AllowedContent>, DbError> {
        let sql = select!("WHERE appeal_id = $1");
        self.db.get(sql, &[appeal_id.into()], row).await
    }

    /// The newest entries.
    pub async fn list_allowed(&self, limit: i64) -> Result<Vec<AllowedContent>, DbError> {
        let sql = select!("ORDER BY created_at DESC, digest LIMIT $1");
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
