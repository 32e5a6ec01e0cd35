//! Finds one uploaded file of a version for its owner: the source of a page, or any file of an archive.

use super::source_files::SourceFiles;
use crate::app::App;
use crate::infra::permit_queue::run_blocking_with_permit;
use crate::publish::staging::overloaded;
use crate::viewing::pages::ServedFile;
use bytes::Bytes;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use std::sync::Arc;

/// An uploaded file, before it is read.
#[derive(Debug)]
pub struct FoundSource {
    pub site: Site,
    pub version: i64,
    pub path: String,
    pub file: Arc<ServedFile>,
    /// The paths and sizes of all files of an archive.
    pub files: Option<Vec<(String, u64)>>,
}

impl App {
    /// The file with this path, by default the one behind the page that opens first; of the current version by default.
    pub async fn find_source(
        &self,
        account: &Account,
        name: &str,
        path: Option<&str>,
        version: Option<i64>,
    ) -> Result<FoundSource> {
        let site = self.get_site(account, name).await?;
        let version = version.unwrap_or(site.version);
        let sources: SourceFiles = self.version_files(&site, version).await?;
        let found = sources.get("path", path)?.clone();
        let listed =
            || sources.files.iter().map(|file| (file.path.clone(), file.stored.size_bytes)).collect();
        let files = sources.is_archive().then(listed);
        Ok(FoundSource { site, version, path: found.path, file: found.stored, files })
    }

    /// Reads the file and passes it to `work` on a thread for long computations. Only a few are in memory at a time: it
    /// shares the short queue of dry runs.
    pub async fn with_found<T: Send + 'static>(
        &self,
        found: &FoundSource,
        work: impl FnOnce(Bytes) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.moderation.check_queue.acquire().await.ok_or_else(overloaded)?;
        let bytes = self.store.blobs.read(&self.store.db, &found.file.hash).await?;
        run_blocking_with_permit(permit, move || work(bytes)).await
    }
}
