//! Finds out how current the replicas of a PostgreSQL database are.
//!
//! A lag probe is a value written on the primary. A replica that shows it holds everything that was committed before the probe
//! began, on the same history of the database.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::pg::PgDb;
use super::pg_pool::within;
use super::pg_replicas::Replica;
use super::pg_transaction::Needs;
use super::{DbError, Stmt};

/// The name of the probes among the revisions.
const LAG_PROBE: &str = "replicas";
/// Microseconds of the primary's clock, so that a server that was left behind by a failover never shows a later probe.
const WRITE_LAG_PROBE: &str = "INSERT INTO revisions (name, value) \
     VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)) \
     ON CONFLICT (name) DO UPDATE SET value = GREATEST(revisions.value + 1, EXCLUDED.value) RETURNING value";
const READ_LAG_PROBE: &str = "SELECT value FROM revisions WHERE name = $1";
/// Probes in the time that a replica may be behind, and the shortest time between two.
const LAG_PROBES_PER_LAG: u32 = 4;
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
/// A replica that has not shown the last so many is too far behind anyway.
const LAG_PROBES_KEPT: usize = 16;

/// The last probes: the value, and when it began.
type LagProbes = VecDeque<(i64, u64)>;

impl Replica {
    /// Asks which probes the replica shows.
    async fn ask(&self, lag_probes: &LagProbes, limit: Duration) -> Result<(), DbError> {
        let shown =
            within(limit, self.db.get(READ_LAG_PROBE, &[LAG_PROBE.into()], |row| row.int(0))).await??;
        let newest =
            lag_probes.iter().rev().find(|(lag_probe, _)| shown.is_some_and(|shown| *lag_probe <= shown));
        if let Some((_, began)) = newest {
            self.current_to.fetch_max(*began, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Logs when the replica begins or ceases to be used.
    pub(super) fn log(&self, is_behind: bool, failure: Option<&DbError>) {
        if self.is_behind.swap(is_behind, Ordering::Relaxed) == is_behind {
            return;
        }
        let (replica, error) = (self.number, failure.map(tracing::field::display));
        if is_behind {
            tracing::warn!(
                replica,
                error,
                "replica does not answer or is too far behind; reading from the primary"
            );
        } else {
            tracing::info!(replica, "replica is current again");
        }
    }
}

impl PgDb {
    /// Keeps finding out how current the replicas are; `None` if there are none. The caller runs the future.
    pub(super) fn watch_replicas(self: &Arc<Self>) -> Option<impl Future<Output = ()> + Send + use<>> {
        if self.replicas.is_empty() {
            return None;
        }
        let db = Arc::clone(self);
        Some(async move {
            let pause = (db.replicas.max_lag / LAG_PROBES_PER_LAG).max(SHORTEST_PAUSE);
            let mut lag_probes = LagProbes::new();
            while !db.pools.is_closed() {
                let next = Instant::now() + pause;
                db.probe_lag(&mut lag_probes, pause).await;
                tokio::time::sleep_until(next).await;
                db.replicas.wanted.notified().await;
            }
        })
    }

    async fn probe_lag(&self, lag_probes: &mut LagProbes, limit: Duration) {
        let replicas = &self.replicas;
        let began = replicas.now();
        match within(replicas.max_lag, self.write_lag_probe()).await {
            Ok(Ok(lag_probe)) => {
                lag_probes.push_back((lag_probe, began));
                if lag_probes.len() > LAG_PROBES_KEPT {
                    lag_probes.pop_front();
                }
            }
            // Without the primary nothing new is known about its replicas; they are left out when that is too long ago.
            Ok(Err(error)) | Err(error) => tracing::debug!(%error, "lag probe of the replicas not written"),
        }
        let lag_probes = &*lag_probes;
        let asked: Vec<_> = replicas.members.iter().map(|replica| replica.ask(lag_probes, limit)).collect();
        let now = replicas.now();
        let is_due = |began: u64| Duration::from_micros(now.saturating_sub(began)) > replicas.max_lag;
        for (replica, outcome) in replicas.members.iter().zip(join_all(asked).await) {
            let current_to = replica.current_to.load(Ordering::SeqCst);
            let misses = lag_probes.iter().any(|(_, began)| *began > current_to && is_due(*began));
            replica.log(misses || outcome.is_err(), outcome.as_ref().err());
        }
    }

    async fn write_lag_probe(&self) -> Result<i64, DbError> {
        let outcomes =
            self.batch(&[Stmt::new(WRITE_LAG_PROBE, [LAG_PROBE.into()])], &[], Needs::Outcomes).await?;
        let row = outcomes.first().and_then(|outcome| outcome.rows.first());
        row.ok_or_else(|| DbError::internal("a lag probe returned no value"))?.as_row().int(0)
    }
}
