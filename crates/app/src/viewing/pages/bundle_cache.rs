//! A bundle prepared for serving: its files by path, with all their immutable properties.

use super::content_coding::ContentCoding;
use crate::app::App;
use bytes::Bytes;
use dropleaf_content::Addressing;
use dropleaf_core::{Error, Result};
use dropleaf_store::Store;
use dropleaf_store::bundles::Bundle;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;

/// Larger files are streamed from storage instead.
const LARGEST_CACHED: u64 = 4 << 20;
/// A body may have 4 MiB, and a bundle of 2,000 files weighs about 1.2 MB.
const SHARD_BYTES: u64 = 8 << 20;
const MOST_SHARDS: usize = 64;

/// A file as served.
#[derive(Debug)]
pub struct ServedFile {
    pub path: String,
    pub mime: Bytes,
    pub hash: [u8; 32],
    pub size_bytes: u64,
    /// Active content in a browser: a page, not a part of one.
    pub is_document: bool,
    pub is_compressible: bool,
    /// Executable on a viewer's computer: sent as a download, never displayed.
    pub is_program: bool,
    etags: [Bytes; 4],
}

impl ServedFile {
    /// The strong `ETag` of the file in this coding.
    pub fn etag(&self, coding: ContentCoding) -> &Bytes {
        &self.etags[coding as usize]
    }

    /// Whether the body is cached as a whole; larger ones are streamed.
    pub const fn is_small(&self) -> bool {
        self.size_bytes <= LARGEST_CACHED
    }
}

#[derive(Debug)]
pub struct ServedBundle {
    pub kind: String,
    /// What the files assume about the URL they are served at.
    pub addressing: Addressing,
    /// The name a single file was uploaded under; it is also served at that path.
    pub file_name: Option<String>,
    files: HashMap<String, Arc<ServedFile>>,
    entry: Option<Arc<ServedFile>>,
    weight: u64,
    /// The inline scripts that a strict content security policy allows, loaded on first use.
    script_sources: OnceLock<String>,
    /// The policies built from them, for each kind of host.
    policies: OnceLock<[Bytes; 2]>,
    /// The pages of an archive that were generated from its documents, found on first use.
    pub(crate) generated: OnceCell<HashSet<String>>,
}

impl ServedBundle {
    fn new(bundle: Bundle) -> Self {
        let mut weight = 256;
        let files: HashMap<_, _> = bundle
            .files
            .into_iter()
            .map(|file| {
                weight += 512 + 2 * file.path.len() as u64;
                let live = ServedFile {
                    path: file.path.clone(),
                    is_document: dropleaf_content::is_active(&file.mime),
                    // Content uploaded to earlier versions of this server is recognized by its name alone.
                    is_program: file.mime == dropleaf_content::PROGRAM
                        || dropleaf_content::is_program_name(&file.path),
                    is_compressible: dropleaf_content::is_compressible(&file.mime) && file.size_bytes >= 512,
                    mime: file.mime.into(),
                    hash: file.blob_hash,
                    size_bytes: u64::try_from(file.size_bytes).unwrap_or_default(),
                    etags: ContentCoding::ALL.map(|coding| etag(&file.blob_hash, coding)),
                };
                (file.path, Arc::new(live))
            })
            .collect();
        let entry = files.get(&bundle.entry).cloned();
        let addressing = Addressing {
            root_paths: bundle.root_paths,
            client_routes: bundle.client_routes,
            spa: bundle.spa,
            sandboxed_frames: bundle.sandboxed_frames,
        };
        Self {
            kind: bundle.kind,
            addressing,
            file_name: bundle.file_name,
            files,
            entry,
            weight,
            script_sources: OnceLock::new(),
            policies: OnceLock::new(),
            generated: OnceCell::new(),
        }
    }

    /// The document at the root.
    pub const fn entry(&self) -> Option<&Arc<ServedFile>> {
        self.entry.as_ref()
    }

    /// The uploaded file, if the root document was generated from it.
    pub(crate) fn source(&self) -> Option<&Arc<ServedFile>> {
        let is_file = self.kind == dropleaf_content::BundleKind::File.as_str();
        let entry = self.entry.as_ref().map(|entry| entry.path.as_str());
        let beside = || self.files.values().find(|file| Some(file.path.as_str()) != entry);
        self.find("_dropleaf/source.md").or_else(|| is_file.then(beside).flatten())
    }

