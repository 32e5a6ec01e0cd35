//! Migrations on PostgreSQL. Each runs in a transaction of its own and gives way to the requests of nodes that are running.
//!
//! `ALTER TABLE` needs a lock that excludes every other use of the table. While it waits for that lock behind a long
//! transaction, all later statements on the table wait behind it. So it waits only briefly, and the migration is repeated.

use std::time::Duration;

use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;

use super::migrate::{self, Pending};
use super::{DbError, PgDb, pg_receipt};

/// An arbitrary number, the same in every process of this program. Waits until no other node migrates.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7241950283)";
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
    /// Another transaction holds a lock that the named migration needs; nothing was changed.
    Blocked(&'static str),
}

impl PgDb {
    /// The schema version; 0 if the database is empty.
    pub(crate) async fn schema(&self) -> Result<i64, DbError> {
        let client = self.client().await?;
        let found = client.query_one(EXISTS, &[]).await?;
        if !found.try_get::<_, bool>(0)? {
            return Ok(0);
        }
        Ok(client.query_one(migrate::CURRENT, &[]).await?.try_get(0)?)
    }

    /// Migrates to the latest version. A node that finds nothing to do takes no lock.
    pub(crate) async fn migrate(&self, now: i64) -> Result<(), DbError> {
        self.migrate_schema(now).await?;
        if !self.receipts.has_table() {
            let mut client = self.client().await?;
            let transaction = client.transaction().await?;
            transaction.batch_execute(MIGRATION_LOCK).await?;
            transaction.batch_execute(pg_receipt::TABLE).await?;
            transaction.commit().await?;
            self.receipts.table_created();
        }
        Ok(())
    }

    async fn migrate_schema(&self, now: i64) -> Result<(), DbError> {
        let found = self.schema().await?;
        migrate::check_known(found)?;
        if found == migrate::latest() {
            return Ok(());
        }
        let mut blocked = 0;
        loop {
            match self.migrate_next(now).await? {
                Attempt::NothingLeft => return Ok(()),
                Attempt::Applied => blocked = 0,
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
                    return Err(DbError::unavailable(format!(
                        "migration {name} did not get its locks in {ATTEMPTS} attempts: end the long transactions that \
                         pg_stat_activity lists, then start again; nothing of this migration was changed"
                    )));
                }
            }
        }
    }

    async fn migrate_next(&self, now: i64) -> Result<Attempt, DbError> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // Before the time limit for locks: another node may migrate for longer.
        transaction.batch_execute(MIGRATION_LOCK).await?;
        transaction.batch_execute(GIVE_WAY).await?;
        transaction.batch_execute(migrate::TABLE).await?;
        let found: i64 = transaction.query_one(migrate::CURRENT, &[]).await?.try_get(0)?;
        let Some(step) = migrate::pending(found, migrate::latest())?.into_iter().next() else {
            transaction.commit().await?;
            return Ok(Attempt::NothingLeft);
        };
        match run(&transaction, &step, now).await {
            Ok(()) => {
                transaction.commit().await?;
                tracing::info!(migration = step.name(), "migration applied");
                Ok(Attempt::Applied)
            }
            Err(error) if is_blocked(&error) => {
                transaction.rollback().await?;
                Ok(Attempt::Blocked(step.name()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the missing migrations up to a version in the caller's transaction, one process at a time.
    pub(crate) async fn apply_migrations(
        transaction: &Transaction<'_>,
        wanted: i64,
        now: i64,
    ) -> Result<(), DbError> {
        transaction.batch_execute(MIGRATION_LOCK).await?;
        transaction.batch_execute(migrate::TABLE).await?;
        let found: i64 = transaction.query_one(migrate::CURRENT, &[]).await?.try_get(0)?;
        for step in migrate::pending(found, wanted)? {
            run(transaction, &step, now).await?;
        }
        Ok(())
    }
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
