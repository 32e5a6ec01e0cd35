//! Rows of `reports`: what viewers told the operator about a page.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::report::{Reason, Report, Said};
use dropleaf_core::site::State;

/// A report beside the page it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub report: Report,
    pub site_token: String,
    pub site_state: State,
    pub account_id: Option<String>,
}

fn row(row: &Row<'_>) -> Result<Listed, DbError> {
    let broken = |what: &str| DbError::internal(format!("a report has an unknown {what}"));
    Ok(Listed {
        report: Report {
            id: row.text(0)?.to_owned(),
            site_id: row.text(1)?.to_owned(),
            said: Said {
                reason: Reason::parse(row.text(2)?).ok_or_else(|| broken("reason"))?,
                comment: row.opt_text(3)?.map(str::to_owned),
                contact: row.opt_text(4)?.map(str::to_owned),
            },
            created_at: row.int(5)?,
        },
        site_token: row.text(6)?.to_owned(),
        site_state: State::parse(row.text(7)?).ok_or_else(|| broken("state"))?,
        account_id: row.opt_text(8)?.map(str::to_owned),
    })
}

impl Store {
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

/// Forgets the reports about sites that are about to be forgotten themselves; see [`crate::sites::delete_tombstones`].
pub fn delete_old(purged_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM reports WHERE site_id IN \
         (SELECT id FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1)",
        vec![purged_before.into()],
    )
}
