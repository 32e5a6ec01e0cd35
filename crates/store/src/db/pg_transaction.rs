//! One transaction on PostgreSQL: fences, the statements of a batch, notifications and the receipt, sent together.

use std::time::Duration;

use deadpool_postgres::Object;

use super::pg_guard::guarded;
use super::pg_pipeline::{Ending, Failure, check_guards, check_results, run_all, run_one};
use super::pg_receipt::Receipt;
use super::stmt::{Fence, FenceKind};
use super::{DbError, Expect, Outcome, Stmt, Val};

const NOTIFY: &str = "SELECT pg_notify('dropleaf_changed', $1)";

/// A transaction that writes nothing of ours, and so is answered when everything its connection has seen is as durable as an
/// acknowledged write.
///
/// Without it, that is not so: a server that shuts down while a commit waits for a replica gives the wait up, and others see
/// the commit for a moment, although the next primary may not have it. An answer that follows from such a commit ("the key
/// was used", with the response of that use) would be wrong.
const CONFIRM: &str = "SELECT pg_logical_emit_message(true, 'dropleaf', '')";
const ROLLBACK_AND_CONFIRM: &str = "ROLLBACK; SELECT pg_logical_emit_message(true, 'dropleaf', '')";

/// The server gives up before we do, and ends transactions of a process that stopped answering: both would hold their locks.
const BEGIN: &str =
    "BEGIN; SET LOCAL lock_timeout = '8s'; SET LOCAL idle_in_transaction_session_timeout = '15s'";

/// For transactions of several accounts, which must not wait long for the lock of one of them. Shorter than the second after
/// which PostgreSQL looks for deadlocks.
const BEGIN_SHORT: &str =
    "BEGIN; SET LOCAL lock_timeout = '250ms'; SET LOCAL idle_in_transaction_session_timeout = '5s'";
pub(super) const SHORT_LOCK_WAIT: Duration = Duration::from_millis(250);

/// The fence of an account. Unlike the lock of a row, it lets those through first that came first, so batches that share it
/// cannot keep one away that must be alone.
const FENCE_SHARED: &str = "SELECT CAST(pg_advisory_xact_lock_shared(hashtextextended($1, 0)) AS TEXT)";
const FENCE_ALONE: &str = "SELECT CAST(pg_advisory_xact_lock(hashtextextended($1, 0)) AS TEXT)";

/// What the caller needs to know of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// What each statement did.
    Outcomes,
    /// Only that all of it is committed. COMMIT is sent with the statements, and there are no outcomes: they could be lost
    /// although it was committed.
    Commit,
    /// What each statement found, once all that it saw is durable: for reads that prove a write.
    Proof,
}

/// How long the server lets a transaction wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockWait {
    Usual,
    Short,
}

impl LockWait {
    const fn begin(self) -> &'static str {
        match self {
            LockWait::Usual => BEGIN,
            LockWait::Short => BEGIN_SHORT,
        }
    }
}

/// How far an attempt came, which decides what a lost connection means.
pub(super) enum Progress {
    /// Nothing is committed.
    Undone,
    /// A statement without a transaction was sent.
    Alone,
    /// COMMIT was sent after these outcomes, or with statements whose outcomes nobody needs.
    Committing(Vec<Outcome>),
}

#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) stmts: &'a [Stmt],
    /// What the other nodes are notified of.
    pub(super) changed: &'a [String],
    pub(super) needs: Needs,
    pub(super) lock_wait: LockWait,
}

