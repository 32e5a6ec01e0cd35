//! How the connections to PostgreSQL are used: what shows first that a node or its database is too busy.

use super::{OneLabel, add};
use dropleaf_store::{Db, LockWaits};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Empty on SQLite.
#[derive(Debug)]
pub(super) struct DatabaseGauges {
    open: Family<OneLabel, Gauge>,
    busy: Family<OneLabel, Gauge>,
    waiting: Family<OneLabel, Gauge>,
    turns_waiting: Family<[(&'static str, &'static str); 0], Gauge>,
    lock_waits: Family<[(&'static str, &'static str); 0], Gauge>,
    longest_lock_wait: Family<[(&'static str, &'static str); 0], Gauge>,
}

impl DatabaseGauges {
    pub(super) fn new(of: &mut Registry) -> Self {
        let help = "Connections to PostgreSQL, by what they are for: lookup, list, write, ping";
        let open = add(of, "database_connections", help);
        let help = "Connections to PostgreSQL that are in use";
        let busy = add(of, "database_connections_busy", help);
        let help = "Calls that wait for a connection to PostgreSQL";
        let waiting = add(of, "database_calls_waiting", help);
        let help = "Writes that wait for other writes of the same account";
        let turns_waiting = add(of, "database_account_writes_waiting", help);
        let help = "Transactions of all nodes that wait for a lock in PostgreSQL";
        let lock_waits = add(of, "database_lock_waits", help);
        let help = "How long the transaction that waits longest for a lock in PostgreSQL has been waiting";
        let longest_lock_wait = add(of, "database_lock_wait_longest_milliseconds", help);
        Self { open, busy, waiting, turns_waiting, lock_waits, longest_lock_wait }
    }

    pub(super) fn set_connections(&self, db: &Db) {
        for pool in db.pool_use() {
            let labels = [("work", pool.work)];
            let set = |family: &Family<OneLabel, Gauge>, value: usize| {
                family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
            };
            set(&self.open, pool.open);
            set(&self.busy, pool.open.saturating_sub(pool.idle));
            set(&self.waiting, pool.waiting);
        }
        if db.is_shared() {
            let waiting = i64::try_from(db.waiting_turns()).unwrap_or(i64::MAX);
            self.turns_waiting.get_or_create(&[]).set(waiting);
        }
    }

    pub(super) fn set_lock_waits(&self, waits: LockWaits) {
        self.lock_waits.get_or_create(&[]).set(waits.count);
        self.longest_lock_wait.get_or_create(&[]).set(waits.longest_milliseconds);
    }
}
