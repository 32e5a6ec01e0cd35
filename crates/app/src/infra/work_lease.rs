//! Leases on background work that one node at a time does, such as placing orders of certificates.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_store::{DbError, leases};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

const CERTIFICATES: &str = "certificates";
/// How long other nodes wait after a node died, and how often the lease is renewed while work goes on.
const LEASE_SECONDS: i64 = 120;
const LEASE_RENEWAL: Duration = Duration::from_secs(30);
const LEASE_RETRY: Duration = Duration::from_secs(5);
/// How long the lease is taken to be held without renewal, with a margin before it ends.
const LEASE_HELD: Duration = Duration::from_secs(100);

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
        let holder = self.minter.nonce();
        if !self.take_work_lease(lease, &holder).await? {
            return Ok(None);
        }
        let mut work = pin!(work);
        let (mut held_since, mut pause) = (Instant::now(), LEASE_RENEWAL);
        loop {
            if let Ok(done) = tokio::time::timeout(pause, &mut work).await {
                self.store.commit(vec![leases::release(lease, &holder)]).await?;
                return Ok(Some(done));
            }
            let renewed_at = Instant::now();
            match self.take_work_lease(lease, &holder).await {
                Ok(true) => (held_since, pause) = (renewed_at, LEASE_RENEWAL),
                // The lease is still ours while the database does not answer.
                Err(error) if held_since.elapsed() < LEASE_HELD => {
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

    async fn take_work_lease(&self, lease: &str, holder: &str) -> Result<bool> {
        let now = self.now();
        match self.store.commit(vec![leases::take(lease, holder, now + LEASE_SECONDS, now)]).await {
            Ok(_) => Ok(true),
            Err(DbError::Guard(leases::HELD)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
