//! SQL for `reports`: reports about pages for the operator, by viewers or because of a signal.

use crate::db::{DbError, Row, Stmt, columns};
use crate::sites::{self, SiteColumns, site_columns};
use crate::store::Store;
use dropleaf_core::attention::Signal;
use dropleaf_core::report::{Outcome, Reason, Report, ReportClosure, ReportContent};
use dropleaf_core::site::{Site, State};

/// The page has no open report.
pub const NONE_OPEN: &str = "no_open_report";
/// The page has an open report.
pub const WAITING: &str = "report_waiting";
/// The same signal about this version of the page was reported before.
pub const FIRED: &str = "signal_fired";

/// A report with the page it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportWithPage {
    pub report: Report,
    pub site_token: String,
    pub site_state: State,
    pub account_id: Option<String>,
}

/// The number of open reports about one page, and when the first and the last of them came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportSummary {
    pub count: i64,
    pub first_at: i64,
    pub last_at: i64,
}

/// A page with open reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWithReports {
    pub site: Site,
    /// The email address of the page's account.
    pub owner_email: Option<String>,
    pub open: ReportSummary,
}

columns! {
    ReportColumns, report_columns, "r.":
    id, site_id, reason, comment, contact, created_at, closed_at, outcome, version, signal,
}

columns! { PageColumns, page_columns, "s.": token, state, account_id }

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", report_columns!(), " FROM reports r ", $tail)
    };
}

macro_rules! select_with_page {
    ($tail:literal) => {
        concat!(
            "SELECT ",
            report_columns!(),
            ", ",
            page_columns!(),
            " FROM reports r JOIN sites s ON s.id = r.site_id ",
            $tail
        )
    };
}

fn report_with_page(row: &Row<'_>) -> Result<ReportWithPage, DbError> {
    const PAGE: PageColumns = PageColumns::starting_at(ReportColumns::COUNT);
    Ok(ReportWithPage {
        report: report(row)?,
        site_token: row.string(PAGE.token)?,
        site_state: State::parse(row.text(PAGE.state)?)
            .ok_or_else(|| DbError::internal("a report has an unknown state"))?,
        account_id: row.opt_string(PAGE.account_id)?,
    })
}

columns! {
    OpenColumns, open_columns:
    open_count, first_at, last_at, owner_email = "(SELECT email FROM accounts WHERE accounts.id = sites.account_id)",
}

fn page_with_reports(row: &Row<'_>) -> Result<PageWithReports, DbError> {
    const OPEN: OpenColumns = OpenColumns::starting_at(SiteColumns::COUNT);
    Ok(PageWithReports {
        site: sites::row(row)?,
        owner_email: row.opt_string(OPEN.owner_email)?,
        open: ReportSummary {
            count: row.int(OPEN.open_count)?,
            first_at: row.int(OPEN.first_at)?,
            last_at: row.int(OPEN.last_at)?,
        },
    })
}

fn reason(row: &Row<'_>, column: usize) -> Result<Reason, DbError> {
    Reason::parse(row.text(column)?).ok_or_else(|| DbError::internal("a report has an unknown reason"))
}

fn report(row: &Row<'_>) -> Result<Report, DbError> {
    const COLUMN: ReportColumns = ReportColumns::starting_at(0);
    let outcome = row.opt_text(COLUMN.outcome)?.and_then(Outcome::parse);
    Ok(Report {
        id: row.string(COLUMN.id)?,
        site_id: row.string(COLUMN.site_id)?,
        content: ReportContent {
            reason: reason(row, COLUMN.reason)?,
            comment: row.opt_string(COLUMN.comment)?,
            contact: row.opt_string(COLUMN.contact)?,
        },
        version: row.opt_int(COLUMN.version)?,
        created_at: row.int(COLUMN.created_at)?,
        closed: row.opt_int(COLUMN.closed_at)?.map(|at| ReportClosure { at, outcome }),
        signal: row.opt_text(COLUMN.signal)?.and_then(Signal::parse),
    })
}

