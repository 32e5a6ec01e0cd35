//! One database interface over SQLite and PostgreSQL: `get`, `list`, `exec`, `batch`.
//!
//! The layers above use one SQL text for both (`TEXT`, `BIGINT`, `BYTEA`; `$1…` in order of first appearance). A transaction
//! is a list of guarded statements, never a closure. This module knows no table besides its own migrations.

mod columns;
mod error;
pub(crate) mod migrate;
mod pg;
mod pg_account_permits;
mod pg_batch;
mod pg_group_commit;
mod pg_group_queue;
mod pg_group_runner;
mod pg_groups;
mod pg_guard;
mod pg_lag_probes;
mod pg_lanes;
mod pg_listen;
mod pg_merge;
mod pg_migrate;
mod pg_pipeline;
mod pg_pool;
mod pg_pooler;
mod pg_receipt;
mod pg_replicas;
mod pg_servers;
mod pg_tls;
mod pg_transaction;
mod pg_types;
mod replicated;
mod row;
mod rows;
pub(crate) mod sqlite;
mod sqlite_checkpoint;
mod sqlite_commit;
mod sqlite_group_size;
mod sqlite_types;
mod sqlite_writer;
mod stmt;
mod value;
mod write_queue;

use pg_pool::Work;
use pg_transaction::Needs;
use rows::Mapped;
use std::sync::Arc;

pub(crate) use columns::{column_sql, columns};
pub use error::{DbError, Source};
pub use pg::PgOptions;
pub use pg_listen::LISTENING;
pub use pg_pool::PoolUse;
pub use row::Row;
pub use stmt::{Expect, FenceKind, Outcome, OwnedRow, Stmt};
pub use value::Val;

pub(crate) use pg::PgDb;
pub(crate) use pg_types::own as own_pg;
pub(crate) use sqlite::SqliteDb;

/// A database. Clones share it.
#[derive(Debug, Clone)]
pub struct Db(pub(crate) Engine);

#[derive(Debug, Clone)]
pub(crate) enum Engine {
    Sqlite(SqliteDb),
    Pg(Arc<PgDb>),
}

impl Db {
    /// Opens `sqlite:PATH` or `postgres://…`. Creates a missing SQLite file, but no tables.
    pub async fn open(url: &str) -> Result<Db, DbError> {
        Self::open_with(url, &PgOptions::default()).await
    }

