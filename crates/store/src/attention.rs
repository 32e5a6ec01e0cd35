//! SQL for `attention_checks`, what the sweep has to look at because a signal may fire, and for the warning before a page.
//! Changes note a check in their own batch; what it means is decided elsewhere.

use crate::db::{DbError, Row, Stmt, columns};
use crate::sites::{row, select};
use crate::store::Store;
use dropleaf_core::attention::Signal;
use dropleaf_core::site::Site;

/// Something that may have reached the threshold of a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionCheck {
    pub signal: Signal,
    /// The id of the site, or for copies the hash of their main document in hexadecimal.
    pub subject: String,
    /// How often it was noted.
    pub changes: i64,
    pub noted_at: i64,
}

/// A live page without an account, and the keyed hash of the network that published it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnonymousCopy {
    pub site_id: String,
    pub network: String,
    /// This signal put it before the operator before.
    pub is_raised: bool,
}

columns! { CheckColumns, check_columns: signal, subject, changes, noted_at }

fn check(row: &Row<'_>) -> Result<AttentionCheck, DbError> {
    const COLUMN: CheckColumns = CheckColumns::starting_at(0);
    let signal = Signal::parse(row.text(COLUMN.signal)?);
    Ok(AttentionCheck {
        signal: signal.ok_or_else(|| DbError::internal("a check has an unknown signal"))?,
        subject: row.string(COLUMN.subject)?,
        changes: row.int(COLUMN.changes)?,
        noted_at: row.int(COLUMN.noted_at)?,
    })
}

impl Store {
    /// What waits for a check and is due, the longest waiting first.
    pub async fn list_attention_checks(&self, now: i64, limit: i64) -> Result<Vec<AttentionCheck>, DbError> {
        let sql = concat!(
            "SELECT ",
            check_columns!(),
            " FROM attention_checks WHERE checked_at IS NULL AND due_at <= $1 ORDER BY due_at, signal, subject LIMIT $2"
        );
        self.db.list(sql, vec![now.into(), limit.into()], check).await
    }

    /// From how many networks the open reports about a page came.
    pub async fn count_report_networks(&self, site_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(DISTINCT network) FROM reports WHERE site_id = $1 AND closed_at IS NULL";
        Ok(self.db.get(sql, &[site_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Live pages without an account whose main document is this body, newest first. Searches only the newest 20,000 pages:
    /// no index leads from bodies to bundles.
    pub async fn list_anonymous_copies(
        &self,
        document: &[u8; 32],
        limit: i64,
    ) -> Result<Vec<AnonymousCopy>, DbError> {
        let sql = "SELECT recent.id, anonymous_sites.wide, CASE WHEN EXISTS (SELECT 1 FROM reports \
                   WHERE reports.site_id = recent.id AND reports.signal = $1) THEN 1 ELSE 0 END \
                   FROM (SELECT id, bundle_id, state, account_id FROM sites ORDER BY id DESC LIMIT 20000) AS recent \
                   JOIN anonymous_sites ON anonymous_sites.site_id = recent.id \
                   JOIN bundles ON bundles.id = recent.bundle_id \
                   JOIN bundle_files ON bundle_files.bundle_id = bundles.id AND bundle_files.path = bundles.entry \
                   WHERE bundle_files.blob_hash = $2 AND recent.state = 'live' AND recent.account_id IS NULL \
                   ORDER BY recent.id DESC LIMIT $3";
        let copy = |row: &Row<'_>| {
            Ok(AnonymousCopy { site_id: row.string(0)?, network: row.string(1)?, is_raised: row.flag(2)? })
        };
        let signal = Signal::ManyCopies.as_str();
        self.db.list(sql, vec![signal.into(), (*document).into(), limit.into()], copy).await
    }

    /// Pages with a warning although their signals were closed since: by the previous version of the program, which knows no
    /// warnings.
    pub async fn list_closed_with_warning(&self, since: i64, limit: i64) -> Result<Vec<Site>, DbError> {
        let sql = select!(
            "WHERE warned_at IS NOT NULL AND id IN (SELECT site_id FROM reports WHERE closed_at >= $1 \
             AND signal IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM reports WHERE reports.site_id = sites.id \
             AND reports.closed_at IS NULL AND reports.signal IS NOT NULL) LIMIT $2"
        );
        self.db.list(sql, vec![since.into(), limit.into()], row).await
    }
}

/// A viewer reported the page.
pub fn note_report(site_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO attention_checks (signal, subject, version, changes, noted_at, due_at) VALUES ($1, $2, 0, 1, $3, $3) \
         ON CONFLICT (signal, subject) DO UPDATE SET changes = attention_checks.changes + 1, \
         noted_at = excluded.noted_at, due_at = excluded.due_at, checked_at = NULL",
        vec![Signal::ManyReports.as_str().into(), site_id.into(), now.into()],
    )
}

/// The page was viewed. Noted once for each version, if it was published without an account after `published_after` and has
/// reached the threshold.
pub fn note_views(site_id: &str, threshold: i64, published_after: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO attention_checks (signal, subject, version, changes, noted_at, due_at) \
         SELECT $1, id, version, 1, CAST($2 AS BIGINT), CAST($2 AS BIGINT) FROM sites WHERE id = $3 AND account_id IS NULL \
         AND state = 'live' AND view_count >= $4 AND created_at > $5 \
         ON CONFLICT (signal, subject) DO UPDATE SET changes = attention_checks.changes + 1, \
         version = excluded.version, noted_at = excluded.noted_at, due_at = excluded.due_at, checked_at = NULL \
         WHERE attention_checks.version <> excluded.version",
        vec![
            Signal::ManyViews.as_str().into(),
            now.into(),
            site_id.into(),
            threshold.into(),
            published_after.into(),
        ],
    )
}

/// This document was published without an account. Noted if at least `threshold` bundles hold it, unless an operator has
/// dismissed it.
pub fn note_copy(document: &[u8; 32], subject: String, threshold: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO attention_checks (signal, subject, version, changes, noted_at, due_at) \
         SELECT $1, $2, 0, 1, CAST($3 AS BIGINT), CAST($3 AS BIGINT) FROM blobs WHERE hash = $4 AND refs >= $5 \
         ON CONFLICT (signal, subject) DO UPDATE SET changes = attention_checks.changes + 1, \
         noted_at = excluded.noted_at, due_at = excluded.due_at, checked_at = NULL WHERE attention_checks.dismissed_at IS NULL",
        vec![
            Signal::ManyCopies.as_str().into(),
            subject.into(),
            now.into(),
            (*document).into(),
            threshold.into(),
        ],
    )
}

