//! How the connections to PostgreSQL and its replicas are used: what shows first that a node or its database is too busy.

use super::{OneLabel, add};
use dropleaf_store::{LockWaits, PoolUse};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

/// For metrics without labels that are absent on SQLite.
type NoLabel = [(&'static str, &'static str); 0];
/// Replicas are numbered as in the settings: a URL holds a password.
type Number = [(&'static str, usize); 1];

/// Empty on SQLite.
#[derive(Debug)]
pub(super) struct DatabaseGauges {
    open: Family<OneLabel, Gauge>,
    busy: Family<OneLabel, Gauge>,
    waiting: Family<OneLabel, Gauge>,
    account_writes_waiting: Family<NoLabel, Gauge>,
    lock_waits: Family<NoLabel, Gauge>,
    longest_lock_wait: Family<NoLabel, Gauge<f64, AtomicU64>>,
    replica_current: Family<Number, Gauge>,
}

impl DatabaseGauges {
    pub(super) fn new(of: &mut Registry) -> Self {
        let help = "Connections to PostgreSQL, by what they are for: lookup, list, write, ping";
        let open = add(of, "database_connections", help);
        let help = "Connections to PostgreSQL that are in use";
        let busy = add(of, "database_connections_busy", help);
        let help = "Calls that wait for a connection to PostgreSQL";
        let waiting = add(of, "database_calls_waiting", help);
        let help =
            "Writes that wait for other writes of the same account, or for the next transaction of new pages";
        let account_writes_waiting = add(of, "database_account_writes_waiting", help);
        let help = "Transactions of all nodes that wait for a lock in PostgreSQL";
        let lock_waits = add(of, "database_lock_waits", help);
        let help = "How long the transaction that waits longest for a lock in PostgreSQL has been waiting";
        let longest_lock_wait = add(of, "database_lock_wait_longest_seconds", help);
        let help =
            "Whether a replica answers and is current enough to be read from, by its number in the settings";
        let replica_current = add(of, "database_replica_current", help);
        Self { open, busy, waiting, account_writes_waiting, lock_waits, longest_lock_wait, replica_current }
    }

    pub(super) fn set_connections(&self, pools: &[PoolUse]) {
        for pool in pools {
            let labels = [("work", pool.work)];
            let set = |family: &Family<OneLabel, Gauge>, value: usize| {
                family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
            };
            set(&self.open, pool.open);
            set(&self.busy, pool.open.saturating_sub(pool.idle));
            set(&self.waiting, pool.waiting);
        }
    }

    pub(super) fn set_account_writes_waiting(&self, waiting: usize) {
        self.account_writes_waiting.get_or_create(&[]).set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    pub(super) fn set_lock_waits(&self, waits: LockWaits) {
        self.lock_waits.get_or_create(&[]).set(waits.count);
        self.longest_lock_wait.get_or_create(&[]).set(waits.longest.as_secs_f64());
    }

    /// Replicas that were not measured yet are absent.
    pub(super) fn set_replicas(&self, current: &[Option<bool>]) {
        for (number, is_current) in (1..).zip(current) {
            if let Some(is_current) = *is_current {
                self.replica_current.get_or_create(&[("replica", number)]).set(i64::from(is_current));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;
    use std::time::Duration;

    #[test]
    fn database_figures_are_absent_without_postgresql() {
        let metrics = Metrics::default();
        assert!(!metrics.render().contains("dropleaf_database_"));
        metrics.database.set_lock_waits(LockWaits { count: 2, longest: Duration::from_millis(1500) });
        metrics.database.set_replicas(&[Some(true), None, Some(false)]);
        let pool = PoolUse { work: "list", open: 4, idle: 1, waiting: 7, limit: 4 };
        metrics.database.set_connections(&[pool]);
        let text = metrics.render();
        for line in [
            "dropleaf_database_lock_waits{} 2",
            "dropleaf_database_lock_wait_longest_seconds{} 1.5",
            "dropleaf_database_replica_current{replica=\"1\"} 1",
            "dropleaf_database_replica_current{replica=\"3\"} 0",
            "dropleaf_database_connections_busy{work=\"list\"} 3",
            "dropleaf_database_calls_waiting{work=\"list\"} 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("replica=\"2\""), "{text}");
    }
}
