//! Opens an export as untrusted input: checks names, sizes and the checksum of every file before any of it is used. Blocking.

use super::format::{Digest, FORMAT, FORMAT_VERSION, MANIFEST, Manifest, PageRecord, body_name};
use dropleaf_content::Limits;
use dropleaf_core::{Code, Error, Minter, Result, hex};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use zip::ZipArchive;
use zip::result::ZipError;

const MOST_FILES: usize = 1_000_000;
const MANIFEST_BYTES: u64 = 128 << 20;
const PAGE_BYTES: u64 = 64 << 20;
/// Below this size repetitive content is no sign of a zip bomb.
const RATIO_FROM_BYTES: u64 = 1 << 20;

/// An export whose files are all as its manifest says.
#[derive(Debug)]
pub(super) struct ExportArchive {
    zip: ZipArchive<BufReader<File>>,
    pub(super) manifest: Manifest,
    /// The ids of the pages, in order.
    pub(super) page_ids: Vec<String>,
}

impl ExportArchive {
    pub(super) fn open(file: File, limits: &Limits) -> Result<Self> {
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
        if zip.len() > MOST_FILES {
            return Err(Error::new(
                Code::TooManyFiles,
                format!("The export has more than {MOST_FILES} files."),
            ));
        }
        if zip.has_duplicate_names() {
            return Err(invalid("two files have the same name"));
        }
        if zip.has_overlapping_entries().map_err(|error| damaged(&error))? {
            return Err(invalid("two files share the same bytes"));
        }
        let names = check_entries(&mut zip, limits)?;
        let manifest = read_manifest(&mut zip)?;
        check_listed(&manifest, names)?;
        let mut archive = Self { zip, manifest, page_ids: Vec::new() };
        for at in 0..archive.manifest.files.len() {
            archive.check_file(at)?;
        }
        let ids = archive.manifest.files.iter().filter_map(|file| page_id(&file.name).map(str::to_owned));
        archive.page_ids = ids.collect();
        Ok(archive)
    }

    /// The record of a page.
    pub(super) fn page(&mut self, id: &str) -> Result<PageRecord> {
        let name = super::format::page_name(id);
        let entry = self.zip.by_name(&name).map_err(|error| damaged(&error))?;
        let page: PageRecord = serde_json::from_reader(BufReader::new(entry.take(PAGE_BYTES)))
            .map_err(|error| invalid(&format!("`{name}` is not a page record: {error}")))?;
        if page.id != id {
            return Err(invalid(&format!("`{name}` is the record of another page")));
        }
        Ok(page)
    }

    /// Copies a body. Its checksum was verified when the export was opened, and is verified again when it is stored.
    pub(super) fn copy_body(&mut self, hash: &Digest, size: u64, out: &mut impl Write) -> Result<()> {
        let name = body_name(hash);
        let entry = match self.zip.by_name(&name) {
            Err(ZipError::FileNotFound) => return Err(invalid(&format!("`{name}` is missing"))),
            entry => entry.map_err(|error| damaged(&error))?,
        };
        if entry.size() != size {
            return Err(invalid(&format!("a page states another size for `{name}`")));
        }
        let copied = io::copy(&mut entry.take(size), out).map_err(Error::internal)?;
        if copied == size { Ok(()) } else { Err(invalid(&format!("`{name}` is cut short"))) }
    }

    /// Compares a file with its size and checksum in the manifest.
    fn check_file(&mut self, at: usize) -> Result<()> {
        let file = &self.manifest.files[at];
        let entry = self.zip.by_name(&file.name).map_err(|error| damaged(&error))?;
        let mut hasher = blake3::Hasher::new();
        // One byte more than stated: a longer file is noticed without unpacking the rest.
        let mut reader = entry.take(file.size.saturating_add(1));
        let read = io::copy(&mut reader, &mut hasher).map_err(|error| damaged(&ZipError::Io(error)))?;
        let hash: [u8; 32] = hasher.finalize().into();
        let is_named = file.name.strip_prefix("bodies/").is_none_or(|name| name == hex::encode(&hash));
        if read != file.size || hash != file.blake3.0 || !is_named {
            return Err(invalid(&format!("`{}` does not match its checksum", file.name)));
        }
        Ok(())
    }
}

