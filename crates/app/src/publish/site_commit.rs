//! Finds sites by name and commits their changes, visible at once to the viewers of this node.

use crate::accounts::suspension::require_active_owner;
use crate::app::App;
use crate::notify::owner_notices::{Notice, NoticeKind};
use dropleaf_core::account::Account;
use dropleaf_core::site::{Site, SiteName, Visibility};
use dropleaf_core::{Error, Result};
use dropleaf_store::{DbError, Stmt, reports};

/// Attempts of an operation when the site is changed concurrently.
pub(crate) const CONFLICT_RETRIES: usize = 5;

impl App {
    /// The site named by `{idOrSlug}`, of any owner and in any state.
    pub(crate) async fn find_site_by_name(&self, name: &str) -> Result<Option<Site>> {
        let found = match SiteName::parse(name) {
            None => None,
            Some(SiteName::Id(id)) => self.store.find_site(id).await?,
            Some(SiteName::Slug(slug)) => self.store.find_site_by_slug(&slug.to_ascii_lowercase()).await?,
            // The token first: anyone may choose a slug that looks like one, but tokens are never chosen.
            Some(SiteName::TokenOrSlug(text)) => match self.store.find_site_by_token(text).await? {
                Some(site) => Some(site),
                None => self.store.find_site_by_slug(&text.to_ascii_lowercase()).await?,
            },
        };
        Ok(found)
    }

    /// The caller's own site; any other is not found.
    pub(crate) async fn get_own_site_row(&self, account: &Account, name: &str) -> Result<Site> {
        let site = self.find_site_by_name(name).await?;
        site.filter(|site| site.account_id.as_deref() == Some(account.id.as_str()))
            .ok_or_else(|| Error::not_found("site"))
    }

    /// Commits an operation of an owner, or on the owner's behalf. Fails if the account has been suspended.
    pub(crate) async fn write_site(
        &self,
        stmts: Vec<Stmt>,
        before: Option<&Site>,
        after: &Site,
    ) -> Result<(), DbError> {
        let mut stmts = require_active_owner(after.account_id.as_deref(), stmts);
        let burns = |site: &Site| site.visibility == Visibility::Burn;
        if burns(after) && before.is_some_and(|before| !burns(before)) {
            // A burn-after-read page is erased without evidence, so a reported page must not become one.
            stmts.push(reports::require_none(&after.id));
        }
        self.commit_site(stmts, before, after).await
    }

    /// Commits statements about a site and makes the change visible at once to every viewer of this node. Operations that
    /// end a page use it directly: expiry, the only view, the owner, an operator.
    pub(crate) async fn commit_site(
        &self,
        stmts: Vec<Stmt>,
        before: Option<&Site>,
        after: &Site,
    ) -> Result<(), DbError> {
        self.commit_site_with(stmts, before, after, None).await
    }

    /// The same if more than this page changes; `also` is the name to evict, as in notifications between nodes.
    pub(crate) async fn commit_site_with(
        &self,
        stmts: Vec<Stmt>,
        before: Option<&Site>,
        after: &Site,
        also: Option<&str>,
    ) -> Result<(), DbError> {
        let mut changed = crate::viewing::pages::cache_names(before.into_iter().chain([after]));
        changed.extend(also.map(str::to_owned));
        // A page that did not exist has no listeners.
        let owner = before.and(after.account_id.as_deref());
        let news = owner.map(|owner| Notice::new(owner, &after.id, NoticeKind::Change));
        let notifications =
            changed.iter().cloned().chain(news.as_ref().map(|news| self.encode_for_nodes(news))).collect();
        let changing = self.caches.pages.changing(&changed);
        let outcome = self.store.commit_changed(stmts, notifications).await;
        // Also after a failure: if the connection was lost, the commit may have succeeded.
        changing.done();
        for account in before.into_iter().chain([after]).filter_map(|site| site.account_id.as_deref()) {
            self.store.db.mark_changed(account);
        }
        outcome?;
        self.notify_listeners(news);
        Ok(())
    }
}
