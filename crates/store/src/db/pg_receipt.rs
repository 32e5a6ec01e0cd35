//! Finds out whether a batch whose COMMIT was not answered was committed.
//!
//! Each batch writes its own number into a row of `write_receipts` that only one batch at a time uses. If the answer to
//! COMMIT is lost, that row is locked, read and sealed: the lock waits for a transaction that has written the row, and one that
//! comes to it later fails. So afterwards the row says for certain whether the batch was committed. The number of a transaction (`pg_xact_status`) would not do, because a new
//! primary may use it again for another one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use super::pg::PgDb;
use super::pg_pool::{Work, within};
use super::pg_transaction::Needs;
use super::{DbError, Stmt, Val};

/// Belongs to the connection, like the table of migrations, and not to the schema: its rows mean nothing later or elsewhere.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS write_receipts (
  slot TEXT PRIMARY KEY, batch BIGINT NOT NULL, written_at BIGINT NOT NULL) WITH (fillfactor = 50)";
const FORGET: &str =
    "DELETE FROM write_receipts WHERE written_at < CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) - 2592000";
const WRITE: &str = "INSERT INTO write_receipts (slot, batch, written_at) \
     VALUES ($1, $2, CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)) \
     ON CONFLICT (slot) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at \
     WHERE ABS(write_receipts.batch) < excluded.batch";
/// The receipt was sealed before this batch wrote it, so the batch must not commit.
const SEALED: &str = "receipt_sealed";
/// Waits for the transaction that has written the row, also if that has created it. The negative number seals the row against
/// this batch: the server may still have its statements to run.
const ASK: &str = "INSERT INTO write_receipts (slot, batch, written_at) \
     VALUES ($1, -CAST($2 AS BIGINT), CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)) \
     ON CONFLICT (slot) DO UPDATE SET batch = CASE WHEN write_receipts.batch = CAST($2 AS BIGINT) \
     THEN write_receipts.batch ELSE excluded.batch END RETURNING batch";
/// How long it is asked; a new primary needs up to half a minute.
const ASKING: Duration = Duration::from_secs(40);
const ANSWER: Duration = Duration::from_secs(5);
/// The server gives up first, so that no process there goes on waiting for the row.
const BEGIN_ASKING: &str =
    "BEGIN; SET LOCAL lock_timeout = '4s'; SET LOCAL idle_in_transaction_session_timeout = '15s'";
const PAUSE: Duration = Duration::from_millis(250);

/// The rows of this process that no batch uses now.
#[derive(Debug)]
pub(super) struct Receipts {
    /// Different in every process that uses the database.
    process: String,
    /// Whether the table exists: not before the first migration by a program that knows it.
    has_table: AtomicBool,
    free: Mutex<Vec<i64>>,
    next_slot: AtomicI64,
    next_batch: AtomicI64,
}

/// A row in use by one batch.
#[derive(Debug)]
pub(super) struct Receipt {
    number: i64,
    slot: String,
    batch: i64,
}

/// What became of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommitOutcome {
    Committed,
    RolledBack,
}

impl Receipts {
    pub(super) fn new(process: String, has_table: bool) -> Self {
        Self {
            process,
            has_table: AtomicBool::new(has_table),
            free: Mutex::default(),
            next_slot: AtomicI64::new(0),
            next_batch: AtomicI64::new(1),
        }
    }

    pub(super) fn has_table(&self) -> bool {
        self.has_table.load(Ordering::Acquire)
    }

    pub(super) fn table_created(&self) {
        self.has_table.store(true, Ordering::Release);
    }

    /// A row for one attempt of a batch; `None` while there is no table.
    pub(super) fn take(&self) -> Option<Receipt> {
        if !self.has_table() {
            return None;
        }
        let free = self.free.lock().ok().and_then(|mut free| free.pop());
        let number = free.unwrap_or_else(|| self.next_slot.fetch_add(1, Ordering::Relaxed));
        let batch = self.next_batch.fetch_add(1, Ordering::Relaxed);
        Some(Receipt { number, slot: format!("{}-{number}", self.process), batch })
    }

    /// Lets other batches use the row, once the outcome of this one is known. A row whose batch was abandoned is not used again.
    pub(super) fn give_back(&self, receipt: Option<Receipt>) {
        if let (Some(receipt), Ok(mut free)) = (receipt, self.free.lock()) {
            free.push(receipt.number);
        }
    }
}

impl Receipt {
    pub(super) fn stmt(&self) -> Stmt {
        Stmt::new(WRITE, vec![Val::from(self.slot.as_str()), self.batch.into()]).one(SEALED)
    }
}

impl PgDb {
    /// Deletes the rows of processes that are gone.
    pub(super) async fn forget_receipts(&self) -> Result<(), DbError> {
        if self.receipts.has_table() {
            self.batch(&[Stmt::new(FORGET, [])], &[], Needs::Outcomes).await?;
        }
        Ok(())
    }

    /// Asks until the database answers; an error if it does not for long.
    pub(super) async fn commit_outcome(&self, receipt: &Receipt) -> Result<CommitOutcome, DbError> {
        let asking = async {
            loop {
                match within(ANSWER, self.ask(receipt)).await {
                    Ok(Ok(outcome)) => return outcome,
                    Ok(Err(error)) | Err(error) => {
                        tracing::debug!(%error, "outcome of a write not known yet; asking again");
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        within(ASKING, asking).await
    }

    async fn ask(&self, receipt: &Receipt) -> Result<CommitOutcome, DbError> {
        let lease = self.pools.lease(Work::Write).await?;
        let client = lease.client()?;
        client.batch_execute(BEGIN_ASKING).await?;
        let found: i64 = client.query_one(ASK, &[&receipt.slot, &receipt.batch]).await?.try_get(0)?;
        // Answered when it is as durable as every other commit, and so what was read in it.
        client.batch_execute("COMMIT").await?;
        lease.finish();
        Ok(if found == receipt.batch { CommitOutcome::Committed } else { CommitOutcome::RolledBack })
    }
}
