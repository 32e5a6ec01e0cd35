//! SQL for `audit`, the log of operator actions. Rows are never changed or deleted.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::audit::{AuditAction, AuditEntry};

columns! { AuditColumns, audit_columns: id, at, actor, act, subject, reason }

fn row(row: &Row<'_>) -> Result<AuditEntry, DbError> {
    const COLUMN: AuditColumns = AuditColumns::starting_at(0);
    let act = row.text(COLUMN.act)?;
    Ok(AuditEntry {
        id: row.string(COLUMN.id)?,
        at: row.int(COLUMN.at)?,
        actor: row.string(COLUMN.actor)?,
        action: AuditAction::parse(act)
            .ok_or_else(|| DbError::internal(format!("unknown audit action {act}")))?,
        subject: row.string(COLUMN.subject)?,
        reason: row.opt_string(COLUMN.reason)?,
    })
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", audit_columns!(), " FROM audit ", $tail)
    };
}

/// All lists are newest first. Two nodes that write at the same moment may assign the same `seq`; time and id break the tie.
impl Store {
    /// The newest entries.
    pub async fn list_audit(&self, limit: i64) -> Result<Vec<AuditEntry>, DbError> {
        self.db.list(select!("ORDER BY seq DESC, at DESC, id DESC LIMIT $1"), vec![limit.into()], row).await
    }

    /// The newest entries that are older than the one with this id.
    pub async fn list_audit_before(&self, id: &str, limit: i64) -> Result<Vec<AuditEntry>, DbError> {
        let sql = select!(
            "WHERE (seq, at, id) < (SELECT seq, at, id FROM audit WHERE id = $1) \
             ORDER BY seq DESC, at DESC, id DESC LIMIT $2"
        );
        self.db.list(sql, vec![id.into(), limit.into()], row).await
    }

    /// The newest entries about one subject.
    pub async fn list_audit_of(&self, subject: &str, limit: i64) -> Result<Vec<AuditEntry>, DbError> {
        let sql = select!("WHERE subject = $1 ORDER BY seq DESC, at DESC, id DESC LIMIT $2");
        self.db.list(sql, vec![subject.into(), limit.into()], row).await
    }

    /// The newest entries about either of two subjects.
    pub async fn list_audit_of_either(
        &self,
        subject: &str,
        other: &str,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, DbError> {
        let sql = select!("WHERE subject = $1 OR subject = $2 ORDER BY seq DESC, at DESC, id DESC LIMIT $3");
        self.db.list(sql, vec![subject.into(), other.into(), limit.into()], row).await
    }
}

/// Inserts an entry with a `seq` above all existing ones.
pub fn insert(entry: &AuditEntry) -> Stmt {
    Stmt::new(
        "INSERT INTO audit (id, at, actor, act, subject, reason, seq) VALUES ($1, $2, $3, $4, $5, $6, \
         (SELECT COALESCE(MAX(seq), 0) + 1 FROM audit))",
        vec![
            entry.id.as_str().into(),
            entry.at.into(),
            entry.actor.as_str().into(),
            entry.action.as_str().into(),
            entry.subject.as_str().into(),
            entry.reason.as_deref().into(),
        ],
    )
}
