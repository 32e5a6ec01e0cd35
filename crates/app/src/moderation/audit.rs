//! The audit log: an entry is written in the transaction of the operation that it records.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::audit::{AuditAction, AuditEntry};
use dropleaf_store::{Stmt, audit};

/// The actor of operations run from the command line.
pub const COMMAND_LINE: &str = "command line";
/// The actor of operations the server runs by itself when a retention period ends.
pub(crate) const SYSTEM_ACTOR: &str = "dropleaf";

impl App {
    /// The statement that inserts an entry, for the operation's batch.
    pub(crate) fn audit_stmt(
        &self,
        actor: &str,
        act: AuditAction,
        subject: &str,
        reason: Option<String>,
    ) -> Stmt {
        let at = self.now();
        audit::insert(&AuditEntry {
            id: self.minter.ordered_id("aud", at),
            at,
            actor: actor.to_owned(),
            action: act,
            subject: subject.to_owned(),
            reason,
        })
    }

    /// Logs the operation after it was committed.
    pub(crate) fn log_operation(actor: &str, act: AuditAction, subject: &str) {
        tracing::info!(actor, act = act.as_str(), subject, "operator action");
    }

    /// The newest entries older than the one with this id.
    pub async fn list_audit_before(&self, id: &str, limit: i64) -> Result<Vec<AuditEntry>> {
        Ok(self.store.list_audit_before(id, limit).await?)
    }

    /// The newest entries about one page, account, payment or appeal.
    pub async fn list_audit_about(&self, subject: &str, limit: i64) -> Result<Vec<AuditEntry>> {
        Ok(self.store.list_audit_of(subject, limit).await?)
    }

    /// The newest entries.
    pub async fn list_audit(&self, limit: i64) -> Result<Vec<AuditEntry>> {
        Ok(self.store.list_audit(limit).await?)
    }
}
