//! The lease on placing orders: one node at a time does it.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_store::{DbError, leases};
use std::pin::pin;
use std::time::Duration;

const LEASE: &str = "certificates";
/// How long other nodes wait after a node died, and how often the lease is renewed while work goes on.
const LEASE_SECONDS: i64 = 120;
const LEASE_RENEWAL: Duration = Duration::from_secs(30);

impl App {
    /// Runs work on one node at a time. `None` if another node has the lease, or took it over because this node could not
    /// renew it: then the work is dropped.
    pub async fn with_certificate_lease<T>(&self, work: impl Future<Output = T>) -> Result<Option<T>> {
        let holder = self.minter.nonce();
        if !self.take_certificate_lease(&holder).await? {
            return Ok(None);
        }
        let mut work = pin!(work);
        let done = loop {
            if let Ok(done) = tokio::time::timeout(LEASE_RENEWAL, &mut work).await {
                break done;
            }
            if !self.take_certificate_lease(&holder).await? {
                tracing::warn!("another node took over the certificate orders");
                return Ok(None);
            }
        };
        self.store.commit(vec![leases::release(LEASE, &holder)]).await?;
        Ok(Some(done))
    }

    async fn take_certificate_lease(&self, holder: &str) -> Result<bool> {
        let now = self.now();
        match self.store.commit(vec![leases::take(LEASE, holder, now + LEASE_SECONDS, now)]).await {
            Ok(_) => Ok(true),
            Err(DbError::Guard(leases::HELD)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
