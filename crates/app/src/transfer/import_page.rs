//! Stores one page of an import: each version in a transaction of its own, after every check of a published page.

use super::archive::invalid;
use super::export::blocking;
use super::format::{PageRecord, VersionRecord};
use super::import::RunningImport;
use super::record_check::{CheckedPage, check_page};
use super::upload::upload_of;
use crate::app::App;
use crate::infra::sealing;
use crate::publish::staging::{PrepareOptions, Staged};
use dropleaf_content::BundleKind;
use dropleaf_core::site::{NewSite, Site, Visibility};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::slug::Slug;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Error, Result, expiry, secret};
use dropleaf_store::{
    DbError, Stmt, account_transfer, feedback_replies, share_tokens, site_versions, sites, slugs,
};
use std::sync::{Arc, Mutex, PoisonError};

impl App {
    /// Imports a page for the account of the import; returns the id it has here.
    pub(super) async fn import_page(&self, import: &mut RunningImport, id: &str) -> Result<String> {
        let mut page = with_archive(import, {
            let id = id.to_owned();
            move |archive| archive.page(&id)
        })
        .await?;
        let limits = &self.settings.content;
        let mut checked = check_page(&mut page, limits, &self.minter, self.now())?;
        page.versions.sort_by_key(|version| version.version);
        let kept = usize::try_from(self.settings.versions_kept).unwrap_or(usize::MAX).max(1);
        if page.versions.len() > kept {
            import.warn(
                id,
                &format!("only the newest {kept} of its {} versions were imported", page.versions.len()),
            );
            page.versions.drain(..page.versions.len() - kept);
        }
        let is_e2e = page.versions.last().is_some_and(|version| version.kind == BundleKind::E2e.as_str());
        self.check_slug_impersonation(is_e2e, checked.slug.as_ref().map(Slug::as_str))?;
        let mut site: Option<Site> = None;
        for version in std::mem::take(&mut page.versions) {
            let version = Arc::new(version);
            let is_current = version.version == page.version;
            let staged = self.stage_version(import, &page, &version, is_current).await?;
            let next = self.site_of(import, &page, &checked, &version, &staged, site.as_ref()).await?;
            let row = version_row(&next, &version, staged.file_count);
            let mut stmts = vec![import.renew_lease(self.now())];
            stmts.extend(staged.stmts);
            stmts.push(
                site.as_ref().map_or_else(|| sites::insert(&next), |before| sites::update(before, &next)),
            );
            stmts.push(site_versions::insert(&row));
            self.store.commit(stmts).await.map_err(import_error)?;
            site = Some(next);
        }
        let mut site = site.ok_or_else(|| invalid("a page has no version"))?;
        self.take_slug(import, &mut site, &mut checked).await?;
        self.store_rest(import, &page, &site, checked).await?;
        Ok(site.id)
    }

    /// Reads the files of a version and passes them through the checks of an upload.
    async fn stage_version(
        &self,
        import: &mut RunningImport,
        page: &PageRecord,
        version: &Arc<VersionRecord>,
        is_current: bool,
    ) -> Result<Staged> {
        let kind =
            BundleKind::parse(&version.kind).ok_or_else(|| invalid("a version has an unknown kind"))?;
        let spool = self.settings.spool_dir.clone();
        let record = Arc::clone(version);
        let upload = with_archive(import, move |archive| upload_of(archive, &record, kind, &spool)).await?;
        let can_route = matches!(kind, BundleKind::Html | BundleKind::Zip);
        let options = PrepareOptions {
            e2e: kind == BundleKind::E2e,
            strict: is_current && page.csp_strict,
            pii_check: None,
            agentation: false,
            spa: (version.spa || can_route).then_some(version.spa),
            is_public: page.visibility == Visibility::Public.as_str(),
            executables: import.plan.executables,
        };
        let mut prepared = self.prepare_upload(upload, options).await?;
        if prepared.bundle.kind != kind {
            return Err(invalid(&format!(
                "version {} of {} is not of the kind it states",
                version.version, page.id
            )));
        }
        let stored = prepared.bundle.files.iter().map(|file| (file.path.as_str(), file.hash));
        let stored: std::collections::HashSet<_> = stored.collect();
        let missing =
            version.files.iter().filter(|file| !stored.contains(&(file.path.as_str(), file.blake3.0)));
        let changed = missing.count();
        if changed > 0 && kind == BundleKind::Zip {
            let what =
                format!("{changed} files of version {} are stored under other names here", version.version);
            import.warn(&page.id, &what);
        }
        prepared.bundle.file_name.clone_from(&version.file_name);
        let staged = self.stage_prepared(prepared).await?;
        import.versions += 1;
        Ok(staged)
    }

    /// The row of the page as of this version.
    async fn site_of(
        &self,
        import: &mut RunningImport,
        page: &PageRecord,
        checked: &CheckedPage,
        version: &VersionRecord,
        staged: &Staged,
        before: Option<&Site>,
    ) -> Result<Site> {
        let mut site = match before {
            Some(before) => before.clone(),
            None => self.new_imported_site(import, page, checked).await?,
        };
        site.version = version.version;
        site.title.clone_from(if version.version == page.version { &page.title } else { &version.title });
        site.bundle_id = Some(staged.bundle_id.clone());
        site.byte_size = staged.byte_size;
        site.spa = staged.spa;
        site.e2e = version.kind == BundleKind::E2e.as_str();
        // No other request can change the page yet, so it has its final time from the start.
        site.updated_at = page.updated_at;
        Ok(site)
    }