/// Checks the names and declared sizes of all entries; returns the names.
fn check_entries(zip: &mut ZipArchive<BufReader<File>>, limits: &Limits) -> Result<HashSet<String>> {
    let mut names = HashSet::with_capacity(zip.len());
    let (mut unpacked, mut packed) = (0_u64, 0_u64);
    for at in 0..zip.len() {
        let entry = zip.by_index_raw(at).map_err(|error| damaged(&error))?;
        let name = entry.name().map_err(|error| damaged(&error))?.into_owned();
        let Some(most) = most_bytes(&name, limits) else {
            let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
            return Err(Error::new(Code::ForbiddenName, format!("An export has no file `{shown}`.")));
        };
        if entry.is_symlink() || entry.encrypted() || !entry.is_file() {
            return Err(invalid(&format!("`{name}` is not a plain file")));
        }
        if entry.size() > most {
            let why = format!("`{name}` has {} bytes; the limit is {most}.", entry.size());
            return Err(Error::new(Code::TooLarge, why));
        }
        unpacked = unpacked.saturating_add(entry.size());
        packed = packed.saturating_add(entry.compressed_size());
        names.insert(name);
    }
    if unpacked > RATIO_FROM_BYTES && unpacked > packed.saturating_mul(limits.ratio) {
        let why = format!("The export unpacks to more than {} times its size.", limits.ratio);
        return Err(Error::new(Code::TooLarge, why));
    }
    Ok(names)
}

/// The largest size of a file with this name; `None` if an export has no such file.
fn most_bytes(name: &str, limits: &Limits) -> Option<u64> {
    if name == MANIFEST {
        return Some(MANIFEST_BYTES);
    }
    if page_id(name).is_some() {
        return Some(PAGE_BYTES);
    }
    is_body_name(name).then_some(limits.unpacked_bytes)
}

fn read_manifest(zip: &mut ZipArchive<BufReader<File>>) -> Result<Manifest> {
    let entry = match zip.by_name(MANIFEST) {
        Err(ZipError::FileNotFound) => return Err(invalid("it has no manifest.json")),
        entry => entry.map_err(|error| damaged(&error))?,
    };
    // The version first, so that an export of a newer program is not reported as damaged.
    let mut text = Vec::new();
    entry.take(MANIFEST_BYTES + 1).read_to_end(&mut text).map_err(|error| damaged(&ZipError::Io(error)))?;
    let head: Head = serde_json::from_slice(&text)
        .map_err(|error| invalid(&format!("manifest.json cannot be read: {error}")))?;
    if head.format != FORMAT {
        return Err(invalid("manifest.json does not describe a dropleaf account"));
    }
    if head.version != FORMAT_VERSION {
        let why = format!("it has format version {}, this program reads {FORMAT_VERSION}", head.version);
        return Err(invalid(&why));
    }
    serde_json::from_slice(&text).map_err(|error| invalid(&format!("manifest.json cannot be read: {error}")))
}

#[derive(serde::Deserialize)]
struct Head {
    format: String,
    version: i64,
}

/// The manifest lists every file of the archive once, and no other.
fn check_listed(manifest: &Manifest, mut names: HashSet<String>) -> Result<()> {
    names.remove(MANIFEST);
    let mut listed: HashSet<&str> = HashSet::with_capacity(manifest.files.len());
    for file in &manifest.files {
        if !listed.insert(&file.name) {
            return Err(invalid("manifest.json lists a file twice"));
        }
        if !names.remove(&file.name) {
            let shown: String = file.name.chars().take(80).flat_map(char::escape_debug).collect();
            return Err(invalid(&format!("manifest.json lists `{shown}`, which is missing")));
        }
    }
    match names.into_iter().next() {
        Some(name) => Err(invalid(&format!("`{name}` is not listed in manifest.json"))),
        None => Ok(()),
    }
}

fn page_id(name: &str) -> Option<&str> {
    let id = name.strip_prefix("pages/")?.strip_suffix(".json")?;
    Minter::is_id("site", id).then_some(id)
}

fn is_body_name(name: &str) -> bool {
    let is_hash = |text: &str| {
        text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    name.strip_prefix("bodies/").is_some_and(is_hash)
}

/// The refusal of an export that is damaged or was changed.
pub(super) fn invalid(why: &str) -> Error {
    Error::new(Code::InvalidArchive, format!("The export cannot be imported: {why}."))
}

fn damaged(error: &ZipError) -> Error {
    invalid(&format!("it is damaged ({error})"))
}
