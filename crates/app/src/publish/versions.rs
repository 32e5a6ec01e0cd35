//! Lists older versions and rolls back to them.

use super::CONFLICT_RETRIES;
use super::replace::UpdatedSite;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use dropleaf_core::site::State;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::version_maker::VersionMaker;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, bundles, sites};

impl App {
    pub async fn list_versions(&self, account: &Account, name: &str) -> Result<(Site, Vec<SiteVersion>)> {
        let site = self.get_site(account, name).await?;
        let mut versions = self.store.list_versions(&site.id).await?;
        versions.retain(|known| self.is_version_available(&site, known.version));
        Ok((site, versions))
    }

    /// One version of a site, if it is still available to the owner.
    pub async fn get_version(
        &self,
        account: &Account,
        name: &str,
        version: i64,
    ) -> Result<(Site, SiteVersion)> {
        let site = self.get_site(account, name).await?;
        let known = self.store.find_version(&site.id, version).await?;
        let known = known.filter(|known| self.is_version_available(&site, known.version));
        Ok((site, known.ok_or_else(|| Error::not_found("version"))?))
    }

    /// Whether a version is still available to the owner. Older ones may be kept for the operator alone.
    pub(crate) fn is_version_available(&self, site: &Site, version: i64) -> bool {
        version > site.version - self.settings.versions_kept
    }

    /// Makes an older version the newest again. History is never rewritten: this is a new version with the old content.
    pub async fn rollback_site(
        &self,
        account: &Account,
        name: &str,
        version: i64,
        maker: VersionMaker,
    ) -> Result<UpdatedSite> {
        self.rollback_if_unchanged(account, name, version, None, maker).await
    }

    /// The same, but fails if the page has changed since the caller read it.
    pub async fn rollback_if_unchanged(
        &self,
        account: &Account,
        name: &str,
        version: i64,
        expected: Option<i64>,
        maker: VersionMaker,
    ) -> Result<UpdatedSite> {
        let mut verdict = None;
        for _ in 0..CONFLICT_RETRIES {
            let site = self.get_own_site_row(account, name).await?;
            Self::check_unchanged(&site, expected)?;
            match site.state_at(self.now()) {
                State::Live => {}
                State::Expired => return Err(Error::plain(Code::Expired)),
                State::Deleted | State::Burnt | State::TakenDown => return Err(Error::not_found("site")),
            }
            let old = self
                .store
                .find_version(&site.id, version)
                .await?
                .filter(|known| self.is_version_available(&site, known.version))
                .ok_or_else(|| Error::not_found("version"))?;
            if old.version == site.version {
                return Ok(UpdatedSite {
                    site,
                    warnings: vec!["This version is already the current one.".into()],
                });
            }
            self.check_stored_programs(&self.plan_of(account), &old.bundle_id).await?;
            let mut warnings = self.check_stored_once(&mut verdict, &old.bundle_id).await?;
            let now = self.now();
            let next = Site {
                version: site.version + 1,
                bundle_id: Some(old.bundle_id.clone()),
                title: if site.title_set { site.title.clone() } else { old.title.clone() },
                byte_size: old.byte_size,
                e2e: old.e2e,
                spa: self.get_bundle(&old.bundle_id).await?.addressing.spa,
                updated_at: site.next_updated_at(now),
                ..site.clone()
            };
            self.check_changed_slug(&site, &next)?;
            let mut stmts = vec![bundles::add_reference(&old.bundle_id)];
            if site.csp_strict {
                let policy = self.stored_policy(&old.bundle_id, old.e2e).await?;
                stmts.push(policy.record(&old.bundle_id));
                warnings.extend(policy.warnings);
            }
            stmts.extend(self.new_version(&site, &next, old.file_count, Some(version), maker.clone()));
            match self.write_site(stmts, Some(&site), &next).await {
                Ok(()) => return Ok(UpdatedSite { site: next, warnings }),
                Err(DbError::Guard(sites::CHANGED | bundles::GONE)) => {}
                Err(error) => return Err(self.guard_error(error, None)),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }
}
