//! Checks stored content that is to be shown again, as if it were published now.

use super::ContentScan;
use crate::app::App;
use crate::infra::permit_queue::run_blocking_with_permit;
use crate::publish::staging::executable_refused;
use bytes::Bytes;
use dropleaf_content::{self as content, Body, BundleKind, Encoding};
use dropleaf_core::plan::Plan;
use dropleaf_core::{Error, Result};
use dropleaf_store::blobs::BlobError;
use std::sync::Arc;

/// How a lost body is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnMissingBody {
    Fails,
    /// It is skipped and the rest is read.
    Empty,
}

/// The verdict on stored content that may be shown.
#[derive(Debug)]
pub(crate) struct StoredVerdict {
    bundle_id: String,
    warnings: Vec<String>,
}

impl App {
    /// Refuses content that may no longer be published; returns warnings for its publisher otherwise.
    pub(crate) async fn check_stored(&self, bundle_id: &str) -> Result<Vec<String>> {
        let scan = self.scan_stored(bundle_id).await?;
        self.check_content(&scan).await
    }

    /// The same for an operation that is retried on concurrent changes: the content is read and checked once, as long as
    /// it stays the same.
    pub(crate) async fn check_stored_once(
        &self,
        verdict: &mut Option<StoredVerdict>,
        bundle_id: &str,
    ) -> Result<Vec<String>> {
        if let Some(known) = verdict.as_ref().filter(|known| known.bundle_id == bundle_id) {
            return Ok(known.warnings.clone());
        }
        let warnings = self.check_stored(bundle_id).await?;
        *verdict = Some(StoredVerdict { bundle_id: bundle_id.to_owned(), warnings: warnings.clone() });
        Ok(warnings)
    }

    /// Refuses content with a file that is executable on a viewer's computer, if the plan does not allow it.
    pub(crate) async fn check_stored_programs(&self, plan: &Plan, bundle_id: &str) -> Result<()> {
        if plan.executables {
            return Ok(());
        }
        let stored = self.store.find_bundle(bundle_id).await?;
        let stored = stored.ok_or_else(|| Error::internal("site references a missing bundle"))?;
        // Content of earlier versions of this server is recognized by its name alone.
        let program = stored.files.iter().find(|file| {
            let is_program = file.mime == content::PROGRAM || content::is_program_name(&file.path);
            is_program && !file.path.starts_with("_dropleaf/")
        });
        program.map_or(Ok(()), |file| Err(executable_refused(&file.path)))
    }

    /// Reads a stored bundle, without a verdict.
    pub(crate) async fn scan_stored(&self, bundle_id: &str) -> Result<ContentScan> {
        let safety = self.settings.safety.clone();
        let blocklist = self.blocklist().await?;
        let clean = Arc::clone(&self.moderation.clean_content);
        let read = move |bundle| ContentScan::scan_and_compare(&bundle, &safety, None, blocklist, &clean);
        self.with_stored(bundle_id, OnMissingBody::Fails, read).await
    }

    /// Runs blocking work on the texts of a stored bundle. They are in memory only while it holds an upload permit, so
    /// that concurrency is bounded as for uploads.
    pub(crate) async fn with_stored<T: Send + 'static>(
        &self,
        bundle_id: &str,
        missing: OnMissingBody,
        work: impl FnOnce(content::Bundle) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.acquire_upload_permit().await?;
        let bundle = self.load_texts(bundle_id, missing).await?;
        run_blocking_with_permit(permit, move || work(bundle)).await
    }

    /// A stored bundle with the bodies of its text files; other files are never read and left out.
    async fn load_texts(&self, bundle_id: &str, missing: OnMissingBody) -> Result<content::Bundle> {
        let stored = self.store.find_bundle(bundle_id).await?;
        let stored = stored.ok_or_else(|| Error::internal("site references a missing bundle"))?;
        let kind =
            BundleKind::parse(&stored.kind).ok_or_else(|| Error::internal("bundle has an unknown kind"))?;
        let mut files = Vec::with_capacity(stored.files.len());
        for file in stored.files {
            let bytes = if kind != BundleKind::E2e && content::is_text_name(&file.path) {
                match self.store.blobs.read(&self.store.db, &file.blob_hash).await {
                    Err(BlobError::Missing) if missing == OnMissingBody::Empty => Bytes::new(),
                    body => body?,
                }
            } else {
                Bytes::new()
            };
            files.push(content::File {
                mime: content::mime_of(&file.path),
                hash: file.blob_hash,
                size_bytes: u64::try_from(file.size_bytes).unwrap_or_default(),
                body: Body::Packed { encoding: Encoding::Identity, bytes },
                plain: None,
                path: file.path,
            });
        }
        // In the order they were packed in, because the hash of the whole depends on it.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let size_bytes = files.iter().map(|file| file.size_bytes).sum();
        let (title, warnings) = (String::new(), Vec::new());
        let (entry, addressing) = (stored.entry, content::Addressing::default());
        let (file_name, toolbar_warning) = (None, None);
        Ok(content::Bundle {
            kind,
            title,
            entry,
            files,
            warnings,
            size_bytes,
            addressing,
            file_name,
            address_warnings: content::AddressWarnings::default(),
            toolbar_warning,
        })
    }
}
