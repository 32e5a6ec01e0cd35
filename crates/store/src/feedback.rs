//! SQL for `feedback`: viewers' comments on a page.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::feedback::{self, Feedback, FeedbackContent, Intent, Severity};
use dropleaf_core::feedback_list::Cursor;
use dropleaf_core::feedback_thread::Author;

pub const UNKNOWN: &str = "unknown_feedback";
/// The page has the maximum number of open comments.
pub const FULL: &str = "feedback_full";

columns! {
    FeedbackColumns, feedback_columns:
    id, site_id, comment, element, element_path, selected_text, page_url, intent, severity, created_at, resolved_at,
    resolved_note, resolved_by, reopened_at, reopened_by, viewer_hash,
}

macro_rules! select {
    ($($tail:tt)+) => {
        concat!("SELECT ", $crate::feedback::feedback_columns!(), " FROM feedback ", $($tail)+)
    };
}

/// Defines `given`, the table of the ids in `$1`. They are all 23 characters long and are bound as one text, so the
/// statement is the same for any number of them.
macro_rules! with_given_ids {
    () => {
        "WITH RECURSIVE given (id, rest) AS (\
         SELECT substr(CAST($1 AS TEXT), 1, 23), substr(CAST($1 AS TEXT), 24) \
         UNION ALL SELECT substr(rest, 1, 23), substr(rest, 24) FROM given WHERE rest <> '') "
    };
}

pub(crate) use {feedback_columns, select, with_given_ids};

pub(crate) fn row(row: &Row<'_>) -> Result<Feedback, DbError> {
    const COLUMN: FeedbackColumns = FeedbackColumns::starting_at(0);
    Ok(Feedback {
        id: row.string(COLUMN.id)?,
        site_id: row.string(COLUMN.site_id)?,
        content: FeedbackContent {
            comment: row.string(COLUMN.comment)?,
            element: row.opt_string(COLUMN.element)?,
            element_path: row.opt_string(COLUMN.element_path)?,
            selected_text: row.opt_string(COLUMN.selected_text)?,
            page_url: row.opt_string(COLUMN.page_url)?,
            intent: row.opt_text(COLUMN.intent)?.and_then(Intent::parse),
            severity: row.opt_text(COLUMN.severity)?.and_then(Severity::parse),
        },
        created_at: row.int(COLUMN.created_at)?,
        resolved_at: row.opt_int(COLUMN.resolved_at)?,
        resolved_note: row.opt_string(COLUMN.resolved_note)?,
        resolved_by: row.opt_text(COLUMN.resolved_by)?.and_then(Author::parse),
        reopened_at: row.opt_int(COLUMN.reopened_at)?,
        reopened_by: row.opt_text(COLUMN.reopened_by)?.and_then(Author::parse),
        viewer_hash: row.opt_hash(COLUMN.viewer_hash)?,
    })
}

impl Store {
    /// A site's comments after a cursor: unresolved first, then newest first.
    pub async fn list_feedback(
        &self,
        site_id: &str,
        after: Option<&Cursor>,
        limit: i64,
    ) -> Result<Vec<Feedback>, DbError> {
        let group = after.is_some_and(|cursor| cursor.resolved);
        let (created_at, id) =
            after.map_or((i64::MAX, String::new()), |cursor| (cursor.created_at, cursor.id.clone()));
        self.db
            .list(
                select!(
                    "WHERE site_id = $1 AND (CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END > CAST($2 AS BIGINT) \
                     OR (CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END = CAST($2 AS BIGINT) AND (created_at, id) < ($3, $4))) \
                     ORDER BY CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END, created_at DESC, id DESC LIMIT $5"
                ),
                vec![site_id.into(), i64::from(group).into(), created_at.into(), id.into(), limit.into()],
                row,
            )
            .await
    }

    /// A site's unresolved comments after a cursor, newest first.
    pub async fn list_open_feedback(
        &self,
        site_id: &str,
        after: Option<&Cursor>,
        limit: i64,
    ) -> Result<Vec<Feedback>, DbError> {
        // No unresolved comment comes after a resolved one.
        let (created_at, id) = match after {
            None => (i64::MAX, String::new()),
            Some(cursor) if cursor.resolved => (i64::MIN, String::new()),
            Some(cursor) => (cursor.created_at, cursor.id.clone()),
        };
        self.db
            .list(
                select!(
                    "WHERE site_id = $1 AND resolved_at IS NULL AND (created_at, id) < ($2, $3) \
                     ORDER BY created_at DESC, id DESC LIMIT $4"
                ),
                vec![site_id.into(), created_at.into(), id.into(), limit.into()],
                row,
            )
            .await
    }

