//! Unpacks a zip archive from a server that is not trusted: no file is written outside the folder, through a link, or over
//! another one, and the number and size of files are bounded.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zip::ZipArchive;
use zip::result::ZipError;

/// Names that Windows reads as devices, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
const NAME_BYTES: usize = 255;
const DEPTH: usize = 64;
/// The most that is read to open an archive: its end and its directory, which is kept in memory.
const DIRECTORY_BYTES: u64 = 32 << 20;

/// What is accepted at most.
#[derive(Debug, Clone, Copy)]
pub struct UnpackLimits {
    pub files: usize,
    pub bytes: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self { files: 100_000, bytes: 8 << 30 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    #[error("the archive is damaged: {0}")]
    Damaged(#[from] ZipError),
    #[error("the archive has a forbidden file: {0}")]
    Forbidden(String),
    #[error("the archive has more than {0}")]
    TooLarge(String),
    #[error("`{}` exists", .0.display())]
    Exists(PathBuf),
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file in an archive whose name was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Its position in the archive.
    pub index: usize,
    /// Its path in the archive, with slashes.
    pub name: String,
    /// The same for this system.
    path: PathBuf,
}

/// An archive file that fails when too much is read from it.
#[derive(Debug)]
pub struct BoundedFile {
    file: BufReader<File>,
    left: Arc<AtomicU64>,
}

impl Read for BoundedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        let left = self.left.load(Ordering::Relaxed);
        let Some(left) = left.checked_sub(count as u64) else {
            return Err(io::Error::other("its directory is too large"));
        };
        self.left.store(left, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for BoundedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens an archive and checks the names and declared sizes of its files, except those that `skip` says are left out. The
/// files are in the order of the archive.
pub fn open_archive(
    file: File,
    limits: UnpackLimits,
    skip: impl Fn(&str) -> bool,
) -> Result<(ZipArchive<BoundedFile>, Vec<ArchiveFile>), UnpackError> {
    // The number of files in the end record is only a claim, so what is read is bounded instead.
    let left = Arc::new(AtomicU64::new(DIRECTORY_BYTES));
    let mut zip = ZipArchive::new(BoundedFile { file: BufReader::new(file), left: Arc::clone(&left) })?;
    left.store(u64::MAX, Ordering::Relaxed);
    if zip.len() > limits.files {
        return Err(UnpackError::TooLarge(format!("{} files", limits.files)));
    }
    if zip.has_duplicate_names() {
        return Err(UnpackError::Forbidden("two files have the same name".to_owned()));
    }
    let (mut files, mut seen, mut bytes) = (Vec::with_capacity(zip.len()), HashSet::new(), 0_u64);
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index)?;
        let name = entry.name()?.into_owned();
        if skip(&name) {
            continue;
        }
        let shown = || name.chars().take(120).flat_map(char::escape_debug).collect::<String>();
        if entry.is_symlink() || !entry.is_file() || entry.encrypted() {
            return Err(UnpackError::Forbidden(format!("`{}` is not a plain file", shown())));
        }
        let path = safe_path(&name).ok_or_else(|| UnpackError::Forbidden(format!("`{}`", shown())))?;
        // Some file systems do not distinguish case.
        if !seen.insert(name.to_lowercase()) {
            return Err(UnpackError::Forbidden(format!("`{}` differs from another only in case", shown())));
        }
        bytes = bytes.saturating_add(entry.size());
        if bytes > limits.bytes {
            return Err(UnpackError::TooLarge(format!("{} bytes", limits.bytes)));
        }
        files.push(ArchiveFile { index, name, path });
    }
    Ok((zip, files))
}

/// Unpacks into a folder, which is created if it does not exist; returns the number of files. With `force`, files of the same
/// name are replaced, but links are never followed.
pub fn unpack(file: File, folder: &Path, force: bool, limits: UnpackLimits) -> Result<usize, UnpackError> {
    let (mut zip, files) = open_archive(file, limits, |_| false)?;
    if !force && let Some(taken) = files.iter().map(|file| folder.join(&file.path)).find(|path| exists(path))
    {
        return Err(UnpackError::Exists(taken));
    }
    make_folder(folder)?;
    for ArchiveFile { index, path, .. } in &files {
        make_parents(folder, path)?;
        let entry = zip.by_index(*index)?;
        let size = entry.size();
        let path = folder.join(path);
        let failed = |source| UnpackError::Write { path: path.clone(), source };
        if force && exists(&path) {
            // A link is removed, not followed. A folder of this name makes it fail.
            fs::remove_file(&path).map_err(failed)?;
        }
        let mut out = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        // No more than declared, so that the checked sum holds.
        let written = io::copy(&mut entry.take(size), &mut out).map_err(failed)?;
        if written != size {
            return Err(UnpackError::Forbidden(format!("`{}` is cut short", path.display())));
        }
    }
    Ok(files.len())
}

/// The path of an entry below the folder; `None` for names that could leave it or that a file system interprets. Hidden files
/// could be settings of programs, such as `.git/config`; servers do not publish them.
pub fn safe_path(name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = name.split('/').collect();
    let is_safe = |part: &&str| {
        let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
        let is_port = stem.len() == 4
            && (stem.starts_with("com") || stem.starts_with("lpt"))
            && stem.ends_with(|c: char| c.is_ascii_digit());
        !part.is_empty()
            && !part.starts_with('.')
            && part.len() <= NAME_BYTES
            && !part.ends_with(['.', ' '])
            && !part.contains(['\\', ':', '<', '>', '"', '|', '?', '*'])
            && !part.chars().any(char::is_control)
            && !DEVICES.contains(&stem.as_str())
            && !is_port
    };
    (parts.len() <= DEPTH && parts.iter().all(is_safe)).then(|| parts.iter().collect())
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn make_folder(folder: &Path) -> Result<(), UnpackError> {
    fs::create_dir_all(folder).map_err(|source| UnpackError::Write { path: folder.to_owned(), source })
}

/// Creates the folders above a file. Each must be a folder itself: a link could lead anywhere.
fn make_parents(folder: &Path, path: &Path) -> Result<(), UnpackError> {
    let mut at = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(UnpackError::Exists(at)),
            Err(_) => {
                fs::create_dir(&at).map_err(|source| UnpackError::Write { path: at.clone(), source })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn archive(names: &[&str]) -> File {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for name in names {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(b"content").unwrap();
        }
        let mut file = zip.finish().unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn files_are_unpacked_below_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("site");
        let count = unpack(archive(&["index.html", "a/b/ü.css"]), &to, false, UnpackLimits::default());
        assert_eq!(count.unwrap(), 2);
        assert_eq!(fs::read(to.join("a/b/ü.css")).unwrap(), b"content");
    }

    #[test]
    fn hostile_names_are_refused_before_anything_is_written() {
        for name in [
            "../x",
            "a/../../x",
            "/etc/x",
            "a//x",
            "./x",
            "a\\..\\x",
            "C:/x",
            "x:stream",
            "con",
            "NUL.txt",
            "com1",
            "x.",
            "x ",
            "a\u{7}b",
            ".git/config",
            "a/.envrc",
            "",
        ] {
            assert_eq!(safe_path(name), None, "{name}");
        }
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("site");
        let refused = unpack(archive(&["index.html", "../out.html"]), &to, false, UnpackLimits::default());
        assert!(matches!(refused, Err(UnpackError::Forbidden(_) | UnpackError::Damaged(_))), "{refused:?}");
        assert!(!to.exists() && !dir.path().join("out.html").exists());
        let twice = unpack(archive(&["a.html", "A.html"]), &to, false, UnpackLimits::default());
        assert!(matches!(twice, Err(UnpackError::Forbidden(_))), "{twice:?}");
    }

    #[test]
    fn limits_hold() {
        let dir = tempfile::tempdir().unwrap();
        for limits in [UnpackLimits { files: 1, bytes: 1000 }, UnpackLimits { files: 10, bytes: 10 }] {
            let refused = unpack(archive(&["a", "b"]), &dir.path().join("x"), false, limits);
            assert!(matches!(refused, Err(UnpackError::TooLarge(_))), "{refused:?}");
        }
    }

    #[test]
    fn a_directory_that_is_too_large_is_not_read() {
        let name = "n".repeat(60_000);
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for at in 0..600 {
            zip.start_file(format!("{name}{at}"), SimpleFileOptions::default()).unwrap();
        }
        let mut file = zip.finish().unwrap();
        file.rewind().unwrap();
        let refused = open_archive(file, UnpackLimits::default(), |_| false).map(|(_, files)| files.len());
        assert!(matches!(refused, Err(UnpackError::Damaged(_))), "{refused:?}");
    }

    #[test]
    fn files_that_are_left_out_are_not_checked() {
        let (_, files) = open_archive(archive(&[".git/config", "a"]), UnpackLimits::default(), |name| {
            name.starts_with('.')
        })
        .unwrap();
        let found: Vec<_> = files.iter().map(|file| (file.index, file.name.as_str())).collect();
        assert_eq!(found, [(1, "a")]);
    }

    #[test]
    fn nothing_is_overwritten_without_force() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b"), "mine").unwrap();
        let refused = unpack(archive(&["a", "b"]), dir.path(), false, UnpackLimits::default());
        assert!(matches!(refused, Err(UnpackError::Exists(_))), "{refused:?}");
        assert!(!dir.path().join("a").exists());
        unpack(archive(&["a", "b"]), dir.path(), true, UnpackLimits::default()).unwrap();
        assert_eq!(fs::read(dir.path().join("b")).unwrap(), b"content");
    }

    #[cfg(unix)]
    #[test]
    fn links_in_the_folder_are_not_followed() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("file"), "theirs").unwrap();
        std::os::unix::fs::symlink(other.path(), dir.path().join("sub")).unwrap();
        std::os::unix::fs::symlink(other.path().join("file"), dir.path().join("file")).unwrap();
        let refused = unpack(archive(&["sub/x"]), dir.path(), true, UnpackLimits::default());
        assert!(matches!(refused, Err(UnpackError::Exists(_))), "{refused:?}");
        unpack(archive(&["file"]), dir.path(), true, UnpackLimits::default()).unwrap();
        assert_eq!(fs::read(other.path().join("file")).unwrap(), b"theirs");
        assert!(!other.path().join("x").exists());
    }
}
