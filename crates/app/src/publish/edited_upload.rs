//! Builds the upload that results from an edit: the stored source with the changes applied. Files that do not change are
//! copied from storage; nothing is decided about the content here.

use super::content_diff::{ContentDiff, DiffBudget, FileStatus};
use super::content_edit::{ContentEdit, FileChange, FileEdit};
use super::edited_files::{archive_upload, single_upload};
use super::source_files::{SourceFile, SourceFiles};
use crate::app::App;
use crate::infra::body_source::BodySource;
use crate::infra::permit_queue::run_blocking_with_permit;
use crate::publish::upload::Upload;
use bytes::Bytes;
use dropleaf_content::{self as content, BundleKind};
use dropleaf_core::site::{Site, Visibility};
use dropleaf_core::text_edit::{self, TextEdit};
use dropleaf_core::{Code, Error, Result};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Handle;

/// The length of the difference in the answer.
const DIFF_BYTES: usize = 24 * 1024;
const DIFF_FILES: usize = 200;
const DIFF_TIME: Duration = Duration::from_millis(500);

/// The result of an edit, before it is checked.
#[derive(Debug)]
pub(crate) struct EditedUpload {
    pub(crate) upload: Upload,
    pub(crate) diff: ContentDiff,
}

/// What happens to one file.
enum Change {
    Edit(Vec<TextEdit>),
    Put(Bytes),
    Delete,
}

/// A file that changes, with the content it has now if that is text or is edited.
struct ChangedFile {
    path: String,
    exists: bool,
    old: Option<Bytes>,
    change: Change,
}

impl App {
    /// The page with the changes, or `None` if its content would be the same.
    pub(super) async fn build_edited(&self, site: &Site, edit: ContentEdit) -> Result<Option<EditedUpload>> {
        let bundle_id = editable_bundle(site)?;
        let sources = self.source_files(bundle_id).await?;
        check_kind(&sources)?;
        let most_bytes = edit.most_bytes;
        let changes = changes_by_path(&sources, edit)?;
        // Taken before the files are read, to bound how many are in memory.
        let permit = self.acquire_upload_permit().await?;
        let mut files = Vec::with_capacity(changes.len());
        for (path, change) in changes {
            let known = sources.files.iter().find(|file| file.path == path);
            let old = match known {
                Some(file) if matches!(change, Change::Edit(_)) || content::is_text_name(&path) => {
                    Some(self.store.blobs.read(&self.store.db, &file.stored.hash).await?)
                }
                _ => None,
            };
            files.push(ChangedFile { path, exists: known.is_some(), old, change });
        }
        let bodies = BodySource { store: self.store.clone(), runtime: Handle::current() };
        let (limits, spool) = (self.settings.content.clone(), self.settings.spool_dir.clone());
        let title = site.title.clone();
        let work = move || {
            let room = room_for(&sources, &files, limits.unpacked_bytes);
            let (contents, diff) = apply(files, most_bytes, room)?;
            if contents.iter().all(|(path, new)| is_unchanged(&sources, path, new.as_ref())) {
                return Ok(None);
            }
            let upload = if sources.is_archive() {
                archive_upload(&sources, &contents, &bodies, &limits, &spool, &title)?
            } else {
                single_upload(&sources, contents, &spool)?
            };
            Ok(Some(EditedUpload { upload, diff }))
        };
        run_blocking_with_permit(permit, work).await
    }
}

/// The content of a page whose source can be edited.
fn editable_bundle(site: &Site) -> Result<&str> {
    let refused = |why: &str| Err(Error::new(Code::NotEditable, why));
    if site.e2e {
        return refused(
            "The page is encrypted, so the server cannot edit it. Edit the file, encrypt it again and upload it.",
        );
    }
    if site.visibility == Visibility::Burn {
        return refused("The page is deleted after its first view, so it cannot be edited. Upload it again.");
    }
    site.bundle_id.as_deref().ok_or_else(|| Error::not_found("content"))
}

fn check_kind(sources: &SourceFiles) -> Result<()> {
    match sources.kind {
        BundleKind::Html | BundleKind::Markdown | BundleKind::Zip | BundleKind::File => Ok(()),
        BundleKind::Pdf | BundleKind::E2e => Err(not_text(&sources.files[sources.main].path)),
    }
}

fn not_text(path: &str) -> Error {
    let detail =
        format!("`{path}` is not UTF-8 text, so it cannot be edited. Upload the whole file instead.");
    Error::new(Code::NotEditable, detail)
}

