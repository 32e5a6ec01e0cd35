//! What operators and appellants are written to about: which reports and appeals operators have heard of, and which
//! decisions are still to be sent.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::appeal::State;

/// Somebody else sends the letter, or it was sent.
pub const TAKEN: &str = "letter_taken";

/// How much waits for an operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Desk {
    pub reports: i64,
    /// That the reports are about.
    pub pages: i64,
    pub appeals: i64,
    /// When the first of them came.
    pub since: Option<i64>,
}

impl Desk {
    pub const fn is_empty(&self) -> bool {
        self.reports == 0 && self.appeals == 0
    }
}

/// A decision that its appellant has not been told of by mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueLetter {
    pub appeal_id: String,
    pub account_id: Option<String>,
    /// Keyed hash of the network it came from.
    pub client: String,
    pub contact: Option<String>,
    pub state: State,
    pub answer: String,
    pub created_at: i64,
    pub letter_at: i64,
    /// How often it was tried.
    pub tries: i64,
}

const NEW: &str = "SELECT r.many, r.pages, r.since, a.many, a.since FROM \
     (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL AND told < 2) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told < 2) AS a";
const ALL: &str = "SELECT r.many, r.pages, r.since, a.many, a.since FROM \
     (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open') AS a";
const TAKEN_UP: &str = "SELECT r.many, r.pages, r.since, a.many, a.since FROM \
     (SELECT COUNT(*) AS many, COUNT(DISTINCT site_id) AS pages, MIN(created_at) AS since FROM reports \
      WHERE closed_at IS NULL AND told = 1) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told = 1) AS a";

fn desk(row: &Row<'_>) -> Result<Desk, DbError> {
    let since = [row.opt_int(2)?, row.opt_int(4)?].into_iter().flatten().min();
    Ok(Desk { reports: row.int(0)?, pages: row.int(1)?, appeals: row.int(3)?, since })
}

fn due(row: &Row<'_>) -> Result<DueLetter, DbError> {
    let own = |at| row.opt_text(at).map(|text| text.map(str::to_owned));
    Ok(DueLetter {
        appeal_id: row.text(0)?.to_owned(),
        account_id: own(1)?,
        client: row.text(2)?.to_owned(),
        contact: own(3)?,
        state: State::parse(row.text(4)?)
            .ok_or_else(|| DbError::internal("an appeal has an unknown state"))?,
        answer: own(5)?.unwrap_or_default(),
        created_at: row.int(6)?,
        letter_at: row.int(7)?,
        tries: row.int(8)?,
    })
}

impl Store {
    /// What waits and no operator has certainly heard of.
    pub async fn count_news(&self) -> Result<Desk, DbError> {
        Ok(self.db.get(NEW, &[], desk).await?.unwrap_or_default())
    }

    /// What is in the letter that is being written; see [`take_up`].
    pub async fn count_taken_up(&self) -> Result<Desk, DbError> {
        Ok(self.db.get(TAKEN_UP, &[], desk).await?.unwrap_or_default())
    }

    /// All that waits.
    pub async fn count_desk(&self) -> Result<Desk, DbError> {
        Ok(self.db.get(ALL, &[], desk).await?.unwrap_or_default())
    }

    /// Addresses of the accounts that run the service.
    pub async fn list_operator_addresses(&self, limit: i64) -> Result<Vec<String>, DbError> {
        let sql = "SELECT email FROM accounts WHERE is_operator = 1 AND email IS NOT NULL \
                   ORDER BY created_at, id LIMIT $1";
        self.db.list(sql, vec![limit.into()], |row| row.text(0).map(str::to_owned)).await
    }

    pub async fn list_due_letters(&self, now: i64, limit: i64) -> Result<Vec<DueLetter>, DbError> {
        let sql = "SELECT id, account_id, client, contact, state, answer, created_at, letter_at, letter_tries \
                   FROM appeals WHERE letter_at <= $1 ORDER BY letter_at, id LIMIT $2";
        self.db.list(sql, vec![now.into(), limit.into()], due).await
    }
}

/// What is new becomes part of the letter that is about to be written: what comes later is for the next one.
pub fn take_up() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 1 WHERE closed_at IS NULL AND told = 0", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 1 WHERE state = 'open' AND told = 0", Vec::new()),
    ]
}

/// That letter has left.
pub fn told() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 2 WHERE closed_at IS NULL AND told = 1", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 2 WHERE state = 'open' AND told = 1", Vec::new()),
    ]
}

/// The decision is to be sent, now or later.
pub fn put_letter(appeal_id: &str, at: i64) -> Stmt {
    Stmt::new("UPDATE appeals SET letter_at = $1 WHERE id = $2", vec![at.into(), appeal_id.into()])
}

/// Takes a letter to send it: nobody else does, also not after a crash.
pub fn take_letter(letter: &DueLetter) -> Stmt {
    Stmt::new(
        "UPDATE appeals SET letter_at = NULL, letter_tries = letter_tries + 1 WHERE id = $1 AND letter_at = $2",
        vec![letter.appeal_id.as_str().into(), letter.letter_at.into()],
    )
    .one(TAKEN)
}
