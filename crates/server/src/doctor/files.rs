//! The data folder, its disk, its locks, and who can read the files with keys.

use super::{Doctor, EACH, Place, machine, sqlite_path};
use crate::config::Resolved;
use crate::serve_lock;
use dropleaf_core::health::{self, Check, DataDirFacts, Finding, KeyFile};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

impl Doctor {
    /// Folders, permissions and locks, read on a blocking thread.
    pub(super) async fn check_files(&self) -> Vec<Finding> {
        let resolved = std::sync::Arc::clone(&self.resolved);
        let config_file = match &self.place {
            Place::CommandLine { config_file } => config_file.clone(),
            Place::Server => None,
        };
        let nonce = self.minter.nonce();
        let work = tokio::task::spawn_blocking(move || {
            let locks = serve_lock::held(&resolved.data_dir, &resolved.database_url);
            let disk = machine::disk(&resolved);
            vec![
                health::data_dir(&try_folder(&resolved.data_dir, &nonce)),
                disk.map_or_else(
                    || {
                        Finding::not_checked(
                            Check::DiskSpace,
                            "The file system of `data_dir` could not be read.",
                        )
                    },
                    |disk| health::disk_space(&disk),
                ),
                health::key_files(&key_files(&resolved, config_file.as_deref())),
                health::second_server(locks),
            ]
        });
        match tokio::time::timeout(EACH, work).await {
            Ok(Ok(findings)) => findings,
            _ => vec![
                Finding::late(Check::DataDir, EACH.as_secs()),
                Finding::late(Check::DiskSpace, EACH.as_secs()),
            ],
        }
    }
}

/// Writes a small file. A folder that does not exist is not created; then the folder above it must accept it.
fn try_folder(folder: &Path, nonce: &str) -> DataDirFacts {
    let exists = folder.exists();
    let facts = |error: Option<String>| DataDirFacts { path: folder.display().to_string(), exists, error };
    if exists {
        let file = folder.join(format!("health-{nonce}"));
        let written = std::fs::write(&file, nonce);
        let removed = if written.is_ok() { std::fs::remove_file(&file) } else { Ok(()) };
        return facts(written.and(removed).err().map(|error| error.to_string()));
    }
    let above = folder.ancestors().skip(1).find(|above| above.as_os_str().is_empty() || above.exists());
    let above = above.filter(|above| !above.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    if !above.is_dir() {
        return facts(Some(format!("{} is not a folder", above.display())));
    }
    facts(machine::cannot_write(above).map(|why| format!("{} cannot be written: {why}", above.display())))
}

/// What only the server should be able to read.
fn key_files(resolved: &Resolved, config_file: Option<&Path>) -> Vec<KeyFile> {
    let mut paths = vec![resolved.data_dir.clone(), resolved.data_dir.join("secret.key")];
    paths.extend(sqlite_path(resolved));
    let keys = [&resolved.config.tls.key_file, &resolved.config.backup.key_file];
    paths.extend(keys.into_iter().filter(|key| !key.is_empty()).map(PathBuf::from));
    paths.extend(config_file.filter(|path| has_secret(path)).map(Path::to_owned));
    let read = |path: PathBuf| {
        let found = std::fs::metadata(&path).ok()?;
        Some(KeyFile {
            path: path.display().to_string(),
            mode: found.permissions().mode() & 0o777,
            is_folder: found.is_dir(),
        })
    };
    let found: Vec<KeyFile> = paths.into_iter().filter_map(read).collect();
    // What is inside a private folder is private.
    let is_private = found.first().is_some_and(|dir| dir.is_folder && dir.mode.trailing_zeros() >= 6);
    let inside = resolved.data_dir.display().to_string();
    found.into_iter().filter(|file| !is_private || !file.path.starts_with(&inside)).collect()
}

/// Whether a settings file contains a secret.
fn has_secret(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::trim_start).any(|line| {
        let names = [
            "secret_key",
            "secret_access_key",
            "smtp_url",
            "webhook_secret",
            "rfc2136_key_secret",
            "database_url",
        ];
        let value = names.iter().find_map(|name| line.strip_prefix(name)?.trim_start().strip_prefix('='));
        value.is_some_and(|value| !matches!(value.trim(), "\"\"" | "[]" | ""))
    })
}
