//! The sweep: ends what has expired and erases what has ended; less often, collects unreferenced bodies. One node at a
//! time; every statement checks its condition again, so a sweep that is interrupted or runs twice does no harm.

use crate::accounts::{mcp_answers, mcp_sessions, wallet_challenges as challenges};
use crate::app::App;
use dropleaf_core::device_login::KEPT_SECONDS;
use dropleaf_core::site::Site;
use dropleaf_core::{Result, oauth, takedown};
use dropleaf_store::blobs::SweepLimits;
use dropleaf_store::site_upkeep::EndedBefore;
use dropleaf_store::{
    DbError, appeals, blobs, counters, custom_domains, device_logins, email_codes, email_notices, feedback,
    idempotency, leases, mcp_answers as answer_rows, mcp_sessions as mcp_rows, oauth_clients, oauth_grants,
    oauth_requests, owner_tickets, passkeys, payments, reports, sessions, share_tokens, sign_ins,
    site_upkeep, slugs, wallet_challenges, webhook_deliveries, webhook_endpoints,
};

const BATCH: i64 = 500;
const COLLECT_BATCH: i64 = 100_000;
/// Lease duration: how long the other nodes wait after a node died during a sweep.
const SWEEP_SECONDS: i64 = 300;
const COLLECT_SECONDS: i64 = 3600;
/// How much longer identifiers of payments are kept: they are valid while the payment is undecided.
const PAYMENT_IDENTIFIER_SECONDS: i64 = 90 * 86_400;

/// How long refused payments are kept after they could no longer be settled.
const REFUSED_SECONDS: i64 = 30 * 86_400;

/// Finished webhook deliveries kept for each endpoint.
const FINISHED_DELIVERIES: i64 = 5000;

/// The result of a sweep.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    pub expired: usize,
    pub purged: usize,
    /// Pages that a signal put before the operator.
    pub raised: usize,
}

