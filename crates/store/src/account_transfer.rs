//! SQL for the export and import of one account: its pages in a stable order, and the pages of an import, which belong to a
//! suspended account of their own until all of them are stored.

use crate::db::{DbError, Stmt};
use crate::sites::{row as site_row, select};
use crate::store::Store;
use dropleaf_core::feedback::{Feedback, Intent, Severity};
use dropleaf_core::feedback_thread::Author;
use dropleaf_core::site::Site;

/// The name of the lease that an import holds. Its holder is the id of the account that has the pages meanwhile.
pub const IMPORT_LEASE: &str = "import";

impl Store {
    /// The pages of an account that can be viewed or revived, after this id.
    pub async fn list_transferable(
        &self,
        account_id: &str,
        after: &str,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let sql = select!(
            "WHERE account_id = $1 AND state IN ('live', 'expired') AND purged_at IS NULL AND id > $2 ORDER BY id LIMIT $3"
        );
        self.db.list(sql, vec![account_id.into(), after.into(), limit.into()], site_row).await
    }

    pub async fn count_transferable(&self, account_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM sites WHERE account_id = $1 AND state IN ('live', 'expired') AND purged_at IS NULL";
        Ok(self.db.get(sql, &[account_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Whether a page with this id exists, or something is kept about one that existed.
    pub async fn is_site_id_used(&self, id: &str) -> Result<bool, DbError> {
        let sql = "SELECT (SELECT COUNT(*) FROM sites WHERE id = $1) + (SELECT COUNT(*) FROM evidence WHERE site_id = $1) \
                   + (SELECT COUNT(*) FROM unwanted WHERE site_id = $1) + (SELECT COUNT(*) FROM audit WHERE subject = $1)";
        Ok(self.db.get(sql, &[id.into()], |row| row.int(0)).await?.is_some_and(|count| count > 0))
    }

    /// The account of an import that was interrupted: its lease has ended and was not released.
    pub async fn find_interrupted_import(&self, now: i64) -> Result<Option<String>, DbError> {
        let sql = "SELECT holder FROM leases WHERE name = $1 AND until <= $2";
        self.db.get(sql, &[IMPORT_LEASE.into(), now.into()], |row| row.string(0)).await
    }
}

/// Adds a comment with its answer.
pub fn insert_feedback(item: &Feedback) -> Stmt {
    let content = &item.content;
    Stmt::new(
        "INSERT INTO feedback (id, site_id, comment, element, element_path, selected_text, page_url, intent, severity, \
         created_at, resolved_at, resolved_note, resolved_by, reopened_at, reopened_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        vec![
            item.id.as_str().into(),
            item.site_id.as_str().into(),
            content.comment.as_str().into(),
            content.element.as_deref().into(),
            content.element_path.as_deref().into(),
            content.selected_text.as_deref().into(),
            content.page_url.as_deref().into(),
            content.intent.map(Intent::as_str).into(),
            content.severity.map(Severity::as_str).into(),
            item.created_at.into(),
            item.resolved_at.into(),
            item.resolved_note.as_deref().into(),
            item.resolved_by.map(Author::as_str).into(),
            item.reopened_at.into(),
            item.reopened_by.map(Author::as_str).into(),
        ],
    )
}

/// Moves all pages of one account to another and deletes the first.
pub fn adopt_pages(from: &str, to: &str) -> Vec<Stmt> {
    vec![
        Stmt::new(
            "UPDATE accounts SET active_pages = active_pages + (SELECT COUNT(*) FROM sites \
             WHERE sites.account_id = $1 AND sites.counted = 1 AND sites.state = 'live') WHERE id = $2",
            vec![from.into(), to.into()],
        )
        .one(crate::accounts::UNKNOWN),
        Stmt::new("UPDATE sites SET account_id = $1 WHERE account_id = $2", vec![to.into(), from.into()])
            .slow(),
        Stmt::new("UPDATE slugs SET account_id = $1 WHERE account_id = $2", vec![to.into(), from.into()]),
        Stmt::new("DELETE FROM accounts WHERE id = $1", [from.into()]).one(crate::accounts::UNKNOWN),
    ]
}
