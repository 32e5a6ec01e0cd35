//! What changed in a page between versions, for its viewers: the text that they could read, not the source. Whether a viewer
//! may see the page is decided before. Results are cached, because every viewer of a page asks for the same.

use crate::app::App;
use crate::infra::permit_queue::PermitQueue;
use crate::publish::staging::overloaded;
use crate::publish::{ContentDiff, DiffBudget, FileStatus};
use crate::viewing::pages::{PageView, ServedBundle, ServedFile};
use bytes::Bytes;
use dropleaf_content::BundleKind;
use dropleaf_core::html::visible_text;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::{Error, Result, mime};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The name of a page that is one file, whatever it was uploaded as.
const ONLY_FILE: &str = "index.html";
/// The text of a difference, together.
const SHOWN_BYTES: usize = 128 * 1024;
const SHOWN_FILES: usize = 200;
const TIME: Duration = Duration::from_secs(1);
/// Larger files are named without their lines.
const READ_BYTES: u64 = 16 << 20;
/// How many comparisons run at once, and how many wait. Anyone can ask for them, so they do not share the queue of owners.
const COMPARED: usize = 2;
const WAITING: usize = 16;
const CACHED_BYTES: u64 = 8 << 20;

/// What a viewer learns about the versions of a page.
#[derive(Debug)]
pub enum PageChanges {
    /// The content is encrypted, so the server cannot read it.
    Encrypted,
    /// There is no earlier version that viewers may see.
    First,
    /// The requested version cannot be compared; these can.
    Unknown(Vec<EarlierVersion>),
    Compared(ComparedPage),
}

/// A version that viewers may compare with the current one. It does not say who made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierVersion {
    pub version: i64,
    pub created_at: i64,
}

/// The current version of a page beside an earlier one.
#[derive(Debug)]
pub struct ComparedPage {
    pub from: i64,
    pub to: i64,
    /// Newest first.
    pub earlier: Vec<EarlierVersion>,
    pub content: Arc<ContentDiff>,
    /// Whether the page has several files, so that their names mean something.
    pub is_archive: bool,
}

/// The two bundles of a comparison. They are immutable, so the result is too.
type Pair = (String, String);

#[derive(Debug, Clone)]
struct DiffWeighter;

impl Weighter<Pair, Arc<ContentDiff>> for DiffWeighter {
    fn weight(&self, _: &Pair, diff: &Arc<ContentDiff>) -> u64 {
        let lines = diff.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let files = diff.files.iter().map(|file| 256 + file.path.len());
        (512 + files.sum::<usize>() + lines.map(|line| 64 + line.text.len()).sum::<usize>()) as u64
    }
}

/// Comparisons that were made, and those under way.
#[derive(Debug)]
pub(crate) struct ChangesCache {
    compared: Cache<Pair, Arc<ContentDiff>, DiffWeighter>,
    queue: PermitQueue,
}

impl ChangesCache {
    pub(crate) fn new() -> Self {
        Self {
            compared: Cache::with_weighter(64, CACHED_BYTES, DiffWeighter),
            queue: PermitQueue::new(COMPARED, WAITING),
        }
    }
}

impl App {
    /// Compares the version that viewers see with an earlier one: `from`, or the one before it. The page must show its changes.
    pub async fn page_changes(&self, page: &PageView, from: Option<i64>) -> Result<PageChanges> {
        let site = &page.site;
        let (true, Some(since), Some(current)) = (site.shows_changes(), site.changes_since, &site.bundle_id)
        else {
            return Err(Error::not_found("page"));
        };
        if site.e2e {
            return Ok(PageChanges::Encrypted);
        }
        let mut known = self.store.list_versions(&site.id).await?;
        known.retain(|known| {
            let is_between = (since..site.version).contains(&known.version);
            is_between && !known.e2e && self.is_version_available(site, known.version)
        });
        known.sort_by_key(|known| std::cmp::Reverse(known.version));
        let earlier: Vec<EarlierVersion> = known
            .iter()
            .map(|known| EarlierVersion { version: known.version, created_at: known.created_at })
            .collect();
        let Some(newest) = known.first() else { return Ok(PageChanges::First) };
        let wanted = |known: &&SiteVersion| Some(known.version) == from;
        let old = if from.is_some() { known.iter().find(wanted) } else { Some(newest) };
        let Some(old) = old else { return Ok(PageChanges::Unknown(earlier)) };
        let is_archive = self.get_bundle(current).await?.kind == BundleKind::Zip.as_str();
        let content = self.compare_for_viewers(&old.bundle_id, current).await?;
        Ok(PageChanges::Compared(ComparedPage {
            from: old.version,
            to: site.version,
            earlier,
            content,
            is_archive,
        }))
    }

