//! Takes a page down for abuse. It is hidden from viewers at once and permanently; then its content is added to the
//! blocklist and sealed (`evidence`).

use crate::app::App;
use crate::publish::CONFLICT_RETRIES;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::report::Outcome;
use dropleaf_core::site::{Site, State};
use dropleaf_core::takedown::PageIdentifier;
use dropleaf_core::{Error, Result, takedown};
use dropleaf_store::{DbError, accounts, blocked_content, reports, sites};
use std::collections::HashSet;

#[derive(Debug, Clone)]
pub struct TakedownResult {
    pub site: Site,
    /// Where it was, so that the operator can verify that it was the right page.
    pub url: String,
    /// It was taken down before; nothing changed.
    pub already: bool,
    /// Its account is suspended, as requested.
    pub suspended: bool,
}

impl App {
    /// `name` is an id, a slug, a token or a URL of the page.
    pub async fn take_down(&self, actor: &str, name: &str, reason: &str) -> Result<TakedownResult> {
        self.take_down_pages(actor, name, reason, &[]).await
    }

    /// The same; `pages` are the paths of pages within it that the takedown is about. They are added to the blocklist,
    /// beside those that are detected.
    pub async fn take_down_pages(
        &self,
        actor: &str,
        name: &str,
        reason: &str,
        pages: &[String],
    ) -> Result<TakedownResult> {
        self.take_down_with_account(actor, name, reason, pages, false).await
    }

    /// The same, and with `suspends` also suspends its account in the same transaction; a page may have none, and
    /// operators are not suspended.
    pub async fn take_down_with_account(
        &self,
        actor: &str,
        name: &str,
        reason: &str,
        pages: &[String],
        suspends: bool,
    ) -> Result<TakedownResult> {
        let reason = takedown::reason(reason)?;
        let unknown = || Error::not_found("page");
        let name = takedown::parse_page_identifier(name, &self.hosts).ok_or_else(unknown)?;
        for _ in 0..CONFLICT_RETRIES {
            let site = self.find_site_by_reference(&name).await?.ok_or_else(unknown)?;
            let url = self.canonical_url(&site);
            let account = if suspends { self.suspendable_owner(&site).await? } else { None };
            let suspended = account.is_some();
            if site.state == State::TakenDown {
                if let Some(account) = account {
                    self.suspend_account(actor, &account.id, &reason).await?;
                }
                return Ok(TakedownResult { site, url, already: true, suspended });
            }
            let pages = self.check_page_paths(&site, pages).await?;
            let (next, mut stmts) = self.end_site_stmts(&site, State::TakenDown, false);
            stmts.extend(pages.iter().map(|path| blocked_content::insert_named_page(&site.id, path)));
            stmts.push(reports::close(&site.id, Outcome::TakenDown, self.now()));
            stmts.push(self.audit_stmt(actor, AuditAction::TakeDown, &site.id, Some(reason.clone())));
            let account = account.filter(|account| account.suspended.is_none());
            if let Some(account) = &account {
                // The account before its pages: a fixed lock order prevents deadlocks.
                stmts.splice(0..0, self.suspend_stmts(actor, account, &reason));
            }
            let outcome = match &account {
                Some(account) => self.commit_suspending(stmts, &site, &next, account).await,
                None => self.commit_site(stmts, Some(&site), &next).await,
            };
            match outcome {
                Ok(()) => {
                    Self::log_operation(actor, AuditAction::TakeDown, &site.id);
                    if let Some(account) = &account {
                        Self::log_operation(actor, AuditAction::SuspendAccount, &account.id);
                    }
                    // It is down; the sweep retries whatever of the rest fails.
                    if let Err(error) = self.finish_takedown(&next, false).await {
                        tracing::warn!(%error, site = site.id, "evidence not sealed, will retry");
                    }
                    return Ok(TakedownResult { site: next, url, already: false, suspended });
                }
                Err(DbError::Guard(sites::CHANGED | accounts::UNMOVED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }

    /// The paths as stored. A path that no stored version has is an error, returned before anything is changed.
    async fn check_page_paths(&self, site: &Site, asked: &[String]) -> Result<Vec<String>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = HashSet::new();
        for version in self.store.list_versions(&site.id).await? {
            let bundle = self.store.find_bundle(&version.bundle_id).await?;
            known.extend(bundle.into_iter().flat_map(|bundle| bundle.files).map(|file| file.path));
        }
        let mut paths = Vec::new();
        for page in asked.iter().map(|page| page.trim().trim_start_matches('/')) {
            if !known.contains(page) {
                return Err(Error::field("page", format!("{page} is not a file of this page")));
            }
            paths.push(page.to_owned());
        }
        Ok(paths)
    }

    pub(crate) async fn find_site_by_reference(&self, name: &PageIdentifier) -> Result<Option<Site>> {
        match name {
            PageIdentifier::Token(token) => Ok(self.store.find_site_by_token(token).await?),
            PageIdentifier::Slug(slug) => {
                Ok(self.store.find_site_by_slug(&slug.to_ascii_lowercase()).await?)
            }
            PageIdentifier::Domain(hostname) => match self.store.find_verified_domain(hostname).await? {
                Some(domain) => Ok(self.store.find_site(&domain.site_id).await?),
                None => Ok(None),
            },
            // Its label is not indexed; operators use the token link or the id.
            PageIdentifier::Host(_) => Ok(None),
            PageIdentifier::Bare(text) => self.find_site_by_name(text).await,
        }
    }

    /// The URL of the page with this id, if it was taken down.
    pub async fn find_taken_down(&self, id: &str) -> Result<Option<String>> {
        let site = self.store.find_site(id).await?.filter(|site| site.state == State::TakenDown);
        Ok(site.map(|site| self.canonical_url(&site)))
    }
}
