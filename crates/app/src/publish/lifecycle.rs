//! Ends and revives sites: delete, restore, purge, expiry.

use super::CONFLICT_RETRIES;
use super::replace::UpdatedSite;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::{Code, Error, Result, takedown};
use dropleaf_store::{
    DbError, Stmt, accounts, burns, feedback, reports, share_tokens, site_versions, sites, slugs,
};

#[derive(Debug, Clone)]
pub struct DeletedSite {
    /// None if the content is erased already.
    pub restorable_until: Option<i64>,
    pub warnings: Vec<String>,
}

/// The operator may have to examine reported content.
const KEPT_WARNING: &str = "The page is deleted, but its content is not erased yet because the operator of this server may need to \
                    review it. It is erased when the restore period ends.";

impl App {
    /// Hides the page at once. With `purge` its content is erased too, also if the page was deleted before, but not while
    /// an operator may have to examine it.
    pub async fn delete_site(&self, account: &Account, name: &str, purge: bool) -> Result<DeletedSite> {
        let asked = purge;
        for _ in 0..CONFLICT_RETRIES {
            let site = self.get_own_site_row(account, name).await?;
            let purge = asked && !self.must_be_kept(&site).await?;
            let warnings: Vec<String> =
                (asked && !purge).then(|| KEPT_WARNING.to_owned()).into_iter().collect();
            let restorable = |site: &Site| site.ended_at.map(|at| at + self.settings.retention.restore);
            if asked && !purge && site.state == State::Deleted && site.purged_at.is_none() {
                return Ok(DeletedSite { restorable_until: restorable(&site), warnings });
            }
            let gone = matches!(site.state, State::Burnt | State::TakenDown) || site.purged_at.is_some();
            // Deleting twice returns not found, but a deleted page may still be purged.
            if gone || (site.state == State::Deleted && !purge) {
                return Err(Error::not_found("site"));
            }
            let versions = if purge { self.store.list_versions(&site.id).await? } else { Vec::new() };
            let (next, mut stmts) = self.end_site_stmts(&site, State::Deleted, purge);
            if purge && !takedown::erases(&site) {
                // A report or a suspension may have arrived since the check.
                stmts.push(reports::require_none(&site.id));
                stmts = require_active_account(site.account_id.as_deref(), stmts);
            }
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) if purge => {
                    let bundles: Vec<_> = versions.iter().map(|version| version.bundle_id.clone()).collect();
                    self.erase_content(&site.id, &bundles).await;
                    return Ok(DeletedSite { restorable_until: None, warnings });
                }
                Ok(()) => return Ok(DeletedSite { restorable_until: restorable(&next), warnings }),
                Err(DbError::Guard(sites::CHANGED | reports::WAITING | accounts::SUSPENDED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }

    /// Whether an operator may have to examine the content: there is an open report, or the account is suspended. Read
    /// from the database, because the caller's credential may have been loaded before that.
    async fn must_be_kept(&self, site: &Site) -> Result<bool> {
        // A burn-after-read page is not kept against its sender's will.
        if takedown::erases(site) {
            return Ok(false);
        }
        if self.store.has_open_reports(&site.id).await? {
            return Ok(true);
        }
        match &site.account_id {
            Some(id) => Ok(self.store.find_account(id).await?.is_some_and(|owner| owner.suspended.is_some())),
            None => Ok(false),
        }
    }

    /// Restores a deleted page, with its slug if that is still free.
    pub async fn restore_site(&self, account: &Account, name: &str) -> Result<UpdatedSite> {
        let plan = self.plan_of(account);
        let mut keep_slug = true;
        let mut verdict = None;
        for _ in 0..CONFLICT_RETRIES {
            let site = self.get_own_site_row(account, name).await?;
            let now = self.now();
            match site.state_at(now) {
                State::Live => {
                    return Ok(UpdatedSite { site, warnings: vec!["The page was not deleted.".into()] });
                }
                State::Expired => {
                    return Err(Error::new(
                        Code::Expired,
                        "The page was not deleted but has expired. Set a later expiry to restore it.",
                    ));
                }
                State::Deleted | State::Burnt | State::TakenDown => {}
            }
            let in_time = site.ended_at.is_some_and(|at| now < at + self.settings.retention.restore);
            if site.state != State::Deleted || site.purged_at.is_some() || !in_time {
                return Err(Error::plain(Code::NotRestorable));
            }
            let mut next = site.clone();
            next.updated_at = site.next_updated_at(now);
            let expired = site.expires_at.is_some_and(|at| at <= now);
            let mut stmts = Vec::new();
            let mut warnings = match &site.bundle_id {
                Some(bundle) => {
                    self.check_stored_programs(&plan, bundle).await?;
                    self.check_stored_once(&mut verdict, bundle).await?
                }
                None => Vec::new(),
            };
            if expired {
                next.state = State::Expired;
                warnings.push(
                    "The page has expired in the meantime. Set a later expiry to restore it.".to_owned(),
                );
            } else {
                next.state = State::Live;
                next.ended_at = None;
                next.counted = !site.is_paid();
                if next.counted {
                    stmts.push(accounts::take_page(&account.id, plan.active_pages));
                }
            }
            match (&site.slug, keep_slug) {
                (Some(slug), true) => stmts.push(slugs::take(slug, &site.id, &account.id, now)),
                (Some(slug), false) => {
                    warnings.push(format!(
                        "The slug {slug} now belongs to another page, so this page is unlisted."
                    ));
                    next.slug = None;
                    if next.visibility == Visibility::Public {
                        next.visibility = Visibility::Unlisted;
                    }
                }
                (None, _) => {}
            }
            stmts.push(sites::update(&site, &next));
            match self.write_site(stmts, Some(&site), &next).await {
                Ok(()) => return Ok(UpdatedSite { site: next, warnings }),
                Err(DbError::Guard(slugs::TAKEN)) => keep_slug = false,
                Err(DbError::Guard(sites::CHANGED)) => {}
                Err(error) => return Err(self.guard_error(error, Some(&plan))),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }

    /// The site after its end, and the statements for it.
    pub(crate) fn end_site_stmts(&self, site: &Site, state: State, purge: bool) -> (Site, Vec<Stmt>) {
        let now = self.now();
        let mut next = site.clone();
        let mut stmts = Vec::new();
        next.updated_at = site.next_updated_at(now);
        if site.state == State::Live && site.counted {
            next.counted = false;
            stmts.extend(site.account_id.as_deref().map(accounts::release_page));
        }
        next.state = state;
        next.ended_at = site.ended_at.or(Some(now));
        if purge && state == State::Burnt {
            // The title is part of the content that was to be read once.
            next.title = String::new();
        }
        if state != State::Expired {
            stmts.extend(site.slug.as_deref().map(|slug| self.release_slug(slug, &site.id)));
        }
        if purge {
            next.purged_at = Some(now);
            next.bundle_id = None;
            next.byte_size = 0;
            // A slug that only an expired page still used must not outlive its content.
            stmts.extend(site.slug.as_deref().map(|slug| self.release_slug(slug, &site.id)));
            stmts.extend(site_versions::delete_up_to(&site.id, i64::MAX, now));
            stmts.push(share_tokens::delete_of(&site.id));
            stmts.push(feedback::delete_of(&site.id));
            stmts.push(burns::delete(&site.id));
        }
        // The account's row is locked before the site's, in the same order as concurrent writers, to prevent deadlocks.
        let place = usize::from(site.counted != next.counted && site.account_id.is_some());
        stmts.insert(place, sites::update(site, &next));
        stmts.extend(self.site_end_stmts(site, state));
        (next, stmts)
    }

    /// Ends live pages whose expiry has passed; one that was changed concurrently is left for the next round.
    pub(crate) async fn expire_sites(&self, expired: Vec<Site>) -> Result<usize> {
        let mut count = 0;
        for site in expired {
            if site.state_at(self.now()) != State::Expired {
                continue;
            }
            let (next, stmts) = self.end_site_stmts(&site, State::Expired, false);
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) => count += 1,
                Err(DbError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }
}
