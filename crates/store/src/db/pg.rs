//! PostgreSQL: connection pool, settings, reads and migrations. Writes are in `pg_batch`.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::future::BoxFuture;
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::is_connection_lost;
use super::rows::Rows;
use super::{DbError, Row, Val, migrate, pg_tls};

const TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTIONS: usize = 16;
/// An arbitrary number, the same in every process of this program.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7241950283)";

pub(crate) struct PgDb {
    pub(super) pool: Pool,
    pub(super) config: tokio_postgres::Config,
    pub(super) tls: MakeRustlsConnect,
}

impl std::fmt::Debug for PgDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Omits the configuration: it holds the password.
        f.write_str("PgDb")
    }
}

impl PgDb {
    pub(crate) async fn open(url: &str) -> Result<Self, DbError> {
        let mut config: tokio_postgres::Config =
            url.parse().map_err(|error| DbError::internal(format!("not a PostgreSQL URL: {error}")))?;
        config.connect_timeout(TIMEOUT);
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("dropleaf");
        }
        let tls = pg_tls::connector(config.get_ssl_mode())?;
        let recycle = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_config(config.clone(), tls.clone(), recycle))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(TIMEOUT))
            .create_timeout(Some(TIMEOUT))
            .recycle_timeout(Some(TIMEOUT))
            .build()
            .map_err(|error| DbError::internal(format!("cannot create the connection pool: {error}")))?;
        let db = PgDb { pool, config, tls };
        // Reports a wrong address or password at start, not at the first request.
        drop(db.client().await?);
        Ok(db)
    }

    pub(crate) async fn client(&self) -> Result<Object, DbError> {
        Ok(self.pool.get().await?)
    }

    /// Drops the idle connections: when one connection was cut, the others most likely were too.
    pub(super) fn forget_idle(&self) {
        self.pool.retain(|_, _| false);
    }

    /// Boxed, so that it is compiled in this crate and once.
    pub(super) fn read<'a>(
        &'a self,
        sql: &'static str,
        args: &'a [Val],
        rows: &'a mut dyn Rows,
    ) -> BoxFuture<'a, Result<(), DbError>> {
        let read = async move {
            let client = self.client().await?;
            match read_with(&client, sql, args, rows).await {
                Err(Failure::Driver(error))
                    if client.is_closed() || is_connection_lost(&error) || is_statement_stale(&error) =>
                {
                    // The server restarted or the schema changed: a read can simply be repeated.
                    drop(Object::take(client));
                    self.forget_idle();
                    rows.clear();
                    let client = self.client().await?;
                    read_with(&client, sql, args, rows).await.map_err(Failure::into)
                }
                done => done.map_err(Failure::into),
            }
        };
        Box::pin(read)
    }

    pub(crate) async fn migrate(&self, now: i64) -> Result<(), DbError> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        Self::apply_migrations(&transaction, migrate::latest(), now).await?;
        Ok(transaction.commit().await?)
    }

    /// Runs the missing migrations up to a version, one process at a time.
    pub(crate) async fn apply_migrations(
        transaction: &tokio_postgres::Transaction<'_>,
        wanted: i64,
        now: i64,
    ) -> Result<(), DbError> {
        transaction.batch_execute(MIGRATION_LOCK).await?;
        transaction.batch_execute(migrate::TABLE).await?;
        let found: i64 = transaction.query_one(migrate::CURRENT, &[]).await?.try_get(0)?;
        for step in migrate::pending(found, wanted)? {
            for sql in step.for_postgres() {
                transaction.batch_execute(sql).await?;
            }
            transaction.execute(migrate::RECORD, &[&step.version, &step.name(), &now]).await?;
        }
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

/// Whether the server no longer accepts a prepared statement, because the schema changed.
pub(super) fn is_statement_stale(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED)
}

enum Failure {
    Driver(tokio_postgres::Error),
    Mapping(DbError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::Driver(error)
    }
}

impl From<Failure> for DbError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Driver(error) => error.into(),
            Failure::Mapping(error) => error,
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
            found.push(&Row::pg(&row)).map_err(Failure::Mapping)?;
        }
    }
    Ok(())
}
