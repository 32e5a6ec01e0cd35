//! The folder of a backup on disk: created next to its final path as `DIR.partial`, synced, then renamed.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{BackupError, DATABASE, MANIFEST, OBJECTS};

/// Creates an empty `DIR.partial`. `DIR` itself must be missing or empty.
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

/// Creates a folder that only its owner can open, and its missing parents.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a folder like that, or takes the rights of other users from one that exists.
pub(super) fn make_private(path: &Path) -> Result<(), BackupError> {
    let done = || -> io::Result<()> {
        create_folder(path)?;
        // Some file systems have no rights of their own, and refuse to change them.
        let mode = fs::metadata(path)?.permissions().mode();
        if mode & 0o777 == mode & 0o700 {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(0o700))
    };
    done().map_err(BackupError::file(path))
}

/// Empties a folder for temporary files, or creates it.
pub fn empty_folder(path: &Path) -> Result<(), BackupError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(BackupError::file(path)(error));
        }
        _ => {}
    }
    create_folder(path).map_err(BackupError::file(path))
}

/// Creates a file that only its owner can read: a backup holds page content and hashes of secrets.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes the leftovers of an interrupted backup, and refuses if anything else is there.
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

/// Syncs the folder and renames it to its final path.
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

/// Syncs a file or a folder.
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

/// The path of an object in a backup. Keys come from rows, so they are not trusted to stay inside the folder.
pub(super) fn object_path(folder: &Path, key: &str) -> Result<PathBuf, BackupError> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\\');
    match key.split_once('/') {
        Some((share, name)) if plain(share) && plain(name) && !name.contains('/') => {
            Ok(folder.join(OBJECTS).join(share).join(name))
        }
        _ => Err(BackupError::Damaged(format!("{key:?} is not an object key"))),
    }
}
