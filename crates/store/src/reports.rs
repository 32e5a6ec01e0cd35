//! SQL for `reports`: viewers' reports about pages, for the operator.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::report::{Outcome, Reason, Report, ReportClosure, ReportContent};
use dropleaf_core::site::State;

/// The page has no open report.
pub const NONE_OPEN: &str = "no_open_report";
/// The page has an open report.
pub const WAITING: &str = "report_waiting";

/// A report with the page it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub report: Report,
    pub site_token: String,
    pub site_state: State,
    pub account_id: Option<String>,
}

/// The open reports about one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub site_id: String,
    pub count: i64,
    pub first_at: i64,
    pub last_at: i64,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT r.id, r.site_id, r.reason, r.comment, r.contact, r.created_at, r.closed_at, r.outcome, r.version \
             FROM reports r ",
            $tail
        )
    };
}

macro_rules! select_listed {
    ($tail:literal) => {
        concat!(
            "SELECT r.id, r.site_id, r.reason, r.comment, r.contact, r.created_at, r.closed_at, r.outcome, r.version, \
             s.token, s.state, s.account_id FROM reports r JOIN sites s ON s.id = r.site_id ",
            $tail
        )
    };
}

fn listed(row: &Row<'_>) -> Result<Listed, DbError> {
    Ok(Listed {
        report: report(row)?,
        site_token: row.text(9)?.to_owned(),
        site_state: State::parse(row.text(10)?)
            .ok_or_else(|| DbError::internal("a report has an unknown state"))?,
        account_id: row.opt_text(11)?.map(str::to_owned),
    })
}

fn reason(row: &Row<'_>, column: usize) -> Result<Reason, DbError> {
    Reason::parse(row.text(column)?).ok_or_else(|| DbError::internal("a report has an unknown reason"))
}

fn report(row: &Row<'_>) -> Result<Report, DbError> {
    let outcome = row.opt_text(7)?.and_then(Outcome::parse);
    Ok(Report {
        id: row.text(0)?.to_owned(),
        site_id: row.text(1)?.to_owned(),
        content: ReportContent {
            reason: reason(row, 2)?,
            comment: row.opt_text(3)?.map(str::to_owned),
            contact: row.opt_text(4)?.map(str::to_owned),
        },
        version: row.opt_int(8)?,
        created_at: row.int(5)?,
        closed: row.opt_int(6)?.map(|at| ReportClosure { at, outcome }),
    })
}

