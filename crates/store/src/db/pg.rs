//! PostgreSQL: settings and reads. Connections are in `pg_pool`, writes in `pg_batch`, migrations in `pg_migrate`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Object;
use futures_util::future::BoxFuture;
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::error::SqlState;

use super::error::is_connection_lost;
use super::pg_account_permits::AccountPermits;
use super::pg_groups::Groups;
use super::pg_pool::{Pools, Work, within};
use super::pg_receipt::Receipts;
use super::pg_replicas::Replicas;
use super::pg_servers::Servers;
use super::rows::Rows;
use super::write_queue::{self, QueueSlot, WriteQueue};
use super::{DbError, Row, Stmt, Val, pg_pooler};

/// How long one read may take. The longest lists take a fraction of it.
const READ: Duration = Duration::from_secs(10);
/// A name that no other process has, and whether there are receipts yet.
const OPENED: &str = "SELECT CAST(gen_random_uuid() AS TEXT), to_regclass('write_receipts') IS NOT NULL";

/// More about a PostgreSQL database than its URL.
#[derive(Clone, Default)]
pub struct PgOptions {
    /// Replicas that may be read from.
    pub read_urls: Vec<String>,
    /// A replica that is further behind is not used.
    pub max_lag: Duration,
    /// Another address for LISTEN, if the URL is the one of a pooler.
    pub listen_url: Option<String>,
}

impl std::fmt::Debug for PgOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Omits the URLs: they hold passwords.
        f.debug_struct("PgOptions").field("max_lag", &self.max_lag).finish_non_exhaustive()
    }
}

pub(crate) struct PgDb {
    pub(super) pools: Pools,
    pub(super) replicas: Arc<Replicas>,
    pub(super) receipts: Receipts,
    pub(super) account_permits: AccountPermits,
    pub(super) groups: Groups,
    write_queue: WriteQueue,
    /// Where changes are listened for.
    pub(super) listen_servers: Servers,
    /// Whether the server has become a replica, so that nothing that is read there can be trusted to be new.
    pub(super) is_demoted: AtomicBool,
}

impl std::fmt::Debug for PgDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Omits the configuration: it holds the password.
        f.write_str("PgDb")
    }
}

impl PgDb {
    /// Connections of a node: those of the pools and the one that receives notifications.
    pub(crate) const CONNECTIONS: i64 = 6 + 4 + 10 + 1 + 1;

    pub(crate) async fn open(url: &str, options: &PgOptions) -> Result<Self, DbError> {
        let mut db = Self::unconnected(url)?;
        // Reports a wrong address or password at start, not at the first request.
        let client = db.pools.client(Work::Write).await?;
        let about = within(READ, client.query_one(OPENED, &[])).await?.map_err(pg_pooler::explain)?;
        let other = db.pools.client(Work::Lookup).await?;
        within(READ, pg_pooler::check(&client, &other, options.listen_url.is_some())).await??;
        drop((client, other));
        db.receipts = Receipts::new(about.try_get(0)?, about.try_get(1)?);
        db.replicas = Arc::new(Replicas::new(&options.read_urls, options.max_lag)?);
        if let Some(url) = &options.listen_url {
            db.listen_servers = Servers::parse(url)?;
        }
        Ok(db)
    }

    /// Connects with the first call.
    pub(super) fn unconnected(url: &str) -> Result<Self, DbError> {
        let servers = Servers::parse(url)?;
        Ok(PgDb {
            pools: Pools::new(&servers)?,
            replicas: Arc::new(Replicas::new(&[], Duration::ZERO)?),
            receipts: Receipts::new(String::new(), false),
            account_permits: AccountPermits::default(),
            groups: Groups::default(),
            write_queue: WriteQueue::default(),
            listen_servers: servers,
            is_demoted: AtomicBool::new(false),
        })
    }

    /// A place for a write, for as long as its caller waits for it.
    pub(super) fn reserve(&self, stmts: &[Stmt]) -> Result<QueueSlot, DbError> {
        self.write_queue.reserve(write_queue::weight(stmts)).ok_or(DbError::Busy)
    }