/// Sorts the changes by file. A file is edited, replaced or deleted, but not two of these.
fn changes_by_path(sources: &SourceFiles, edit: ContentEdit) -> Result<BTreeMap<String, Change>> {
    let mut changes: BTreeMap<String, Change> = BTreeMap::new();
    for (number, FileChange { path, content }) in edit.files.into_iter().enumerate() {
        let field = format!("files[{number}].path");
        if !sources.is_archive() {
            let detail = "The page is one file, not an archive. Edit its text with `edits`, or replace it with \
                          PUT /sites/{idOrSlug}.";
            return Err(Error::new(Code::NotEditable, detail));
        }
        check_path(sources, &field, &path)?;
        let change = if let Some(content) = content {
            Change::Put(content)
        } else {
            sources.get(&field, Some(&path))?;
            Change::Delete
        };
        if changes.insert(path, change).is_some() {
            return Err(Error::field(&field, "is named twice"));
        }
    }
    for FileEdit { path, edit } in edit.edits {
        let field = format!("edits[{}].path", edit.index);
        let SourceFile { path, .. } = sources.get(&field, path.as_deref())?;
        match changes.entry(path.clone()).or_insert_with(|| Change::Edit(Vec::new())) {
            Change::Edit(edits) => edits.push(edit),
            Change::Put(_) | Change::Delete => {
                return Err(Error::field(&field, "is also in `files`: send the edited content there"));
            }
        }
    }
    Ok(changes)
}

/// Refuses names that an archive would change or leave out; the archive reader refuses the rest.
fn check_path(sources: &SourceFiles, field: &str, path: &str) -> Result<()> {
    if let Some(page) = sources.generated.iter().find(|page| page.path == path) {
        let why = format!("names a page that is generated from `{}`: change that file", page.document);
        return Err(Error::field(field, why));
    }
    if path.is_empty() || path.ends_with('/') {
        return Err(Error::field(field, "must name a file"));
    }
    if path.contains('\\') || path.starts_with("./") {
        return Err(Error::field(
            field,
            "must be the path of the file inside the archive, with `/` between folders",
        ));
    }
    // The archive reader refuses a path that leads out of the archive, with its own code.
    let leads_out = path.starts_with('/') || path.split('/').any(|part| part == "..");
    if !leads_out && content::is_excluded(path) {
        return Err(Error::field(field, "names a hidden or system file, which is never published"));
    }
    Ok(())
}

/// The new content of every file, in the order of their paths; `None` for a deleted one.
pub(super) type Contents = BTreeMap<String, Option<Bytes>>;

/// What the changed files may take together, so that the whole stays within the limit of an unpacked upload.
fn room_for(sources: &SourceFiles, changed: &[ChangedFile], unpacked_bytes: u64) -> usize {
    let is_kept = |file: &&SourceFile| changed.iter().all(|changed| changed.path != file.path);
    let kept: u64 = sources.files.iter().filter(is_kept).map(|file| file.stored.size_bytes).sum();
    usize::try_from(unpacked_bytes.saturating_sub(kept)).unwrap_or(usize::MAX)
}

/// `most_bytes` limits each edited file, and `room` all changed files together: a short edit can make a file much longer,
/// and all results are in memory at once.
fn apply(changed: Vec<ChangedFile>, most_bytes: usize, room: usize) -> Result<(Contents, ContentDiff)> {
    let mut room = room;
    let mut diff = ContentDiff::default();
    let mut budget = DiffBudget::new(DIFF_BYTES, DIFF_FILES, DIFF_TIME);
    let mut contents = Contents::new();
    for ChangedFile { path, exists, old, change } in changed {
        let new = match change {
            Change::Delete => None,
            Change::Put(content) => Some(content),
            Change::Edit(edits) => {
                let old = old.as_deref().unwrap_or_default();
                let text = std::str::from_utf8(old).ok().filter(|text| !text.contains('\0'));
                let text = text.ok_or_else(|| not_text(&path))?;
                let made = text_edit::apply(text, &edits, most_bytes.min(room)).map_err(|error| {
                    error.with_fact("path", dropleaf_core::error::Fact::Text(path.clone()))
                })?;
                Some(Bytes::from(made))
            }
        };
        room = room.saturating_sub(new.as_ref().map_or(0, Bytes::len));
        let status = match (exists, &new) {
            (false, _) => FileStatus::Added,
            (true, None) => FileStatus::Removed,
            (true, Some(_)) => FileStatus::Changed,
        };
        if exists && old.is_none() {
            diff.add_binary(&path, status, &mut budget);
        } else if old != new {
            diff.add(&path, status, old.as_deref(), new.as_deref(), &mut budget);
        }
        contents.insert(path, new);
    }
    Ok((contents, diff))
}

fn is_unchanged(sources: &SourceFiles, path: &str, new: Option<&Bytes>) -> bool {
    let stored = sources.files.iter().find(|file| file.path == path);
    match (stored, new) {
        (Some(file), Some(new)) => file.stored.hash == *blake3::hash(new).as_bytes(),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_limited_together_before_they_are_made() {
        let edit = || TextEdit { find: "a".into(), replace: "b".repeat(100), all: true, index: 0 };
        let file = |path: &str| ChangedFile {
            path: path.to_owned(),
            exists: true,
            old: Some(Bytes::from_static(b"aaaaaaaaaa")),
            change: Change::Edit(vec![edit()]),
        };
        let (contents, _) = apply(vec![file("1.txt"), file("2.txt")], 1000, 2000).unwrap();
        assert_eq!(contents.len(), 2);
        let refused = apply(vec![file("1.txt"), file("2.txt")], 1000, 1999).unwrap_err();
        assert_eq!(refused.code, Code::TooLarge);
        assert!(refused.detail.contains("999"), "{}", refused.detail);
    }
}