impl Store {
    /// Pages with open reports, each with its account's email address, the longest waiting first, so that many reports about
    /// some pages cannot hide another. Starts after the page with this first report.
    pub async fn list_pages_with_reports(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
    ) -> Result<Vec<PageWithReports>, DbError> {
        let sql = concat!(
            "SELECT ",
            site_columns!(),
            ", ",
            open_columns!(),
            " FROM (SELECT site_id, COUNT(*) AS open_count, MIN(created_at) AS first_at, MAX(created_at) AS last_at \
             FROM reports WHERE closed_at IS NULL GROUP BY site_id HAVING (MIN(created_at), site_id) > ($1, $2) \
             ORDER BY MIN(created_at), site_id LIMIT $3) AS open_reports JOIN sites ON sites.id = open_reports.site_id \
             ORDER BY first_at, site_id"
        );
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        self.db.list(sql, vec![first_at.into(), site_id.into(), limit.into()], page_with_reports).await
    }

    /// The reasons in viewers' open reports about the pages of [`Self::list_pages_with_reports`], each page's most frequent
    /// first.
    pub async fn list_reasons_of_pages(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
    ) -> Result<Vec<(String, Reason, i64)>, DbError> {
        let sql = "SELECT site_id, reason, COUNT(*) FROM reports WHERE closed_at IS NULL AND signal IS NULL AND site_id IN \
                   (SELECT site_id FROM reports WHERE closed_at IS NULL GROUP BY site_id \
                   HAVING (MIN(created_at), site_id) > ($1, $2) ORDER BY MIN(created_at), site_id LIMIT $3) \
                   GROUP BY site_id, reason ORDER BY site_id, COUNT(*) DESC, reason";
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        let counted = |row: &Row<'_>| Ok((row.string(0)?, reason(row, 1)?, row.int(2)?));
        self.db.list(sql, vec![first_at.into(), site_id.into(), limit.into()], counted).await
    }

    /// The newest open reports about each of these pages, those of signals first, at most `most` per page.
    pub async fn list_newest_of_pages(
        &self,
        after: Option<(i64, &str)>,
        limit: i64,
        most: i64,
    ) -> Result<Vec<Report>, DbError> {
        let sql = select!(
            "WHERE r.id IN (SELECT id FROM (SELECT id, \
             ROW_NUMBER() OVER (PARTITION BY site_id \
             ORDER BY CASE WHEN signal IS NULL THEN 1 ELSE 0 END, created_at DESC, id DESC) AS place \
             FROM reports WHERE closed_at IS NULL AND site_id IN \
             (SELECT site_id FROM reports WHERE closed_at IS NULL GROUP BY site_id \
             HAVING (MIN(created_at), site_id) > ($1, $2) ORDER BY MIN(created_at), site_id LIMIT $3)) AS words \
             WHERE place <= $4) ORDER BY r.site_id, CASE WHEN r.signal IS NULL THEN 1 ELSE 0 END, r.created_at DESC, r.id DESC"
        );
        let (first_at, site_id) = after.unwrap_or((i64::MIN, ""));
        let args = vec![first_at.into(), site_id.into(), limit.into(), most.into()];
        self.db.list(sql, args, report).await
    }

