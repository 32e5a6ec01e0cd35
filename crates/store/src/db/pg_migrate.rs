//! Migrations on PostgreSQL. Each runs in a transaction of its own and gives way to the requests of nodes that are running.
//!
//! `ALTER TABLE` needs a lock that excludes every other use of the table. While it waits for that lock behind a long
//! transaction, all later statements on the table wait behind it. So it waits only briefly, and the migration is repeated.

use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Transaction};

use super::migrate::{self, Pending};
use super::pg_pool::{Work, within};
use super::{DbError, PgDb, pg_receipt};

/// An arbitrary number, the same in every process of this program: one node at a time migrates.
const TRY_LOCK: &str = "SELECT pg_try_advisory_xact_lock(7241950283)";
/// The connection that holds that lock, which PostgreSQL lists as two halves.
const LOCK_HOLDER: &str = "SELECT l.pid, COALESCE(host(a.client_addr), '') FROM pg_locks l \
     LEFT JOIN pg_stat_activity a ON a.pid = l.pid \
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
     AND l.classid = CAST(7241950283 >> 32 AS OID) AND l.objid = CAST(7241950283 & 4294967295 AS OID) \
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1";
/// How often the lock is tried, and after how many attempts a wait is logged (again).
const LOCK_PAUSE: Duration = Duration::from_millis(250);
const LOGGED_ATTEMPTS: u32 = 40;
/// How long a statement may take that only looks something up or waits for no other transaction.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a statement of a migration waits for a lock, and so keeps others waiting; and after which time the server ends
/// the transaction of a process that was paused in the middle of one.
const GIVE_WAY: &str = "SET LOCAL lock_timeout = '1s'; SET LOCAL idle_in_transaction_session_timeout = '30s'";
/// Between two attempts the tables are free for everyone else.
const PAUSE: Duration = Duration::from_secs(2);
/// Three minutes of attempts and pauses.
const ATTEMPTS: u32 = 60;
const EXISTS: &str = "SELECT to_regclass('schema_migrations') IS NOT NULL";

/// How an attempt to run the next migration ended.
enum Attempt {
    NothingLeft,
    Applied,
    /// Another process migrates; nothing was changed.
    Waiting,
    /// Another transaction holds a lock that the named migration needs; nothing was changed.
    Blocked(&'static str),
}

impl PgDb {
    /// The schema version; 0 if the database is empty.
    pub(crate) async fn schema(&self) -> Result<i64, DbError> {
        let lease = self.pools.lease(Work::Write).await?;
        let version = within(ANSWER, read_version(lease.client()?)).await??;
        lease.finish();
        Ok(version)
    }

    /// Migrates to the latest version. A node that finds nothing to do takes no lock.
    pub(crate) async fn migrate(&self, now: i64) -> Result<(), DbError> {
        self.migrate_schema(now).await?;
        let mut waits = 0;
        while !self.receipts.has_table() && !self.create_receipts(waits).await? {
            tokio::time::sleep(LOCK_PAUSE).await;
            waits += 1;
        }
        Ok(())
    }

    /// False if another process migrates.
    async fn create_receipts(&self, waits: u32) -> Result<bool, DbError> {
        let mut lease = self.pools.lease(Work::Write).await?;
        let transaction = within(ANSWER, lease.client_mut()?.transaction()).await??;
        within(ANSWER, transaction.batch_execute(GIVE_WAY)).await??;
        let is_locked = try_lock(&transaction, waits).await?;
        if is_locked {
            within(ANSWER, transaction.batch_execute(pg_receipt::TABLE)).await??;
            within(ANSWER, transaction.commit()).await??;
            self.receipts.table_created();
        } else {
            within(ANSWER, transaction.rollback()).await??;
        }
        lease.finish();
        Ok(is_locked)
    }

    async fn migrate_schema(&self, now: i64) -> Result<(), DbError> {
        let found = self.schema().await?;
        migrate::check_known(found)?;
        if found == migrate::latest() {
            return Ok(());
        }
        let (mut blocked, mut waits) = (0, 0);
        loop {
            match self.migrate_next(now, waits).await? {
                Attempt::NothingLeft => return Ok(()),
                Attempt::Applied => (blocked, waits) = (0, 0),
                Attempt::Waiting => {
                    tokio::time::sleep(LOCK_PAUSE).await;
                    waits += 1;
                }
                Attempt::Blocked(name) if blocked < ATTEMPTS => {
                    blocked += 1;
                    tracing::warn!(
                        migration = name,
                        attempt = blocked,
                        "migration waits for a lock that another transaction holds, will retry"
                    );
                    tokio::time::sleep(PAUSE).await;
                }
                Attempt::Blocked(name) => {
                    // Waiting at the start does not help: it has been tried long enough.
                    return Err(DbError::internal(format!(
                        "migration {name} did not get its locks in {ATTEMPTS} attempts: end the long transactions that \
                         pg_stat_activity lists, then start again; nothing of this migration was changed"
                    )));
                }
            }
        }
    }

