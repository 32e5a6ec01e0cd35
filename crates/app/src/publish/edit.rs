//! Changes settings: `PATCH /sites/{idOrSlug}`. Only the fields sent change. Spec §3, §4.

use super::CONFLICT_RETRIES;
use super::replace::UpdatedSite;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::site_change::{Field, SiteChange};
use dropleaf_core::slug::Slug;
use dropleaf_core::{Error, Result};
use dropleaf_store::{DbError, Stmt, accounts, sites, slugs};

/// The fields sent, before anything is hashed or looked up.
#[derive(Debug, Clone, Default)]
pub struct PatchRequest {
    pub slug: Field<Slug>,
    pub visibility: Option<Visibility>,
    pub password: Field<String>,
    pub lifetime: Option<Lifetime>,
    pub email_gate_domain: Field<String>,
    pub agentation: Option<bool>,
    pub live: Option<bool>,
    pub show_changes: Option<bool>,
    pub csp_strict: Option<bool>,
    pub feedback_visible: Option<FeedbackVisible>,
    pub title: Field<String>,
    /// The wallet that paid for the page can no longer replace it.
    pub ends_wallet: bool,
    /// Refuse unless the page is unchanged since the caller read it.
    pub expected_updated_at: Option<i64>,
}

impl App {
    pub async fn change_site(
        &self,
        account: &Account,
        name: &str,
        request: PatchRequest,
    ) -> Result<UpdatedSite> {
        let mut site = self.get_editable(account, name).await?;
        let expected = request.expected_updated_at;
        Self::check_unchanged(&site, expected)?;
        let change = self.hash_password(account, request).await?;
        if change.is_empty() {
            return Ok(UpdatedSite { site, warnings: Vec::new() });
        }
        let plan = self.plan_of(account);
        let mut verdict = None;
        for _ in 0..CONFLICT_RETRIES {
            let now = self.now();
            let (mut next, mut warnings) =
                change.clone().apply(&site, &plan, now).map_err(|error| self.with_unlock_hint(error))?;
            self.check_changed_slug(&site, &next)?;
            let mut stmts = Vec::new();
            if let (Some(true), Some(bundle)) = (change.csp_strict, &site.bundle_id) {
                let policy = self.stored_policy(bundle, site.e2e).await?;
                stmts.push(policy.record(bundle));
                warnings.extend(policy.warnings);
            }
            // A new expiry revives an expired page, if the plan has room for it.
            let alive = next.expires_at.is_none_or(|at| at > now);
            if site.state_at(now) == State::Expired
                && alive
                && let Some(bundle) = &site.bundle_id
            {
                warnings.extend(self.check_stored_once(&mut verdict, bundle).await?);
            }
            if site.state == State::Expired && alive {
                next.state = State::Live;
                next.ended_at = None;
                next.counted = !site.is_paid();
                if next.counted {
                    stmts.push(accounts::take_page(&account.id, plan.active_pages));
                }
            }
            stmts.push(sites::update(&site, &next));
            stmts.extend(self.move_slug(&site, &next));
            match self.write_site(stmts, Some(&site), &next).await {
                Ok(()) => return Ok(UpdatedSite { site: next, warnings }),
                Err(DbError::Guard(sites::CHANGED)) => {
                    site = self.get_editable(account, name).await?;
                    Self::check_unchanged(&site, expected)?;
                }
                Err(error) => return Err(self.guard_error(error, Some(&plan))),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), Some(&plan)))
    }

    async fn get_editable(&self, account: &Account, name: &str) -> Result<Site> {
        let site = self.get_own_site_row(account, name).await?;
        // A page without its content cannot be revived.
        if site.is_editable() { Ok(site) } else { Err(Error::not_found("site")) }
    }

    async fn hash_password(&self, account: &Account, request: PatchRequest) -> Result<SiteChange> {
        let password_hash = match &request.password {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Value(password) => {
                let ask = self.account_hash_request(&account.id);
                Field::Value(self.limits.password_hasher.hash(password, &self.minter, ask).await?)
            }
        };
        Ok(SiteChange {
            slug: request.slug,
            visibility: request.visibility,
            password_hash,
            lifetime: request.lifetime,
            email_gate_domain: request.email_gate_domain,
            agentation: request.agentation,
            live: request.live,
            show_changes: request.show_changes,
            csp_strict: request.csp_strict,
            feedback_visible: request.feedback_visible,
            title: request.title,
            ends_wallet: request.ends_wallet,
        })
    }

    /// Releases the old slug and takes the new one, if the slug changes.
    pub(crate) fn move_slug(&self, before: &Site, after: &Site) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        if before.slug == after.slug {
            return stmts;
        }
        if let Some(old) = &before.slug {
            stmts.push(self.release_slug(old, &before.id));
        }
        if let (Some(new), Some(account)) = (&after.slug, &after.account_id) {
            stmts.push(slugs::take(new, &after.id, account, self.now()));
        }
        stmts
    }

    pub(crate) fn release_slug(&self, slug: &str, site_id: &str) -> Stmt {
        slugs::release(slug, site_id, self.now() + self.settings.retention.slug_hold)
    }
}
