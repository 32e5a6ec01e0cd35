//! Operations on sites: publish, read, replace, change, end, claim, and roll back to an older version.

mod claim;
mod create;
mod edit;
pub(crate) mod idempotency;
mod lifecycle;
mod read;
mod replace;
mod site_search;
pub(crate) mod staging;
pub(crate) mod strict_csp;
pub(crate) mod upload;
pub(crate) mod upload_tickets;
mod versions;

pub use create::CreatedSite;
pub use edit::PatchRequest;
pub use lifecycle::DeletedSite;
pub use read::{ListQuery, SiteContent, SiteDocument, SiteList};
pub use replace::{UpdatedSite, WritableSite};
pub use site_search::SiteSearch;

use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::notify::owner_notices::{Notice, NoticeKind};
use dropleaf_core::account::{self, Account};
use dropleaf_core::error::Fact;
use dropleaf_core::plan::Plan;
use dropleaf_core::rate::Rate;
use dropleaf_core::site::{Site, SiteName, Visibility};
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, Stmt, accounts, anonymous_usage, blobs, counters, reports, sites, slugs};

/// The label of the daily publishing limit, in guards and counter keys.
pub(crate) const DAILY: &str = "plan_daily";
/// Attempts of an operation when the site is changed concurrently.
pub(crate) const CONFLICT_RETRIES: usize = 5;

pub(crate) fn daily_rate(plan: &Plan) -> Rate {
    Rate { name: DAILY, limit: plan.publishes_a_day.unwrap_or(i64::MAX), window_seconds: 86_400 }
}

pub(crate) fn daily_key(account_id: &str) -> String {
    format!("{DAILY}:{account_id}")
}

/// Counts a publish of the day. None if the plan has no limit.
pub(crate) fn daily_quota_stmt(account: &Account, plan: &Plan, now: i64) -> Option<Stmt> {
    plan.publishes_a_day.map(|_| counters::take(&daily_key(&account.id), &daily_rate(plan), now))
}

impl App {
    /// The site named by `{idOrSlug}`, of any owner and in any state.
    pub(crate) async fn find_named(&self, name: &str) -> Result<Option<Site>> {
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
    pub(crate) async fn get_own(&self, account: &Account, name: &str) -> Result<Site> {
        let site = self.find_named(name).await?;
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
        let mut stmts = require_active_account(after.account_id.as_deref(), stmts);
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
        let changing = self.caches.pages.changing();
        let outcome = self.store.commit_changed(stmts, notifications).await;
        // Also after a failure: if the connection was lost, the commit may have succeeded.
        changing.done(&changed);
        outcome?;
        self.notify_listeners(news);
        Ok(())
    }

    /// The error for a failed guard.
    pub(crate) fn guard_error(&self, error: DbError, plan: Option<&Plan>) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        match label {
            slugs::TAKEN => Error::plain(Code::SlugTaken),
            sites::CHANGED => Error::new(Code::Conflict, "Another request is changing the page. Try again."),
            accounts::SUSPENDED => account::suspended(),
            anonymous_usage::SERVER_FULL | anonymous_usage::NETWORK_FULL => storage_full(label),
            reports::WAITING => Error::new(
                Code::Conflict,
                "The operator of this server may need to review the page, so its visibility cannot be changed to burn now.",
            ),
            accounts::PAGE_LIMIT => self.with_unlock_hint(page_limit(plan)),
            DAILY => daily_limit(plan, self.now()),
            // The same large file was being garbage-collected at this moment; a retry stores it again.
            blobs::GONE => Error::plain(Code::StorageUnavailable).retry_after(1),
            other => {
                self.rate_refusal(other).unwrap_or_else(|| Error::internal(format!("guard {other} failed")))
            }
        }
    }

    /// Adds to a plan limit error which unlock lifts the limit and where to buy it, if anything is sold here.
    pub(crate) fn with_unlock_hint(&self, mut error: Error) -> Error {
        let sku = match error.code {
            Code::PlanPageLimit => Sku::HigherLimits,
            Code::PlanLifetimeLimit => Sku::MakePermanent,
            _ => return error,
        };
        if self.settings.payments.is_none() {
            return error;
        }
        let (name, base) = (sku.as_str(), self.hosts.base.url());
        error.detail.push_str(" Or buy a higher limit: POST /unlock?feature=");
        error.detail.push_str(name);
        error.detail.push('.');
        let url = format!("{base}/unlock?feature={name}");
        error.with_fact("unlock", Fact::Text(name.into())).with_fact("unlock_url", Fact::Text(url))
    }
}

/// The error if anonymous pages have used all their storage. Deleting some does not help before they are erased.
fn storage_full(label: &str) -> Error {
    let whose = if label == anonymous_usage::NETWORK_FULL { "from your network" } else { "on this server" };
    let detail = format!(
        "The storage for anonymous pages {whose} is full. Try again later or publish with an account."
    );
    Error::new(Code::AnonymousStorageFull, detail).retry_after(3600)
}

fn page_limit(plan: Option<&Plan>) -> Error {
    let (name, cap) =
        plan.map_or(("", 0), |plan| (plan.name.as_str(), plan.active_pages.unwrap_or_default()));
    Error::limit(Code::PlanPageLimit, format!("The {name} plan allows {cap} active pages."), "Delete one.")
}

fn daily_limit(plan: Option<&Plan>, now: i64) -> Error {
    let (cap, resets_in) = plan.map_or((0, 60), |plan| {
        let rate = daily_rate(plan);
        (rate.limit, rate.ends_at(now) - now)
    });
    Error::new(
        Code::PlanDailyLimit,
        format!("The plan allows {cap} publishes a day. The limit resets in {resets_in} s."),
    )
    .retry_after(resets_in)
}
