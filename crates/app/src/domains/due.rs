//! Checks custom domains automatically: verified ones daily, pending ones less and less often.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::custom_domain::{CheckResult, CustomDomain, DomainStatus};
use futures_util::StreamExt;

/// Domains checked in one round, and at the same time.
const BATCH: i64 = 100;
const CONCURRENT_CHECKS: usize = 8;
/// How long the other nodes wait after a node died during a round.
const LEASE_SECONDS: i64 = 600;

impl App {
    /// Checks the domains whose time has come, on one node at a time. Returns how many.
    pub async fn check_due_domains(&self) -> Result<u64> {
        if self.dns.is_none() || self.store.list_due_domains(self.now(), 1).await?.is_empty() {
            return Ok(0);
        }
        self.with_lease("domain-checks", LEASE_SECONDS, async {
            let due = self.store.list_due_domains(self.now(), BATCH).await?;
            let checks = due.into_iter().map(|domain| async move {
                let name = domain.hostname.clone();
                match self.check_due(domain).await {
                    Ok(()) => 1,
                    Err(error) => {
                        tracing::warn!(%error, hostname = name.as_str(), "custom domain not checked, will retry");
                        0
                    }
                }
            });
            Ok(futures_util::stream::iter(checks)
                .buffer_unordered(CONCURRENT_CHECKS)
                .fold(0, |sum, count| async move { sum + count })
                .await)
        })
        .await
    }

    async fn check_due(&self, domain: CustomDomain) -> Result<()> {
        let account = self.get_account(&domain.account_id).await?;
        if let Err(error) = self.require_domain_plan(&account) {
            let why = error.fault.map_or(error.detail, |fault| fault.why);
            return match domain.status {
                // As if its record were gone: it works for three more days.
                DomainStatus::Verified => {
                    self.record_check(Vec::new, domain, CheckResult::Refused(why)).await.map(|_| ())
                }
                DomainStatus::Pending | DomainStatus::Failed => {
                    let after = domain.postponed(&why, self.now());
                    let outcome = self.commit_check(Vec::new(), &domain, &after).await;
                    outcome.map_err(|error| self.domain_guard_error(error))
                }
            };
        }
        let result = self.check_records(&domain).await;
        self.record_check(Vec::new, domain, result).await.map(|_| ())
    }
}
