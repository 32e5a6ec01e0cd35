//! Reads zip archives strictly: the central directory is the only list of entries, every local header must agree with it, and
//! nothing is unpacked before all names and declared sizes have been checked. With a lenient reader, two programs could see
//! two different archives.

mod directory;
mod entry;
mod excluded;
mod layout;
mod local;
mod names;
mod site;
mod tree;
mod unpack;
mod zip64;

use std::collections::HashMap;

use crate::Limits;
use crate::bundle::{Bundle, BundleKind, File};
use crate::input::Input;
use crate::markdown::ArchivePages;
use crate::pack::Packer;
use crate::paths::{INDEX, Paths};
use crate::references::addressing::Addressing;
use crate::refusal::{Refusal, RefusalCode, shown_name};
use crate::title;

use entry::ZipEntry;
pub use excluded::is_excluded;
use site::ArchiveSite;

const RATIO_FROM_BYTES: u64 = 1 << 20;

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    limits: &Limits,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let directory = directory::read(input, limits)?;
    let entries = &directory.entries;
    names::check_all(entries)?;
    check_sizes(entries, limits)?;
    let (hidden, kept): (Vec<&ZipEntry>, Vec<&ZipEntry>) = entries.iter().partition(|e| is_excluded(&e.name));
    let kept_files = kept.iter().filter(|e| !e.is_folder()).count();
    if kept_files > limits.files {
        return Err(too_many_files(kept_files, limits));
    }
    let layout = layout::find(&kept)?;
    let data_starts = local::locate(input, &directory)?;

    let sizes: HashMap<&str, u64> =
        kept.iter().filter(|e| !e.is_folder()).map(|e| (&e.name[layout.root.len()..], e.size)).collect();
    let paths = Paths::new(sizes.keys().copied());
    let room = limits.files.saturating_sub(kept_files);
    let size_of = |path: &str| sizes.get(path).copied().unwrap_or_default();
    let pages = (layout.entry == INDEX).then(|| ArchivePages::plan(&paths, size_of, room)).flatten();
    let mut site = ArchiveSite::new(&paths, layout.entry, pages);
    let mut budget = limits.unpacked_bytes;
    let mut files = Vec::with_capacity(kept_files);
    for (entry, data_start) in entries.iter().zip(data_starts) {
        if is_excluded(&entry.name) {
            continue;
        }
        let mut data =
            unpack::EntryData { input: &mut *input, entry, start: data_start, budget: &mut budget };
        if entry.is_folder() {
            data.unpack(|_| Ok(()))?;
        } else {
            files.push(site.pack_entry(data, &entry.name[layout.root.len()..], packer)?);
        }
    }
    site.set_charsets(&mut files)?;
    files.append(&mut site.generated);
    check_generated(&files, layout.entry, limits)?;

    let backslash_names = kept.iter().filter(|e| e.written.contains('\\')).count();
    let mut warnings: Vec<String> = excluded::warning(&hidden).into_iter().collect();
    if backslash_names > 0 {
        warnings.push(format!("Backslashes in {backslash_names} names were converted to slashes."));
    }
    let hash_of = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.hash);
    let addressing = Addressing::detect(&site.report, &paths, |page| hash_of(page) == hash_of(INDEX));
    warnings.extend(site.report.warnings());
    warnings.extend(site.pages.iter().flat_map(ArchivePages::warnings));
    warnings
        .extend(site.pages.as_ref().and_then(|pages| first_page_warning(pages.first_document()?, &paths)));
    let title = site.title.take().unwrap_or_else(|| title::from_filename(filename));
    let address_warnings = site.report.address_warnings();
    let bundle = Bundle::assemble(BundleKind::Zip, title, layout.entry.to_owned(), files, warnings);
    Ok(Bundle { addressing, address_warnings, toolbar_warning: site.toolbar_warning, ..bundle })
}

/// The prefix that would be removed from the paths of an archive with these files, or why it would be refused. Folders end
/// with a slash.
pub fn find_archive_root(names: &[String], limits: &Limits) -> Result<String, Refusal> {
    let entries: Vec<ZipEntry> = names
        .iter()
        .map(|name| Ok(ZipEntry::named(names::check(name.clone().into_bytes(), limits)?.0)))
        .collect::<Result<_, Refusal>>()?;
    names::check_all(&entries)?;
    let kept: Vec<&ZipEntry> = entries.iter().filter(|entry| !is_excluded(&entry.name)).collect();
    layout::find(&kept).map(|layout| layout.root.to_owned())
}

/// Warns that a document opens first although there is a page: which of them is meant is a guess.
fn first_page_warning(document: &str, paths: &Paths<'_>) -> Option<String> {
    let mut pages = paths.pages();
    let only = pages.next().filter(|_| pages.next().is_none())?;
    let (document, only) = (shown_name(document.as_bytes()), shown_name(only.as_bytes()));
    Some(format!("{document} is the start page. To use {only} instead, put it at the root as index.html."))
}

/// Checks the total size including generated pages, and that the first page exists: it may have to be generated from a
/// document.
fn check_generated(files: &[File], entry: &str, limits: &Limits) -> Result<(), Refusal> {
    if !files.iter().any(|file| file.path == entry) {
        let detail = "The archive has no index.html, and the README.md at its root could not be rendered because it is not \
                      UTF-8 or is larger than 1 MiB. Add an index.html.";
        return Err(Refusal::new(RefusalCode::MissingIndex, detail));
    }
    let size = files.iter().map(|file| file.size_bytes).sum();
    if size > limits.unpacked_bytes {
        return Err(Refusal::too_large(size, limits.unpacked_bytes));
    }
    Ok(())
}

/// Checks the declared sizes, so that a zip bomb is refused before any of it is unpacked.
fn check_sizes(entries: &[ZipEntry], limits: &Limits) -> Result<(), Refusal> {
    let unpacked: u64 = entries.iter().map(|e| e.size).sum();
    let packed: u64 = entries.iter().map(|e| e.packed).sum();
    if unpacked > limits.unpacked_bytes {
        return Err(Refusal::too_large(unpacked, limits.unpacked_bytes));
    }
    if unpacked > RATIO_FROM_BYTES && unpacked > packed.saturating_mul(limits.ratio) {
        let detail = format!(
            "The archive unpacks to {unpacked} bytes, more than {} times its packed size. \
             Remove files with highly repetitive content.",
            limits.ratio
        );
        return Err(Refusal::new(RefusalCode::TooLarge, detail));
    }
    Ok(())
}

fn too_many_files(count: usize, limits: &Limits) -> Refusal {
    let detail = format!("The archive has {count} files; the limit is {}. Remove some.", limits.files);
    Refusal::new(RefusalCode::TooManyFiles, detail)
}
