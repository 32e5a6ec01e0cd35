//! Shared by the tests: prepares bytes as a bundle, and runs the checks on it as a server does.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use dropleaf_content::hostile::{Archive, Item};
use dropleaf_content::{Bundle, BundleKind, BundleTexts, Limits, Refusal, Source, Upload, prepare};
use dropleaf_inspect::phishing::{self, Rules, Verdict};
use dropleaf_inspect::similarity::{self, Fingerprints};
use dropleaf_inspect::{UploadFile, UploadTexts};

pub(crate) fn upload(name: &str, bytes: impl Into<Bytes>) -> Result<Bundle, Refusal> {
    let spool = tempfile::tempdir().unwrap();
    let source = Source::Memory(bytes.into());
    let upload = Upload { filename: Some(name), content_type: None, e2e: false, source };
    prepare(upload, &Limits::default(), spool.path())
}

/// The texts of a bundle in the form that the checks take.
pub(crate) fn for_inspection<'t>(texts: &'t BundleTexts<'_>) -> UploadTexts<'t> {
    let files = texts.files.iter().map(|file| UploadFile {
        path: file.path,
        text: &file.text,
        hash: file.hash,
        size_bytes: file.size_bytes,
        is_reserved: file.is_reserved(),
    });
    UploadTexts { files: files.collect(), is_markdown: texts.kind == BundleKind::Markdown }
}

/// Runs the phishing check on a bundle.
pub(crate) fn check_bundle(bundle: &Bundle, rules: &Rules) -> Verdict {
    phishing::check(&for_inspection(&BundleTexts::of_pages(bundle).unwrap()).files(), rules)
}

/// The fingerprints of a bundle.
pub(crate) fn fingerprint_bundle(bundle: &Bundle, rules: &Rules) -> Fingerprints {
    similarity::fingerprint(&for_inspection(&BundleTexts::of_pages(bundle).unwrap()), rules)
}

/// The project's own test pages of one side: each a name and its files.
pub(crate) fn fixtures(side: &str) -> Vec<(String, Vec<(String, String)>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("phishing/fixtures").join(side);
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let mut files = Vec::new();
        collect(&entry.path(), "", &mut files);
        pages.push((entry.file_name().to_string_lossy().into_owned(), files));
    }
    pages.sort();
    pages
}

/// Collects files with their paths relative to the folder.
fn collect(path: &Path, inside: &str, files: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let below = if path.is_dir() { format!("{inside}{name}/") } else { inside.to_owned() };
            collect(&path, &below, files);
        }
    } else {
        let name = path.file_name().unwrap().to_string_lossy();
        files.push((format!("{inside}{name}"), fs::read_to_string(path).unwrap()));
    }
}

pub(crate) fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    zip_of_bytes(&bytes)
}

pub(crate) fn zip_of_bytes(files: &[(&str, &[u8])]) -> Vec<u8> {
    let add = |archive: Archive, (path, bytes): &(&str, &[u8])| archive.item(Item::deflated(*path, bytes));
    files.iter().fold(Archive::default(), add).build().bytes
}
