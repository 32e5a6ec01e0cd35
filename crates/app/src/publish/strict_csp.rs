//! Strict content security policies: computes the inline scripts that a page's policy allows, records them with its
//! content, and returns warnings for the publisher.

use crate::app::App;
use crate::infra::permit_queue::run_blocking_with_permit;
use bytes::Bytes;
use dropleaf_content::{MOST_SCRIPTS, StrictCsp};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{Stmt, bundles};

const ENCRYPTED: &str = "The server cannot read an encrypted page, so csp_strict blocks its inline scripts and everything it \
                         loads from other sites.";

/// The strict policy of some content.
#[derive(Debug, Clone)]
pub(crate) struct StrictPolicy {
    pub(crate) sources: String,
    pub(crate) warnings: Vec<String>,
}

impl StrictPolicy {
    /// Refuses content with more inline scripts than a policy can name.
    pub(crate) fn of(strict: &StrictCsp, e2e: bool) -> Result<Self> {
        if strict.has_too_many_scripts() {
            let count = strict.script_count();
            return Err(Error::new(
                Code::TooManyScripts,
                format!(
                    "The page has {count} different inline scripts; csp_strict allows {MOST_SCRIPTS}. Move some into files in \
                     the archive or omit csp_strict."
                ),
            ));
        }
        let mut warnings = strict.warnings();
        warnings.extend(e2e.then(|| ENCRYPTED.to_owned()));
        Ok(Self { sources: strict.sources(), warnings })
    }

    /// The statement that records it; the bundle must be recorded already.
    pub(crate) fn record(&self, bundle_id: &str) -> Stmt {
        bundles::set_script_sources(bundle_id, &self.sources)
    }
}

impl App {
    /// The policy of stored content.
    pub(crate) async fn stored_policy(&self, bundle_id: &str, e2e: bool) -> Result<StrictPolicy> {
        let bundle = self.get_bundle(bundle_id).await?;
        // Taken before the pages are read, to bound how many are in memory.
        let permit = self.acquire_upload_permit().await?;
        let mut pages: Vec<(String, String, Bytes)> = Vec::new();
        for file in bundle.files().filter(|file| file.is_document) {
            let mime = String::from_utf8_lossy(&file.mime).into_owned();
            pages.push((file.path.clone(), mime, self.store.blobs.read(&self.store.db, &file.hash).await?));
        }
        pages.sort();
        let read = move || {
            let mut strict = StrictCsp::default();
            for (path, mime, bytes) in &pages {
                strict.read(path, mime, &bytes[..]).map_err(Error::internal)?;
            }
            StrictPolicy::of(&strict, e2e)
        };
        run_blocking_with_permit(permit, read).await
    }
}
