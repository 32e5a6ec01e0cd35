//! Adds, changes and deletes custom domains.

use super::commit::DomainCommit;
use super::view::DomainView;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use dropleaf_core::account::Account;
use dropleaf_core::custom_domain::CustomDomain;
use dropleaf_core::hostname::Hostname;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, Stmt, counters, custom_domains, idempotency};
use std::net::IpAddr;

/// A domain to add.
#[derive(Debug, Clone)]
pub struct NewDomain {
    pub hostname: String,
    /// ID, slug or token of the site that it shows.
    pub site: String,
    /// The URL of the site shows this name once it is verified.
    pub primary: bool,
}

/// What changes; the rest stays.
#[derive(Debug, Clone, Default)]
pub struct DomainChange {
    pub site: Option<String>,
    pub primary: Option<bool>,
}

impl App {
    /// Adds a domain. It works once a DNS record proves that the name belongs to the account.
    pub async fn add_domain(
        &self,
        account: &Account,
        new_domain: NewDomain,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&DomainView) -> Vec<u8>,
    ) -> Result<IdempotentResult<DomainView>> {
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        self.require_domain_host()?;
        let hostname = Hostname::parse(&new_domain.hostname, &self.hosts)?;
        let site = self.get_site(account, &new_domain.site).await?;
        self.require_domain_plan(account)?;
        let domain = CustomDomain::new(hostname, &account.id, &site.id, new_domain.primary, self.now());
        let mut stmts = vec![counters::lock_account(&account.id, domain.created_at)];
        stmts.extend(custom_domains::insert(&domain, self.settings.domains_per_account));
        let view = self.domain_view(domain).await?;
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&view))?);
        }
        let change = DomainCommit {
            first: require_active_account(Some(&account.id), Vec::new()),
            is_visible: false,
            site_ids: vec![site.id],
            stmts,
        };
        match (self.commit_domains(change).await, once) {
            (Ok(()), _) => Ok(IdempotentResult::New(view)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(error), _) => Err(self.domain_guard_error(error)),
        }
    }

    /// Refuses if the names that records have to point to cannot exist.
    fn require_domain_host(&self) -> Result<()> {
        if self.hosts.site_host.trim_matches(['[', ']']).parse::<IpAddr>().is_err() {
            return Ok(());
        }
        let why = "This server is reached by an IP address, to which the record of a domain cannot point. Its operator has to \
                   set `site_host` to a host name.";
        Err(Error::new(Code::Conflict, why))
    }

    /// Shows another site at a domain, or makes it the primary domain of its site.
    pub async fn change_domain(
        &self,
        account: &Account,
        hostname: &str,
        change: DomainChange,
    ) -> Result<DomainView> {
        for _ in 0..CONFLICT_RETRIES {
            let before = self.get_own_domain(account, hostname).await?;
            let site_id = match &change.site {
                Some(name) => self.get_site(account, name).await?.id,
                None => before.site_id.clone(),
            };
            let is_primary = change.primary.unwrap_or(before.is_primary);
            let after = CustomDomain { site_id, is_primary, ..before.clone() };
            if after == before {
                account.check_active()?;
                return self.domain_view(before).await;
            }
            let mut stmts = vec![custom_domains::update(&before, &after)];
            stmts.extend(clear_other_primary(&after));
            let commit = DomainCommit {
                first: require_active_account(Some(&account.id), Vec::new()),
                site_ids: vec![before.site_id.clone(), after.site_id.clone()],
                is_visible: after.is_verified(),
                stmts,
            };
            match self.commit_domains(commit).await {
                Ok(()) => return self.domain_view(after).await,
                Err(DbError::Guard(custom_domains::CHANGED)) => {}
                Err(error) => return Err(self.domain_guard_error(error)),
            }
        }
        Err(self.domain_guard_error(DbError::Guard(custom_domains::CHANGED)))
    }

    /// Deletes a domain; its name stops working at once. Suspended accounts may do it too.
    pub async fn delete_domain(&self, account: &Account, hostname: &str) -> Result<()> {
        for _ in 0..CONFLICT_RETRIES {
            let domain = self.get_own_domain(account, hostname).await?;
            let commit = DomainCommit {
                first: Vec::new(),
                is_visible: domain.is_verified(),
                stmts: vec![custom_domains::delete(&domain)],
                site_ids: vec![domain.site_id],
            };
            match self.commit_domains(commit).await {
                Ok(()) => return Ok(()),
                // A check may have verified it since it was read.
                Err(DbError::Guard(custom_domains::CHANGED)) => {}
                Err(error) => return Err(self.domain_guard_error(error)),
            }
        }
        Err(self.domain_guard_error(DbError::Guard(custom_domains::CHANGED)))
    }
}

/// A site has one verified primary domain; one that is not verified yet replaces it when it is.
pub(super) fn clear_other_primary(domain: &CustomDomain) -> Option<Stmt> {
    let CustomDomain { account_id, site_id, hostname, .. } = domain;
    (domain.is_primary && domain.is_verified())
        .then(|| custom_domains::clear_other_primary(account_id, site_id, hostname.as_str()))
}
