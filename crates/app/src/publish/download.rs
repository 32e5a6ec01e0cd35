//! Finds the stored files of one version for its owner: the file itself for a page that was uploaded as one file, all files
//! of an archive. Sending them is left to the caller.

use crate::app::App;
use crate::viewing::pages::{ServedBundle, ServedFile};
use dropleaf_content::BundleKind;
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use dropleaf_core::{Error, Result};
use std::sync::Arc;

/// The files of one version, before they are read.
#[derive(Debug)]
pub struct Download {
    /// The name to save it under.
    pub name: String,
    pub version: i64,
    pub content: DownloadContent,
}

#[derive(Debug)]
pub enum DownloadContent {
    File(Arc<ServedFile>),
    /// In the order of their paths.
    Archive(Vec<Arc<ServedFile>>),
}

impl App {
    /// The files of a version as they were uploaded, where they are kept; the current version by default.
    pub async fn find_download(
        &self,
        account: &Account,
        name: &str,
        version: Option<i64>,
    ) -> Result<Download> {
        let site = self.get_site(account, name).await?;
        let version = version.unwrap_or(site.version);
        let bundle = self.get_bundle(&self.version_bundle(&site, version).await?).await?;
        let content = content_of(&bundle)?;
        let name = match &content {
            DownloadContent::File(file) => file_name(&bundle, file),
            DownloadContent::Archive(_) => format!("{}.zip", site.slug.as_deref().unwrap_or(&site.id)),
        };
        Ok(Download { name, version, content })
    }

    /// The content of a version that is still kept for its owner.
    pub(crate) async fn version_bundle(&self, site: &Site, version: i64) -> Result<String> {
        if version == site.version {
            return site.bundle_id.clone().ok_or_else(|| Error::not_found("content"));
        }
        let known = self.store.find_version(&site.id, version).await?;
        let known = known.filter(|known| self.is_version_available(site, known.version));
        Ok(known.ok_or_else(|| Error::not_found("version"))?.bundle_id)
    }
}

/// What was uploaded, as far as it is kept. Pages that were generated from the documents of an archive are part of it.
pub(crate) fn content_of(bundle: &ServedBundle) -> Result<DownloadContent> {
    if bundle.kind == BundleKind::Zip.as_str() {
        let mut files: Vec<_> =
            bundle.files().filter(|file| !file.path.starts_with("_dropleaf/")).cloned().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        return Ok(DownloadContent::Archive(files));
    }
    let file = bundle.source().or_else(|| bundle.entry());
    let file = file.ok_or_else(|| Error::internal("bundle has no entry file"))?;
    Ok(DownloadContent::File(Arc::clone(file)))
}

/// The name under which a single file was uploaded, or the one it is stored under.
pub(super) fn file_name(bundle: &ServedBundle, file: &ServedFile) -> String {
    let stored = match file.path.as_str() {
        "_dropleaf/source.md" => "index.md",
        path => path.rsplit('/').next().unwrap_or(path),
    };
    bundle.file_name.as_deref().unwrap_or(stored).to_owned()
}
