//! Replicas of a PostgreSQL database, for reads that may be slightly old.
//!
//! A lag probe is a value written on the primary. A replica that shows it holds everything that was committed before the probe
//! began, on the same history of the database. A replica is used only while its last probe is recent, and for a page or an
//! account only if that probe began after the last change of it that this process knows of.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::pg::PgDb;
use super::pg_pool::within;
use super::{Db, DbError, Engine, Stmt};

/// Changes are remembered for so many groups of names. A name shares its group's last change.
const STRIPES: usize = 1024;
/// The notification that anything may have changed, and what is passed on when listening begins.
const ALL: &str = "*";
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

#[derive(Debug)]
pub(super) struct Replicas {
    members: Vec<Replica>,
    max_lag: Duration,
    next: AtomicUsize,
    changes: Vec<AtomicU64>,
    hasher: RandomState,
    /// Wakes the task that writes probes. Without reads there are none.
    wanted: Notify,
    /// The times here are microseconds since this moment.
    start: Instant,
}

#[derive(Debug)]
struct Replica {
    /// For the log: a URL holds a password.
    number: usize,
    db: Db,
    /// When the last probe began that it has shown; zero if none.
    current_to: AtomicU64,
    is_behind: AtomicBool,
}

impl Replicas {
    pub(super) fn new(urls: &[String], max_lag: Duration) -> Result<Self, DbError> {
        let open = |(at, url): (usize, &String)| -> Result<Replica, DbError> {
            Ok(Replica {
                number: at + 1,
                db: Db(Engine::Pg(Arc::new(PgDb::unconnected(url)?))),
                current_to: AtomicU64::new(0),
                is_behind: AtomicBool::new(false),
            })
        };
        Ok(Self {
            members: urls.iter().enumerate().map(open).collect::<Result<_, DbError>>()?,
            max_lag,
            next: AtomicUsize::new(0),
            changes: std::iter::repeat_with(AtomicU64::default).take(STRIPES).collect(),
            hasher: RandomState::new(),
            wanted: Notify::new(),
            start: Instant::now(),
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn stripe(&self, name: &str) -> &AtomicU64 {
        let hash = usize::try_from(self.hasher.hash_one(name) >> 32).unwrap_or_default();
        &self.changes[hash % STRIPES]
    }

    /// Records that what has this name has changed on the primary; `*` for everything.
    pub(super) fn mark_changed(&self, name: &str) {
        if self.is_empty() {
            return;
        }
        let now = self.now();
        if name == ALL {
            for stripe in &self.changes {
                stripe.fetch_max(now, Ordering::SeqCst);
            }
        } else {
            self.stripe(name).fetch_max(now, Ordering::SeqCst);
        }
    }

    /// Records what a batch has changed, and for which account. Also after a failure: it may have been committed.
    pub(super) fn mark_batch(&self, stmts: &[Stmt], changed: &[String]) {
        if self.is_empty() {
            return;
        }
        for name in changed {
            self.mark_changed(name);
        }
        for fence in stmts.iter().filter_map(|stmt| stmt.fence.as_ref()) {
            self.mark_changed(&fence.account);
        }
    }

    /// A replica that holds every change of `name` that this process knows of, and everything that was committed `max_age`
    /// ago; by default, the configured lag. With the age of what it is known to hold.
    pub(super) fn find(&self, name: &str, max_age: Option<Duration>) -> Option<(Db, Duration)> {
        if self.is_empty() {
            return None;
        }
        self.wanted.notify_one();
        let (now, changed) = (self.now(), self.stripe(name).load(Ordering::SeqCst));
        let max_age = max_age.unwrap_or(self.max_lag);
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        (0..self.members.len()).find_map(|step| {
            let replica = &self.members[first.wrapping_add(step) % self.members.len()];
            let current_to = replica.current_to.load(Ordering::SeqCst);
            let age = Duration::from_micros(now.saturating_sub(current_to));
            (current_to > changed && age <= max_age).then(|| (replica.db.clone(), age))
        })
    }

    pub(super) fn any(&self) -> Option<Db> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        self.members.get(first.checked_rem(self.members.len())?).map(|replica| replica.db.clone())
    }

    /// Whether each was current when it was last measured; `None` before that.
    pub(super) fn current(&self) -> Vec<Option<bool>> {
        let is_current = |replica: &Replica| {
            let is_behind = replica.is_behind.load(Ordering::Relaxed);
            (is_behind || replica.current_to.load(Ordering::SeqCst) > 0).then_some(!is_behind)
        };
        self.members.iter().map(is_current).collect()
    }

    pub(super) fn close(&self) {
        for replica in &self.members {
            if let Engine::Pg(db) = &replica.db.0 {
                db.close();
            }
        }
    }
}

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
    fn log(&self, is_behind: bool, failure: Option<&DbError>) {
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
        let outcomes = self.batch(&[Stmt::new(WRITE_LAG_PROBE, [LAG_PROBE.into()])], &[]).await?;
        let row = outcomes.first().and_then(|outcome| outcome.rows.first());
        row.ok_or_else(|| DbError::internal("a lag probe returned no value"))?.as_row().int(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas() -> Replicas {
        let url = "postgres://nobody@127.0.0.1:1/none?sslmode=disable".to_owned();
        Replicas::new(&[url.clone(), url], Duration::from_secs(1)).unwrap()
    }

    /// Pretends that all replicas have shown a probe that begins now.
    fn lag_probe(replicas: &Replicas) {
        // Later than any change before, also on a coarse clock.
        let now = replicas.now() + 1;
        replicas.members.iter().for_each(|it| it.current_to.store(now, Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn a_replica_is_used_while_its_last_lag_probe_is_recent() {
        let replicas = replicas();
        assert!(replicas.find("t:a", None).is_none(), "nothing is known yet");
        assert_eq!(replicas.current(), [None, None]);
        lag_probe(&replicas);
        replicas.members[1].log(true, None);
        assert_eq!(replicas.current(), [Some(true), Some(false)]);
        tokio::time::advance(Duration::from_millis(999)).await;
        assert!(replicas.find("t:a", None).is_some());
        tokio::time::advance(Duration::from_millis(2)).await;
        assert!(replicas.find("t:a", None).is_none());
        let (_, age) = replicas.find("t:a", Some(Duration::from_secs(5))).unwrap();
        assert!(age >= Duration::from_secs(1) && age <= Duration::from_millis(1002));
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_read_from_the_primary_until_the_next_lag_probe() {
        let replicas = replicas();
        lag_probe(&replicas);
        tokio::time::advance(Duration::from_millis(1)).await;
        let stmt = Stmt::new("SELECT 1", Vec::new()).fence("acct_1", super::super::FenceKind::Shared);
        replicas.mark_batch(&[stmt], &["t:a".to_owned()]);
        for name in ["t:a", "acct_1"] {
            assert!(replicas.find(name, Some(Duration::from_mins(1))).is_none());
        }
        let others = (0..100).filter(|n| replicas.find(&format!("t:{n}"), None).is_some()).count();
        assert!(others > 50, "only pages of the same groups are affected: {others}");
        lag_probe(&replicas);
        assert!(replicas.find("t:a", None).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        replicas.mark_changed(ALL);
        assert!((0..100).all(|n| replicas.find(&format!("t:{n}"), None).is_none()));
    }
}
