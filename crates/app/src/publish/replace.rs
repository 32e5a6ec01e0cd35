//! Replaces content at the same URL: `PUT /sites/{idOrSlug}`. Every replacement is a new, immutable version.

use super::read::conflict;
use super::{CONFLICT_RETRIES, daily_quota_stmt};
use crate::accounts::caller::Writer;
use crate::app::App;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use crate::publish::staging::{PrepareOptions, Staged};
use crate::publish::upload::Upload;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::plan::Plan;
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::site_change::{Field, SiteChange};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::version_maker::VersionMaker;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, Stmt, idempotency, site_versions, sites, wallet_challenges};
use std::net::IpAddr;
use std::time::Duration;

/// A body that arrived within this time reuses the site row read at authorization; the commit detects changes anyway.
const ROW_REUSE: Duration = Duration::from_millis(100);

/// A site that may be written to, as read a moment ago.
#[derive(Debug)]
pub struct WritableSite {
    site: Site,
    at: Duration,
}

impl WritableSite {
    pub(crate) fn id(&self) -> &str {
        &self.site.id
    }
}

/// New content for a site.
#[derive(Debug)]
pub(super) struct Replacement<'a> {
    pub(super) writer: &'a Writer,
    pub(super) name: &'a str,
    pub(super) site: Site,
    pub(super) upload: Upload,
    pub(super) options: UploadOptions,
    /// The content that the new one was made from: it may replace no other.
    pub(super) base: Option<String>,
}

#[derive(Debug)]
pub struct UpdatedSite {
    pub site: Site,
    pub warnings: Vec<String>,
}

impl App {
    pub async fn replace_site(
        &self,
        writer: &Writer,
        name: &str,
        seen: WritableSite,
        upload: Upload,
        options: UploadOptions,
    ) -> Result<UpdatedSite> {
        match self.replace_idempotent(writer, name, seen, upload, options, None, |_| Vec::new()).await? {
            IdempotentResult::New(updated) => Ok(updated),
            IdempotentResult::Replayed { .. } => {
                Err(Error::internal("request without an idempotency key matched a stored response"))
            }
        }
    }