    /// The differences between two bundles; made once for concurrent requests.
    async fn compare_for_viewers(&self, old: &str, new: &str) -> Result<Arc<ContentDiff>> {
        let changes = &self.caches.pages.changes;
        let pair = (old.to_owned(), new.to_owned());
        let mut ran_late = false;
        let compared = changes
            .compared
            .get_or_insert_async(&pair, async {
                let permit = changes.queue.acquire().await.ok_or_else(overloaded)?;
                let (old, new) = (self.get_bundle(old).await?, self.get_bundle(new).await?);
                let (old, new) = (self.readable_files(&old).await?, self.readable_files(&new).await?);
                let mut held =
                    (permit, DiffBudget::new(SHOWN_BYTES, SHOWN_FILES, TIME), ContentDiff::default());
                let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                for path in paths {
                    let (before, after) = (old.get(path), new.get(path));
                    let status = match (before, after) {
                        (Some(before), Some(after)) if before.hash == after.hash => continue,
                        (Some(_), Some(_)) => FileStatus::Changed,
                        (None, Some(_)) => FileStatus::Added,
                        (Some(_), None) => FileStatus::Removed,
                        (None, None) => continue,
                    };
                    let (_, budget, diff) = &mut held;
                    let sides = || before.into_iter().chain(after);
                    if sides().any(|file| !is_readable(file)) {
                        diff.add_binary(path, status, budget);
                        continue;
                    }
                    if budget.is_spent() || sides().any(|file| file.size_bytes > READ_BYTES) {
                        diff.add_unread(path, status, budget);
                        continue;
                    }
                    let (before, after) = (self.read_served(before).await?, self.read_served(after).await?);
                    let path = path.clone();
                    // The permit goes with the work, which continues if the viewer leaves.
                    let work = move || {
                        let (_, budget, diff) = &mut held;
                        let (before, after) = (before.map(readable_text), after.map(readable_text));
                        diff.add(&path, status, before.as_deref(), after.as_deref(), budget);
                        held
                    };
                    held = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
                }
                ran_late = held.1.is_late();
                Ok::<_, Error>(Arc::new(held.2))
            })
            .await?;
        if ran_late {
            // Storage or the machine was slow: the next viewer may get all of it.
            changes.compared.remove(&pair);
        }
        Ok(compared)
    }

    /// The files that viewers can open, without the documents that they see as generated pages.
    async fn readable_files(&self, bundle: &ServedBundle) -> Result<BTreeMap<String, Arc<ServedFile>>> {
        if bundle.kind != BundleKind::Zip.as_str() {
            let entry = bundle.entry().ok_or_else(|| Error::internal("bundle has no entry file"))?;
            return Ok(BTreeMap::from([(ONLY_FILE.to_owned(), Arc::clone(entry))]));
        }
        let generated = self.find_generated(bundle).await?;
        let documents: HashSet<&str> = generated.iter().map(|page| page.document.as_str()).collect();
        let files = bundle
            .files()
            .filter(|file| !file.path.starts_with("_dropleaf/") && !documents.contains(file.path.as_str()));
        Ok(files.map(|file| (file.path.clone(), Arc::clone(file))).collect())
    }

    async fn read_served(&self, file: Option<&Arc<ServedFile>>) -> Result<Option<(Bytes, bool)>> {
        let Some(file) = file else { return Ok(None) };
        let bytes = self.store.blobs.read(&self.store.db, &file.hash).await?;
        Ok(Some((bytes, mime::is_html(&mime_of(file)))))
    }
}

fn mime_of(file: &ServedFile) -> String {
    String::from_utf8_lossy(&file.mime).into_owned()
}

fn is_readable(file: &Arc<ServedFile>) -> bool {
    mime::is_text(&mime_of(file))
}

/// The text of a file as people read it: of a page without its markup, scripts and comments.
fn readable_text((bytes, is_html): (Bytes, bool)) -> Vec<u8> {
    if !is_html {
        return bytes.into();
    }
    let mut text = visible_text(&String::from_utf8_lossy(&bytes)).into_bytes();
    // Otherwise the last line of each text would differ by its end.
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_comments_and_markup_are_not_readable_text() {
        let page =
            "<title>T</title><!-- secret --><script>let token = 1</script><p class=x>Hello <b>there</b>";
        assert_eq!(readable_text((page.into(), true)), b"T\nHello there\n");
        assert_eq!(readable_text(("a,b".into(), false)), b"a,b");
    }

    #[test]
    fn a_difference_weighs_at_least_its_text() {
        let mut diff = ContentDiff::default();
        let mut budget = DiffBudget::new(SHOWN_BYTES, SHOWN_FILES, Duration::from_mins(1));
        diff.add("a", FileStatus::Added, None, Some(&b"x\n".repeat(1000)), &mut budget);
        let weight = DiffWeighter.weight(&(String::new(), String::new()), &Arc::new(diff));
        assert!(weight >= 1000 * 65, "{weight}");
    }
}
