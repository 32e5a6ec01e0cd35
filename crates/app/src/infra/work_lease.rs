//! Leases on background work that one node at a time does, such as placing orders of certificates. A node that was stopped
//! for longer than its lease notices before it goes on.

use crate::app::App;
use dropleaf_core::{Clock, Result};
use dropleaf_store::{DbError, Stmt, leases};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

const CERTIFICATES: &str = "certificates";
/// How long other nodes wait after a node died, and how often the lease is renewed while work goes on.
const LEASE_SECONDS: i64 = 120;
const LEASE_RENEWAL: Duration = Duration::from_secs(30);
const LEASE_RETRY: Duration = Duration::from_secs(5);
/// How long the lease is taken to be held without renewal, with a margin before it ends.
const LEASE_HELD: Duration = Duration::from_secs(100);
const HELD_SECONDS: i64 = 100;

/// When a lease was taken or renewed, by both clocks: the wall clock goes on while the machine is suspended, and the monotonic
/// one cannot be set back.
#[derive(Debug, Clone, Copy)]
struct HeldLease {
    at: i64,
    since: Duration,
}

impl HeldLease {
    fn begin(clock: &dyn Clock) -> Self {
        Self { at: clock.now(), since: clock.monotonic() }
    }

    fn is_valid(self, clock: &dyn Clock) -> bool {
        let is_fresh = clock.monotonic().saturating_sub(self.since) < LEASE_HELD;
        is_fresh && clock.now() < self.at + HELD_SECONDS
    }
}

impl App {
    /// Places orders on one node at a time; see [`App::with_work_lease`].
    pub fn with_certificate_lease<T>(
        &self,
        work: impl Future<Output = T>,
        stop: impl FnOnce(),
    ) -> impl Future<Output = Result<Option<T>>> {
        self.with_work_lease(CERTIFICATES, work, stop)
    }

    /// Runs work on one node at a time. `None` if another node has the lease. If this node loses it because it could not
    /// renew it in time, `stop` is called once; the work should then clean up and end.
    pub(crate) async fn with_work_lease<T>(
        &self,
        lease: &str,
        work: impl Future<Output = T>,
        stop: impl FnOnce(),
    ) -> Result<Option<T>> {
        let (holder, clock) = (self.minter.nonce(), &*self.clock);
        let mut held = HeldLease::begin(clock);
        if !self.commit_lease(leases::take(lease, &holder, held.at + LEASE_SECONDS, held.at)).await? {
            return Ok(None);
        }
        let mut work = pin!(work);
        let mut pause = LEASE_RENEWAL;
        loop {
            // Not continued once the lease may have ended: another node may have begun the same work.
            let guarded = poll_fn(|context| {
                if held.is_valid(clock) { work.as_mut().poll(context).map(Some) } else { Poll::Ready(None) }
            });
            if let Ok(Some(done)) = tokio::time::timeout(pause, guarded).await {
                self.store.commit(vec![leases::release(lease, &holder)]).await?;
                return Ok(Some(done));
            }
            let renewed = HeldLease::begin(clock);
            let renewal = leases::renew(lease, &holder, renewed.at + LEASE_SECONDS, renewed.at);
            match self.commit_lease(renewal).await {
                Ok(true) => (held, pause) = (renewed, LEASE_RENEWAL),
                // The lease is still ours while the database does not answer.
                Err(error) if held.is_valid(clock) => {
                    tracing::warn!(%error, lease, "lease on background work not renewed, will retry");
                    pause = LEASE_RETRY;
                }
                Ok(false) | Err(_) => break,
            }
        }
        tracing::warn!(lease, "lease on background work lost, work under way is given up");
        stop();
        Ok(Some(work.await))
    }

    /// Whether the lease is held now.
    async fn commit_lease(&self, stmt: Stmt) -> Result<bool> {
        match self.store.commit(vec![stmt]).await {
            Ok(_) => Ok(true),
            Err(DbError::Guard(leases::HELD)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
