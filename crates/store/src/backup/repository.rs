//! A place that holds many backups: a bucket or a folder.
//!
//! `backups/ID/` has one backup: `database` (the rows, compressed), `bodies.txt` (the names of its bodies) and
//! `manifest.json`, written last: without it the backup does not exist. `bodies/` has the large bodies of all backups, each
//! once. `locks/` keeps deletion and backups apart.

use std::collections::{BTreeMap, HashMap};
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use super::info::BackupInfo;
use super::rows_sqlite::ObjectRow;
use super::sealing::{BackupKey, stored_len};
use super::{BackupError, MANIFEST, files};
use crate::blobs::{self, Credentials, NewBody};

pub(super) const DATABASE_OBJECT: &str = "database";
pub(super) const BODIES_LIST: &str = "bodies.txt";
/// Everything in a repository is in one of these.
const PARTS: [&str; 3] = ["backups", "bodies", "locks"];
/// Objects are read in parts of this size, so that a slow connection does not run into the timeout of a request.
const PART: u64 = 8 << 20;
/// More backups than this in one place are not listed.
const LISTED_MOST: usize = 10_000;
const MANIFEST_MOST: u64 = 1 << 20;

/// Where backups are kept, and how they are encrypted.
#[derive(Clone)]
pub struct Destination {
    /// `s3://bucket/prefix?…` or `file:PATH`.
    pub url: String,
    pub credentials: Option<Credentials>,
    pub key: Option<BackupKey>,
}

impl Destination {
    /// The URL without its options, which may contain credentials.
    pub fn name(&self) -> &str {
        self.url.split('?').next().unwrap_or_default()
    }
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Destination").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// An opened destination.
#[derive(Clone)]
pub struct Repository {
    store: Arc<dyn ObjectStore>,
    pub(super) name: String,
    pub(super) key: Option<BackupKey>,
    accepts_unencrypted: bool,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The backups in a repository.
#[derive(Debug, Default, Clone)]
pub struct BackupList {
    /// Newest first.
    pub complete: Vec<BackupInfo>,
    /// IDs of backups without a manifest: interrupted, or still being written.
    pub incomplete: Vec<String>,
    /// Newest first.
    pub unreadable: Vec<UnreadableBackup>,
}

/// A backup whose manifest is damaged, or written by a newer version. Which bodies it needs is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableBackup {
    pub id: String,
    pub why: String,
    /// Otherwise a newer version can read it.
    pub is_damaged: bool,
}

impl Repository {
    /// Opens a place to write to; a folder is created if it is missing.
    pub fn open(destination: &Destination) -> Result<Self, BackupError> {
        let repository = Self::connect(destination)?;
        if let Some(root) = folder_of(destination) {
            for part in PARTS {
                files::make_private(&root.join(part))?;
            }
        }
        Ok(repository)
    }

    fn connect(destination: &Destination) -> Result<Self, BackupError> {
        let name = destination.name().to_owned();
        if !name.starts_with("s3://") && !name.starts_with("file:") {
            return Err(BackupError::Refused(format!("{name} is neither s3://BUCKET/PREFIX nor file:PATH")));
        }
        let opened = blobs::open_object_store(&destination.url, destination.credentials.as_ref());
        let (store, _) = opened.map_err(|error| BackupError::of_blob(&name, &error))?;
        Ok(Self { store, name, key: destination.key.clone(), accepts_unencrypted: false })
    }

    /// Opens a place to read from.
    pub fn open_existing(destination: &Destination) -> Result<Self, BackupError> {
        if let Some(root) = folder_of(destination) {
            if !root.is_dir() {
                return Err(BackupError::Refused(format!("{} does not exist", root.display())));
            }
            for part in PARTS.map(|part| root.join(part)) {
                // The medium may be read-only, or belong to another user.
                if part.is_dir() && files::make_private(&part).is_err() {
                    tracing::warn!(folder = %part.display(), "other users may be able to read these backups");
                }
            }
        }
        Self::connect(destination)
    }

    /// Whether backups that are not encrypted may be read although there is a key. Without a key they always are.
    #[must_use]
    pub fn accept_unencrypted(mut self, accept: bool) -> Self {
        self.accepts_unencrypted = accept;
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn failed(&self) -> impl Fn(object_store::Error) -> BackupError + use<'_> {
        |error| BackupError::of_store(&self.name, &error)
    }

