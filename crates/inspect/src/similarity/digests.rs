//! Digests that recognize content to the byte. The name of a single file does not matter. A page counts only together
//! with the scripts of the upload that it loads, or if it has content of its own: the starter page of a framework or
//! a common library must not be blocklisted.

use std::collections::HashMap;

use super::Fingerprints;
use super::page_collector::{PageCollector, PageSummary};
use crate::upload_texts::{UploadFile, UploadTexts};

/// Larger than common starter pages.
const LARGE_BYTES: u64 = 4096;
// Prefixes of the hashed input. Digests are stored, so these texts must never change.
const ONE: &str = "dropleaf likeness: one file";
const LOADING: &str = "dropleaf likeness: a page and the scripts it loads";
const SEVERAL: &str = "dropleaf likeness: several files";
const SAYS: &str = "dropleaf likeness: what a short page says";

type Digest = [u8; 32];

pub(super) fn fingerprints(texts: &UploadTexts<'_>, collector: PageCollector) -> Fingerprints {
    let (pages, known) = collector.finish();
    let hashes: HashMap<&str, &Digest> = if known.iter().any(|page| !page.loads.is_empty()) {
        texts.files.iter().map(|file| (file.path, &file.hash)).collect()
    } else {
        HashMap::new()
    };
    let mut parts = Vec::new();
    for page in &known {
        let Some(file) = texts.files.iter().find(|file| file.path == page.path) else { continue };
        let add = |hash| (page.path.clone(), hash);
        parts.extend(page_digests(file, page, &hashes).into_iter().map(add));
    }
    let short_texts =
        known.iter().filter_map(|page| Some((page.path.clone(), digest(SAYS, &[page.letters.as_ref()?]))));
    let short_texts: Vec<(String, Digest)> = short_texts.collect();
    let documents = texts.files.iter().filter(|file| is_document(file.path));
    parts.extend(documents.map(|file| (file.path.to_owned(), digest(ONE, &[&file.hash]))));
    Fingerprints { exact: exact(texts), pages, parts, short_texts }
}

fn page_digests(file: &UploadFile<'_>, page: &PageSummary, hashes: &HashMap<&str, &Digest>) -> Vec<Digest> {
    let mut digests = Vec::new();
    if page.has_content || file.size_bytes >= LARGE_BYTES {
        digests.push(digest(ONE, &[&file.hash]));
    }
    if !page.loads.is_empty() {
        let scripts = page.loads.iter().filter_map(|path| hashes.get(path.as_str()));
        let all: Vec<&[u8]> =
            std::iter::once(&file.hash).chain(scripts.copied()).map(|hash| &hash[..]).collect();
        digests.push(digest(LOADING, &all));
    }
    digests
}

/// Of the bytes alone if there is one file to show; of its source if it was rendered from one.
fn exact(texts: &UploadTexts<'_>) -> Digest {
    let mut shown = texts.files.iter().filter(|file| !file.is_reserved);
    let source = texts.files.iter().find(|file| file.is_reserved).filter(|_| texts.is_markdown);
    if let Some(source) = source {
        return digest(ONE, &[&source.hash]);
    }
    if let (Some(only), None) = (shown.next(), shown.next()) {
        return digest(ONE, &[&only.hash]);
    }
    let parts: Vec<&[u8]> =
        texts.files.iter().flat_map(|file| [file.path.as_bytes(), b"\0", &file.hash]).collect();
    digest(SEVERAL, &parts)
}

fn is_document(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("pdf"))
}

/// Domain-separated: digests with different meanings never collide.
fn digest(meaning: &str, parts: &[&[u8]]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(meaning.as_bytes());
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}
