//! Replaces files that only their owner may read, atomically: readers see either the old file or the new one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Creates the folder of a private file, readable only by its owner.
pub(crate) fn create_folder(path: &Path) -> io::Result<&Path> {
    let dir = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // The directory may already exist with wider permissions.
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    Ok(dir)
}

/// Writes a temporary file next to it and renames that.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let dir = create_folder(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let fresh = dir.join(format!(".{name}.{}", std::process::id()));
    let outcome = write_new(&fresh, text).and_then(|()| fs::rename(&fresh, path));
    if outcome.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    outcome?;
    fs::File::open(dir)?.sync_all()
}

fn write_new(fresh: &Path, text: &str) -> io::Result<()> {
    let _ = fs::remove_file(fresh);
    // `create_new`, so that an existing file or symlink is never written through; the mode applies from the first byte.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