    /// Every backup.
    pub async fn list(&self) -> Result<BackupList, BackupError> {
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        let mut objects = self.store.list(Some(&Path::from("backups")));
        while let Some(object) = objects.try_next().await.map_err(self.failed())? {
            let mut parts = object.location.as_ref().split('/').skip(1);
            let (Some(id), Some(file), None) = (parts.next(), parts.next(), parts.next()) else { continue };
            *found.entry(id.to_owned()).or_default() |= file == MANIFEST;
            if found.len() > LISTED_MOST {
                return Err(BackupError::Refused(format!(
                    "{} holds more than {LISTED_MOST} backups",
                    self.name
                )));
            }
        }
        let mut list = BackupList::default();
        for (id, has_manifest) in found.into_iter().rev() {
            if !has_manifest {
                list.incomplete.push(id);
                continue;
            }
            match self.read_info(&id).await {
                Ok(Some(info)) => list.complete.push(info),
                // Deleted since.
                Ok(None) => list.incomplete.push(id),
                Err(BackupError::Damaged(why)) => {
                    list.unreadable.push(UnreadableBackup { id, why, is_damaged: true });
                }
                Err(BackupError::Refused(why)) => {
                    list.unreadable.push(UnreadableBackup { id, why, is_damaged: false });
                }
                Err(error) => return Err(error),
            }
        }
        list.complete.sort_by(|a, b| (b.taken_at, &b.id).cmp(&(a.taken_at, &a.id)));
        Ok(list)
    }

    /// The newest backup whose ID begins with `id`; the newest of all if it is `None`.
    pub async fn find(&self, id: Option<&str>) -> Result<BackupInfo, BackupError> {
        self.choose(&self.list().await?, id)
    }

    /// The same for a list that was read before. Backups that are not encrypted are skipped if there is a key, because
    /// anyone with write access to the place could have forged them.
    pub fn choose(&self, list: &BackupList, id: Option<&str>) -> Result<BackupInfo, BackupError> {
        let beginning = id.unwrap_or_default();
        let matching = || list.complete.iter().filter(|info| info.id.starts_with(beginning));
        if let Some(found) = matching().find(|info| !self.is_unexpected_plaintext(info)) {
            return Ok(found.clone());
        }
        if let Some(found) = matching().next() {
            return Err(not_encrypted(found));
        }
        if let Some(found) = list.unreadable.iter().find(|found| found.id.starts_with(beginning)) {
            let why = found.why.clone();
            return Err(if found.is_damaged { BackupError::Damaged(why) } else { BackupError::Refused(why) });
        }
        let interrupted = list.incomplete.iter().filter(|found| found.starts_with(beginning)).count();
        let of = id.map(|id| format!(" whose ID begins with {id}")).unwrap_or_default();
        let more = match interrupted {
            0 => String::new(),
            some => format!(" ({some} incomplete: no {MANIFEST})"),
        };
        Err(BackupError::Refused(format!("{} has no complete backup{of}{more}", self.name)))
    }

    async fn read_info(&self, id: &str) -> Result<Option<BackupInfo>, BackupError> {
        let text = self.read_small(&format!("backups/{id}/{MANIFEST}"), MANIFEST_MOST).await?;
        text.map(|text| BackupInfo::parse(id, &text)).transpose()
    }

    /// Whether a backup is not encrypted although it should be.
    pub fn is_unexpected_plaintext(&self, info: &BackupInfo) -> bool {
        info.key_id.is_none() && self.key.is_some() && !self.accepts_unencrypted
    }

    /// Refuses a backup that cannot be read with the key at hand, or that did not need it.
    pub(super) fn check_key(&self, info: &BackupInfo) -> Result<Option<&BackupKey>, BackupError> {
        match (&info.key_id, &self.key) {
            (None, _) if self.is_unexpected_plaintext(info) => Err(not_encrypted(info)),
            (None, _) => Ok(None),
            (Some(id), Some(key)) if key.id() == *id => Ok(Some(key)),
            (Some(id), Some(key)) => Err(BackupError::Refused(format!(
                "backup {} is encrypted with the key {id}, but `backup.key_file` has the key {}",
                info.id,
                key.id()
            ))),
            (Some(id), None) => Err(BackupError::Refused(format!(
                "backup {} is encrypted: set `backup.key_file` to the file with the key {id}",
                info.id
            ))),
        }
    }

    /// An object of at most `most` bytes; `None` if it is missing.
    pub(super) async fn read_small(&self, path: &str, most: u64) -> Result<Option<Bytes>, BackupError> {
        let found = match self.store.get(&Path::from(path)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(self.failed())?,
        };
        if found.meta.size > most {
            return Err(BackupError::Damaged(format!("{path} in {} is too large", self.name)));
        }
        found.bytes().await.map(Some).map_err(self.failed())
    }

