//! The cache of response bodies, one per file and content coding, encoded once from the stored form.

use super::ServedFile;
use super::bundle_cache::sharded;
use super::content_coding::{ContentCoding, decode, encode};
use super::script_insertion::{self, Insertion};
use crate::app::App;
use bytes::Bytes;
use dropleaf_core::{Error, Result, secret};
use dropleaf_store::BlobError;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;
use std::time::Duration;

/// Larger bodies are encoded on a blocking thread.
const INLINE_BYTES: usize = 32 * 1024;
/// How long a replica may take.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Body {
    pub bytes: Bytes,
}

#[derive(Debug, Clone)]
pub(super) struct BodyWeighter;

impl Weighter<([u8; 32], ContentCoding), Arc<Body>> for BodyWeighter {
    fn weight(&self, _: &([u8; 32], ContentCoding), body: &Arc<Body>) -> u64 {
        body.bytes.len() as u64 + 160
    }
}

pub(super) type BodyCache = Cache<([u8; 32], ContentCoding), Arc<Body>, BodyWeighter>;

pub(super) fn cache(bytes: u64) -> BodyCache {
    sharded(bytes, BodyWeighter)
}

impl App {
    /// The body of a small file in this coding, if it is cached.
    pub fn cached_body(&self, file: &ServedFile, coding: ContentCoding) -> Option<Arc<Body>> {
        self.caches.pages.bodies.get(&(file.hash, coding))
    }

    /// The body of a small file in this coding. Loaded, verified and encoded once for concurrent requests.
    pub async fn file_body(&self, file: &ServedFile, coding: ContentCoding) -> Result<Arc<Body>> {
        let key = (file.hash, coding);
        if let Some(body) = self.caches.pages.bodies.get(&key) {
            return Ok(body);
        }
        let load = async {
            let plain = match self.decode_cached(&file.hash).await? {
                Some(plain) => plain,
                None => self.read_body(&file.hash).await?,
            };
            Ok(Arc::new(Body { bytes: encode_body(plain, coding).await? }))
        };
        Box::pin(self.caches.pages.bodies.get_or_insert_async(&key, load)).await
    }

    /// Reads a body into memory, if it is in the database. An error is left to the view that follows.
    pub async fn load_inline_body(&self, file: &ServedFile, coding: ContentCoding) {
        if self.store.blobs.goes_inline(file.size_bytes) && !self.caches.pages.last_known.outage.is_on() {
            let _ = self.file_body(file, coding).await;
        }
    }

    /// The bytes from storage. They never change, so any replica may have them while the primary is away.
    async fn read_body(&self, hash: &[u8; 32]) -> Result<Bytes> {
        let is_away = self.caches.pages.last_known.outage.is_on();
        if is_away && let Some(bytes) = self.read_body_in_replica(hash).await {
            return Ok(bytes);
        }
        match self.store.blobs.read(&self.store.db, hash).await {
            // The row may have come from a replica just before the primary went away.
            Err(error @ BlobError::Unavailable(_)) if !is_away => {
                self.read_body_in_replica(hash).await.ok_or_else(|| error.into())
            }
            read => Ok(read?),
        }
    }

    async fn read_body_in_replica(&self, hash: &[u8; 32]) -> Option<Bytes> {
        let replica = self.store.db.any_replica()?;
        let read = self.store.blobs.read(&replica, hash);
        tokio::time::timeout(PATIENCE, read).await.ok()?.ok()
    }

    /// The plain bytes from any coding in the cache, so that a cached file is served in every coding, also while the storage
    /// does not answer.
    async fn decode_cached(&self, hash: &[u8; 32]) -> Result<Option<Bytes>> {
        let cached = |coding| self.caches.pages.bodies.peek(&(*hash, coding)).map(|body| (body, coding));
        match ContentCoding::ALL.into_iter().find_map(cached) {
            Some((body, coding)) => decode_body(body.bytes.clone(), coding).await.map(Some),
            None => Ok(None),
        }
    }
}

/// A document served with a tag of ours in its head.
#[derive(Debug)]
pub struct AnnotatedDocument<'a> {
    file: &'a ServedFile,
    tag: String,
    /// Hash of file and tag, so that the body shares the cache with all others.
    key: [u8; 32],
}

impl<'a> AnnotatedDocument<'a> {
    pub fn new(file: &'a ServedFile, tag: String) -> Self {
        let key = secret::digest(&[&file.hash[..], tag.as_bytes()].concat());
        Self { file, tag, key }
    }

    /// The strong `ETag` of the whole document in this coding.
    pub fn etag(&self, coding: ContentCoding) -> Bytes {
        super::bundle_cache::etag(&self.key, coding)
    }

    /// Where to insert the tag in a document with this start, if there is a place for it.
    pub fn insertion(&self, start: &[u8]) -> Option<Insertion> {
        script_insertion::find_insertion(start, &self.tag, self.file.mime.starts_with(XHTML))
    }
}

/// The media type of XHTML documents.
const XHTML: &[u8] = b"application/xhtml+xml";

impl App {
    /// The body of a small document with its tag, in this coding. Assembled and encoded once.
    pub async fn annotated_body(
        &self,
        annotated: &AnnotatedDocument<'_>,
        coding: ContentCoding,
    ) -> Result<Arc<Body>> {
        let key = (annotated.key, coding);
        if let Some(body) = self.caches.pages.bodies.get(&key) {
            return Ok(body);
        }
        let load = async {
            if let Some(whole) = self.decode_cached(&annotated.key).await? {
                return Ok(Arc::new(Body { bytes: encode_body(whole, coding).await? }));
            }
            let plain = match self.decode_cached(&annotated.file.hash).await? {
                Some(plain) => plain,
                None => self.read_body(&annotated.file.hash).await?,
            };
            let whole = match annotated.insertion(&plain) {
                Some(Insertion { at, bytes }) => [&plain[..at], &bytes, &plain[at..]].concat().into(),
                None => plain,
            };
            Ok(Arc::new(Body { bytes: encode_body(whole, coding).await? }))
        };
        Box::pin(self.caches.pages.bodies.get_or_insert_async(&key, load)).await
    }
}

async fn encode_body(plain: Bytes, coding: ContentCoding) -> Result<Bytes> {
    if coding == ContentCoding::Identity {
        Ok(plain)
    } else if plain.len() <= INLINE_BYTES {
        encode(&plain, coding)
    } else {
        tokio::task::spawn_blocking(move || encode(&plain, coding)).await.map_err(Error::internal)?
    }
}

async fn decode_body(coded: Bytes, coding: ContentCoding) -> Result<Bytes> {
    if coding == ContentCoding::Identity {
        Ok(coded)
    } else if coded.len() <= INLINE_BYTES {
        decode(&coded, coding)
    } else {
        tokio::task::spawn_blocking(move || decode(&coded, coding)).await.map_err(Error::internal)?
    }
}
