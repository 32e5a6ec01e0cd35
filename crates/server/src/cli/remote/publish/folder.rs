//! Lists the files of a folder that are published: not those in `.gitignore` or `.dropleafignore`, never hidden ones, and no
//! link to a file that is not listed itself.

use crate::cli::output::Size;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_client::UploadLimits;
use dropleaf_content::{Limits, find_archive_root, is_excluded};
use ignore::{DirEntry, WalkBuilder};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const OWN_IGNORE_FILE: &str = ".dropleafignore";
/// No server accepts more; a folder with more was not meant (a home folder, for example).
const MOST_FILES: usize = 100_000;

/// A file to publish.
#[derive(Debug)]
pub(in crate::cli) struct FolderFile {
    /// Its path in the folder, with slashes.
    pub(in crate::cli) name: String,
    /// Where to read it: the target, if it is a link.
    pub(in crate::cli) from: PathBuf,
    pub(in crate::cli) size: u64,
}

/// The files of a folder, sorted by name, and what was left out for other reasons than the ignore files.
#[derive(Debug)]
pub(in crate::cli) struct FolderListing {
    pub(in crate::cli) files: Vec<FolderFile>,
    pub(in crate::cli) skipped: Vec<Skipped>,
}

#[derive(Debug)]
pub(in crate::cli) struct Skipped {
    pub(in crate::cli) name: String,
    pub(in crate::cli) why: &'static str,
}

impl FolderListing {
    /// Fails if a server would refuse the folder whatever its limits.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let listing = Self::walk(folder)?;
        ensure!(
            !listing.files.is_empty(),
            "{} has no files to publish (hidden files and those in .gitignore or {OWN_IGNORE_FILE} are not sent)",
            folder.display()
        );
        let names: Vec<String> = listing.files.iter().map(|file| file.name.clone()).collect();
        // Those depend on the settings of the server.
        let any = Limits { name_bytes: usize::MAX, depth: usize::MAX, ..Limits::default() };
        if let Err(refusal) = find_archive_root(&names, &any) {
            let why = refusal.to_string().replace("The archive has", "The folder has");
            let why = why
                .replace("zip the contents of its folder instead", "publish its folder instead")
                .replace(" and create the archive again", "");
            bail!("{} cannot be published: {why}", folder.display());
        }
        Ok(listing)
    }

    /// Lists the files, whether or not they can become a page.
    pub(in crate::cli) fn walk(folder: &Path) -> Result<Self> {
        let root = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
        let base = root.clone();
        // Ignore files outside the folder do not count: a build folder is usually ignored as a whole by the repository that
        // contains it.
        let walk = WalkBuilder::new(&root)
            .standard_filters(false)
            .git_ignore(true)
            .require_git(false)
            .add_custom_ignore_filename(OWN_IGNORE_FILE)
            .filter_entry(move |entry| !is_hidden(&base, entry))
            .build();
        let mut listing = Self { files: Vec::new(), skipped: Vec::new() };
        let mut links = Vec::new();
        for entry in walk {
            let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
            if let Some(error) = entry.error() {
                bail!("cannot use an ignore file: {error}");
            }
            listing.add(&root, &entry, &mut links)?;
            ensure!(
                listing.files.len() + listing.skipped.len() + links.len() <= MOST_FILES,
                "{} has more than {MOST_FILES} files",
                folder.display()
            );
        }
        listing.add_links(links);
        listing.files.sort_by(|a, b| a.name.cmp(&b.name));
        listing.skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// Adds a file, or puts it aside if it is a link: its target may be listed later.
    fn add(&mut self, root: &Path, entry: &DirEntry, links: &mut Vec<FolderFile>) -> Result<()> {
        let Some(kind) = entry.file_type() else { return Ok(()) };
        let inside = entry.path().strip_prefix(root).unwrap_or(entry.path());
        if kind.is_dir() || inside.as_os_str().is_empty() {
            return Ok(());
        }
        let Some(name) = inside.to_str().map(str::to_owned) else {
            bail!("the name of {} is not UTF-8; rename it or add it to {OWN_IGNORE_FILE}", inside.display());
        };
        let from = if kind.is_symlink() {
            match link_target(root, entry.path()) {
                Ok(target) => target,
                Err(why) => {
                    self.skipped.push(Skipped { name, why });
                    return Ok(());
                }
            }
        } else {
            entry.path().to_owned()
        };
        let meta = fs::metadata(&from).with_context(|| format!("cannot read {}", entry.path().display()))?;
        if meta.is_file() {
            let list = if kind.is_symlink() { links } else { &mut self.files };
            list.push(FolderFile { name, from, size: meta.len() });
        } else {
            self.skipped.push(Skipped { name, why: "not a file" });
        }
        Ok(())
    }

    /// Adds the links to listed files. A link must not publish an ignored file under another name.
    fn add_links(&mut self, links: Vec<FolderFile>) {
        let (sent, ignored): (Vec<_>, Vec<_>) = {
            let listed: HashSet<&Path> = self.files.iter().map(|file| file.from.as_path()).collect();
            links.into_iter().partition(|link| listed.contains(link.from.as_path()))
        };
        self.files.extend(sent);
        let why = "a link to an ignored file";
        self.skipped.extend(ignored.into_iter().map(|link| Skipped { name: link.name, why }));
    }

    pub(in crate::cli) fn total_size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Compares it with the limits that the server tells.
    pub(super) fn check(&self, folder: &Path, limits: &UploadLimits) -> Result<()> {
        let (count, size) = (self.files.len() as u64, self.total_size());
        if let Some(most) = limits.files.filter(|most| count > *most) {
            bail!("{} has {count} files; the server accepts at most {most}", folder.display());
        }
        if let Some(most) = limits.unpacked_bytes.filter(|most| size > *most) {
            bail!(
                "the files in {} are {}; the server accepts at most {}",
                folder.display(),
                Size::from(size),
                Size::from(most)
            );
        }
        Ok(())
    }
}

/// Whether the file is never sent, even if an ignore file makes an exception for it.
fn is_hidden(root: &Path, entry: &DirEntry) -> bool {
    let inside = entry.path().strip_prefix(root).unwrap_or(entry.path());
    !inside.as_os_str().is_empty() && is_excluded(&inside.to_string_lossy())
}

/// The file that a link leads to, or why it is not followed.
fn link_target(root: &Path, link: &Path) -> Result<PathBuf, &'static str> {
    let target = link.canonicalize().map_err(|_| "a broken link")?;
    let Ok(inside) = target.strip_prefix(root) else {
        return Err("a link that leads out of the folder");
    };
    // A link must not publish a hidden file under another name.
    if is_excluded(&inside.to_string_lossy()) {
        return Err("a link to a hidden file");
    }
    // It may lead back to a folder that contains it.
    if target.is_dir() { Err("a link to a folder") } else { Ok(target) }
}

#[cfg(test)]
mod tests;
