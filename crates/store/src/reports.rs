//! Rows of `reports`: what viewers told the operator about a page.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::report::{Reason, Report, Said};
use dropleaf_core::site::State;

/// There is no open report about the page.
pub const NONE_OPEN: &str = "no_open_report";

/// A report beside the page it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub report: Report,
    pub site_token: String,
    pub site_state: State,
    pub account_id: Option<String>,
}

fn row(row: &Row<'_>) -> Result<Listed, DbError> {
    Ok(Listed {
        report: report(row)?,
        site_token: row.text(6)?.to_owned(),
        site_state: State::parse(row.text(7)?)
            .ok_or_else(|| DbError::internal("a report has an unknown state"))?,
        account_id: row.opt_text(8)?.map(str::to_owned),
    })
}

fn report(row: &Row<'_>) -> Result<Report, DbError> {
    let reason = row.text(2)?;
    Ok(Report {
        id: row.text(0)?.to_owned(),
        site_id: row.text(1)?.to_owned(),
        said: Said {
            reason: Reason::parse(reason)
                .ok_or_else(|| DbError::internal("a report has an unknown reason"))?,
            comment: row.opt_text(3)?.map(str::to_owned),
            contact: row.opt_text(4)?.map(str::to_owned),
        },
        created_at: row.int(5)?,
    })
}

impl Store {
    /// The newest reports that nobody has dealt with.
    pub async fn list_open_reports(&self, limit: i64) -> Result<Vec<Report>, DbError> {
        self.db
            .list(
                "SELECT id, site_id, reason, comment, contact, created_at FROM reports WHERE closed_at IS NULL \
                 ORDER BY created_at DESC, id DESC LIMIT $1",
                vec![limit.into()],
                report,
            )
            .await
    }

    /// How many reports are open; it stops counting at `most`.
    pub async fn count_open_reports(&self, most: i64) -> Result<i64, DbError> {
        let sql =
            "SELECT COUNT(*) FROM (SELECT id FROM reports WHERE closed_at IS NULL LIMIT $1) AS open_reports";
        Ok(self.db.get(sql, &[most.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// The newest reports, about every page.
    pub async fn list_reports(&self, limit: i64) -> Result<Vec<Listed>, DbError> {
        self.db
            .list(
                "SELECT r.id, r.site_id, r.reason, r.comment, r.contact, r.created_at, s.token, s.state, s.account_id \
                 FROM reports r JOIN sites s ON s.id = r.site_id ORDER BY r.created_at DESC, r.id DESC LIMIT $1",
                vec![limit.into()],
                row,
            )
            .await
    }
}

pub fn insert(report: &Report) -> Stmt {
    Stmt::new(
        "INSERT INTO reports (id, site_id, reason, comment, contact, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        vec![
            report.id.as_str().into(),
            report.site_id.as_str().into(),
            report.said.reason.as_str().into(),
            report.said.comment.as_deref().into(),
            report.said.contact.as_deref().into(),
            report.created_at.into(),
        ],
    )
}

/// Closes every open report about a page.
pub fn close(site_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET closed_at = $1 WHERE site_id = $2 AND closed_at IS NULL",
        vec![now.into(), site_id.into()],
    )
}

/// Closes one of them, if there is one: of two operators, one gets here first.
pub fn close_first(site_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE reports SET closed_at = $1 WHERE closed_at IS NULL \
         AND id = (SELECT MIN(id) FROM reports WHERE site_id = $2 AND closed_at IS NULL)",
        vec![now.into(), site_id.into()],
    )
    .one(NONE_OPEN)
}

/// Forgets the reports about sites that are about to be forgotten themselves; see [`crate::sites::delete_tombstones`].
pub fn delete_old(purged_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM reports WHERE site_id IN \
         (SELECT id FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1)",
        vec![purged_before.into()],
    )
}
