//! Where a backup is: one in a folder of its own, or a repository that holds many.

use crate::cli::exit::WrongUse;
use crate::config::Config;
use anyhow::{Context, Result};
use dropleaf_store::backup::Destination;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MANIFEST: &str = "manifest.json";

pub(super) enum Place {
    Folder(PathBuf),
    Repository(Destination),
}

impl Place {
    pub(super) fn to_write(text: &str, config: &Config) -> Result<Self> {
        if text.starts_with("s3://") || text.starts_with("file:") {
            return Ok(Place::Repository(config.backup_destination(text)?));
        }
        if text.contains("://") {
            return Err(
                WrongUse("a place for backups is s3://BUCKET/PREFIX, file:PATH or a folder".into()).into()
            );
        }
        Ok(Place::Folder(PathBuf::from(text)))
    }

    /// The same; a folder may also be a repository, which is told by what is in it.
    pub(super) fn to_read(text: &str, config: &Config) -> Result<Self> {
        match Self::to_write(text, config)? {
            Place::Folder(dir) if is_repository(&dir) => {
                let url = format!("file:{}", dir.display());
                Ok(Place::Repository(config.backup_destination(&url)?))
            }
            place => Ok(place),
        }
    }

    /// The place that holds several backups; refuses others.
    pub(super) fn repository(self) -> Result<Destination> {
        let dir = match self {
            Place::Repository(destination) => return Ok(destination),
            Place::Folder(dir) => dir,
        };
        let problem = if !dir.exists() {
            "does not exist"
        } else if dir.join(MANIFEST).exists() {
            "is one backup, not a place that holds several"
        } else {
            "is not a place with backups"
        };
        Err(WrongUse(format!("{} {problem}", dir.display())).into())
    }
}

fn is_repository(dir: &Path) -> bool {
    !dir.join(MANIFEST).exists() && dir.join("backups").is_dir()
}

/// A folder for temporary files: on the disk of the data, if there is any, because the database may be large.
pub(super) fn temporary_folder(config: &Config) -> Result<TempDir> {
    let data_dir = Path::new(&config.data_dir);
    let made = if data_dir.is_dir() {
        tempfile::Builder::new().prefix("backup-read-").tempdir_in(data_dir)
    } else {
        tempfile::tempdir()
    };
    made.context("cannot create a folder for temporary files")
}