impl Batch<'_> {
    pub(super) async fn run(
        self,
        client: &Object,
        receipt: Option<&Receipt>,
        progress: &mut Progress,
    ) -> Result<Vec<Outcome>, Failure> {
        if let ([stmt], []) = (self.stmts, self.changed)
            && stmt.expect == Expect::Any
            && stmt.fence.as_deref().is_none_or(|fence| fence.kind == FenceKind::PermitOnly)
        {
            let statement = client.prepare_cached(&stmt.sql).await?;
            *progress = Progress::Alone;
            let outcome = run_one(client, &statement, stmt).await?;
            // A statement that has written nothing has waited for nothing.
            if outcome.affected == 0 || self.needs == Needs::Proof {
                *progress = Progress::Undone;
                client.batch_execute(CONFIRM).await?;
            }
            return Ok(vec![outcome]);
        }
        let fences: Vec<Option<Stmt>> =
            self.stmts.iter().map(|stmt| stmt.fence.as_deref().and_then(fence)).collect();
        let mut last: Vec<Stmt> =
            self.changed.iter().map(|what| Stmt::new(NOTIFY, [Val::from(what)])).collect();
        last.extend(receipt.map(Receipt::stmt));
        let mut all = Vec::with_capacity(self.stmts.len() + fences.len() + last.len());
        for (stmt, fence) in self.stmts.iter().zip(&fences) {
            all.extend(fence.as_ref().map(|fence| (fence, false)));
            all.push((stmt, true));
        }
        all.extend(last.iter().map(|stmt| (stmt, false)));
        let begin = self.lock_wait.begin();
        match self.needs {
            // Without a receipt nobody could tell what became of it.
            Needs::Commit if receipt.is_some() => run_with_commit(client, begin, &all, progress).await,
            Needs::Commit | Needs::Outcomes | Needs::Proof => {
                run_then_commit(client, begin, &all, progress).await
            }
        }
    }
}

/// Sends COMMIT with the statements, whose guards the server checks.
async fn run_with_commit(
    client: &Object,
    begin: &str,
    all: &[(&Stmt, bool)],
    progress: &mut Progress,
) -> Result<Vec<Outcome>, Failure> {
    let mut prepared = Vec::with_capacity(all.len());
    for (stmt, _) in all {
        prepared.push(client.prepare_cached(&guarded(stmt)).await?);
    }
    let sent: Vec<_> = prepared.iter().zip(all).map(|(statement, (stmt, _))| (statement, *stmt)).collect();
    *progress = Progress::Committing(Vec::new());
    let mut results = run_all(client, begin, &sent, Ending::Commit).await.map_err(Failure::Begin)?;
    let committed = (results.len() > sent.len()).then(|| results.pop()).flatten();
    if let Err(failure) = check_results(results, all) {
        // A COMMIT after a failed statement has rolled back.
        if failure.is_answer() || committed.is_none() {
            *progress = Progress::Undone;
        }
        match (committed.is_none(), is_about_data(&failure)) {
            (true, true) => client.batch_execute(ROLLBACK_AND_CONFIRM).await?,
            (true, false) => client.batch_execute("ROLLBACK").await?,
            (false, true) => client.batch_execute(CONFIRM).await?,
            (false, false) => {}
        }
        return Err(failure);
    }
    if let Some(Err(failure)) = committed {
        return Err(failure);
    }
    Ok(Vec::new())
}

/// Sends COMMIT once the outcomes are known and their guards hold.
async fn run_then_commit(
    client: &Object,
    begin: &str,
    all: &[(&Stmt, bool)],
    progress: &mut Progress,
) -> Result<Vec<Outcome>, Failure> {
    let mut prepared = Vec::with_capacity(all.len());
    for (stmt, _) in all {
        prepared.push(client.prepare_cached(&stmt.sql).await?);
    }
    let sent: Vec<_> = prepared.iter().zip(all).map(|(statement, (stmt, _))| (statement, *stmt)).collect();
    let results = run_all(client, begin, &sent, Ending::Open).await.map_err(Failure::Begin)?;
    match check_guards(results, all) {
        Ok(outcomes) => {
            *progress = Progress::Committing(outcomes);
            client.batch_execute("COMMIT").await?;
            match std::mem::replace(progress, Progress::Undone) {
                Progress::Committing(outcomes) => Ok(outcomes),
                Progress::Undone | Progress::Alone => Ok(Vec::new()),
            }
        }
        Err(failure) => {
            let end = if is_about_data(&failure) { ROLLBACK_AND_CONFIRM } else { "ROLLBACK" };
            client.batch_execute(end).await?;
            Err(failure)
        }
    }
}

/// Whether the batch failed because of what it found: a guard.
const fn is_about_data(failure: &Failure) -> bool {
    matches!(failure, Failure::Final(DbError::Guard(_)))
}

fn fence(fence: &Fence) -> Option<Stmt> {
    let sql = match fence.kind {
        FenceKind::Shared => FENCE_SHARED,
        FenceKind::Alone => FENCE_ALONE,
        FenceKind::PermitOnly => return None,
    };
    Some(Stmt::new(sql, [Val::from(&fence.account)]))
}
