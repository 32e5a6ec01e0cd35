//! Prevents two servers from using the same SQLite database or data folder. The lock is the operating system's (`flock`), so
//! it ends with the process in any case; leftover lock files have no effect. Other commands, such as `backup`, do not take
//! it. Servers on PostgreSQL share their database and take no lock.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const NAME: &str = "serve.lock";

/// Held for as long as the server runs.
#[derive(Debug)]
pub(crate) struct ServeLock {
    _files: Vec<File>,
}

impl ServeLock {
    /// Locks the data folder and the database file. Both, because the database may be elsewhere, and two servers on one data
    /// folder would delete each other's bodies.
    pub(crate) fn take(data_dir: &Path, database_url: &str) -> Result<Self> {
        let Some(database) = sqlite_path(database_url) else {
            return Ok(Self { _files: Vec::new() });
        };
        let files =
            [data_dir.join(NAME), beside(database)].iter().map(|path| lock(path)).collect::<Result<_>>()?;
        Ok(Self { _files: files })
    }
}

/// Whether a server holds the lock of the database, and that of the data folder. `None` on PostgreSQL. Creates nothing.
pub(crate) fn held(data_dir: &Path, database_url: &str) -> Option<(bool, bool)> {
    let database = sqlite_path(database_url)?;
    let is_held = |path: &Path| {
        let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
        // Shared, so that two checks at a time do not take each other for a server.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    };
    Some((is_held(&beside(database)), is_held(&data_dir.join(NAME))))
}

/// The file of an SQLite database.
pub(crate) fn sqlite_path(database_url: &str) -> Option<&Path> {
    let path = database_url.strip_prefix("sqlite:")?;
    Some(Path::new(path.strip_prefix("//").unwrap_or(path)))
}

/// `PATH.lock`; never the database itself, whose locks are released when any handle on it is closed.
fn beside(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(".lock");
    name.into()
}

fn lock(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        crate::startup::make_private_dir(folder)?;
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "another dropleaf server is running here ({} is locked). Only one server can use an SQLite database and its data \
             folder: stop the other server, or set a different data_dir and database_url. Several servers can share a \
             PostgreSQL database.",
            path.display()
        ),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn take(data_dir: &Path, database: &Path) -> Result<ServeLock> {
        ServeLock::take(data_dir, &format!("sqlite:{}", database.display()))
    }

    #[test]
    fn second_server_on_a_folder_or_a_database_is_refused_until_the_first_is_gone() {
        let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let database = one.path().join("dropleaf.db");
        let first = take(one.path(), &database).unwrap();
        let refusal = take(one.path(), &database).unwrap_err().to_string();
        assert!(refusal.contains("another dropleaf server is running here"), "{refusal}");
        assert!(take(one.path(), &two.path().join("other.db")).is_err(), "the same data folder");
        assert!(take(two.path(), &database).is_err(), "the same database");
        let other = take(two.path(), &two.path().join("dropleaf.db")).unwrap();
        let url = format!("sqlite:{}", database.display());
        assert_eq!(held(one.path(), &url), Some((true, true)));
        let elsewhere = TempDir::new().unwrap();
        assert_eq!(held(elsewhere.path(), &url), Some((true, false)));
        drop(first);
        assert_eq!(held(one.path(), &url), Some((false, false)));
        take(one.path(), &database).unwrap();
        drop(other);
    }

    #[test]
    fn servers_on_postgres_share_a_data_folder() {
        let folder = TempDir::new().unwrap();
        let url = "postgres://localhost/dropleaf";
        let _first = ServeLock::take(folder.path(), url).unwrap();
        ServeLock::take(folder.path(), url).unwrap();
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
