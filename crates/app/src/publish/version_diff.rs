//! Compares two versions of a site: `GET /sites/{idOrSlug}/diff`. What was uploaded is compared, not what was rendered from
//! it. Bounded in size and time; what does not fit is named without its lines.

use super::content_diff::{ContentDiff, DiffBudget, FileStatus};
use super::source_files::{SourceFile, SourceFiles};
use super::staging::overloaded;
use crate::app::App;
use dropleaf_content as content;
use dropleaf_core::account::Account;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The lines of a difference, together.
const SHOWN_BYTES: usize = 512 * 1024;
const SHOWN_FILES: usize = 1000;
const TIME: Duration = Duration::from_secs(2);

/// The differences between two versions of a site.
#[derive(Debug)]
pub struct VersionDiff {
    pub site: Site,
    pub from: i64,
    pub to: i64,
    pub content: ContentDiff,
}

impl App {
    /// By default the current version is compared with the one before it.
    pub async fn diff_versions(
        &self,
        account: &Account,
        name: &str,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Result<VersionDiff> {
        let site = self.get_site(account, name).await?;
        let to = to.unwrap_or(site.version);
        let from = match from {
            Some(from) => from,
            None => self.version_before(&site, to).await?,
        };
        let (old, new) = (self.version_files(&site, from).await?, self.version_files(&site, to).await?);
        let content = self.compare_files(&old, &new).await?;
        Ok(VersionDiff { site, from, to, content })
    }

    async fn version_before(&self, site: &Site, version: i64) -> Result<i64> {
        let known = self.store.list_versions(&site.id).await?.into_iter().map(|known| known.version);
        let before = known.filter(|known| *known < version && self.is_version_available(site, *known)).max();
        before.ok_or_else(|| {
            let detail = format!("There is no version before version {version} to compare it with.");
            Error::new(Code::NotFound, detail)
        })
    }

    async fn compare_files(&self, old: &SourceFiles, new: &SourceFiles) -> Result<ContentDiff> {
        let (old, new) = (by_path(old, new), by_path(new, new));
        let mut diff = ContentDiff::default();
        // Comparing needs memory and time, so it shares the short queue of dry runs.
        let permit = self.moderation.check_queue.acquire().await.ok_or_else(overloaded)?;
        let mut held = (permit, DiffBudget::new(SHOWN_BYTES, SHOWN_FILES, TIME));
        let paths: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for path in paths {
            let (before, after) = (old.get(path), new.get(path));
            let status = match (before, after) {
                (Some(before), Some(after)) if before.stored.hash == after.stored.hash => continue,
                (Some(_), Some(_)) => FileStatus::Changed,
                (None, Some(_)) => FileStatus::Added,
                (Some(_), None) => FileStatus::Removed,
                (None, None) => continue,
            };
            if !content::is_text_name(path) {
                diff.add_binary(path, status, &mut held.1);
                continue;
            }
            if held.1.is_spent() {
                diff.add_unread(path, status, &mut held.1);
                continue;
            }
            let (before, after) = (self.read_source(before).await?, self.read_source(after).await?);
            let path = path.to_owned();
            // The permit goes with the work, which continues if the caller leaves.
            let work = move || {
                let (_, budget) = &mut held;
                diff.add(&path, status, before.as_deref(), after.as_deref(), budget);
                (held, diff)
            };
            (held, diff) = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
        }
        Ok(diff)
    }

    async fn read_source(&self, file: Option<&&SourceFile>) -> Result<Option<bytes::Bytes>> {
        match file {
            Some(file) => Ok(Some(self.store.blobs.read(&self.store.db, &file.stored.hash).await?)),
            None => Ok(None),
        }
    }
}

/// The files by path. If both versions are one file, it is the same file under whatever name.
fn by_path<'a>(files: &'a SourceFiles, newer: &'a SourceFiles) -> BTreeMap<&'a str, &'a SourceFile> {
    if let (false, false, [only], [named]) =
        (files.is_archive(), newer.is_archive(), files.files.as_slice(), newer.files.as_slice())
    {
        return BTreeMap::from([(named.path.as_str(), only)]);
    }
    files.files.iter().map(|file| (file.path.as_str(), file)).collect()
}