    /// An object part by part.
    pub(super) fn read_parts(
        &self,
        path: &str,
        size: u64,
    ) -> impl Stream<Item = Result<Bytes, BackupError>> + use<'_> {
        let path = Path::from(path);
        stream::try_unfold(0, move |at| {
            let path = path.clone();
            async move {
                if at >= size {
                    return Ok(None);
                }
                let end = (at + PART).min(size);
                let part = match self.store.get_range(&path, at..end).await {
                    Err(object_store::Error::NotFound { .. }) => {
                        return Err(BackupError::Damaged(format!("{path} is missing in {}", self.name)));
                    }
                    part => part.map_err(self.failed())?,
                };
                if part.len() as u64 != end - at {
                    return Err(BackupError::Damaged(format!("{path} in {} is too short", self.name)));
                }
                Ok(Some((part, end)))
            }
        })
    }

    pub(super) async fn put(&self, path: &str, body: NewBody) -> Result<(), BackupError> {
        let put = blobs::put(self.store.as_ref(), path, body).await;
        put.map_err(|error| BackupError::of_blob(&self.name, &error))
    }

    pub(super) async fn put_text(&self, path: &str, text: String) -> Result<(), BackupError> {
        let put = self.store.put(&Path::from(path), PutPayload::from(text.into_bytes())).await;
        put.map(|_| ()).map_err(self.failed())
    }

    /// Deletes an object; a missing one is not an error.
    pub(super) async fn delete(&self, path: &str) -> Result<(), BackupError> {
        match self.store.delete(&Path::from(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed()(error)),
        }
    }

    /// Deletes one backup, its manifest first, so that it never looks complete without its files. Its bodies stay.
    pub(super) async fn delete_backup(&self, id: &str) -> Result<(), BackupError> {
        for file in [MANIFEST, DATABASE_OBJECT, BODIES_LIST] {
            self.delete(&format!("backups/{id}/{file}")).await?;
        }
        Ok(())
    }

    /// The names under a prefix, without it, with their sizes.
    pub(super) async fn list_under(&self, prefix: &str) -> Result<HashMap<String, u64>, BackupError> {
        let mut found = HashMap::new();
        let mut objects = self.store.list(Some(&Path::from(prefix)));
        while let Some(object) = objects.try_next().await.map_err(self.failed())? {
            if let Some(name) =
                object.location.as_ref().strip_prefix(prefix).and_then(|it| it.strip_prefix('/'))
            {
                found.insert(name.to_owned(), object.size);
            }
        }
        Ok(found)
    }

    /// The bodies of one of 256 shares: names without the share, and sizes.
    pub(super) async fn list_bodies(&self, share: u8) -> Result<HashMap<String, u64>, BackupError> {
        self.list_under(&format!("bodies/{share:02x}")).await
    }
}

/// The folder of a destination that is one.
fn folder_of(destination: &Destination) -> Option<&FilePath> {
    let path = destination.url.strip_prefix("file:")?;
    Some(FilePath::new(path.strip_prefix("//").unwrap_or(path)))
}

fn not_encrypted(info: &BackupInfo) -> BackupError {
    BackupError::Refused(format!(
        "backup {} is not encrypted, but a key is configured (`backup.key_file`). If it was taken before there was a key, and \
         nobody else can write there, read it with --unencrypted",
        info.id
    ))
}

/// How a body is stored in a repository.
pub(super) struct BodyPlace {
    /// Without the share. The length and the encoding are part of it, because one body can be compressed in several ways.
    pub(super) name: String,
    pub(super) share: u8,
    pub(super) size: u64,
}

impl BodyPlace {
    pub(super) fn of(object: &ObjectRow, key: Option<&BackupKey>) -> Self {
        let hash = key.map_or(object.hash, |key| key.body_name(&object.hash));
        let hash = blake3::Hash::from_bytes(hash).to_hex();
        Self {
            name: format!("{hash}-{}-{}", object.encoding.as_str(), object.stored_bytes),
            share: object.hash[0],
            size: stored_len(key, object.stored_bytes),
        }
    }

    pub(super) fn path(&self) -> String {
        format!("bodies/{:02x}/{}", self.share, self.name)
    }

    /// What is authenticated with the encrypted body.
    pub(super) fn context(&self) -> String {
        format!("body {}", self.name)
    }
}

/// Whether a name in `bodies/` was written by a backup; other objects are left alone.
pub(super) fn is_body_name(name: &str) -> bool {
    let mut parts = name.splitn(3, '-');
    let hash = parts.next().is_some_and(|hash| blake3::Hash::from_hex(hash).is_ok());
    let encoding = parts.next().is_some_and(|text| blobs::Encoding::parse(text).is_some());
    hash && encoding && parts.next().is_some_and(|bytes| bytes.parse::<u64>().is_ok())
}
