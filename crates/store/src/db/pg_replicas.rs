//! Replicas of a PostgreSQL database, for reads that may be slightly old.
//!
//! A replica is used only while its last lag probe (`pg_lag_probes`) is recent, and for a page or an account only if that probe
//! began after the last change of it that this process knows of.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::pg::PgDb;
use super::stmt::FenceKind;
use super::{Db, DbError, Engine, Stmt};

/// Changes are remembered for so many groups of names. A name shares its group's last change.
const STRIPES: usize = 1024;
/// The notification that anything may have changed, and what is passed on when listening begins.
const ALL: &str = "*";

#[derive(Debug)]
pub(super) struct Replicas {
    pub(super) members: Vec<Replica>,
    pub(super) max_lag: Duration,
    next: AtomicUsize,
    changes: Vec<AtomicU64>,
    hasher: RandomState,
    /// Wakes the task that writes probes. Without reads there are none.
    pub(super) wanted: Notify,
    /// The times here are microseconds since this moment.
    start: Instant,
}

#[derive(Debug)]
pub(super) struct Replica {
    /// For the log: a URL holds a password.
    pub(super) number: usize,
    pub(super) db: Db,
    /// When the last probe began that it has shown; zero if none.
    pub(super) current_to: AtomicU64,
    pub(super) is_behind: AtomicBool,
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

    pub(super) fn now(&self) -> u64 {
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

    /// What a batch may change, and for which account.
    pub(super) fn changes(self: &Arc<Self>, stmts: &[Stmt], changed: &[String]) -> Changes {
        let mut names = Vec::new();
        if !self.is_empty() {
            names.extend_from_slice(changed);
            names.extend(
                stmts
                    .iter()
                    .filter_map(|stmt| stmt.fence.as_ref())
                    // A share of the connections is no account.
                    .filter(|fence| fence.kind != FenceKind::PermitOnly)
                    .map(|fence| fence.account.clone()),
            );
        }
        Changes { replicas: Arc::clone(self), names }
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

/// What a batch may change. It is marked when it has ended, and again when this is dropped: the server may still commit a batch
/// whose caller went away.
#[derive(Debug)]
pub(super) struct Changes {
    replicas: Arc<Replicas>,
    names: Vec<String>,
}

impl Changes {
    pub(super) fn mark(&self) {
        for name in &self.names {
            self.replicas.mark_changed(name);
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.mark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas() -> Arc<Replicas> {
        let url = "postgres://nobody@127.0.0.1:1/none?sslmode=disable".to_owned();
        Arc::new(Replicas::new(&[url.clone(), url], Duration::from_secs(1)).unwrap())
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
        let changes = replicas.changes(&[stmt], &["t:a".to_owned()]);
        assert!(replicas.find("t:a", None).is_some(), "nothing has changed yet");
        changes.mark();
        for name in ["t:a", "acct_1"] {
            assert!(replicas.find(name, Some(Duration::from_mins(1))).is_none());
        }
        let others = (0..100).filter(|n| replicas.find(&format!("t:{n}"), None).is_some()).count();
        assert!(others > 50, "only pages of the same groups are affected: {others}");
        lag_probe(&replicas);
        assert!(replicas.find("t:a", None).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        drop(changes);
        assert!(replicas.find("t:a", None).is_none(), "it may have been committed only now");
        replicas.mark_changed(ALL);
        assert!((0..100).all(|n| replicas.find(&format!("t:{n}"), None).is_none()));
    }
}
