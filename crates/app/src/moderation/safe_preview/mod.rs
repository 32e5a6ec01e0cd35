//! Safe previews of possibly hostile content for operators: a frame in which nothing runs and nothing is loaded, the
//! source beside it, and the verdict of today's phishing check. A preview is not a view: gates are not applied and
//! nothing is counted.

mod document;
mod preview_token;
mod source_view;

pub use document::PreviewDocument;
pub use preview_token::PreviewFrame;
pub use source_view::{SourceLine, SourceView};

use crate::app::App;
use crate::moderation::safety::{SafetySettings, finding};
use crate::viewing::pages::ServedBundle;
use bytes::Bytes;
use dropleaf_content::{decode_text, mime_of};
use dropleaf_core::finding::Finding;
use dropleaf_core::{Error, Result};
use dropleaf_inspect::phishing;
use dropleaf_inspect::safe_preview::{self, Inventory};

/// The most that is read for the verdict of one preview. Larger content was checked at upload and is shown file by file.
const READ_BYTES: u64 = 32 << 20;
/// Larger files have no source view.
const SOURCE_BYTES: u64 = 16 << 20;
/// The most files that are listed.
const FILES_MOST: usize = 300;

/// A safe preview of a bundle.
#[derive(Debug, Clone)]
pub struct SafePreview {
    /// None if there is nothing to show as a page.
    pub frame: Option<PreviewFrame>,
    /// End-to-end encrypted: only holders of the link can read it.
    pub is_encrypted: bool,
    pub kind: String,
    pub files: Vec<PreviewFile>,
    /// Files that are not listed.
    pub more_files: usize,
    /// The file that is shown: the main document unless another was requested.
    pub file: String,
    pub source: Option<SourceView>,
    pub inventory: Inventory,
    /// None if there was too much to check.
    pub verdict: Option<PhishingVerdict>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewFile {
    pub path: String,
    pub size_bytes: i64,
    pub is_shown: bool,
}

/// The verdict of the phishing check as it is today.
#[derive(Debug, Clone, Default)]
pub struct PhishingVerdict {
    pub refuses: bool,
    /// Includes findings that weigh against a page without refusing it.
    pub findings: Vec<Finding>,
}

impl App {
    /// Previews a file of a bundle, by default its main document.
    pub async fn preview_bundle(&self, bundle_id: &str, file: Option<&str>) -> Result<SafePreview> {
        let bundle = self.get_bundle(bundle_id).await?;
        let entry = bundle.entry().ok_or_else(|| Error::internal("bundle has no entry file"))?;
        let shown = file.and_then(|path| bundle.find(path)).unwrap_or(entry);
        let mut files: Vec<PreviewFile> = bundle
            .files()
            .map(|file| PreviewFile {
                path: file.path.clone(),
                size_bytes: i64::try_from(file.size_bytes).unwrap_or(i64::MAX),
                is_shown: file.path == shown.path,
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let more_files = files.len().saturating_sub(FILES_MOST);
        files.truncate(FILES_MOST);
        let is_encrypted = bundle.kind == "e2e";
        let mut look = SafePreview {
            frame: None,
            is_encrypted,
            kind: bundle.kind.clone(),
            files,
            more_files,
            file: shown.path.clone(),
            source: None,
            inventory: Inventory::default(),
            verdict: None,
        };
        if is_encrypted {
            return Ok(look);
        }
        if shown.is_document {
            let path = if shown.path == entry.path { "" } else { shown.path.as_str() };
            look.frame = Some(self.preview_frame(bundle_id, path)?);
        }
        let is_text =
            safe_preview::is_text(&String::from_utf8_lossy(&shown.mime)) && shown.size_bytes <= SOURCE_BYTES;
        let source = if is_text { Some(self.read_blob(&shown.hash).await?) } else { None };
        let texts = self.checked_texts(&bundle).await?;
        let (safety, path, document) = (self.settings.safety.clone(), shown.path.clone(), shown.is_document);
        let read = move || {
            let verdict = texts.map(|texts| check_texts(texts, &safety));
            let text = source.map(|bytes| decode_text(bytes.to_vec(), mime_of(&path)));
            let findings = verdict.as_ref().map_or(&[][..], |verdict| &verdict.findings);
            let source = text.as_deref().map(|text| SourceView::of(text, &path, findings));
            let inventory = text.as_deref().filter(|_| document).map(Inventory::of);
            (verdict, source, inventory.unwrap_or_default())
        };
        let read = tokio::task::spawn_blocking(read).await.map_err(Error::internal)?;
        (look.verdict, look.source, look.inventory) = read;
        Ok(look)
    }

    /// The text of every file that the check reads, and the names of the others. None if that is too much for a preview.
    async fn checked_texts(&self, bundle: &ServedBundle) -> Result<Option<Vec<(String, Bytes)>>> {
        let reads = |mime: &[u8]| safe_preview::is_text(&String::from_utf8_lossy(mime));
        let total: u64 = bundle.files().filter(|file| reads(&file.mime)).map(|file| file.size_bytes).sum();
        if total > READ_BYTES {
            return Ok(None);
        }
        let mut texts = Vec::new();
        for file in bundle.files() {
            let bytes = if reads(&file.mime) { self.read_blob(&file.hash).await? } else { Bytes::new() };
            texts.push((file.path.clone(), bytes));
        }
        texts.sort();
        Ok(Some(texts))
    }

    async fn read_blob(&self, hash: &[u8; 32]) -> Result<Bytes> {
        Ok(self.store.blobs.read(&self.store.db, hash).await?)
    }
}

fn check_texts(texts: Vec<(String, Bytes)>, safety: &SafetySettings) -> PhishingVerdict {
    let read = |(path, bytes): (String, Bytes)| {
        let text = decode_text(bytes.to_vec(), mime_of(&path));
        (path, text)
    };
    let texts: Vec<(String, String)> = texts.into_iter().map(read).collect();
    let files: Vec<_> = texts.iter().map(|(path, text)| phishing::File { path, text }).collect();
    let verdict = phishing::check(&files, &safety.rules.rules());
    PhishingVerdict { refuses: verdict.refused, findings: verdict.reasons.into_iter().map(finding).collect() }
}
