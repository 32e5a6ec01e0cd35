//! Reads the facts about a database that the health checks judge. Changes nothing: a database is neither created nor migrated.

use crate::db::migrate;
use crate::db::{Db, DbError, Engine, PgDb, Row};
use crate::store::Store;
use dropleaf_core::health::{DatabaseFacts, Integrity, PostgresFacts, ServerState, SqliteFacts};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// Transactions that wait for a lock in PostgreSQL, of all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWaits {
    pub count: i64,
    pub longest: Duration,
}

/// How many steps of SQLite's engine pass between two looks at the time.
const STEPS: i32 = 10_000;
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a replica is asked whether it has caught up.
const REPLICA_POLL: Duration = Duration::from_millis(20);

/// Which PostgreSQL database a server holds, and up to where in its log.
struct Position {
    system: i64,
    database: String,
    is_replica: bool,
    bytes: i64,
}

/// The schema version that this program needs.
pub fn latest_schema() -> i64 {
    migrate::latest()
}

/// What an SQLite file says about itself.
#[derive(Debug)]
pub struct SqliteState {
    pub facts: DatabaseFacts,
    /// The schema version; 0 if the database is empty.
    pub schema: i64,
    pub integrity: Integrity,
}

/// Reads an existing SQLite file with a connection of its own, which leaves the journal mode as it is. The check of its integrity ends
/// after `limit`. Blocks.
pub fn read_sqlite(path: &Path, limit: Duration) -> Result<SqliteState, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("PRAGMA query_only=ON")?;
    let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    let facts = SqliteFacts {
        version: text("SELECT sqlite_version()")?,
        journal_mode: text("PRAGMA journal_mode")?,
        network_filesystem: None,
    };
    let has_table: bool = connection.query_row(
        "SELECT COUNT(*) > 0 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
        [],
        |row| row.get(0),
    )?;
    let schema = if has_table { connection.query_row(migrate::CURRENT, [], |row| row.get(0))? } else { 0 };
    let integrity = quick_check(&mut connection, limit)?;
    Ok(SqliteState { facts: DatabaseFacts::Sqlite(facts), schema, integrity })
}

fn quick_check(connection: &mut Connection, limit: Duration) -> Result<Integrity, DbError> {
    let started = Instant::now();
    connection.progress_handler(STEPS, Some(move || started.elapsed() > limit))?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    Ok(match checked {
        Ok(message) if message == "ok" => Integrity::Sound,
        Ok(message) => Integrity::Damaged(message),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => {
            Integrity::TooLarge
        }
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            Integrity::Damaged(error.to_string())
        }
        Err(error) => Integrity::Unknown(error.to_string()),
    })
}

impl Db {
    /// The settings of a PostgreSQL server, and its clock. `None` on SQLite.
    pub async fn read_postgres(&self) -> Result<Option<PostgresFacts>, DbError> {
        const READ: &str = "SELECT CAST(current_setting('server_version_num') AS BIGINT), current_setting('fsync'), \
             current_setting('synchronous_commit'), current_setting('full_page_writes'), \
             (SELECT CAST(pg_encoding_to_char(encoding) AS TEXT) FROM pg_database WHERE datname = current_database()), \
             CAST(current_setting('max_connections') AS BIGINT), \
             (SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend' \
             AND NOT (application_name = current_setting('application_name') \
             AND client_addr IS NOT DISTINCT FROM inet_client_addr())), \
             CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT)";
        if !matches!(self.0, Engine::Pg(_)) {
            return Ok(None);
        }
        self.get(READ, &[], |row| {
            Ok(PostgresFacts {
                version_number: row.int(0)?,
                fsync: row.text(1)? == "on",
                synchronous_commit: row.string(2)?,
                full_page_writes: row.text(3)? == "on",
                encoding: row.string(4)?,
                max_connections: row.int(5)?,
                others: row.int(6)?,
                pool: PgDb::CONNECTIONS,
                now: row.int(7)?,
            })
        })
        .await
    }

    /// What the server at another address is to this PostgreSQL database. Waits up to `limit` for a replica to catch up.
    pub async fn inspect_server(&self, url: &str, limit: Duration) -> ServerState {
        let compared = async {
            let other = Db::postgres_at(url)?;
            let state = self.compare(&other, limit).await;
            other.close().await;
            state
        };
        compared.await.unwrap_or_else(|error: DbError| ServerState::Failed(error.to_string()))
    }

    async fn compare(&self, other: &Db, limit: Duration) -> Result<ServerState, DbError> {
        // Connects, so that the time of this is not taken for a lag.
        other.position().await?;
        let own = self.position().await?;
        let begun = Instant::now();
        loop {
            let found = other.position().await?;
            let lag = begun.elapsed();
            if (found.system, &found.database) != (own.system, &own.database) {
                return Ok(ServerState::Foreign);
            }
            if !found.is_replica {
                return Ok(ServerState::Primary);
            }
            if found.bytes >= own.bytes {
                return Ok(ServerState::Replica(Some(lag)));
            }
            if lag > limit {
                return Ok(ServerState::Replica(None));
            }
            tokio::time::sleep(REPLICA_POLL).await;
        }
    }

    async fn position(&self) -> Result<Position, DbError> {
        const READ: &str = "SELECT (SELECT system_identifier FROM pg_control_system()), \
             CAST(current_database() AS TEXT), CAST(CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS BIGINT), \
             CAST(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() \
             ELSE pg_current_wal_lsn() END, '0/0') AS BIGINT)";
        let read = |row: &Row<'_>| {
            Ok(Position {
                system: row.int(0)?,
                database: row.string(1)?,
                is_replica: row.flag(2)?,
                bytes: row.int(3)?,
            })
        };
        self.get(READ, &[], read)
            .await?
            .ok_or_else(|| DbError::internal("the server did not say where it is"))
    }

    /// The schema version of a PostgreSQL database; 0 if it is empty.
    pub async fn postgres_schema(&self) -> Result<i64, DbError> {
        const EXISTS: &str =
            "SELECT CAST(CASE WHEN to_regclass('schema_migrations') IS NULL THEN 0 ELSE 1 END AS BIGINT)";
        let exists = self.get(EXISTS, &[], |row| row.flag(0)).await?.unwrap_or_default();
        if !exists {
            return Ok(0);
        }
        Ok(self.get(migrate::CURRENT, &[], |row| row.int(0)).await?.unwrap_or_default())
    }
}

impl Store {
    /// Who waits for a lock now. `None` on SQLite, which has none.
    pub async fn find_lock_waits(&self) -> Result<Option<LockWaits>, DbError> {
        const WAITS: &str = "SELECT COUNT(*), \
             CAST(COALESCE(MAX(EXTRACT(EPOCH FROM clock_timestamp() - state_change)) * 1000, 0) AS BIGINT) \
             FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        if !self.db.is_shared() {
            return Ok(None);
        }
        let waits = |row: &Row<'_>| {
            let longest = Duration::from_millis(u64::try_from(row.int(1)?).unwrap_or_default());
            Ok(LockWaits { count: row.int(0)?, longest })
        };
        self.db.get(WAITS, &[], waits).await
    }

    /// 1 if a live page has an email gate, otherwise 0.
    pub async fn count_gated_pages(&self) -> Result<i64, DbError> {
        const COUNT: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM sites WHERE state = 'live' \
             AND email_gate_domain IS NOT NULL LIMIT 1) AS gated";
        Ok(self.db.list(COUNT, Vec::new(), |row| row.int(0)).await?.first().copied().unwrap_or_default())
    }
}