    /// One transaction for each attempt to get the lock: one that stayed open between them could be ended by the server.
    async fn migrate_next(&self, now: i64, waits: u32) -> Result<Attempt, DbError> {
        let mut lease = self.pools.lease(Work::Write).await?;
        let transaction = within(ANSWER, lease.client_mut()?.transaction()).await??;
        // Before the lock, so that a process that is paused never holds it without this limit.
        within(ANSWER, transaction.batch_execute(GIVE_WAY)).await??;
        if !try_lock(&transaction, waits).await? {
            within(ANSWER, transaction.rollback()).await??;
            lease.finish();
            return Ok(Attempt::Waiting);
        }
        within(ANSWER, transaction.batch_execute(migrate::TABLE)).await??;
        let found = within(ANSWER, transaction.query_one(migrate::CURRENT, &[])).await??;
        let next = migrate::pending(found.try_get(0)?, migrate::latest())?.into_iter().next();
        let attempt = match next {
            None => {
                within(ANSWER, transaction.commit()).await??;
                Attempt::NothingLeft
            }
            // Without a limit of its own: it may build an index. A lost connection ends it.
            Some(step) => match run(&transaction, &step, now).await {
                Ok(()) => {
                    transaction.commit().await?;
                    tracing::info!(migration = step.name(), "migration applied");
                    Attempt::Applied
                }
                Err(error) if is_blocked(&error) => {
                    within(ANSWER, transaction.rollback()).await??;
                    Attempt::Blocked(step.name())
                }
                Err(error) => return Err(error.into()),
            },
        };
        lease.finish();
        Ok(attempt)
    }

    /// Runs the missing migrations up to a version in the caller's transaction, one process at a time.
    pub(crate) async fn apply_migrations(
        transaction: &Transaction<'_>,
        wanted: i64,
        now: i64,
    ) -> Result<(), DbError> {
        lock(transaction).await?;
        transaction.batch_execute(migrate::TABLE).await?;
        let found: i64 = transaction.query_one(migrate::CURRENT, &[]).await?.try_get(0)?;
        for step in migrate::pending(found, wanted)? {
            run(transaction, &step, now).await?;
        }
        Ok(())
    }
}

async fn read_version(client: &Client) -> Result<i64, tokio_postgres::Error> {
    let found = client.query_one(EXISTS, &[]).await?;
    if !found.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    client.query_one(migrate::CURRENT, &[]).await?.try_get(0)
}

/// Waits until no other process migrates, however long that takes.
async fn lock(transaction: &Transaction<'_>) -> Result<(), DbError> {
    let mut waits = 0;
    while !try_lock(transaction, waits).await? {
        tokio::time::sleep(LOCK_PAUSE).await;
        waits += 1;
    }
    Ok(())
}

/// False if another process migrates, which is logged now and then. Each attempt is a statement of its own: one that waits in
/// the server could not tell a dead connection from a long migration.
async fn try_lock(transaction: &Transaction<'_>, waits: u32) -> Result<bool, DbError> {
    if within(ANSWER, transaction.query_one(TRY_LOCK, &[])).await??.try_get(0)? {
        return Ok(true);
    }
    if waits.is_multiple_of(LOGGED_ATTEMPTS) {
        let holder = within(ANSWER, transaction.query_opt(LOCK_HOLDER, &[])).await??;
        let (pid, address) = match &holder {
            Some(row) => (row.try_get::<_, Option<i32>>(0)?, row.try_get::<_, String>(1)?),
            None => (None, String::new()),
        };
        tracing::warn!(
            backend_pid = pid,
            address,
            "waiting for another process that migrates the database, will retry"
        );
    }
    Ok(false)
}

async fn run(transaction: &Transaction<'_>, step: &Pending, now: i64) -> Result<(), tokio_postgres::Error> {
    for sql in step.for_postgres() {
        transaction.batch_execute(sql).await?;
    }
    transaction.execute(migrate::RECORD, &[&step.version, &step.name(), &now]).await?;
    Ok(())
}

/// Whether a lock was not granted in time, or the wait for it was part of a deadlock.
fn is_blocked(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| {
        *state == SqlState::LOCK_NOT_AVAILABLE || *state == SqlState::T_R_DEADLOCK_DETECTED
    })
}