    /// The row of the page before its first version: the same id and token, unless they are in use here.
    async fn new_imported_site(
        &self,
        import: &mut RunningImport,
        page: &PageRecord,
        checked: &CheckedPage,
    ) -> Result<Site> {
        let mut id = page.id.clone();
        if self.store.is_site_id_used(&id).await? {
            id = self.minter.ordered_id("site", self.now());
            import.warn(&page.id, &format!("its ID is in use here; the page is now {id}"));
        }
        let mut token = page.token.clone();
        if self.store.find_site_by_token(&token).await?.is_some() {
            token = self.minter.page_token();
            import.warn(&page.id, "its link is in use here; the page has a new one");
        }
        let new = NewSite {
            host_label: self.keys.host_label(&id),
            id,
            token,
            title: String::new(),
            bundle_id: String::new(),
            byte_size: 0,
            spa: false,
            created_at: page.created_at,
        };
        let expires_at = expiry::imported(page.expires_at, &import.plan, self.now());
        if expires_at != page.expires_at {
            import.warn(&page.id, &format!("it expires earlier, as the {} plan says", import.plan.name));
        }
        if page.has_password {
            import.warn(&page.id, "it stays locked until its owner sets a new password");
        }
        Ok(Site {
            account_id: Some(import.staging_id.clone()),
            counted: true,
            visibility: if checked.visibility == Visibility::Public {
                Visibility::Unlisted
            } else {
                checked.visibility
            },
            expires_at,
            agentation: page.agentation,
            live: page.live,
            changes_since: page.changes_since.map(|since| since.clamp(1, page.version)),
            csp_strict: page.csp_strict,
            title_set: page.title_set,
            feedback_visible: checked.feedback_visible,
            password_hash: if page.has_password { Some(import.locked_hash(self).await?) } else { None },
            email_gate_domain: checked.email_gate_domain.clone(),
            ..Site::new(new)
        })
    }

    /// Takes the slug if it is free; otherwise the page is imported without one.
    async fn take_slug(
        &self,
        import: &mut RunningImport,
        site: &mut Site,
        checked: &mut CheckedPage,
    ) -> Result<()> {
        let Some(slug) = checked.slug.take() else { return Ok(()) };
        let next =
            Site { slug: Some(slug.as_str().to_owned()), visibility: checked.visibility, ..site.clone() };
        let owner = import.slug_owner().to_owned();
        let stmts = vec![
            import.renew_lease(self.now()),
            slugs::take(slug.as_str(), &site.id, &owner, self.now()),
            sites::update(site, &next),
        ];
        match self.commit_site(stmts, None, &next).await {
            Ok(()) => {
                *site = next;
                Ok(())
            }
            Err(DbError::Guard(slugs::TAKEN)) => {
                let taken =
                    format!("the slug {} is taken here; the page is unlisted without one", slug.as_str());
                import.warn(&site.id, &taken);
                Ok(())
            }
            Err(error) => Err(import_error(error)),
        }
    }

    /// Views, comments and share links. Links get new secrets: the old ones stay on the old server.
    async fn store_rest(
        &self,
        import: &mut RunningImport,
        page: &PageRecord,
        site: &Site,
        checked: CheckedPage,
    ) -> Result<()> {
        let mut stmts: Vec<Stmt> = vec![import.renew_lease(self.now())];
        if page.view_count > 0 {
            let last = page.last_viewed_at.unwrap_or(page.created_at);
            stmts.push(sites::add_views(&site.id, page.view_count, last));
        }
        import.feedback += checked.feedback.len() as u64;
        for (mut item, replies) in checked.feedback {
            item.site_id.clone_from(&site.id);
            stmts.push(account_transfer::insert_feedback(&item));
            for mut reply in replies {
                reply.site_id.clone_from(&site.id);
                stmts.push(feedback_replies::insert(&reply));
            }
        }
        if !checked.share_links.is_empty() {
            import
                .warn(&page.id, &format!("its {} share links have new addresses", checked.share_links.len()));
        }
        for mut link in checked.share_links {
            link.site_id.clone_from(&site.id);
            let token = self.minter.share_token();
            let key = self.share_key(&link.id);
            let sealed = sealing::seal(&self.minter, key, site.id.as_bytes(), token.as_bytes())?;
            stmts.push(share_tokens::insert(&link, &secret::hash(&token), sealed));
        }
        self.store.commit(stmts).await.map_err(import_error)?;
        Ok(())
    }
}

/// A version that does not say who made it was made by the import.
fn version_row(site: &Site, version: &VersionRecord, file_count: i64) -> SiteVersion {
    let maker = version.made_by.as_ref().and_then(|maker| {
        let kind = MakerKind::parse(&maker.kind)?;
        Some(VersionMaker { kind, id: None, name: maker.name.clone() })
    });
    SiteVersion {
        site_id: site.id.clone(),
        version: version.version,
        bundle_id: site.bundle_id.clone().unwrap_or_default(),
        title: version.title.clone(),
        byte_size: site.byte_size,
        file_count,
        e2e: site.e2e,
        restored_from: version.restored_from,
        maker: Some(maker.unwrap_or(VersionMaker::unnamed(MakerKind::Import))),
        created_at: version.created_at,
    }
}

/// Reads the archive on a blocking thread.
async fn with_archive<T: Send + 'static>(
    import: &RunningImport,
    work: impl FnOnce(&mut super::archive::ExportArchive) -> Result<T> + Send + 'static,
) -> Result<T> {
    let archive: Arc<Mutex<_>> = Arc::clone(&import.archive);
    blocking(move || work(&mut archive.lock().unwrap_or_else(PoisonError::into_inner))).await?
}

pub(super) fn import_error(error: DbError) -> Error {
    match error {
        DbError::Guard(dropleaf_store::leases::HELD) => super::import::superseded(),
        error => error.into(),
    }
}
