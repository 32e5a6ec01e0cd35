//! The operator's diary: a line is written in the transaction of the act it tells of.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::audit::{Act, Entry};
use dropleaf_store::{Stmt, audit};

/// Who acts when a command does.
pub const COMMAND_LINE: &str = "command line";
/// And when the server does by itself, because a time is over.
pub(crate) const OURSELVES: &str = "dropleaf";

impl App {
    /// The statement that writes a line, for the batch of the act.
    pub(crate) fn audited(&self, actor: &str, act: Act, subject: &str, reason: Option<String>) -> Stmt {
        let at = self.now();
        audit::insert(&Entry {
            id: self.minter.ordered_id("aud", at),
            at,
            actor: actor.to_owned(),
            act,
            subject: subject.to_owned(),
            reason,
        })
    }

    /// Says in the log what was done, once it is.
    pub(crate) fn log_act(actor: &str, act: Act, subject: &str) {
        tracing::info!(actor, act = act.as_str(), subject, "an operator acted");
    }

    /// The newest lines that are older than the one with this id.
    pub async fn list_audit_before(&self, id: &str, limit: i64) -> Result<Vec<Entry>> {
        Ok(self.store.list_audit_before(id, limit).await?)
    }

    /// The newest lines about one page, account, payment or appeal.
    pub async fn list_audit_of(&self, subject: &str, limit: i64) -> Result<Vec<Entry>> {
        Ok(self.store.list_audit_of(subject, limit).await?)
    }

    /// The newest lines.
    pub async fn list_audit(&self, limit: i64) -> Result<Vec<Entry>> {
        Ok(self.store.list_audit(limit).await?)
    }
}