    /// An estimate of its memory in bytes.
    pub(super) const fn weight(&self) -> u64 {
        self.weight
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<ServedFile>> {
        self.files.values()
    }

    /// Policies that name the page's own scripts. Built once; `word` renders them.
    pub fn policies(&self, word: impl Fn(&str) -> [Bytes; 2]) -> [Bytes; 2] {
        match self.script_sources.get() {
            Some(sources) => self.policies.get_or_init(|| word(sources)).clone(),
            None => word(""),
        }
    }

    /// The number of files a viewer can request.
    pub fn file_count(&self) -> usize {
        self.files.keys().filter(|path| !path.starts_with("_dropleaf/")).count()
    }

    pub fn find(&self, path: &str) -> Option<&Arc<ServedFile>> {
        self.files.get(path)
    }

    /// Loads the script sources of a strict page. They are written in the transaction that makes it strict.
    pub(super) async fn load_script_sources(&self, store: &Store, id: &str) -> Result<()> {
        if self.script_sources.get().is_none()
            && let Some(sources) = store.find_script_sources(id).await?
        {
            let _ = self.script_sources.set(sources);
        }
        Ok(())
    }
}

/// The strong `ETag` of a body in this coding.
pub(super) fn etag(hash: &[u8; 32], coding: ContentCoding) -> Bytes {
    format!("\"{}-{}\"", hash_prefix(hash), coding.etag_suffix()).into()
}

/// 22 hex digits (88 bits) of the hash: enough to distinguish any two bodies.
fn hash_prefix(hash: &[u8; 32]) -> String {
    hash[..11].iter().fold(String::with_capacity(22), |text, b| format!("{text}{b:02x}"))
}

#[derive(Debug, Clone)]
pub(super) struct BundleWeighter;

impl Weighter<String, Arc<ServedBundle>> for BundleWeighter {
    fn weight(&self, _: &String, bundle: &Arc<ServedBundle>) -> u64 {
        bundle.weight
    }
}

pub(super) type BundleCache = Cache<String, Arc<ServedBundle>, BundleWeighter>;

pub(super) fn cache(bytes: u64) -> BundleCache {
    sharded(bytes, BundleWeighter)
}

/// A cache of bundles, of rows that hold them, or of bodies. Its shards are large enough for each of them, whatever the number
/// of processors: what does not fit into a shard is never kept.
pub(super) fn sharded<K: Hash + Eq, V: Clone, W: Weighter<K, V> + Clone>(
    bytes: u64,
    weighter: W,
) -> Cache<K, V, W> {
    let bytes = bytes.max(1 << 20);
    let shards = usize::try_from(bytes / SHARD_BYTES).unwrap_or(MOST_SHARDS).clamp(1, MOST_SHARDS);
    let options =
        OptionsBuilder::new().shards(shards).estimated_items_capacity(4096).weight_capacity(bytes).build();
    match options {
        Ok(options) => {
            Cache::with_options(options, weighter, DefaultHashBuilder::default(), DefaultLifecycle::default())
        }
        // Not reached: all that it needs is set.
        Err(_) => Cache::with_weighter(4096, bytes, weighter),
    }
}

impl App {
    /// The bundle with this id; loaded once for concurrent requests.
    pub(crate) async fn get_bundle(&self, id: &str) -> Result<Arc<ServedBundle>> {
        self.get_bundle_in(&self.store, id).await
    }

    /// The same, loaded from this store.
    pub(super) async fn get_bundle_in(&self, store: &Store, id: &str) -> Result<Arc<ServedBundle>> {
        self.caches
            .pages
            .bundles
            .get_or_insert_async(id, async {
                let bundle = store.find_bundle(id).await?;
                let bundle = bundle.ok_or_else(|| Error::internal("site references a missing bundle"))?;
                Ok(Arc::new(ServedBundle::new(bundle)))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Length;

    impl Weighter<u8, Vec<u8>> for Length {
        fn weight(&self, _: &u8, value: &Vec<u8>) -> u64 {
            value.len() as u64
        }
    }

    #[test]
    fn one_entry_may_take_most_of_a_small_cache_on_any_number_of_processors() {
        let cache = sharded(1 << 20, Length);
        cache.insert(1, vec![0; 900_000]);
        assert!(cache.get(&1).is_some());
    }
}
