//! Verifies a custom domain when its owner asks for it. A name that another account has verified changes hands only if that
//! account's proof is gone.

use super::commit::DomainCommit;
use super::manage::clear_other_primary;
use super::view::DomainView;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use dropleaf_core::account::{self, Account};
use dropleaf_core::custom_domain::{CheckResult, CustomDomain, LOST};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, Stmt, accounts, counters, custom_domains};

/// The error for an account with a proof while another one has the name.
const TAKEN: &str =
    "Another account has verified this name, and its DNS record still exists. Remove that record first.";

/// The result of writing down a check.
pub(super) enum Recorded {
    Done(CustomDomain),
    /// Another account has the name and still proves it.
    Taken,
}

impl App {
    /// Checks the DNS records of a domain now.
    pub async fn verify_domain(&self, account: &Account, hostname: &str) -> Result<DomainView> {
        account.check_active()?;
        let domain = self.get_own_domain(account, hostname).await?;
        self.require_domain_plan(account)?;
        self.take_domain_check(account).await?;
        let result = self.check_records(&domain).await;
        let guard = || require_active_account(Some(&account.id), Vec::new());
        match self.record_check(guard, domain, result).await? {
            Recorded::Done(domain) => {
                if domain.is_verified() {
                    self.retry_certificate_soon(domain.hostname.as_str()).await?;
                }
                self.domain_view(domain).await
            }
            Recorded::Taken => Err(Error::new(Code::DomainTaken, TAKEN)),
        }
    }

    /// Counts a check that an owner requested.
    async fn take_domain_check(&self, account: &Account) -> Result<()> {
        let rate = &self.settings.rates.domain_checks_hour;
        let key = format!("{}:{}", rate.name, account.id);
        match self.store.commit(vec![counters::take(&key, rate, self.now())]).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.domain_guard_error(error)),
        }
    }

    /// Refuses if neither the plan nor an unlock includes custom domains.
    pub(super) fn require_domain_plan(&self, account: &Account) -> Result<()> {
        let plan = self.plan_of(account);
        if plan.custom_domains {
            return Ok(());
        }
        let why = format!("The {} plan does not include custom domains.", plan.name);
        Err(self.with_unlock_hint(Error::limit(Code::PlanDomainLimit, why, "Choose another plan.")))
    }

    /// Writes down the result of a check. `guard` makes the statements that must hold when it is committed.
    pub(super) async fn record_check(
        &self,
        guard: impl Fn() -> Vec<Stmt>,
        mut domain: CustomDomain,
        mut result: CheckResult,
    ) -> Result<Recorded> {
        for _ in 0..CONFLICT_RETRIES {
            let after = domain.after_check(&result, self.now());
            let outcome = match self.find_other_owner(&domain, &after).await? {
                None => self.commit_check(guard(), &domain, &after).await,
                Some(other) => match self.check_records(&other).await {
                    CheckResult::Missing(_) | CheckResult::Refused(_) => {
                        self.commit_takeover(guard(), &other, &domain, &after).await
                    }
                    CheckResult::Proven => return self.record_taken(guard(), domain).await,
                    // Nobody loses a name because a DNS server is down.
                    CheckResult::Unknown(why) => {
                        result = CheckResult::Unknown(why);
                        continue;
                    }
                },
            };
            match outcome {
                Ok(()) => {
                    log_status(&domain, &after);
                    return Ok(Recorded::Done(after));
                }
                Err(DbError::Guard(custom_domains::CHANGED | custom_domains::TAKEN)) => {
                    let found = self.store.find_domain(&domain.account_id, domain.hostname.as_str()).await?;
                    domain = found.ok_or_else(|| Error::not_found("domain"))?;
                }
                Err(error) => return Err(self.domain_guard_error(error)),
            }
        }
        Err(self.domain_guard_error(DbError::Guard(custom_domains::CHANGED)))
    }

    /// The other account that has verified the name which `after` claims.
    async fn find_other_owner(
        &self,
        before: &CustomDomain,
        after: &CustomDomain,
    ) -> Result<Option<CustomDomain>> {
        if before.is_verified() || !after.is_verified() {
            return Ok(None);
        }
        let found = self.store.find_verified_domain(after.hostname.as_str()).await?;
        Ok(found.filter(|other| other.account_id != after.account_id))
    }

    /// The name passes from one account to another, in one transaction.
    async fn commit_takeover(
        &self,
        guard: Vec<Stmt>,
        other: &CustomDomain,
        before: &CustomDomain,
        after: &CustomDomain,
    ) -> Result<(), DbError> {
        let lost = other.clone().lapsed(LOST, self.now());
        let mut stmts = vec![
            custom_domains::update(other, &lost),
            custom_domains::require_unverified(&after.account_id, after.hostname.as_str()),
            custom_domains::update(before, after),
        ];
        stmts.extend(clear_other_primary(after));
        stmts.extend(self.domain_stmts(other, &lost));
        let site_ids = vec![other.site_id.clone(), after.site_id.clone()];
        self.commit_domains(DomainCommit { first: guard, site_ids, is_visible: true, stmts }).await
    }

    /// The account has a proof, but so has the account that uses the name.
    async fn record_taken(&self, guard: Vec<Stmt>, domain: CustomDomain) -> Result<Recorded> {
        let after = domain.after_check(&CheckResult::Missing(TAKEN.into()), self.now());
        match self.commit_check(guard, &domain, &after).await {
            Ok(()) | Err(DbError::Guard(custom_domains::CHANGED)) => Ok(Recorded::Taken),
            Err(error) => Err(self.domain_guard_error(error)),
        }
    }

    /// The error for a failed guard.
    pub(super) fn domain_guard_error(&self, error: DbError) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        let most = self.settings.domains_per_account;
        match label {
            accounts::SUSPENDED => account::suspended(),
            custom_domains::EXISTS => Error::plain(Code::DomainExists),
            custom_domains::TAKEN => Error::new(Code::DomainTaken, TAKEN),
            custom_domains::CHANGED => {
                Error::new(Code::Conflict, "Another request is changing the domain. Try again.")
            }
            custom_domains::FULL => Error::new(
                Code::TooMany,
                format!("An account can have at most {most} custom domains. Delete some first."),
            ),
            other => {
                self.rate_refusal(other).unwrap_or_else(|| Error::internal(format!("guard {other} failed")))
            }
        }
    }
}

fn log_status(before: &CustomDomain, after: &CustomDomain) {
    if before.status != after.status {
        let (hostname, account) = (after.hostname.as_str(), &after.account_id);
        tracing::info!(hostname, account, status = after.status.as_str(), "custom domain changed its status");
    }
}
