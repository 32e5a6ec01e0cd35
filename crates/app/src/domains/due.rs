//! Checks custom domains automatically: verified ones daily, the others less and less often.

use super::verify::Recorded;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::custom_domain::{CheckResult, CustomDomain};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;

/// Domains checked in one round, and at the same time.
const BATCH: i64 = 100;
const CONCURRENT_CHECKS: usize = 8;
/// How long the other nodes wait after a node died during a round. A round is shorter: a check takes at most twice
/// [`super::check::CHECK_LIMIT`], with the check of another owner.
const LEASE_SECONDS: i64 = 600;

impl App {
    /// Checks the domains whose time has come, on one node at a time, until `stop` completes. Returns how many.
    pub async fn check_due_domains(&self, stop: impl Future<Output = ()>) -> Result<u64> {
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
            let round = futures_util::stream::iter(checks)
                .buffer_unordered(CONCURRENT_CHECKS)
                .fold(0, |sum, count| async move { sum + count });
            // What is not finished stays due. The lease is released in any case, so that another node goes on.
            match select(pin!(round), pin!(stop)).await {
                Either::Left((checked, _)) => Ok(checked),
                Either::Right(((), _)) => Ok(0),
            }
        })
        .await
    }

    async fn check_due(&self, domain: CustomDomain) -> Result<()> {
        let account = self.get_account(&domain.account_id).await?;
        let was_verified = domain.is_verified();
        let refusal = self.require_domain_plan(&account).map_err(|error| match error.fault {
            Some(fault) => fault.why,
            None => error.detail,
        });
        let result = match refusal {
            // As if its record were gone: it works for three more days.
            Err(why) if was_verified => CheckResult::Refused(why),
            Err(why) => return self.postpone_check(&domain, &why).await,
            Ok(()) if !was_verified && account.suspended.is_some() => {
                return self.postpone_check(&domain, "Your account is suspended.").await;
            }
            Ok(()) => self.check_records(&domain).await,
        };
        // No name begins to work while its account is suspended.
        let guard = || {
            if was_verified { Vec::new() } else { require_active_account(Some(&account.id), Vec::new()) }
        };
        if let Recorded::Done(after) = self.record_check(guard, domain, result).await?
            && after.is_verified()
            && !was_verified
        {
            self.retry_certificate_soon(after.hostname.as_str()).await?;
        }
        Ok(())
    }

    async fn postpone_check(&self, domain: &CustomDomain, why: &str) -> Result<()> {
        let after = domain.postponed(why, self.now());
        let outcome = self.commit_check(Vec::new(), domain, &after).await;
        outcome.map_err(|error| self.domain_guard_error(error))
    }
}