    /// The reasons in viewers' open reports about a page, the most frequent first.
    pub async fn count_open_reasons(&self, site_id: &str) -> Result<Vec<(Reason, i64)>, DbError> {
        let sql = "SELECT reason, COUNT(*) FROM reports WHERE site_id = $1 AND closed_at IS NULL AND signal IS NULL \
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

    /// Reports about one page: open ones first, beginning with those of signals, then closed ones, each newest first.
    pub async fn list_reports_of(&self, site_id: &str, limit: i64) -> Result<Vec<Report>, DbError> {
        let sql = select!(
            "WHERE r.site_id = $1 ORDER BY CASE WHEN r.closed_at IS NOT NULL THEN 2 WHEN r.signal IS NULL THEN 1 ELSE 0 END, \
             r.created_at DESC, r.id DESC LIMIT $2"
        );
        self.db.list(sql, vec![site_id.into(), limit.into()], report).await
    }

    /// The open reports of signals about one page.
    pub async fn list_open_signals(&self, site_id: &str) -> Result<Vec<Report>, DbError> {
        let sql =
            select!("WHERE r.site_id = $1 AND r.closed_at IS NULL AND r.signal IS NOT NULL ORDER BY r.id");
        self.db.list(sql, vec![site_id.into()], report).await
    }

    /// The newest reports about all pages; only open ones, or all.
    pub async fn list_reports(&self, open: bool, limit: i64) -> Result<Vec<ReportWithPage>, DbError> {
        let sql = if open {
            select_with_page!("WHERE r.closed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT $1")
        } else {
            select_with_page!("ORDER BY r.created_at DESC, r.id DESC LIMIT $1")
        };
        self.db.list(sql, vec![limit.into()], report_with_page).await
    }

    /// The most recently closed reports.
    pub async fn list_closed_reports(&self, limit: i64) -> Result<Vec<ReportWithPage>, DbError> {
        let sql = select_with_page!(
            "WHERE r.closed_at IS NOT NULL ORDER BY r.closed_at DESC, r.created_at DESC, r.id DESC LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], report_with_page).await
    }
}

/// Inserts a viewer's report, with a keyed hash of the network that it came from and the page. If the version it names has
/// been deleted meanwhile, it is about the newest one. The site's row must be locked.
pub fn insert(report: &Report, network: Option<&str>) -> Stmt {
    Stmt::new(
        "INSERT INTO reports (id, site_id, reason, comment, contact, created_at, network, version) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, \
         COALESCE((SELECT version FROM site_versions WHERE site_versions.site_id = $2 AND site_versions.version = $8), \
         (SELECT version FROM sites WHERE sites.id = $2)))",
        vec![
            report.id.as_str().into(),
            report.site_id.as_str().into(),
            report.content.reason.as_str().into(),
            report.content.comment.as_deref().into(),
            report.content.contact.as_deref().into(),
            report.created_at.into(),
            network.into(),
            report.version.into(),
        ],
    )
}

/// Inserts the report of a signal; fails if the same signal about this version of the page was reported before, even if it
/// was dismissed. The site's row must be locked.
pub fn insert_signal(report: &Report) -> Stmt {
    Stmt::new(
        "INSERT INTO reports (id, site_id, reason, comment, created_at, version, signal) \
         SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT), $7 WHERE NOT EXISTS (SELECT 1 FROM reports \
         WHERE reports.site_id = $2 AND reports.version = $6 AND reports.signal = $7)",
        vec![
            report.id.as_str().into(),
            report.site_id.as_str().into(),
            report.content.reason.as_str().into(),
            report.content.comment.as_deref().into(),
            report.created_at.into(),
            report.version.into(),
            report.signal.map(Signal::as_str).into(),
        ],
    )
    .one(FIRED)
}

/// Forgets the networks of reports that were closed since, in case the previous version of the program closed them.
pub fn forget_networks(closed_since: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET network = NULL WHERE closed_at >= $1 AND network IS NOT NULL",
        vec![closed_since.into()],
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
        "UPDATE reports SET closed_at = $1, outcome = $2, network = NULL WHERE site_id = $3 AND closed_at IS NULL",
        vec![now.into(), outcome.as_str().into(), site_id.into()],
    )
}

/// Closes the first open report; fails if there is none, so that of two concurrent operators one succeeds.
pub fn close_first(site_id: &str, outcome: Outcome, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET closed_at = $1, outcome = $2, network = NULL WHERE closed_at IS NULL \
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
