//! Keeps evidence of a taken-down page: one sealed archive, which an operator opens with a reason, and which is erased
//! when its retention period ends. The page's own content is erased once the archive is stored.

mod archive;
mod open;
mod stream_cipher;
mod zip_writer;

pub use open::OpenEvidence;

use crate::app::App;
use crate::infra::body_source::BodySource;
use crate::moderation::audit::SYSTEM_ACTOR;
use crate::publish::staging::to_i64;
use archive::{ArchiveContents, SealedArchive};
use dropleaf_core::audit::{AuditAction, AuditEntry};
use dropleaf_core::site::{Site, State};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::{Error, Result, takedown};
use dropleaf_store::blobs::{Encoding, NewBlob, NewBody};
use dropleaf_store::bundles::{self, Bundle, BundleFile};
use dropleaf_store::evidence::{self, Evidence};
use dropleaf_store::{DbError, Stmt, sites};

/// Pages or archives handled in one sweep, and audit entries searched for the takedown.
const BATCH: i64 = 100;
/// Pages larger than this (64 MiB) are archived by the sweep, so that the operator does not wait for it.
const INLINE_ARCHIVE_BYTES: i64 = 64 << 20;

impl App {
    /// Completes a takedown after the page is hidden: adds its content to the blocklist, seals an archive, and erases the
    /// original. The sweep retries whatever fails.
    pub(crate) async fn finish_takedown(&self, site: &Site, wait_for_large: bool) -> Result<()> {
        if site.state != State::TakenDown || site.purged_at.is_some() {
            return Ok(());
        }
        let versions = self.store.list_versions(&site.id).await?;
        let line = self.takedown_audit_entry(&site.id).await?;
        let reason = line.as_ref().and_then(|line| line.reason.clone()).unwrap_or_default();
        self.block_content(site, &versions, &reason).await?;
        let is_large = versions.iter().map(|version| version.byte_size).sum::<i64>() > INLINE_ARCHIVE_BYTES;
        if is_large && !wait_for_large {
            return Ok(());
        }
        let mut stmts = Vec::new();
        // No evidence is kept of a burn-after-read page.
        if !takedown::erases(site) && self.settings.retention.evidence > 0 && !versions.is_empty() {
            stmts = self.seal_archive(site, &versions, reason, line.map(|line| line.at)).await?;
        }
        let (next, purge) = self.end_site_stmts(site, State::TakenDown, true);
        stmts.extend(purge);
        stmts.push(evidence::delete_sealing_failure(&site.id));
        match self.commit_site(stmts, Some(site), &next).await {
            Ok(()) => {}
            // Another process was faster; its archive counts, and nothing references ours.
            Err(DbError::Guard(sites::CHANGED | evidence::SEALED)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let bundles: Vec<_> = versions.into_iter().map(|version| version.bundle_id).collect();
        self.erase_content(&site.id, &bundles).await;
        Ok(())
    }

    /// Completes unfinished takedowns. A page that fails does not block the others.
    pub(crate) async fn finish_takedowns(&self) -> Result<()> {
        for site in self.store.list_unsealed(BATCH).await? {
            if let Err(error) = self.finish_takedown(&site, true).await {
                tracing::warn!(%error, site = site.id, "evidence of taken-down page not sealed, will retry");
                self.store.commit(vec![evidence::record_sealing_failure(&site.id, self.now())]).await?;
            }
        }
        Ok(())
    }

    /// The audit entry of the takedown: when, and why.
    async fn takedown_audit_entry(&self, site_id: &str) -> Result<Option<AuditEntry>> {
        let lines = self.store.list_audit_of(site_id, BATCH).await?;
        Ok(lines.into_iter().find(|line| line.action == AuditAction::TakeDown))
    }

    /// The statements that record a sealed archive; the archive itself is durable by then.
    async fn seal_archive(
        &self,
        site: &Site,
        versions: &[SiteVersion],
        reason: String,
        taken_down_at: Option<i64>,
    ) -> Result<Vec<Stmt>> {
        let mut known = ArchiveContents {
            site: site.clone(),
            reason,
            taken_down_at,
            versions: Vec::new(),
            reports: self.store.list_reports_for_evidence(&site.id).await?,
            reports_total: self.store.count_reports_of(&site.id).await?,
        };
        for version in versions {
            let bundle = self.store.find_bundle(&version.bundle_id).await?;
            let bundle = bundle.ok_or_else(|| Error::internal("site version references a missing bundle"))?;
            known.versions.push((version.clone(), bundle));
        }
        let bodies = BodySource { store: self.store.clone(), runtime: tokio::runtime::Handle::current() };
        let (keys, salt) = (self.keys.clone(), self.minter.bytes::<16>());
        let spool = self.settings.spool_dir.clone();
        let write = move || archive::write(&known, &bodies, tempfile::tempfile_in(spool)?, &keys, salt);
        let sealed = tokio::task::spawn_blocking(write).await.map_err(Error::internal)?;
        self.evidence_stmts(site, sealed.map_err(Error::internal)?).await
    }

    async fn evidence_stmts(&self, site: &Site, sealed: SealedArchive) -> Result<Vec<Stmt>> {
        let now = self.now();
        let SealedArchive { file, size_bytes, hash } = sealed;
        let body = NewBody::File { file, stored_bytes: size_bytes };
        let blob = NewBlob { hash, encoding: Encoding::Identity, size_bytes, body };
        let path = "evidence.sealed".to_owned();
        let file = BundleFile {
            path: path.clone(),
            mime: "application/octet-stream".to_owned(),
            blob_hash: hash,
            size_bytes: to_i64(size_bytes),
        };
        let bundle = Bundle {
            id: self.minter.ordered_id("bun", now),
            kind: evidence::KIND.to_owned(),
            entry: path,
            files: vec![file],
            ..Bundle::default()
        };
        let kept = Evidence {
            site_id: site.id.clone(),
            bundle_id: Some(bundle.id.clone()),
            size_bytes: to_i64(size_bytes),
            created_at: now,
            erase_after: now + self.settings.retention.evidence,
            erased_at: None,
        };
        let mut stmts = vec![evidence::insert(&kept)];
        stmts.push(self.store.blobs.stage(&self.store.db, blob, &self.minter.nonce(), now).await?);
        stmts.extend(bundles::insert(&bundle, now));
        Ok(stmts)
    }

    /// Erases evidence before its retention period ends.
    pub async fn erase_evidence(&self, actor: &str, name: &str, reason: &str) -> Result<Evidence> {
        let reason = takedown::reason_for(reason, "is required for the erasure")?;
        let kept = self.get_evidence(name).await?;
        if !self.erase_archive(actor, &kept, reason).await? {
            return Err(Error::not_found("evidence"));
        }
        Ok(kept)
    }

    /// Erases evidence whose retention period is over.
    pub(crate) async fn erase_old_evidence(&self) -> Result<()> {
        for kept in self.store.list_old_evidence(self.now(), BATCH).await? {
            self.erase_archive(SYSTEM_ACTOR, &kept, "retention period ended".to_owned()).await?;
        }
        Ok(())
    }

    /// Returns whether there was something to erase.
    async fn erase_archive(&self, actor: &str, kept: &Evidence, reason: String) -> Result<bool> {
        let Some(bundle_id) = &kept.bundle_id else { return Ok(false) };
        let mut stmts: Vec<Stmt> = evidence::erase(&kept.site_id, bundle_id, self.now()).into();
        stmts.push(self.audit_stmt(actor, AuditAction::EraseEvidence, &kept.site_id, Some(reason)));
        match self.store.commit(stmts).await {
            Ok(_) => {}
            Err(DbError::Guard(evidence::ERASED)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Self::log_operation(actor, AuditAction::EraseEvidence, &kept.site_id);
        self.erase_content(&kept.site_id, std::slice::from_ref(bundle_id)).await;
        Ok(true)
    }
}