    /// The same; the options are for PostgreSQL.
    pub async fn open_with(url: &str, options: &PgOptions) -> Result<Db, DbError> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return Ok(Db(Engine::Sqlite(SqliteDb::open(path).await?)));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Db(Engine::Pg(Arc::new(PgDb::open(url, options).await?))));
        }
        Err(DbError::internal("a database URL starts with sqlite: or postgres://"))
    }

    /// Another PostgreSQL server, without any check. Connects with the first call.
    pub(crate) fn postgres_at(url: &str) -> Result<Db, DbError> {
        Ok(Db(Engine::Pg(Arc::new(PgDb::unconnected(url)?))))
    }

    /// Migrates the schema to the latest version; safe to call from several processes at once.
    pub async fn migrate(&self, now: i64) -> Result<(), DbError> {
        match &self.0 {
            Engine::Sqlite(db) => {
                db.writer()
                    .run_exclusive(move |connection| migrate::sqlite(connection, migrate::latest(), now))
                    .await
            }
            Engine::Pg(db) => db.migrate(now).await,
        }
    }

    /// The first row, if any. For reads by a unique key: on SQLite they run on the calling thread.
    pub async fn get<T: Send + 'static>(
        &self,
        sql: &'static str,
        args: &[Val],
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        require_storable(args)?;
        let mut rows = Mapped::new(map, 1);
        match &self.0 {
            Engine::Sqlite(db) => db.read_here(sql, args, &mut rows)?,
            Engine::Pg(db) => db.read(Work::Lookup, sql, args, &mut rows).await?,
        }
        Ok(rows.found.pop())
    }

    /// The first row, if any, once it is as durable as an acknowledged write. For answers that claim that a write was done:
    /// on PostgreSQL with synchronous replicas, a plain read may see a write that no replica has.
    pub async fn get_durable<T: Send + 'static>(
        &self,
        sql: &'static str,
        args: &[Val],
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        let Engine::Pg(db) = &self.0 else { return self.get(sql, args, map).await };
        require_storable(args)?;
        let outcomes = db.batch(&[Stmt::new(sql, args)], &[], Needs::Proof).await?;
        let row = outcomes.first().and_then(|outcome| outcome.rows.first());
        row.map(|row| map(&row.as_row())).transpose()
    }

    /// All rows. For reads that may take longer.
    pub async fn list<T: Send + 'static>(
        &self,
        sql: &'static str,
        args: Vec<Val>,
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        require_storable(&args)?;
        let mut rows = Box::new(Mapped::new(map, usize::MAX));
        match &self.0 {
            Engine::Sqlite(db) => rows = rows::downcast(db.read_blocking(sql, args, rows).await?)?,
            Engine::Pg(db) => db.read(Work::List, sql, &args, &mut *rows).await?,
        }
        Ok(rows.found)
    }

    /// A batch of one.
    pub async fn exec(&self, stmt: Stmt) -> Result<Outcome, DbError> {
        let outcomes = self.batch(vec![stmt]).await?;
        outcomes.into_iter().next().ok_or_else(|| DbError::internal("statement returned no outcome"))
    }

    /// All statements or none, in order; durable when it answers `Ok`.
    pub async fn batch(&self, stmts: Vec<Stmt>) -> Result<Vec<Outcome>, DbError> {
        self.batch_notify(stmts, Vec::new()).await
    }

    /// A batch that also notifies the other nodes of what changed, when it commits. On SQLite there are no other nodes.
    pub async fn batch_notify(
        &self,
        stmts: Vec<Stmt>,
        changed: Vec<String>,
    ) -> Result<Vec<Outcome>, DbError> {
        stmts.iter().try_for_each(|stmt| require_storable(&stmt.args))?;
        match &self.0 {
            Engine::Sqlite(_) if stmts.is_empty() => Ok(Vec::new()),
            Engine::Sqlite(db) => db.batch(stmts).await,
            Engine::Pg(db) => {
                let _slot = db.reserve(&stmts)?;
                db.batch(&stmts, &changed, Needs::Outcomes).await
            }
        }
    }

    /// The same for a caller that needs no outcomes: PostgreSQL gets COMMIT together with the statements.
    pub async fn batch_without_outcomes(
        &self,
        stmts: Vec<Stmt>,
        changed: Vec<String>,
    ) -> Result<(), DbError> {
        stmts.iter().try_for_each(|stmt| require_storable(&stmt.args))?;
        match &self.0 {
            Engine::Sqlite(_) if stmts.is_empty() => Ok(()),
            Engine::Sqlite(db) => db.batch(stmts).await.map(|_| ()),
            Engine::Pg(db) => {
                let _slot = db.reserve(&stmts)?;
                db.batch(&stmts, &changed, Needs::Commit).await.map(|_| ())
            }
        }
    }

    /// The same for a batch that reads no row that others change, and locks shared rows last: PostgreSQL may commit it together
    /// with others, also of other accounts. SQLite does so with every batch.
    pub async fn batch_in_group(&self, stmts: Vec<Stmt>) -> Result<(), DbError> {
        stmts.iter().try_for_each(|stmt| require_storable(&stmt.args))?;
        match &self.0 {
            Engine::Sqlite(_) if stmts.is_empty() => Ok(()),
            Engine::Sqlite(db) => db.batch(stmts).await.map(|_| ()),
            Engine::Pg(db) => {
                let _slot = db.reserve(&stmts)?;
                db.batch_in_group(stmts).await
            }
        }
    }

    /// Checks that the database answers.
    pub async fn ping(&self) -> Result<(), DbError> {
        match &self.0 {
            Engine::Sqlite(_) => self.get("SELECT 1", &[], |row| row.int(0)).await.map(|_| ()),
            Engine::Pg(db) => db.ping().await,
        }
    }

    /// How the connections to PostgreSQL are used; nothing on SQLite.
    pub fn pool_use(&self) -> Vec<PoolUse> {
        match &self.0 {
            Engine::Sqlite(_) => Vec::new(),
            Engine::Pg(db) => db.pools.in_use(),
        }
    }

    /// Batches that wait for others: of the same account, or in the queue of new pages.
    pub fn waiting_account_writes(&self) -> usize {
        match &self.0 {
            Engine::Sqlite(_) => 0,
            Engine::Pg(db) => db.account_permits.waiting() + db.groups.waiting(),
        }
    }

    /// Deletes what processes that are gone have left behind.
    pub async fn forget_processes(&self) -> Result<(), DbError> {
        match &self.0 {
            Engine::Sqlite(_) => Ok(()),
            Engine::Pg(db) => db.forget_receipts().await,
        }
    }

    /// Removes deleted rows from all files of the database. SQLite overwrites them in the main file (`secure_delete`), but
    /// its write-ahead log keeps old contents until it is truncated. PostgreSQL reclaims the space with its own vacuum.
    /// `false` if it has to be called again later.
    pub async fn truncate_log(&self) -> Result<bool, DbError> {
        match &self.0 {
            Engine::Sqlite(db) => db.truncate_log().await,
            Engine::Pg(_) => Ok(true),
        }
    }

    /// A number that changes when another process has written. Batches submitted before this call are committed when it
    /// returns. `None` on PostgreSQL, where other nodes announce their changes ([`Db::listen`]).
    pub async fn data_version(&self) -> Result<Option<i64>, DbError> {
        match &self.0 {
            Engine::Sqlite(db) => db.data_version().await.map(Some),
            Engine::Pg(_) => Ok(None),
        }
    }

    /// Whether other servers may use this database at the same time.
    pub const fn is_shared(&self) -> bool {
        matches!(self.0, Engine::Pg(_))
    }

    /// Finishes all submitted writes and closes the database.
    pub async fn close(&self) {
        match &self.0 {
            Engine::Sqlite(db) => db.close().await,
            Engine::Pg(db) => db.close(),
        }
    }
}

fn require_storable(args: &[Val]) -> Result<(), DbError> {
    if args.iter().all(Val::is_storable) { Ok(()) } else { Err(DbError::Nul) }
}
