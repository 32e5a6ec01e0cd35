//! Replaces a settings file atomically: follows links, keeps the mode, and leaves a copy of the old file next to it.

use super::error::SetupError;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The content of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, SetupError> {
    match fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(SetupError::NotText),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SetupError::io("it cannot be read")(error)),
    }
}

/// Replaces the old text with the new one, if the file still has the old text. Returns the path of the backup copy.
pub(super) fn write(path: &Path, old: Option<&str>, new: &str) -> Result<Option<PathBuf>, SetupError> {
    write_while(path, old, new, || ())
}

fn write_while(
    path: &Path,
    old: Option<&str>,
    new: &str,
    meanwhile: impl FnOnce(),
) -> Result<Option<PathBuf>, SetupError> {
    check_unchanged(path, old)?;
    // Links stay links: their target is written.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(SetupError::io("it is a broken link")(error)),
    };
    let folder = target.parent().ok_or(SetupError::NoFolder)?;
    fs::create_dir_all(folder)
        .map_err(|error| SetupError::io(format!("cannot create {}", folder.display()))(error))?;
    let mode = fs::metadata(&target).ok().map(|meta| meta.permissions().mode() & 0o7777);
    let copy = match old {
        Some(old) => {
            let copy = sibling(&target, "dropleaf-backup");
            replace(&copy, old, mode, || Ok(()))
                .map_err(|error| SetupError::Backup { path: copy.clone(), source: Box::new(error) })?;
            Some(copy)
        }
        None => None,
    };
    // Compared last: clients write these files too, and nothing they wrote may be lost.
    replace(&target, new, mode, || {
        meanwhile();
        check_unchanged(path, old)
    })?;
    Ok(copy)
}

fn check_unchanged(path: &Path, old: Option<&str>) -> Result<(), SetupError> {
    if read(path)?.as_deref() != old {
        return Err(SetupError::Changed);
    }
    Ok(())
}

/// Removes a file that `install` created.
pub(super) fn remove(path: &Path, old: &str) -> Result<(), SetupError> {
    check_unchanged(path, Some(old))?;
    fs::remove_file(path).map_err(SetupError::io("it cannot be removed"))
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{name}.{ending}"))
}

/// Replaces a file with a text. `confirm` is called last, right before the rename, and can refuse it.
fn replace(
    path: &Path,
    text: &str,
    mode: Option<u32>,
    confirm: impl FnOnce() -> Result<(), SetupError>,
) -> Result<(), SetupError> {
    let temporary = sibling(path, &format!("dropleaf-{}", std::process::id()));
    let outcome = write_new(&temporary, text, mode)
        .map_err(SetupError::io("it cannot be written"))
        .and_then(|()| confirm())
        .and_then(|()| fs::rename(&temporary, path).map_err(SetupError::io("it cannot be written")));
    if outcome.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    outcome?;
    if let Some(folder) = path.parent() {
        fs::File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(SetupError::io("its folder cannot be synced"))?;
    }
    Ok(())
}

fn write_new(temporary: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let _ = fs::remove_file(temporary);
    // Other settings in the file may be secrets: never more readable than the old file, not even for a moment.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode.map_or(0o666, |mode| mode & 0o600));
    let mut file = options.open(temporary)?;
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn file_keeps_its_mode_and_a_copy_of_what_it_was() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let copy = write(&path, Some("old"), "new").unwrap().unwrap();
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), fs::read_to_string(&copy).unwrap()),
            ("new".into(), "old".into())
        );
        assert_eq!((mode(&path), mode(&copy)), (0o640, 0o640));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn links_stay_links() {
        let dir = TempDir::new().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, Some("old"), "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        let dangling = dir.path().join("dangling");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &dangling).unwrap();
        assert!(write(&dangling, None, "new").is_err() && dangling.is_symlink());
    }

    #[test]
    fn what_a_client_writes_at_the_last_moment_is_not_lost() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a.json");
        for old in [None, Some("old")] {
            let outcome = write_while(&path, old, "new", || fs::write(&path, "old and more").unwrap());
            assert!(outcome.unwrap_err().to_string().contains("changed in the meantime"));
            assert_eq!(fs::read_to_string(&path).unwrap(), "old and more");
            fs::write(&path, "old").unwrap();
        }
        let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| name == "a.json" || name == "a.json.dropleaf-backup"));
    }

    #[test]
    fn file_that_changed_meanwhile_is_left_alone() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("deep/a.json");
        assert_eq!(write(&path, None, "one").unwrap(), None);
        assert!(write(&path, None, "two").is_err());
        assert!(write(&path, Some("other"), "two").is_err());
        assert!(remove(&path, "other").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        remove(&path, "one").unwrap();
        assert!(!path.exists());
    }
}
