//! The folder of a backup on disk: made beside its place, synced, then renamed into it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{BackupError, DATABASE, MANIFEST, OBJECTS};

/// `DIR.partial`, empty. `DIR` itself must be free.
pub(super) fn begin(target: &Path) -> Result<PathBuf, BackupError> {
    let free = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !free {
        return Err(BackupError::Refused(format!("{} exists and is not an empty folder", target.display())));
    }
    let Some(name) = target.file_name() else {
        return Err(BackupError::Refused(format!("{} has no name", target.display())));
    };
    let mut name = name.to_owned();
    name.push(".partial");
    let partial = target.with_file_name(name);
    clear(&partial)?;
    create_folder(&partial.join(OBJECTS)).map_err(BackupError::file(&partial))?;
    Ok(partial)
}

/// A folder that only its owner can open, with those above it that are missing.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file that only its owner can read: a backup holds page content and the hashes of secrets.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes what an interrupted backup left, and nothing else.
fn clear(partial: &Path) -> Result<(), BackupError> {
    let entries = match fs::read_dir(partial) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(BackupError::file(partial))?,
    };
    for entry in entries {
        let name = entry.map_err(BackupError::file(partial))?.file_name();
        let ours =
            [DATABASE, OBJECTS, MANIFEST].into_iter().any(|known| name.to_string_lossy().starts_with(known));
        if !ours {
            return Err(BackupError::Refused(format!(
                "{} already exists: remove it first",
                partial.display()
            )));
        }
    }
    fs::remove_dir_all(partial).map_err(BackupError::file(partial))
}

/// Makes the folder durable under its own name.
pub(super) fn finish(partial: &Path, target: &Path) -> Result<(), BackupError> {
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let done = || -> io::Result<()> {
        for share in fs::read_dir(partial.join(OBJECTS))? {
            sync(&share?.path())?;
        }
        sync(&partial.join(OBJECTS))?;
        sync(partial)?;
        fs::rename(partial, target)?;
        sync(parent)
    };
    done().map_err(BackupError::file(target))
}

/// For files and folders alike.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Length and BLAKE3 of a file.
pub(super) fn measure(path: &Path) -> Result<(u64, String), BackupError> {
    let hashed = || -> io::Result<(u64, String)> {
        let mut hasher = blake3::Hasher::new();
        let bytes = io::copy(&mut File::open(path)?, &mut hasher)?;
        Ok((bytes, hasher.finalize().to_hex().to_string()))
    };
    hashed().map_err(BackupError::file(path))
}

/// Where an object of this key lies in a backup. Keys come from rows, so they are not trusted to stay inside.
pub(super) fn object_path(folder: &Path, key: &str) -> Result<PathBuf, BackupError> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\\');
    match key.split_once('/') {
        Some((share, name)) if plain(share) && plain(name) && !name.contains('/') => {
            Ok(folder.join(OBJECTS).join(share).join(name))
        }
        _ => Err(BackupError::Damaged(format!("{key:?} is not an object key"))),
    }
}