    /// A connection for long work; the caller limits its time.
    pub(crate) async fn client(&self) -> Result<Object, DbError> {
        self.pools.client(Work::Write).await
    }

    /// Boxed, so that it is compiled in this crate and once.
    pub(super) fn read<'a>(
        &'a self,
        work: Work,
        sql: &'static str,
        args: &'a [Val],
        rows: &'a mut dyn Rows,
    ) -> BoxFuture<'a, Result<(), DbError>> {
        let read = async move {
            match self.read_once(work, sql, args, rows).await {
                Err(Failure::Lost(_)) => {
                    // The server restarted or the schema changed: a read can simply be repeated.
                    rows.clear();
                    self.read_once(work, sql, args, rows).await.map_err(Failure::into)
                }
                done => done.map_err(Failure::into),
            }
        };
        Box::pin(read)
    }

    async fn read_once(
        &self,
        work: Work,
        sql: &'static str,
        args: &[Val],
        rows: &mut dyn Rows,
    ) -> Result<(), Failure> {
        if self.is_demoted.load(Ordering::Relaxed) && work != Work::Ping {
            return Err(Failure::Final(DbError::unavailable(
                "the server is a replica, and what it has may be old",
            )));
        }
        let lease = self.pools.lease(work).await.map_err(Failure::Final)?;
        let client = lease.client().map_err(Failure::Final)?;
        match within(READ, read_with(client, sql, args, rows)).await {
            Ok(Err(Failure::Driver(error))) if client.is_closed() || is_lost(&error) => {
                lease.close();
                self.pools.forget_idle();
                Err(Failure::Lost(error))
            }
            Ok(done) => {
                lease.finish();
                done
            }
            Err(late) => {
                lease.close();
                // A list may just take long, but a lookup that is not answered means a dead connection.
                if work != Work::List {
                    self.pools.forget_idle();
                }
                Err(Failure::Final(late))
            }
        }
    }

    /// Checks that the database answers and can be written to.
    pub(super) async fn ping(&self) -> Result<(), DbError> {
        if self.is_read_only().await? {
            self.pools.forget_idle();
            return Err(DbError::unavailable("the server accepts no writes"));
        }
        self.is_demoted.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the server accepts no writes, asked over a connection of its own.
    pub(super) async fn is_read_only(&self) -> Result<bool, DbError> {
        const IS_READ_ONLY: &str = "SELECT CAST(CASE WHEN current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END AS BIGINT)";
        let mut rows = super::rows::Mapped::new(|row| row.flag(0), 1);
        self.read(Work::Ping, IS_READ_ONLY, &[], &mut rows).await?;
        Ok(rows.found.pop() == Some(true))
    }

    pub(crate) fn close(&self) {
        self.replicas.close();
        self.pools.close();
    }
}

/// Whether the server no longer accepts a prepared statement, because the schema changed.
pub(super) fn is_statement_stale(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED)
}

/// The connection was lost, or has to be replaced by a new one.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    is_connection_lost(error) || is_statement_stale(error)
}

enum Failure {
    Driver(tokio_postgres::Error),
    /// Over another connection it may succeed.
    Lost(tokio_postgres::Error),
    Final(DbError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::Driver(error)
    }
}

impl From<Failure> for DbError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Driver(error) | Failure::Lost(error) => error.into(),
            Failure::Final(error) => error,
        }
    }
}

async fn read_with(
    client: &Object,
    sql: &'static str,
    args: &[Val],
    found: &mut dyn Rows,
) -> Result<(), Failure> {
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query_raw(&statement, args).await?;
    pin_mut!(rows);
    while let Some(row) = rows.try_next().await? {
        if !found.is_full() {
            found.push(&Row::pg(&row)).map_err(Failure::Final)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_connections_is_that_of_the_pools() {
        let pools: usize = Work::ALL.map(Work::connections).iter().sum();
        assert_eq!(i64::try_from(pools + 1), Ok(PgDb::CONNECTIONS));
    }
}
