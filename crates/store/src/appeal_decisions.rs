//! SQL for the emails about decided appeals: which are due, and which process sends one.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::appeal::State;

/// Another process is sending this email, or has sent it.
pub const TAKEN: &str = "letter_taken";

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
