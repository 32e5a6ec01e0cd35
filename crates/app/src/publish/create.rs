//! Publishes a page: `POST /sites`, with an account or anonymously. Spec §3, §4.

use super::daily_quota_stmt;
use crate::accounts::caller::Caller;
use crate::accounts::suspension::require_active_owner;
use crate::app::App;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use crate::publish::staging::{PrepareOptions, Staged};
use crate::publish::upload::Upload;
use dropleaf_core::account::Account;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::plan::Plan;
use dropleaf_core::site::{NewSite, Site};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::slug::Slug;
use dropleaf_core::version_maker::VersionMaker;
use dropleaf_core::{Code, Error, Result, expiry, secret};
use dropleaf_store::{DbError, Stmt, accounts, idempotency, site_versions, sites, slugs};

/// A newly created page.
#[derive(Debug)]
pub struct CreatedSite {
    pub site: Site,
    /// Only for a page without an owner; returned once.
    pub claim_token: Option<String>,
    pub warnings: Vec<String>,
}

impl App {
    pub async fn create_site(
        &self,
        caller: &Caller,
        upload: Upload,
        mut options: UploadOptions,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&CreatedSite) -> Vec<u8>,
    ) -> Result<IdempotentResult<CreatedSite>> {
        options.check_new()?;
        if caller.account.is_none() && options.slug.is_some() {
            return Err(Error::new(
                Code::AuthRequired,
                "A public page requires an account. Send a key or omit the slug.",
            ));
        }
        self.check_slug_impersonation(options.e2e, options.slug.as_ref().map(Slug::as_str))?;
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let mut warnings = std::mem::take(&mut options.warnings);
        let plan = caller.account.as_ref().map(|account| self.plan_of(account));
        let expires_at = self.expiry_for(plan.as_ref(), &options, &mut warnings)?;
        let strict = options.csp_strict == Some(true);
        let prepare_options = PrepareOptions {
            e2e: options.e2e,
            strict,
            pii_check: options.pii_check,
            agentation: options.agentation == Some(true),
            spa: options.spa,
            is_public: options.slug.is_some(),
            executables: plan.as_ref().is_some_and(|plan| plan.executables),
        };
        let staged = self.stage_upload(upload, prepare_options).await?;
        warnings.extend(staged.warnings.iter().cloned());
        let (site, claim_token) = self.new_site(caller, &options, &staged, expires_at).await?;
        let created = CreatedSite { site, claim_token, warnings };

        let copied = self.note_copy(&staged).filter(|_| caller.account.is_none());
        let mut stmts = staged.stmts;
        stmts.extend(copied);
        stmts.push(sites::insert(&created.site));
        stmts.push(site_versions::insert(&first_version(&created.site, staged.file_count, caller.maker())));
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&created))?);
        }
        // Last, because these rows are shared by all uploads of the account or network, and locked until the commit.
        stmts.extend(self.quota_stmts(caller, plan.as_ref())?);
        if caller.account.is_none() {
            stmts.extend(self.take_anonymous_storage(caller.ip, &created.site));
        }
        if let (Some(slug), Some(account)) = (&created.site.slug, &caller.account) {
            stmts.push(slugs::take(slug, &created.site.id, &account.id, created.site.created_at));
        }
        match (self.commit_new(stmts, &created.site, caller.account.as_ref(), plan.as_ref()).await, once) {
            (Ok(()), _) => Ok(IdempotentResult::New(created)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(error), _) => Err(self.guard_error(error, plan.as_ref())),
        }
    }

    fn expiry_for(
        &self,
        plan: Option<&Plan>,
        options: &UploadOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Option<i64>> {
        let now = self.now();
        let asked = options.lifetime.unwrap_or_default();
        if let Some(plan) = plan {
            return expiry::owned(asked, plan, now, now).map_err(|error| self.with_unlock_hint(error));
        }
        let (at, cut) = expiry::anonymous(asked, now);
        if cut {
            warnings.push(
                "Pages without an account are deleted after 24 hours. Claim the page to keep it.".into(),
            );
        }
        Ok(Some(at))
    }

    async fn new_site(
        &self,
        caller: &Caller,
        options: &UploadOptions,
        staged: &Staged,
        expires_at: Option<i64>,
    ) -> Result<(Site, Option<String>)> {
        let now = self.now();
        let account = caller.account.as_ref();
        let id = self.minter.ordered_id("site", now);
        let claim_token = account.is_none().then(|| self.minter.claim_token());
        let password_hash = match &options.password {
            Some(password) => {
                let ask = match account {
                    Some(account) => self.account_hash_request(&account.id),
                    None => self.client_hash_request(caller.ip),
                };
                Some(self.limits.password_hasher.hash(password, &self.minter, ask).await?)
            }
            None => None,
        };
        let new = NewSite {
            token: self.minter.page_token(),
            host_label: self.keys.host_label(&id),
            id,
            title: options.title.clone().unwrap_or_else(|| staged.title.clone()),
            bundle_id: staged.bundle_id.clone(),
            byte_size: staged.byte_size,
            spa: staged.spa,
            created_at: now,
        };
        let site = Site {
            account_id: account.map(|account| account.id.clone()),
            counted: account.is_some(),
            slug: options.slug.as_ref().map(|slug| slug.as_str().to_owned()),
            visibility: options.visibility(),
            expires_at,
            agentation: options.agentation.unwrap_or(false),
            live: options.live.unwrap_or(false),
            changes_since: options.show_changes.unwrap_or(false).then_some(1),
            csp_strict: options.csp_strict.unwrap_or(false),
            e2e: options.e2e,
            title_set: options.title.is_some(),
            password_hash,
            email_gate_domain: options.email_gate_domain.clone(),
            claim_hash: claim_token.as_deref().map(secret::hash),
            ..Site::new(new)
        };
        Ok((site, claim_token))
    }

    /// The counters of this publish: the account's plan, or the client's anonymous quota.
    fn quota_stmts(&self, caller: &Caller, plan: Option<&Plan>) -> Result<Vec<Stmt>> {
        let now = self.now();
        if let (Some(account), Some(plan)) = (&caller.account, plan) {
            let page = accounts::take_page(&account.id, plan.active_pages);
            return Ok([page].into_iter().chain(daily_quota_stmt(account, plan, now)).collect());
        }
        let ip = caller.ip.ok_or_else(|| Error::plain(Code::NoClientIp))?;
        Ok(self.anonymous_quota(ip).map(|quota| quota.take(now).collect()).unwrap_or_default())
    }

    /// Commits. If the plan's page limit is reached, expired pages that still count are ended first.
    async fn commit_new(
        &self,
        stmts: Vec<Stmt>,
        site: &Site,
        account: Option<&Account>,
        plan: Option<&Plan>,
    ) -> Result<(), DbError> {
        let Some(account) = account.filter(|_| plan.is_some_and(|plan| plan.active_pages.is_some())) else {
            return self.insert_site(stmts, site).await;
        };
        match self.insert_site(stmts.clone(), site).await {
            Err(DbError::Guard(accounts::PAGE_LIMIT)) => {
                let expired = self.store.list_expired_of(&account.id, self.now(), 1000).await?;
                if let Err(error) = self.expire_sites(expired).await {
                    tracing::warn!(%error, account = account.id, "expired pages not cleaned up");
                }
                self.insert_site(stmts, site).await
            }
            outcome => outcome,
        }
    }

    /// A new token cannot be cached anywhere yet, but a slug may be cached as another page's.
    async fn insert_site(&self, stmts: Vec<Stmt>, site: &Site) -> Result<(), DbError> {
        if site.slug.is_some() {
            return self.write_site(stmts, None, site).await;
        }
        // No node knows the page yet, so none is notified.
        let stmts = require_active_owner(site.account_id.as_deref(), stmts);
        if site.account_id.is_some() {
            return self.store.commit_new(stmts).await;
        }
        self.store.commit_changed(stmts, Vec::new()).await
    }
}

/// The first version of a new page.
pub(crate) fn first_version(site: &Site, file_count: i64, maker: VersionMaker) -> SiteVersion {
    SiteVersion {
        site_id: site.id.clone(),
        version: 1,
        bundle_id: site.bundle_id.clone().unwrap_or_default(),
        title: site.title.clone(),
        byte_size: site.byte_size,
        file_count,
        e2e: site.e2e,
        restored_from: None,
        maker: Some(maker),
        created_at: site.created_at,
    }
}
