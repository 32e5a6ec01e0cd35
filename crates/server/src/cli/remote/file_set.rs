//! The files on one side of a comparison: of a downloaded archive, of a local folder, or a single file. Read one at a time.

use super::publish::list_folder;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_client::{BoundedFile, UnpackLimits, open_archive};
use dropleaf_content::{Limits, find_archive_root, is_excluded};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Larger files are not compared.
const FILE_BYTES: u64 = 512 << 20;

pub(super) enum FileSet {
    /// The positions of the files in the archive, by their paths.
    Archive {
        zip: ZipArchive<BoundedFile>,
        files: BTreeMap<String, usize>,
    },
    Folder(BTreeMap<String, PathBuf>),
    Single {
        name: String,
        bytes: Vec<u8>,
    },
}

impl FileSet {
    /// A local file, zip archive or folder, with the files that publishing it would include.
    pub(super) fn local(path: &Path) -> Result<Self> {
        let found = fs::metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        if found.is_dir() {
            return Ok(Self::Folder(list_folder(path)?.into_iter().collect()));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip")) {
            let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            return Self::local_archive(file).with_context(|| format!("cannot compare `{}`", path.display()));
        }
        Self::single(&name, path)
    }

    /// An archive that was not published yet: the server leaves out some files, and a single folder around all others.
    fn local_archive(file: File) -> Result<Self> {
        let skip = |name: &str| name.ends_with('/') || is_excluded(name);
        let (zip, files) = open_archive(file, UnpackLimits::default(), skip)?;
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        // Those depend on the settings of the server.
        let limits = Limits { name_bytes: usize::MAX, depth: usize::MAX, ..Limits::default() };
        let root = match find_archive_root(&names, &limits) {
            Ok(root) => root,
            Err(refusal) => bail!("it cannot be published: {refusal}"),
        };
        let inner = |name: &str| name.strip_prefix(root.as_str()).unwrap_or(name).to_owned();
        Ok(Self::Archive { zip, files: files.iter().map(|file| (inner(&file.name), file.index)).collect() })
    }

    /// A downloaded archive.
    pub(super) fn archive(file: File) -> Result<Self> {
        let opened = open_archive(file, UnpackLimits::default(), |_| false);
        let (zip, files) = opened.context("cannot read the download")?;
        Ok(Self::Archive { zip, files: files.into_iter().map(|file| (file.name, file.index)).collect() })
    }

    pub(super) fn single(name: &str, path: &Path) -> Result<Self> {
        let name = if name.is_empty() { "page" } else { name };
        Ok(Self::Single { name: name.to_owned(), bytes: read_file(path)? })
    }

    /// The name of the file, if it is only one and no archive.
    pub(super) fn single_name(&self) -> Option<String> {
        match self {
            Self::Single { name, .. } => Some(name.clone()),
            _ => None,
        }
    }

    pub(super) fn rename_single(&mut self, to: &str) {
        if let Self::Single { name, .. } = self {
            to.clone_into(name);
        }
    }

    pub(super) fn paths(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Self::Archive { files, .. } => Box::new(files.keys().cloned()),
            Self::Folder(files) => Box::new(files.keys().cloned()),
            Self::Single { name, .. } => Box::new(std::iter::once(name.clone())),
        }
    }

    /// The content of a file; `None` if it is not on this side.
    pub(super) fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Archive { zip, files } => {
                let Some(index) = files.get(path) else { return Ok(None) };
                let entry = zip.by_index(*index)?;
                let size = entry.size();
                ensure!(size <= FILE_BYTES, "a file is larger than {FILE_BYTES} bytes");
                let mut bytes = Vec::new();
                entry.take(size).read_to_end(&mut bytes)?;
                Ok(Some(bytes))
            }
            Self::Folder(files) => files.get(path).map(|path| read_file(path)).transpose(),
            Self::Single { name, bytes } if name == path => Ok(Some(bytes.clone())),
            Self::Single { .. } => Ok(None),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= FILE_BYTES, "`{}` is larger than {FILE_BYTES} bytes", path.display());
    Ok(bytes)
}