    /// How many comments on a site are unresolved.
    pub async fn count_open_feedback_of(&self, site_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM feedback WHERE site_id = $1 AND resolved_at IS NULL";
        Ok(self.db.get(sql, &[site_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// The page of an unresolved comment, if it is a page of this account.
    pub async fn find_site_of_open_feedback(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<Option<String>, DbError> {
        let sql = "SELECT f.site_id FROM feedback f JOIN sites s ON s.id = f.site_id \
                   WHERE f.id = $1 AND f.resolved_at IS NULL AND s.account_id = $2";
        self.db.get(sql, &[id.into(), account_id.into()], |row| row.string(0)).await
    }

    /// How many unresolved comments on a site have not been fetched by a program of its owner.
    pub async fn count_unread_feedback(&self, site_id: &str) -> Result<i64, DbError> {
        let found = self
            .db
            .get(
                "SELECT COUNT(*) FROM feedback WHERE site_id = $1 AND read_at IS NULL AND resolved_at IS NULL",
                &[site_id.into()],
                |row| row.int(0),
            )
            .await?;
        Ok(found.unwrap_or_default())
    }
}

/// Marks these comments as fetched by a program of the owner.
pub fn mark_read(site_id: &str, given: &[Feedback], now: i64) -> Stmt {
    let ids: String = given.iter().map(|item| item.id.as_str()).collect();
    Stmt::new(
        concat!(
            with_given_ids!(),
            "UPDATE feedback SET read_at = $2 WHERE site_id = $3 AND read_at IS NULL AND id IN (SELECT id FROM given)"
        ),
        vec![ids.into(), now.into(), site_id.into()],
    )
}

/// Adds a comment, unless the page has the maximum number of open ones.
pub fn insert(item: &Feedback) -> Stmt {
    let content = &item.content;
    Stmt::new(
        "INSERT INTO feedback (id, site_id, comment, element, element_path, selected_text, page_url, intent, severity, \
         created_at, viewer_hash, resolved_at, resolved_note) \
         SELECT $1, $2, $3, $4, $5, $6, \
         $7, $8, $9, $10, $11, NULL, NULL \
         WHERE (SELECT COUNT(*) FROM feedback WHERE site_id = $2 AND resolved_at IS NULL) < $12",
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
            item.viewer_hash.into(),
            feedback::MOST_OPEN.into(),
        ],
    )
    .one(FULL)
}

/// Resolves a comment on a page of this account, and returns it. One that is resolved already keeps its time and who did
/// it; a new note replaces the old one.
pub fn resolve(account_id: &str, id: &str, note: Option<&str>, by: Author, now: i64) -> Stmt {
    Stmt::new(
        concat!(
            "UPDATE feedback SET \
             resolved_note = CASE WHEN resolved_at IS NULL THEN CAST($1 AS TEXT) ELSE COALESCE(CAST($1 AS TEXT), resolved_note) END, \
             resolved_by = CASE WHEN resolved_at IS NULL THEN CAST($2 AS TEXT) ELSE resolved_by END, \
             resolved_at = COALESCE(resolved_at, $3) \
             WHERE id = $4 AND site_id IN (SELECT id FROM sites WHERE account_id = $5) RETURNING ",
            feedback_columns!()
        ),
        vec![note.into(), by.as_str().into(), now.into(), id.into(), account_id.into()],
    )
    .one(UNKNOWN)
}

/// The comment that [`resolve`] returned.
pub fn resolved(outcome: &crate::Outcome) -> Result<Feedback, DbError> {
    let found = outcome.rows.first().ok_or_else(|| DbError::internal("a statement returned no row"))?;
    row(&found.as_row())
}

/// Deletes a comment on a page of this account.
pub fn delete(account_id: &str, id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM feedback WHERE id = $1 AND site_id IN (SELECT id FROM sites WHERE account_id = $2) \
         RETURNING site_id",
        vec![id.into(), account_id.into()],
    )
    .one(UNKNOWN)
}

/// The site of the comment that [`delete`] deleted.
pub fn deleted_from(outcome: &crate::Outcome) -> Result<String, DbError> {
    let found = outcome.rows.first().ok_or_else(|| DbError::internal("a statement returned no row"))?;
    found.as_row().string(0)
}

/// Deletes every comment on a site.
pub fn delete_of(site_id: &str) -> Stmt {
    Stmt::new("DELETE FROM feedback WHERE site_id = $1", vec![site_id.into()])
}

/// Deletes the comments of sites that are about to be deleted; see [`crate::sites::delete_tombstones`].
pub fn delete_old(purged_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM feedback WHERE site_id IN \
         (SELECT id FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1)",
        vec![purged_before.into()],
    )
}
