//! SQL for notification emails: which reports and appeals operators have been notified of, and which decisions are still to
//! be sent to appellants.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::appeal::State;

/// Another process is sending this email, or has sent it.
pub const TAKEN: &str = "letter_taken";

/// Open reports and appeals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperatorQueue {
    pub reports: i64,
    /// The number of distinct pages among the reports.
    pub pages: i64,
    pub appeals: i64,
    /// When the oldest of them arrived.
    pub since: Option<i64>,
}

impl OperatorQueue {
    pub const fn is_empty(&self) -> bool {
        self.reports == 0 && self.appeals == 0
    }
}

/// A decision that its appellant has not been notified of by email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDecisionEmail {
    pub appeal_id: String,
    pub account_id: Option<String>,
    /// Keyed hash of the network the appeal came from.
    pub client: String,
    pub contact: Option<String>,
    pub state: State,
    pub answer: String,
    pub created_at: i64,
    pub due_at: i64,
    /// How many attempts were made to send it.
    pub tries: i64,
}

columns! {
    QueueColumns, queue_columns:
    reports = "r.many", pages = "r.pages", reports_since = "r.since", appeals = "a.many", appeals_since = "a.since",
}

const UNNOTIFIED: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL AND told < 2) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told < 2) AS a"
);
const ALL: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open') AS a"
);
const IN_NOTIFICATION: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL AND told = 1) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told = 1) AS a"
);

fn queue(row: &Row<'_>) -> Result<OperatorQueue, DbError> {
    const COLUMN: QueueColumns = QueueColumns::starting_at(0);
    let since =
        [row.opt_int(COLUMN.reports_since)?, row.opt_int(COLUMN.appeals_since)?].into_iter().flatten().min();
    Ok(OperatorQueue {
        reports: row.int(COLUMN.reports)?,
        pages: row.int(COLUMN.pages)?,
        appeals: row.int(COLUMN.appeals)?,
        since,
    })
}

columns! {
    DueColumns, due_columns:
    id, account_id, client, contact, state, answer, created_at, letter_at, letter_tries,
}

fn due(row: &Row<'_>) -> Result<DueDecisionEmail, DbError> {
    const COLUMN: DueColumns = DueColumns::starting_at(0);
    Ok(DueDecisionEmail {
        appeal_id: row.string(COLUMN.id)?,
        account_id: row.opt_string(COLUMN.account_id)?,
        client: row.string(COLUMN.client)?,
        contact: row.opt_string(COLUMN.contact)?,
        state: State::parse(row.text(COLUMN.state)?)
            .ok_or_else(|| DbError::internal("an appeal has an unknown state"))?,
        answer: row.opt_string(COLUMN.answer)?.unwrap_or_default(),
        created_at: row.int(COLUMN.created_at)?,
        due_at: row.int(COLUMN.letter_at)?,
        tries: row.int(COLUMN.letter_tries)?,
    })
}

impl Store {
    /// Open reports and appeals that no operator has certainly been notified of.
    pub async fn count_unnotified(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(UNNOTIFIED, &[], queue).await?.unwrap_or_default())
    }

    /// Those in the email that is being prepared; see [`assign_to_notification`].
    pub async fn count_in_notification(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(IN_NOTIFICATION, &[], queue).await?.unwrap_or_default())
    }

    /// All open reports and appeals.
    pub async fn count_operator_queue(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(ALL, &[], queue).await?.unwrap_or_default())
    }

    /// Email addresses of the operator accounts.
    pub async fn list_operator_addresses(&self, limit: i64) -> Result<Vec<String>, DbError> {
        let sql = "SELECT email FROM accounts WHERE is_operator = 1 AND email IS NOT NULL \
                   ORDER BY created_at, id LIMIT $1";
        self.db.list(sql, vec![limit.into()], |row| row.string(0)).await
    }

    pub async fn list_due_decision_emails(
        &self,
        now: i64,
        limit: i64,
    ) -> Result<Vec<DueDecisionEmail>, DbError> {
        let sql = concat!(
            "SELECT ",
            due_columns!(),
            " FROM appeals WHERE letter_at <= $1 ORDER BY letter_at, id LIMIT $2"
        );
        self.db.list(sql, vec![now.into(), limit.into()], due).await
    }
}

/// Assigns everything new to the email that is about to be sent; what arrives later goes into the next one.
pub fn assign_to_notification() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 1 WHERE closed_at IS NULL AND told = 0", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 1 WHERE state = 'open' AND told = 0", Vec::new()),
    ]
}

/// Marks that email as sent.
pub fn mark_notified() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 2 WHERE closed_at IS NULL AND told = 1", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 2 WHERE state = 'open' AND told = 1", Vec::new()),
    ]
}

/// Schedules the email about a decision.
pub fn schedule_decision_email(appeal_id: &str, at: i64) -> Stmt {
    Stmt::new("UPDATE appeals SET letter_at = $1 WHERE id = $2", vec![at.into(), appeal_id.into()])
}

/// Claims an email for sending, so that no other process sends it, not even after a crash.
pub fn take_decision_email(email: &DueDecisionEmail) -> Stmt {
    Stmt::new(
        "UPDATE appeals SET letter_at = NULL, letter_tries = letter_tries + 1 WHERE id = $1 AND letter_at = $2",
        vec![email.appeal_id.as_str().into(), email.due_at.into()],
    )
    .one(TAKEN)
}
