//! Rows of `audit`: what operators did. Nothing changes or deletes them.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::audit::{Act, Entry};

fn row(row: &Row<'_>) -> Result<Entry, DbError> {
    let act = row.text(3)?;
    Ok(Entry {
        id: row.text(0)?.to_owned(),
        at: row.int(1)?,
        actor: row.text(2)?.to_owned(),
        act: Act::parse(act).ok_or_else(|| DbError::internal(format!("nobody knows the act {act}")))?,
        subject: row.text(4)?.to_owned(),
        reason: row.opt_text(5)?.map(str::to_owned),
    })
}

impl Store {
    /// The newest lines.
    pub async fn list_audit(&self, limit: i64) -> Result<Vec<Entry>, DbError> {
        self.db
            .list(
                "SELECT id, at, actor, act, subject, reason FROM audit ORDER BY at DESC, id DESC LIMIT $1",
                vec![limit.into()],
                row,
            )
            .await
    }

    /// The newest lines that are older than this one.
    pub async fn list_audit_before(&self, at: i64, id: &str, limit: i64) -> Result<Vec<Entry>, DbError> {
        self.db
            .list(
                "SELECT id, at, actor, act, subject, reason FROM audit WHERE (at, id) < ($1, $2) \
                 ORDER BY at DESC, id DESC LIMIT $3",
                vec![at.into(), id.into(), limit.into()],
                row,
            )
            .await
    }

    /// The newest lines about one thing.
    pub async fn list_audit_of(&self, subject: &str, limit: i64) -> Result<Vec<Entry>, DbError> {
        self.db
            .list(
                "SELECT id, at, actor, act, subject, reason FROM audit WHERE subject = $1 \
                 ORDER BY at DESC, id DESC LIMIT $2",
                vec![subject.into(), limit.into()],
                row,
            )
            .await
    }
}

pub fn insert(entry: &Entry) -> Stmt {
    Stmt::new(
        "INSERT INTO audit (id, at, actor, act, subject, reason) VALUES ($1, $2, $3, $4, $5, $6)",
        vec![
            entry.id.as_str().into(),
            entry.at.into(),
            entry.actor.as_str().into(),
            entry.act.as_str().into(),
            entry.subject.as_str().into(),
            entry.reason.as_deref().into(),
        ],
    )
}