    /// The same with an optional idempotency key.
    #[expect(clippy::too_many_arguments, reason = "the same as for a new page, and which page")]
    pub(crate) async fn replace_idempotent(
        &self,
        writer: &Writer,
        name: &str,
        seen: WritableSite,
        upload: Upload,
        options: UploadOptions,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&UpdatedSite) -> Vec<u8>,
    ) -> Result<IdempotentResult<UpdatedSite>> {
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let site = self.current_row(writer, name, seen).await?;
        Self::check_unchanged(&site, options.expected_updated_at)?;
        let replacement = Replacement { writer, name, site, upload, options, base: None };
        self.write_replacement(replacement, once, render).await
    }

    /// The row of a site that may be written to: the one read at authorization if it is recent.
    pub(super) async fn current_row(&self, writer: &Writer, name: &str, seen: WritableSite) -> Result<Site> {
        if self.clock.monotonic().saturating_sub(seen.at) < ROW_REUSE {
            return Ok(seen.site);
        }
        self.get_writable(writer, name).await
    }

    /// How new content of a site is prepared.
    pub(super) fn replace_options(
        &self,
        writer: &Writer,
        site: &Site,
        options: &UploadOptions,
    ) -> PrepareOptions {
        let is_public = options.requested_visibility().unwrap_or(site.visibility) == Visibility::Public;
        PrepareOptions {
            e2e: options.e2e,
            strict: options.csp_strict.unwrap_or(site.csp_strict),
            pii_check: options.pii_check,
            agentation: options.agentation == Some(true),
            spa: options.spa,
            is_public: options.slug.is_some() || is_public,
            executables: self.writer_plan(writer).executables,
        }
    }

    /// The plan that limits what is written.
    fn writer_plan(&self, writer: &Writer) -> Plan {
        writer.account().map_or_else(Plan::unlimited, |account| self.plan_of(account))
    }

    /// Checks the new content and makes it the newest version.
    pub(super) async fn write_replacement(
        &self,
        replacement: Replacement<'_>,
        once: Option<&IdempotentRequest>,
        render: impl Fn(&UpdatedSite) -> Vec<u8>,
    ) -> Result<IdempotentResult<UpdatedSite>> {
        let Replacement { writer, name, mut site, upload, mut options, base } = replacement;
        if options.changes_settings() {
            require_account_for_settings(writer)?;
        }
        let mut warnings = std::mem::take(&mut options.warnings);
        let plan = self.writer_plan(writer);
        let prepare_options = self.replace_options(writer, &site, &options);
        let staged = self.stage_upload(upload, prepare_options).await?;
        warnings.extend(staged.warnings.iter().cloned());
        let change = self.settings_of(writer, &site, &options).await?;
        for _ in 0..CONFLICT_RETRIES {
            let (mut next, more) = change
                .clone()
                .apply(&site, &plan, self.now())
                .map_err(|error| self.with_unlock_hint(error))?;
            // Made strict concurrently: this content was not prepared for that.
            if next.csp_strict && !staged.strict {
                return Err(self.guard_error(DbError::Guard(sites::CHANGED), Some(&plan)));
            }
            set_content(&mut next, &staged, options.e2e);
            if next.changes_since.is_some() && change.restarts_changes(&site) {
                next.changes_since = Some(next.version);
            }
            self.check_changed_slug(&site, &next)?;
            let mut stmts: Vec<Stmt> = match writer {
                Writer::Account(..) => Vec::new(),
                Writer::Claim(_) => self.take_more_anonymous_storage(&next).await?,
                Writer::Wallet(credential) => vec![self.take_challenge(credential)],
            };
            stmts.extend(staged.stmts.iter().cloned());
            stmts.extend(self.note_copy(&staged).filter(|_| next.account_id.is_none()));
            stmts.extend(self.new_version(&site, &next, staged.file_count, None, writer.maker()));
            let warnings = [warnings.as_slice(), &more].concat();
            let mut updated = UpdatedSite { site: next.clone(), warnings };
            self.add_pending_views(&mut updated.site);
            if let Some(once) = once {
                stmts.push(self.store_response(once, StoredOutcome::Updated, &render(&updated))?);
            }
            // Counters come last, as when a page is created. Revisions of a paid page are free. Spec §8.
            if let Writer::Account(account, _) = writer
                && !site.is_paid()
            {
                stmts.extend(daily_quota_stmt(account, &plan, self.now()));
            }
            match (self.write_site(stmts, Some(&site), &next).await, once) {
                (Ok(()), _) => return Ok(IdempotentResult::New(updated)),
                (Err(DbError::Guard(sites::CHANGED)), _) => {
                    // The change may have been made by this same request on another node.
                    if let Some(once) = once
                        && let Some((outcome, body)) = self.find_stored_response(once).await?
                    {
                        return Ok(IdempotentResult::Replayed { outcome, body });
                    }
                    site = self.get_writable(writer, name).await?;
                    Self::check_unchanged(&site, options.expected_updated_at)?;
                    if base.is_some() && base != site.bundle_id {
                        return Err(conflict(&site));
                    }
                }
                (Err(DbError::Guard(wallet_challenges::TAKEN)), _) => {
                    // Its row tells whether the challenge was used or has expired.
                    self.get_writable(writer, name).await?;
                    return Err(Error::plain(Code::ChallengeUsed));
                }
                (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => {
                    return self.replay_response(once).await;
                }
                (Err(error), _) => return Err(self.guard_error(error, Some(&plan))),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), Some(&plan)))
    }

    /// Refuses early, before a body is read in vain. Clients without an account are rate-limited by address.
    pub async fn check_writer(
        &self,
        writer: &Writer,
        name: &str,
        ip: Option<IpAddr>,
    ) -> Result<WritableSite> {
        match writer {
            Writer::Account(..) => {}
            Writer::Claim(_) => self.take_attempt(ip).await?,
            Writer::Wallet(_) => self.take_paid_attempt(ip).await?,
        }
        let at = self.clock.monotonic();
        Ok(WritableSite { site: self.get_writable(writer, name).await?, at })
    }

    /// The live site that this credential may write to. Spec §5.
    async fn get_writable(&self, writer: &Writer, name: &str) -> Result<Site> {
        let site = match writer {
            Writer::Account(account, _) => self.get_own_site_row(account, name).await?,
            Writer::Claim(token) => self.get_claimable(name, token).await?,
            Writer::Wallet(credential) => {
                let wallet = self.verify_wallet_signature(credential).await?;
                let site = self.find_site_by_name(name).await?.filter(|site| site.wallet == Some(wallet));
                let site = site.ok_or_else(|| Error::not_found("site"))?;
                self.check_owner_active(site.account_id.as_deref()).await?;
                site
            }
        };
        match site.state_at(self.now()) {
            State::Live => Ok(site),
            State::Expired => Err(Error::new(
                Code::Expired,
                "The page has expired. Set a later expiry to restore it, then replace its content.",
            )),
            State::Deleted | State::Burnt | State::TakenDown => Err(Error::not_found("site")),
        }
    }

    /// The settings sent with the content; the others stay unchanged.
    async fn settings_of(&self, writer: &Writer, site: &Site, options: &UploadOptions) -> Result<SiteChange> {
        let password_hash = match &options.password {
            Some(password) => {
                // Only an account can change settings; other writers are refused earlier.
                let ask = match writer.account() {
                    Some(account) => self.account_hash_request(&account.id),
                    None => self.client_hash_request(None),
                };
                Field::Value(self.limits.password_hasher.hash(password, &self.minter, ask).await?)
            }
            None => Field::Absent,
        };
        // A page that no longer burns becomes an ordinary unlisted one.
        let burn_turned_off = options.burn_after_read == Some(false) && site.visibility == Visibility::Burn;
        let visibility = options.requested_visibility().or(burn_turned_off.then_some(Visibility::Unlisted));
        Ok(SiteChange {
            slug: options.slug.clone().map_or(Field::Absent, Field::Value),
            visibility,
            password_hash,
            lifetime: options.lifetime,
            email_gate_domain: options.email_gate_domain.clone().map_or(Field::Absent, Field::Value),
            agentation: options.agentation,
            live: options.live,
            show_changes: options.show_changes,
            csp_strict: options.csp_strict,
            feedback_visible: None,
            title: options.title.clone().map_or(Field::Absent, Field::Value),
            ends_wallet: false,
        })
    }

    /// The statements that make `next` the site's newest version and trim the oldest.
    pub(crate) fn new_version(
        &self,
        site: &Site,
        next: &Site,
        file_count: i64,
        restored_from: Option<i64>,
        maker: VersionMaker,
    ) -> Vec<Stmt> {
        let version = SiteVersion {
            site_id: site.id.clone(),
            version: next.version,
            bundle_id: next.bundle_id.clone().unwrap_or_default(),
            title: next.title.clone(),
            byte_size: next.byte_size,
            file_count,
            e2e: next.e2e,
            restored_from,
            maker: Some(maker),
            created_at: self.now(),
        };
        let mut stmts = vec![sites::update(site, next), site_versions::insert(&version)];
        let oldest_gone = next.version - self.settings.versions_kept;
        if oldest_gone > 0 {
            let kept = self.settings.versions_kept;
            stmts.extend(site_versions::trim(&site.id, oldest_gone, kept, version.created_at));
        }
        stmts.extend(self.move_slug(site, next));
        stmts
    }
}

/// Writers without an account can replace only the content.
fn require_account_for_settings(writer: &Writer) -> Result<()> {
    let why = match writer {
        Writer::Account(..) => return Ok(()),
        Writer::Claim(_) => {
            "A claim token can only replace the content. Claim the page to change its settings."
        }
        Writer::Wallet(_) => {
            "A wallet signature can only replace the content. Claim the page to change its settings."
        }
    };
    Err(Error::new(Code::Forbidden, why))
}

fn set_content(next: &mut Site, staged: &Staged, e2e: bool) {
    next.version += 1;
    next.bundle_id = Some(staged.bundle_id.clone());
    next.byte_size = staged.byte_size;
    next.e2e = e2e;
    next.spa = staged.spa;
    // A title that the owner set, with this request or before, survives new content.
    if !next.title_set {
        next.title.clone_from(&staged.title);
    }
}