impl Store {
    /// Pages with open reports, the longest waiting first, so that many reports about some pages cannot hide another. Starts
    /// after the page with this first report.
    pub async fn list_waiting(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
    ) -> Result<Vec<Waiting>, DbError> {
        let sql = "SELECT site_id, COUNT(*), MIN(created_at), MAX(created_at) FROM reports WHERE closed_at IS NULL \
                   GROUP BY site_id HAVING (MIN(created_at), site_id) > ($1, $2) \
                   ORDER BY MIN(created_at), site_id LIMIT $3";
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        let waiting = |row: &Row<'_>| {
            Ok(Waiting {
                site_id: row.text(0)?.to_owned(),
                count: row.int(1)?,
                first_at: row.int(2)?,
                last_at: row.int(3)?,
            })
        };
        self.db.list(sql, vec![first_at.into(), site_id.into(), limit.into()], waiting).await
    }

    /// The reasons in the open reports about the pages of [`Self::list_waiting`], each page's most frequent first.
    pub async fn list_waiting_reasons(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
    ) -> Result<Vec<(String, Reason, i64)>, DbError> {
        let sql = "SELECT site_id, reason, COUNT(*) FROM reports WHERE closed_at IS NULL AND site_id IN \
                   (SELECT site_id FROM reports WHERE closed_at IS NULL GROUP BY site_id \
                   HAVING (MIN(created_at), site_id) > ($1, $2) ORDER BY MIN(created_at), site_id LIMIT $3) \
                   GROUP BY site_id, reason ORDER BY site_id, COUNT(*) DESC, reason";
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        let counted = |row: &Row<'_>| Ok((row.text(0)?.to_owned(), reason(row, 1)?, row.int(2)?));
        self.db.list(sql, vec![first_at.into(), site_id.into(), limit.into()], counted).await
    }

    /// The newest open reports about each of these pages, at most `most` per page.
    pub async fn list_waiting_words(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
        most: i64,
    ) -> Result<Vec<Report>, DbError> {
        let sql = select!(
            "WHERE r.id IN (SELECT id FROM (SELECT id, \
             ROW_NUMBER() OVER (PARTITION BY site_id ORDER BY created_at DESC, id DESC) AS place \
             FROM reports WHERE closed_at IS NULL AND site_id IN \
             (SELECT site_id FROM reports WHERE closed_at IS NULL GROUP BY site_id \
             HAVING (MIN(created_at), site_id) > ($1, $2) ORDER BY MIN(created_at), site_id LIMIT $3)) AS words \
             WHERE place <= $4) ORDER BY r.site_id, r.created_at DESC, r.id DESC"
        );
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        let args = vec![first_at.into(), site_id.into(), limit.into(), most.into()];
        self.db.list(sql, args, report).await
    }

    /// The reasons in the open reports about a page, the most frequent first.
    pub async fn count_open_reasons(&self, site_id: &str) -> Result<Vec<(Reason, i64)>, DbError> {
        let sql = "SELECT reason, COUNT(*) FROM reports WHERE site_id = $1 AND closed_at IS NULL \
                   GROUP BY reason ORDER BY COUNT(*) DESC, reason";
        let counted = |row: &Row<'_>| Ok((reason(row, 0)?, row.int(1)?));
        self.db.list(sql, vec![site_id.into()], counted).await
    }

    /// How many reports there are about a page, open or closed.
    pub async fn count_reports_of(&self, site_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM reports WHERE site_id = $1";
        Ok(self.db.get(sql, &[site_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// How many reports are open; it stops counting at `most`.
    pub async fn count_open_reports(&self, most: i64) -> Result<i64, DbError> {
        let sql =
            "SELECT COUNT(*) FROM (SELECT id FROM reports WHERE closed_at IS NULL LIMIT $1) AS open_reports";
        Ok(self.db.get(sql, &[most.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Whether a page has an open report.
    pub async fn has_open_reports(&self, site_id: &str) -> Result<bool, DbError> {
        let sql = "SELECT created_at FROM reports WHERE site_id = $1 AND closed_at IS NULL LIMIT 1";
        Ok(self.db.get(sql, &[site_id.into()], |row| row.int(0)).await?.is_some())
    }

    /// Reports about one page: open ones first, then closed ones, each newest first.
    pub async fn list_reports_of(&self, site_id: &str, limit: i64) -> Result<Vec<Report>, DbError> {
        let sql = select!(
            "WHERE r.site_id = $1 ORDER BY CASE WHEN r.closed_at IS NULL THEN 0 ELSE 1 END, r.created_at DESC, r.id DESC \
             LIMIT $2"
        );
        self.db.list(sql, vec![site_id.into(), limit.into()], report).await
    }

    /// The newest reports about all pages; only open ones, or all.
    pub async fn list_reports(&self, open: bool, limit: i64) -> Result<Vec<Listed>, DbError> {
        let sql = if open {
            select_listed!("WHERE r.closed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT $1")
        } else {
            select_listed!("ORDER BY r.created_at DESC, r.id DESC LIMIT $1")
        };
        self.db.list(sql, vec![limit.into()], listed).await
    }

    /// The most recently closed reports.
    pub async fn list_closed_reports(&self, limit: i64) -> Result<Vec<Listed>, DbError> {
        let sql = select_listed!(
            "WHERE r.closed_at IS NOT NULL ORDER BY r.closed_at DESC, r.created_at DESC, r.id DESC LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], listed).await
    }
}

/// Inserts a report. If the version it names has been deleted meanwhile, it is about the newest one. The site's row must be
/// locked.
pub fn insert(report: &Report) -> Stmt {
    Stmt::new(
        "INSERT INTO reports (id, site_id, reason, comment, contact, created_at, version) VALUES ($1, $2, $3, $4, $5, $6, \
         COALESCE((SELECT version FROM site_versions WHERE site_versions.site_id = $2 AND site_versions.version = $7), \
         (SELECT version FROM sites WHERE sites.id = $2)))",
        vec![
            report.id.as_str().into(),
            report.site_id.as_str().into(),
            report.content.reason.as_str().into(),
            report.content.comment.as_deref().into(),
            report.content.contact.as_deref().into(),
            report.created_at.into(),
            report.version.into(),
        ],
    )
}

/// Fails if a page has an open report, so that a batch does not erase the reported content.
pub fn require_none(site_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE sites SET view_count = view_count WHERE id = $1 \
         AND NOT EXISTS (SELECT 1 FROM reports WHERE reports.site_id = sites.id AND reports.closed_at IS NULL)",
        [site_id.into()],
    )
    .one(WAITING)
}

/// Closes every open report about a page.
pub fn close(site_id: &str, outcome: Outcome, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET closed_at = $1, outcome = $2 WHERE site_id = $3 AND closed_at IS NULL",
        vec![now.into(), outcome.as_str().into(), site_id.into()],
    )
}

/// Closes the first open report; fails if there is none, so that of two concurrent operators one succeeds.
pub fn close_first(site_id: &str, outcome: Outcome, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET closed_at = $1, outcome = $2 WHERE closed_at IS NULL \
         AND id = (SELECT MIN(id) FROM reports WHERE site_id = $3 AND closed_at IS NULL)",
        vec![now.into(), outcome.as_str().into(), site_id.into()],
    )
    .one(NONE_OPEN)
}

/// Deletes the reports about sites that are about to be deleted; see [`crate::sites::delete_tombstones`].
pub fn delete_old(purged_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM reports WHERE site_id IN \
         (SELECT id FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1)",
        vec![purged_before.into()],
    )
}
