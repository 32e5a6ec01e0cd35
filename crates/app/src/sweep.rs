//! The sweep: ends what has expired, erases what has ended, collects what nothing points at.
//! One node at a time; every statement checks again, so a sweep that is cut short or runs twice does no harm.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::site::Site;
use dropleaf_store::{DbError, blobs, counters, idempotency, leases, sites, slugs};

const BATCH: i64 = 500;
const LEASE: &str = "sweep";
const LEASE_SECONDS: i64 = 300;

/// What one sweep did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    pub expired: usize,
    pub purged: usize,
    pub bodies: u64,
}

impl App {
    pub async fn sweep(&self) -> Result<Swept> {
        let now = self.now();
        let holder = self.minter.nonce();
        match self.store.commit(vec![leases::take(LEASE, &holder, now + LEASE_SECONDS, now)]).await {
            Ok(_) => {}
            Err(DbError::Guard(leases::HELD)) => return Ok(Swept::default()),
            Err(error) => return Err(error.into()),
        }
        let swept = self.sweep_held(now).await;
        self.store.commit(vec![leases::release(LEASE, &holder)]).await?;
        swept
    }

    async fn sweep_held(&self, now: i64) -> Result<Swept> {
        let keep = self.settings.retention;
        let expired = self.expire(self.store.list_expired(now, BATCH).await?).await?;
        let purged = self
            .purge(self.store.list_purgeable(now - keep.restore, now - keep.unowned, BATCH).await?)
            .await?;
        self.store
            .commit(vec![
                counters::delete_ended(now),
                idempotency::delete_old(now - keep.idempotency),
                slugs::delete_free(now),
                sites::delete_tombstones(now - keep.tombstone),
            ])
            .await?;
        let collected =
            blobs::collect_garbage(&self.store.db, &self.store.blobs, now, now - keep.orphan, BATCH).await?;
        Ok(Swept { expired, purged, bodies: collected.blobs })
    }

    async fn purge(&self, ended: Vec<Site>) -> Result<usize> {
        let mut count = 0;
        for site in ended {
            let (next, stmts) = self.ended(&site, site.state, true);
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) => count += 1,
                Err(DbError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }

    /// Erases at once what a purged site alone pointed at. A failure is left to the sweep.
    pub(crate) async fn erase_now(&self, site_id: &str, bundles: &[[u8; 32]]) {
        if let Err(error) = self.store.erase_bundles(bundles).await {
            tracing::warn!(%error, site = site_id, "the content could not be erased yet");
        }
    }
}
