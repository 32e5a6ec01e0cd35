//! The files of a version as they were uploaded: the source of a page that was rendered, and the files of an archive without
//! the pages that were generated from its documents. Editing, reading and comparing versions all work on these.

use crate::app::App;
use crate::viewing::pages::{ServedBundle, ServedFile};
use dropleaf_content::{self as content, BundleKind, GeneratedPage};
use dropleaf_core::site::Site;
use dropleaf_core::{Error, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// How many paths an error lists.
const LISTED_PATHS: usize = 20;

/// One uploaded file.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// The name it was uploaded under, where that is known.
    pub(crate) path: String,
    pub(crate) stored: Arc<ServedFile>,
}

/// The uploaded files of a version, in the order of their paths.
#[derive(Debug)]
pub(crate) struct SourceFiles {
    pub(crate) kind: BundleKind,
    pub(crate) files: Vec<SourceFile>,
    /// The file behind the page that opens first.
    pub(crate) main: usize,
    /// Files that viewers can open but that were not uploaded.
    pub(crate) generated: Vec<GeneratedPage>,
    /// The name of a single file, as it is kept with the page.
    pub(crate) file_name: Option<String>,
}

impl SourceFiles {
    pub(crate) fn is_archive(&self) -> bool {
        self.kind == BundleKind::Zip
    }

    /// The file with this path, or the main one. A page that is one file can also be called `index.html` or `index.md`.
    pub(crate) fn find(&self, path: Option<&str>) -> Option<&SourceFile> {
        let Some(path) = path else { return self.files.get(self.main) };
        let exact = self.files.iter().find(|file| file.path == path);
        exact.or_else(|| {
            let usual = matches!(path, "index.html" | "index.md") && !self.is_archive();
            self.files.first().filter(|file| usual || file.stored.path == path)
        })
    }

    /// The same, with an error that says which files there are.
    pub(crate) fn get(&self, field: &str, path: Option<&str>) -> Result<&SourceFile> {
        if let Some(found) = self.find(path) {
            return Ok(found);
        }
        let path = path.unwrap_or_default();
        if let Some(page) = self.generated.iter().find(|page| page.path == path) {
            let why = format!("names a page that is generated from `{}`: use that file", page.document);
            return Err(Error::field(field, why));
        }
        let mut names: Vec<String> =
            self.files.iter().take(LISTED_PATHS).map(|file| format!("`{}`", file.path)).collect();
        if self.files.len() > LISTED_PATHS {
            names.push(format!("and {} more", self.files.len() - LISTED_PATHS));
        }
        Err(Error::field(field, format!("names no file of this page. It has {}", names.join(", "))))
    }
}

impl App {
    /// The uploaded files of stored content.
    pub(crate) async fn source_files(&self, bundle_id: &str) -> Result<SourceFiles> {
        let bundle = self.get_bundle(bundle_id).await?;
        let kind =
            BundleKind::parse(&bundle.kind).ok_or_else(|| Error::internal("bundle has an unknown kind"))?;
        let file_name = bundle.file_name.clone();
        if kind != BundleKind::Zip {
            let stored = bundle.source().or_else(|| bundle.entry());
            let stored = Arc::clone(stored.ok_or_else(|| Error::internal("bundle has no entry file"))?);
            let path = super::download::file_name(&bundle, &stored);
            let files = vec![SourceFile { path, stored }];
            return Ok(SourceFiles { kind, files, main: 0, generated: Vec::new(), file_name });
        }
        let generated = self.find_generated(&bundle).await?;
        let made: HashSet<&str> = generated.iter().map(|page| page.path.as_str()).collect();
        let mut files: Vec<SourceFile> = bundle
            .files()
            .filter(|file| !file.path.starts_with("_dropleaf/") && !made.contains(file.path.as_str()))
            .map(|file| SourceFile { path: file.path.clone(), stored: Arc::clone(file) })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let entry = bundle.entry().map(|entry| entry.path.as_str()).unwrap_or_default();
        let entry = generated.iter().find(|page| page.path == entry).map_or(entry, |page| &page.document);
        let main = files.iter().position(|file| file.path == entry).unwrap_or_default();
        Ok(SourceFiles { kind, files, main, generated, file_name })
    }

    /// The uploaded files of a version that is still kept for its owner.
    pub(crate) async fn version_files(&self, site: &Site, version: i64) -> Result<SourceFiles> {
        self.source_files(&self.version_bundle(site, version).await?).await
    }

    /// The pages of an archive that were generated from its documents.
    pub(crate) async fn find_generated(&self, bundle: &ServedBundle) -> Result<Vec<GeneratedPage>> {
        let paths: Vec<&str> = bundle.files().map(|file| file.path.as_str()).collect();
        let find = async {
            let mut ours = HashSet::new();
            for path in content::generated_candidates(&paths) {
                let Some(file) = bundle.find(&path) else { continue };
                let bytes = self.store.blobs.read(&self.store.db, &file.hash).await?;
                if content::is_generated_page(&bytes) {
                    ours.insert(path);
                }
            }
            Ok::<_, Error>(ours)
        };
        // Content never changes, so its pages are read once as long as it stays in the cache.
        let ours = bundle.generated.get_or_try_init(|| find).await?;
        Ok(content::generated_pages(&paths, ours))
    }
}
