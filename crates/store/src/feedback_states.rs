//! SQL that resolves several comments at once, undoes that, and reopens comments.

use crate::db::{DbError, Stmt};
use crate::feedback::{UNKNOWN, row, select, with_given_ids};
use crate::store::Store;
use dropleaf_core::feedback::{Feedback, MOST_OPEN};
use dropleaf_core::feedback_thread::Author;

/// The comment is not resolved, or the page has the maximum number of open comments.
pub const NOT_REOPENED: &str = "feedback_not_reopened";

impl Store {
    /// One comment of a site.
    pub async fn find_feedback(&self, site_id: &str, id: &str) -> Result<Option<Feedback>, DbError> {
        self.db.get(select!("WHERE id = $1 AND site_id = $2"), &[id.into(), site_id.into()], row).await
    }

    /// The site of a comment, if it is one of the account.
    pub async fn find_site_of_feedback(&self, account_id: &str, id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT site_id FROM feedback WHERE id = $1 \
                   AND site_id IN (SELECT id FROM sites WHERE account_id = $2)";
        self.db.get(sql, &[id.into(), account_id.into()], |row| row.string(0)).await
    }

    /// Those of these comments that exist on a site, in no order.
    pub async fn list_feedback_by_id(&self, site_id: &str, ids: &[&str]) -> Result<Vec<Feedback>, DbError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = select!("WHERE id IN (", with_given_ids!(), "SELECT id FROM given) AND site_id = $2");
        self.db.list(sql, vec![ids.concat().into(), site_id.into()], row).await
    }
}

/// Resolves these different comments of a site, or none of them if one does not exist. Those that are resolved already
/// keep their time and who did it.
pub fn resolve_all(site_id: &str, ids: &[&str], note: Option<&str>, by: Author, now: i64) -> Stmt {
    let sql = concat!(
        with_given_ids!(),
        "UPDATE feedback SET \
         resolved_note = CASE WHEN resolved_at IS NULL THEN CAST($2 AS TEXT) ELSE COALESCE(CAST($2 AS TEXT), resolved_note) END, \
         resolved_by = CASE WHEN resolved_at IS NULL THEN CAST($3 AS TEXT) ELSE resolved_by END, \
         resolved_at = COALESCE(resolved_at, $4) \
         WHERE site_id = $5 AND id IN (SELECT id FROM given)"
    );
    let args = vec![ids.concat().into(), note.into(), by.as_str().into(), now.into(), site_id.into()];
    Stmt::new(sql, args).rows(ids.len() as u64, UNKNOWN)
}

/// Undoes a resolution: these comments are as before if they were resolved at exactly this time.
pub fn undo_resolve(site_id: &str, ids: &[&str], resolved_at: i64) -> Stmt {
    let sql = concat!(
        with_given_ids!(),
        "UPDATE feedback SET resolved_at = NULL, resolved_by = NULL, resolved_note = NULL \
         WHERE site_id = $2 AND resolved_at = $3 AND id IN (SELECT id FROM given) \
         AND (SELECT COUNT(*) FROM feedback WHERE site_id = $2 AND resolved_at IS NULL) + CAST($4 AS BIGINT) <= $5"
    );
    let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    let args = vec![ids.concat().into(), site_id.into(), resolved_at.into(), count.into(), MOST_OPEN.into()];
    Stmt::new(sql, args)
}

/// Reopens a resolved comment. A viewer's reopening makes it unread for the owner's programs.
pub fn reopen(site_id: &str, id: &str, by: Author, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE feedback SET resolved_at = NULL, resolved_by = NULL, reopened_at = $1, reopened_by = $2, \
         read_at = CASE WHEN CAST($2 AS TEXT) = 'viewer' THEN NULL ELSE read_at END \
         WHERE id = $3 AND site_id = $4 AND resolved_at IS NOT NULL \
         AND (SELECT COUNT(*) FROM feedback WHERE site_id = $4 AND resolved_at IS NULL) < $5",
        vec![now.into(), by.as_str().into(), id.into(), site_id.into(), MOST_OPEN.into()],
    )
    .one(NOT_REOPENED)
}
