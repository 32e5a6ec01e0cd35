//! Connections to PostgreSQL: a pool for each kind of work, bounded queues, and leases.
//!
//! Writes wait for locks and lists may take long, so pages are looked up over connections of their own: however many writes
//! wait, pages are served and the health check answers. If a lease is dropped before its call has finished, its connection stays
//! reserved until the server has answered, because that answer may still be under way.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::sync::watch;
use tokio_postgres::Config;

use super::DbError;
use super::pg_account_permits::AccountPermit;
use super::pg_replicas::Changes;
use super::pg_servers::Servers;

/// How long a call waits for a free connection.
pub(super) const WAIT: Duration = Duration::from_secs(5);
/// How long connecting to one address may take, and at least altogether: a URL may name several.
pub(super) const CONNECT: Duration = Duration::from_secs(2);
pub(super) const CONNECT_ANY: Duration = Duration::from_secs(7);
/// How long sent data may stay without an acknowledgement before the kernel gives the connection up. Without it, a
/// connection that a firewall has forgotten blocks for a quarter of an hour.
const UNACKNOWLEDGED: Duration = Duration::from_secs(4);
/// An idle connection is probed after five seconds and given up after three probes, a second apart.
const IDLE: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_secs(1);
const PROBES: u32 = 3;
/// Calls that may wait for a connection in each pool; a further one is refused at once.
const MAX_WAITING: usize = 512;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Reads by a unique key, such as those of a view.
    Lookup,
    /// Reads that may take longer.
    List,
    Write,
    /// Whether the database answers.
    Ping,
}

impl Work {
    pub(super) const ALL: [Work; 4] = [Work::Lookup, Work::List, Work::Write, Work::Ping];

    pub(super) const fn connections(self) -> usize {
        match self {
            Work::Lookup => 6,
            Work::List => 4,
            Work::Write => 10,
            Work::Ping => 1,
        }
    }

    /// How long an abandoned call is given to end before its connection is closed. A COMMIT that waits for another server goes
    /// on even if its connection is closed, so such connections are not replaced at once: there would be ever more of them.
    const fn recovery(self) -> Duration {
        match self {
            Work::Write => Duration::from_mins(1),
            Work::Lookup | Work::List | Work::Ping => Duration::from_secs(3),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Work::Lookup => "lookup",
            Work::List => "list",
            Work::Write => "write",
            Work::Ping => "ping",
        }
    }
}

pub(super) struct Pools {
    pools: [Pool; 4],
    /// Changes when idle connections are forgotten: those that are being recovered are then closed too.
    forgotten: watch::Sender<u64>,
}

/// How many connections of a pool exist and are free, and how many calls wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// `lookup`, `list`, `write` or `ping`.
    pub work: &'static str,
    pub open: usize,
    pub idle: usize,
    pub waiting: usize,
    pub limit: usize,
}

/// Sets what finds dead connections in seconds.
pub(super) fn configure(config: &mut Config) {
    config.connect_timeout(CONNECT);
    config.tcp_user_timeout(UNACKNOWLEDGED);
    config.keepalives_idle(IDLE);
    config.keepalives_interval(PROBE);
    config.keepalives_retries(PROBES);
}

impl Pools {
    pub(super) fn new(servers: &Servers) -> Result<Self, DbError> {
        let pool = |work: Work| {
            let recycle = ManagerConfig { recycling_method: RecyclingMethod::Fast };
            Pool::builder(Manager::from_connect(Config::new(), servers.clone(), recycle))
                .max_size(work.connections())
                .runtime(Runtime::Tokio1)
                .wait_timeout(Some(WAIT))
                .create_timeout(Some(servers.limit()))
                .recycle_timeout(Some(WAIT))
                .build()
                .map_err(|error| DbError::internal(format!("cannot create the connection pool: {error}")))
        };
        let [lookup, list, write, ping] = Work::ALL;
        let pools = [pool(lookup)?, pool(list)?, pool(write)?, pool(ping)?];
        Ok(Self { pools, forgotten: watch::Sender::new(0) })
    }

