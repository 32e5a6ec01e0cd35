//! The record of pages published from this machine: which page belongs to which path, so that the same path updates the same
//! page. It contains claim tokens and keys of encrypted pages, so only its owner may read it.

use crate::private_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The most pages that are remembered; the one that was published longest ago is forgotten first.
const MOST_PAGES: usize = 2000;
/// The most pages without an account whose claim tokens are kept although their path has a newer page.
const MOST_UNCLAIMED: usize = 500;
/// A larger file is not one of ours.
const MOST_BYTES: u64 = 16 << 20;
const VERSION: u32 = 1;

/// The page of a path on one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedPage {
    pub server: String,
    pub path: String,
    pub id: String,
    pub url: String,
    /// Present while the page belongs to no account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_token: Option<String>,
    /// Epoch seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The key of an encrypted page, as in the fragment of its link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// What restricted the page when it was last published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
}

/// Restricts who can view a page, or how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Password,
    Email,
    /// The page is deleted after its first view.
    Burn,
}

impl Gate {
    /// For messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Email => "email gate",
            Self::Burn => "deletion after the first view",
        }
    }
}

impl std::fmt::Debug for PublishedPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublishedPage")
            .field("id", &self.id)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path} is damaged; move it away to start a new record")]
    Damaged { path: PathBuf },
    #[error("{path} was written by a newer version of dropleaf")]
    Newer { path: PathBuf },
}

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
struct RecordFile {
    version: u32,
    /// The most recently published last.
    #[serde(default)]
    pages: Vec<PublishedPage>,
    /// Pages without an account whose path has another page now, until they expire.
    #[serde(default)]
    unclaimed: Vec<PublishedPage>,
}

/// The record file. It is read for every call, because other processes write it too.
#[derive(Debug, Clone)]
pub struct PublishedPages {
    path: PathBuf,
}

impl PublishedPages {
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The page that was last published from this path.
    pub fn find(&self, server: &str, path: &str) -> Result<Option<PublishedPage>, RecordError> {
        let pages = self.read()?.pages;
        Ok(pages.into_iter().find(|page| page.server == server && page.path == path))
    }

    /// The page with this ID, as it was last published from any path.
    pub fn find_id(&self, server: &str, id: &str) -> Result<Option<PublishedPage>, RecordError> {
        let pages = self.read()?.pages;
        Ok(pages.into_iter().rev().find(|page| page.server == server && page.id == id))
    }

    /// Remembers a page. The page that the path had before is forgotten, unless it can still be claimed.
    pub fn keep(&self, page: PublishedPage, now: i64) -> Result<(), RecordError> {
        let _lock = self.lock()?;
        let mut record = self.read()?;
        let is_same_path = |other: &PublishedPage| other.server == page.server && other.path == page.path;
        let replaced = record.pages.extract_if(.., |other| is_same_path(other));
        let claimable = replaced.filter(|other| other.id != page.id && other.claim_token.is_some());
        record.unclaimed.extend(claimable.collect::<Vec<_>>());
        record.unclaimed.retain(|other| other.id != page.id && other.expires_at.is_none_or(|at| at > now));
        record.pages.push(page);
        drop_oldest(&mut record.pages, MOST_PAGES);
        drop_oldest(&mut record.unclaimed, MOST_UNCLAIMED);
        self.write(&record)
    }

    fn read(&self) -> Result<RecordFile, RecordError> {
        let failed = |source| RecordError::Read { path: self.path.clone(), source };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(RecordFile { version: VERSION, pages: Vec::new(), unclaimed: Vec::new() });
            }
            Err(error) => return Err(failed(error)),
        };
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
        let record: RecordFile =
            serde_json::from_str(&text).map_err(|_| RecordError::Damaged { path: self.path.clone() })?;
        if record.version > VERSION {
            return Err(RecordError::Newer { path: self.path.clone() });
        }
        Ok(record)
    }

    fn write(&self, record: &RecordFile) -> Result<(), RecordError> {
        let failed = |source| RecordError::Write { path: self.path.clone(), source };
        let text = serde_json::to_string_pretty(record).map_err(|error| failed(error.into()))?;
        private_file::replace(&self.path, &text).map_err(failed)
    }

    /// Held while the file is read and written again, so that two processes do not overwrite each other's pages. The file
    /// itself cannot be locked, because it is replaced.
    fn lock(&self) -> Result<File, RecordError> {
        let path = lock_path(&self.path);
        let open = || -> io::Result<File> {
            private_file::create_folder(&path)?;
            let mut options = fs::OpenOptions::new();
            let file = options.create(true).write(true).truncate(false).mode(0o600).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|source| RecordError::Write { path: path.clone(), source })
    }
}

fn lock_path(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

fn drop_oldest(pages: &mut Vec<PublishedPage>, most: usize) {
    let over = pages.len().saturating_sub(most);
    pages.drain(..over);
}