/// Records a check, unless there is something new to look at.
pub fn finish(check: &AttentionCheck, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE attention_checks SET checked_at = $1 WHERE signal = $2 AND subject = $3 AND changes = $4",
        vec![now.into(), check.signal.as_str().into(), check.subject.as_str().into(), check.changes.into()],
    )
}

/// Notes the same once more: the check was too long for one sweep.
pub fn note_again(check: &AttentionCheck, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE attention_checks SET changes = changes + 1, due_at = $1 WHERE signal = $2 AND subject = $3",
        vec![now.into(), check.signal.as_str().into(), check.subject.as_str().into()],
    )
}

/// Repeats a check that failed later, behind the others.
pub fn postpone(check: &AttentionCheck, due_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE attention_checks SET due_at = $1 WHERE signal = $2 AND subject = $3",
        vec![due_at.into(), check.signal.as_str().into(), check.subject.as_str().into()],
    )
}

/// The signal about this content was dismissed: it does not fire for later copies.
pub fn dismiss_copies(subject: String, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO attention_checks (signal, subject, version, changes, noted_at, due_at, checked_at, dismissed_at) \
         VALUES ($1, $2, 0, 1, $3, $3, $3, $3) ON CONFLICT (signal, subject) DO UPDATE SET \
         changes = attention_checks.changes + 1, checked_at = excluded.checked_at, dismissed_at = excluded.dismissed_at",
        vec![Signal::ManyCopies.as_str().into(), subject.into(), now.into()],
    )
}

/// Deletes checks that were done before this time. Dismissals are kept.
pub fn delete_old(checked_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM attention_checks WHERE checked_at IS NOT NULL AND dismissed_at IS NULL AND checked_at <= $1",
        vec![checked_before.into()],
    )
}

/// Viewers get a warning before the page from now on.
pub fn warn(site_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE sites SET warned_at = $1 WHERE id = $2 AND warned_at IS NULL",
        vec![now.into(), site_id.into()],
    )
}

/// Ends the warning, unless a signal about the page is open.
pub fn end_warning(site_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE sites SET warned_at = NULL WHERE id = $1 AND warned_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reports \
         WHERE reports.site_id = sites.id AND reports.closed_at IS NULL AND reports.signal IS NOT NULL)",
        vec![site_id.into()],
    )
}
