//! The files on one side of a comparison: of a downloaded archive, of a local folder, or a single file. Read one at a time.

use anyhow::{Context, Result, ensure};
use dropleaf_client::{UnpackLimits, open_archive};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Larger files are not compared.
const FILE_BYTES: u64 = 512 << 20;
const MOST_FILES: usize = 100_000;
const DEPTH: usize = 64;

pub(super) enum FileSet {
    Archive { zip: ZipArchive<BufReader<File>>, paths: Vec<String> },
    Folder(BTreeMap<String, PathBuf>),
    Single { name: String, bytes: Vec<u8> },
}

impl FileSet {
    /// A local file, zip archive or folder.
    pub(super) fn local(path: &Path) -> Result<Self> {
        let found = fs::metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        if found.is_dir() {
            let mut files = BTreeMap::new();
            collect(path, "", 0, &mut files)?;
            return Ok(Self::Folder(files));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip")) {
            return Self::archive(File::open(path)?);
        }
        Self::single(&name, path)
    }

    pub(super) fn archive(file: File) -> Result<Self> {
        let (zip, paths) = open_archive(file, UnpackLimits::default())?;
        let text = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
        Ok(Self::Archive { zip, paths: paths.into_iter().map(text).collect() })
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
            Self::Archive { paths, .. } => Box::new(paths.iter().cloned()),
            Self::Folder(files) => Box::new(files.keys().cloned()),
            Self::Single { name, .. } => Box::new(std::iter::once(name.clone())),
        }
    }

    /// The content of a file; `None` if it is not on this side.
    pub(super) fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Archive { zip, paths } => {
                let Some(at) = paths.iter().position(|known| known == path) else { return Ok(None) };
                let entry = zip.by_index(at)?;
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

/// The files below a folder that publishing it would include: no links and no files that the server leaves out.
fn collect(folder: &Path, prefix: &str, depth: usize, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    ensure!(depth < DEPTH, "`{}` is nested too deeply", folder.display());
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if dropleaf_content::is_excluded(&name) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{name}/"), depth + 1, files)?;
        } else if kind.is_file() {
            ensure!(files.len() < MOST_FILES, "the folder has more than {MOST_FILES} files");
            files.insert(name, entry.path());
        }
    }
    Ok(())
}
