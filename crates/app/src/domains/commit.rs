//! Commits changes of custom domains: visible at once on this node, and soon on the others.

use super::manage::clear_other_primary;
use crate::app::{App, DOMAINS_CHANGED};
use crate::viewing::pages::cache_names;
use dropleaf_core::custom_domain::CustomDomain;
use dropleaf_core::site::Site;
use dropleaf_store::{DbError, Stmt, custom_domains, revisions, sites};

/// The statements of a change, in the order in which rows are locked everywhere: account, sites, revision, domains. A fixed
/// order prevents deadlocks.
pub(super) struct DomainCommit {
    /// Guards on accounts.
    pub(super) first: Vec<Stmt>,
    /// The sites whose domains change.
    pub(super) site_ids: Vec<String>,
    /// Viewers could notice it: a name starts or stops working, or shows another site.
    pub(super) is_visible: bool,
    pub(super) stmts: Vec<Stmt>,
}

impl App {
    pub(super) async fn commit_domains(&self, change: DomainCommit) -> Result<(), DbError> {
        let DomainCommit { first: mut stmts, mut site_ids, is_visible, stmts: own } = change;
        if !is_visible {
            stmts.extend(own);
            return self.store.commit(stmts).await.map(|_| ());
        }
        site_ids.sort_unstable();
        site_ids.dedup();
        let mut changed: Vec<Site> = Vec::new();
        for id in &site_ids {
            changed.extend(self.store.find_site(id).await?);
        }
        stmts.extend(site_ids.iter().map(|id| sites::lock(id)));
        stmts.push(revisions::advance(revisions::DOMAINS));
        stmts.extend(own);
        stmts.extend(site_ids.iter().map(|id| custom_domains::refresh_primary(id)));
        // Other viewers may come by another name: they see only what changes from now on.
        stmts.extend(site_ids.iter().map(|id| sites::restart_changes(id)));
        let names = cache_names(changed.iter());
        let notifications = names.iter().cloned().chain([DOMAINS_CHANGED.to_owned()]).collect();
        let changing = self.caches.pages.changing(&names);
        let outcome = self.store.commit_changed(stmts, notifications).await;
        // Also after a failure: if the connection was lost, the commit may have succeeded.
        changing.done();
        if let Err(error) = self.served_domains_changed().await {
            tracing::warn!(%error, "custom domains not reloaded, will retry");
        }
        outcome
    }

    /// Commits the result of a check, if the domain has not changed since `before` was read.
    pub(super) async fn commit_check(
        &self,
        first: Vec<Stmt>,
        before: &CustomDomain,
        after: &CustomDomain,
    ) -> Result<(), DbError> {
        let mut stmts = vec![custom_domains::update(before, after)];
        if after.is_verified() && !before.is_verified() {
            stmts.insert(0, custom_domains::require_unverified(&after.account_id, after.hostname.as_str()));
            stmts.extend(clear_other_primary(after));
        }
        stmts.extend(self.domain_stmts(before, after));
        self.commit_domains(DomainCommit {
            first,
            site_ids: vec![after.site_id.clone()],
            is_visible: before.is_verified() != after.is_verified(),
            stmts,
        })
        .await
    }
}
