//! Zip archives, read by exact rules: the central directory is the only list of entries, every
//! local header must agree with it, and nothing is unpacked before all names and declared sizes
//! have passed. A lenient reader would let two programs see two different archives.

mod directory;
mod layout;
mod local;
mod names;
mod unpack;
mod zip64;

use std::collections::HashSet;

use crate::Limits;
use crate::bundle::{Bundle, File, Kind};
use crate::html::{INDEX, charset_of};
use crate::input::Input;
use crate::mime::{HTML, mime_of};
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};
use crate::scan::PageScan;
use crate::text::TextWatch;
use crate::title;
use crate::warnings::Warnings;

use directory::Entry;

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
    let (junk, kept): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|e| names::is_junk(&e.name));
    let kept_files = kept.iter().filter(|e| !e.is_folder()).count();
    if kept_files > limits.files {
        return Err(too_many_files(kept_files, limits));
    }
    let root = layout::find_root(&kept)?;
    let data_starts = local::locate(input, &directory)?;

    let paths: HashSet<&str> =
        kept.iter().filter(|e| !e.is_folder()).map(|e| &e.name[root.len()..]).collect();
    let mut site = Site { paths: &paths, title: None, warnings: Warnings::default() };
    if !junk.is_empty() {
        site.warnings
            .push(format!("{} system files were left out (__MACOSX, .DS_Store, Thumbs.db).", junk.len()));
    }
    let turned = kept.iter().filter(|e| e.name != e.written).count();
    if turned > 0 {
        site.warnings.push(format!("The backslashes in {turned} names were taken for slashes."));
    }
    let mut budget = limits.unpacked_bytes;
    let mut files = Vec::with_capacity(kept_files);
    for (entry, data_start) in entries.iter().zip(data_starts) {
        if names::is_junk(&entry.name) {
            continue;
        }
        let mut data = unpack::Data { input: &mut *input, entry, start: data_start, budget: &mut budget };
        if entry.is_folder() {
            data.unpack(|_| Ok(()))?;
        } else {
            files.push(site.take(data, &entry.name[root.len()..], packer)?);
        }
    }
    let title = site.title.take().unwrap_or_else(|| title::from_filename(filename));
    Ok(Bundle::assemble(Kind::Zip, title, INDEX.to_owned(), files, site.warnings.into_list()))
}

/// What the paths of an archive with these files would lose, or why it would be refused. Folders end with a slash.
pub fn root_of(names: &[String], limits: &Limits) -> Result<String, Refusal> {
    let entries: Vec<Entry> = names
        .iter()
        .map(|name| Ok(Entry::named(names::check(name.clone().into_bytes(), limits)?.0)))
        .collect::<Result<_, Refusal>>()?;
    names::check_all(&entries)?;
    let kept: Vec<&Entry> = entries.iter().filter(|entry| !names::is_junk(&entry.name)).collect();
    layout::find_root(&kept).map(str::to_owned)
}

/// What the files of the archive add up to.
struct Site<'a> {
    paths: &'a HashSet<&'a str>,
    title: Option<String>,
    warnings: Warnings,
}

impl Site<'_> {
    fn take(
        &mut self,
        mut data: unpack::Data<'_>,
        path: &str,
        packer: &mut Packer<'_>,
    ) -> Result<File, Refusal> {
        let mime = mime_of(path);
        let mut sink = packer.begin(path, mime, data.entry.size)?;
        if mime == HTML {
            let mut watch = TextWatch::new();
            let mut scan = PageScan::new(path, self.paths);
            data.unpack(|chunk| {
                watch.watch(chunk);
                scan.write(chunk);
                sink.write(chunk)
            })?;
            sink.set_mime(charset_of(&watch));
            let (own_title, warnings) = scan.finish();
            if path == INDEX {
                self.title = own_title;
            }
            for warning in warnings {
                self.warnings.push(warning);
            }
        } else {
            data.unpack(|chunk| sink.write(chunk))?;
        }
        Ok(packer.finish(sink)?)
    }
}

/// Declared sizes first: a bomb is refused before a byte of it is unpacked.
fn check_sizes(entries: &[Entry], limits: &Limits) -> Result<(), Refusal> {
    let unpacked: u64 = entries.iter().map(|e| e.size).sum();
    let packed: u64 = entries.iter().map(|e| e.packed).sum();
    if unpacked > limits.unpacked_bytes {
        return Err(Refusal::too_large(unpacked, limits.unpacked_bytes));
    }
    if unpacked > RATIO_FROM_BYTES && unpacked > packed.saturating_mul(limits.ratio) {
        let detail = format!(
            "The archive unpacks to {unpacked} bytes, more than {} times its packed size. \
             Leave out the files that are mostly repetition.",
            limits.ratio
        );
        return Err(Refusal::new(RefusalCode::TooLarge, detail));
    }
    Ok(())
}

fn too_many_files(count: usize, limits: &Limits) -> Refusal {
    let detail = format!("The archive has {count} files; the limit is {}. Leave some out.", limits.files);
    Refusal::new(RefusalCode::TooManyFiles, detail)
}