impl App {
    pub async fn sweep(&self) -> Result<Swept> {
        // Burnt pages must be erased without waiting for a lease.
        let burnt = self.erase_burnt().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "burnt pages not erased, will retry");
            0
        });
        let swept = self.with_lease("sweep", SWEEP_SECONDS, Box::pin(self.sweep_with_lease())).await?;
        Ok(Swept { purged: swept.purged + burnt, ..swept })
    }

    /// Collects unreferenced bodies. It scans every old one, so it runs less often than the sweep.
    pub async fn collect_unreferenced_bodies(&self) -> Result<u64> {
        self.with_lease("collect", COLLECT_SECONDS, async {
            let now = self.now();
            let limits =
                SweepLimits { now, older_than: now - self.settings.retention.orphan, limit: COLLECT_BATCH };
            let found =
                blobs::collect_garbage(&self.store.db, &self.store.blobs, limits, &*self.clock).await?;
            // The one task that may take long: a service too large to be counted while its operator waits is counted
            // here.
            self.compute_service_stats(usize::MAX).await?;
            Ok(found.blobs + found.orphans)
        })
        .await
    }

    /// Runs work on one node at a time; returns the default if another node holds the lease.
    pub(crate) async fn with_lease<T: Default>(
        &self,
        name: &str,
        seconds: i64,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let now = self.now();
        let holder = self.minter.nonce();
        match self.store.commit(vec![leases::take(name, &holder, now + seconds, now)]).await {
            Ok(_) => {}
            Err(DbError::Guard(leases::HELD)) => return Ok(T::default()),
            Err(error) => return Err(error.into()),
        }
        let outcome = work.await;
        self.store.commit(vec![leases::release(name, &holder)]).await?;
        outcome
    }

    async fn sweep_with_lease(&self) -> Result<Swept> {
        let now = self.now();
        let keep = self.settings.retention;
        self.announce_expiring_sites().await?;
        self.queue_expiry_emails().await?;
        let expired = self.expire_sites(self.store.list_expired(now, BATCH).await?).await?;
        self.finish_takedowns().await?;
        let raised = self.check_attention().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "signals not checked, will retry");
            0
        });
        self.erase_old_evidence().await?;
        self.expire_appeals().await?;
        if let Err(error) = self.undo_interrupted_import().await {
            tracing::warn!(%error, "interrupted import not undone, will retry");
        }
        let ended = EndedBefore {
            owned: now - keep.restore,
            unowned: now - keep.unowned,
            // As long as evidence would be kept, and no longer, so that reports cannot fill the disk.
            reported: now - keep.restore.max(keep.evidence),
        };
        let purged = self.purge_sites(self.store.list_purgeable(ended, BATCH).await?, ended.reported).await?;
        // A separate transaction, because it locks counters that requests may update.
        self.store.commit(vec![counters::delete_ended(now).slow()]).await?;
        let mut old = vec![
            email_codes::delete_expired(now).slow(),
            sign_ins::delete_expired(now),
            sessions::delete_expired(now),
            passkeys::delete_expired_ceremonies(now),
            device_logins::delete_expired(now - KEPT_SECONDS),
            idempotency::delete_old(
                now - keep.idempotency,
                now - keep.idempotency - PAYMENT_IDENTIFIER_SECONDS,
            ),
            slugs::delete_free(now),
            share_tokens::delete_old(now - keep.tombstone),
            feedback::delete_old(now - keep.tombstone),
            reports::delete_old(now - keep.tombstone),
            site_upkeep::delete_tombstones(now - keep.tombstone),
            oauth_requests::delete_expired(now),
            owner_tickets::delete_expired(now),
            mcp_rows::delete_unused(now - mcp_sessions::UNUSED_SECONDS),
            answer_rows::delete_old(now - mcp_answers::ANSWER_SECONDS),
            wallet_challenges::delete_expired(now - challenges::EXPIRED_KEPT_SECONDS),
            self.erase_drafts(),
            payments::delete_refused(now - REFUSED_SECONDS),
            self.delete_old_sandbox_objects(),
        ];
        old.extend(custom_domains::delete_orphans());
        old.extend(self.delete_old_pay_sessions());
        old.extend(appeals::delete_old(now - keep.tombstone));
        old.extend(oauth_grants::delete_ended(now, now - oauth::UNUSED_SECONDS));
        old.push(oauth_clients::delete_unused(now - oauth::UNUSED_SECONDS, now - oauth::GRANT_SECONDS));
        old.extend(webhook_endpoints::delete_ended(now));
        old.extend(email_notices::delete_old(now));
        old.extend(webhook_deliveries::delete_old(now - self.settings.webhooks.kept, FINISHED_DELIVERIES));
        self.store.commit(old).await?;
        self.store.recount_anonymous_usage().await?;
        self.store.db.forget_processes().await?;
        Ok(Swept { expired, purged, raised })
    }

    /// Erases ended sites. Those that ended after `reported_before` are kept if they were reported meanwhile.
    async fn purge_sites(&self, ended: Vec<Site>, reported_before: i64) -> Result<usize> {
        let mut count = 0;
        for site in ended {
            let (next, mut stmts) = self.end_site_stmts(&site, site.state, true);
            if !takedown::erases(&site) && site.ended_at.is_some_and(|at| at > reported_before) {
                stmts.push(reports::require_none(&site.id));
            }
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) => count += 1,
                Err(DbError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }

    /// Erases at once what only a purged site referenced. What cannot be erased now is left to
    /// [`App::collect_unreferenced_bodies`].
    pub(crate) async fn erase_content(&self, site_id: &str, bundles: &[String]) {
        match blobs::erase(&self.store.db, &self.store.blobs, bundles, self.now()).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::info!(site = site_id, "backup in progress, content will be erased after it");
            }
            Err(error) => tracing::warn!(%error, site = site_id, "content not erased, will retry"),
        }
    }
}