    const fn of(&self, work: Work) -> &Pool {
        let [lookup, list, write, ping] = &self.pools;
        match work {
            Work::Lookup => lookup,
            Work::List => list,
            Work::Write => write,
            Work::Ping => ping,
        }
    }

    pub(super) async fn client(&self, work: Work) -> Result<Object, DbError> {
        let pool = self.of(work);
        if pool.status().waiting >= MAX_WAITING {
            return Err(DbError::Busy);
        }
        Ok(pool.get().await?)
    }

    pub(super) async fn lease(&self, work: Work) -> Result<Lease, DbError> {
        // Subscribed before the call, so that no change during it is missed.
        let forgotten = self.forgotten.subscribe();
        self.client(work).await.map(|client| Lease { client: Some(client), work, forgotten, kept: None })
    }

    /// Drops the idle connections: when one connection was cut, the others most likely were too.
    pub(super) fn forget_idle(&self) {
        for pool in &self.pools {
            pool.retain(|_, _| false);
        }
        self.forgotten.send_modify(|times| *times += 1);
    }

    pub(super) fn close(&self) {
        for pool in &self.pools {
            pool.close();
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.of(Work::Write).is_closed()
    }

    pub(super) fn in_use(&self) -> Vec<PoolUse> {
        let of = |work: Work| {
            let status = self.of(work).status();
            PoolUse {
                work: work.name(),
                open: status.size,
                idle: status.available,
                waiting: status.waiting,
                limit: status.max_size,
            }
        };
        Work::ALL.map(of).to_vec()
    }
}

/// A connection whose call has not finished. Dropped before [`Lease::finish`], because its caller went away, the connection
/// may be inside a transaction, or an answer may be under way: it stays reserved until that has ended.
pub(super) struct Lease {
    client: Option<Object>,
    work: Work,
    forgotten: watch::Receiver<u64>,
    kept: Option<Arc<Kept>>,
}

/// What a batch keeps until its connection is clean or closed, also if its caller goes away.
pub(super) struct Kept {
    /// The share of an account.
    pub(super) _permit: Option<AccountPermit>,
    pub(super) changes: Changes,
}

impl Lease {
    pub(super) fn keep(&mut self, kept: &Arc<Kept>) {
        self.kept = Some(Arc::clone(kept));
    }

    pub(super) fn client(&self) -> Result<&Object, DbError> {
        self.client.as_ref().ok_or_else(|| DbError::internal("no connection"))
    }

    /// For a transaction.
    pub(super) fn client_mut(&mut self) -> Result<&mut Object, DbError> {
        self.client.as_mut().ok_or_else(|| DbError::internal("no connection"))
    }

    /// Returns the connection to its pool.
    pub(super) fn finish(mut self) {
        drop(self.client.take());
    }

    /// Closes the connection.
    pub(super) fn close(mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            drop(Object::take(client));
            return;
        };
        let (limit, mut forgotten, kept) = (self.work.recovery(), self.forgotten.clone(), self.kept.take());
        #[expect(clippy::let_underscore_future, reason = "it ends by itself, at the latest after the limit")]
        let _ = runtime.spawn(async move {
            // Answered after everything before it; ends a transaction that is open.
            let is_clean = tokio::select! {
                ended = tokio::time::timeout(limit, client.batch_execute("ROLLBACK")) => matches!(ended, Ok(Ok(()))),
                // Other connections were found dead: this one will hardly be answered.
                _ = forgotten.changed() => false,
            };
            if !is_clean {
                drop(Object::take(client));
            }
            drop(kept);
        });
    }
}

/// Ends a call that takes longer than `limit`.
pub(super) async fn within<T>(limit: Duration, call: impl Future<Output = T>) -> Result<T, DbError> {
    let limited = tokio::time::timeout(limit, call).await;
    limited.map_err(|_| DbError::unavailable(format!("no answer within {} seconds", limit.as_secs())))
}
