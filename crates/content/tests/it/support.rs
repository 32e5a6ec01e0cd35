//! Shared by the tests: prepares bytes and reads back the resulting bundle.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use bytes::Bytes;
use dropleaf_content::hostile::{Archive, Item};
use dropleaf_content::{Body, Bundle, Encoding, File, Limits, Refusal, Source, Upload, prepare};

pub(crate) fn upload(name: &str, bytes: impl Into<Bytes>) -> Result<Bundle, Refusal> {
    upload_with(name, Source::Memory(bytes.into()), &Limits::default())
}

pub(crate) fn upload_with(name: &str, source: Source, limits: &Limits) -> Result<Bundle, Refusal> {
    let spool = tempfile::tempdir().unwrap();
    let upload = Upload { filename: Some(name), content_type: None, e2e: false, source };
    prepare(upload, limits, spool.path())
}

/// The same bytes as a file that is not positioned at its start.
pub(crate) fn as_file(bytes: &[u8]) -> Source {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Source::File(file)
}

pub(crate) fn identity(file: &File) -> Vec<u8> {
    let stored = match &file.body {
        Body::Packed { bytes, .. } => bytes.to_vec(),
        Body::Spooled { file, stored_bytes, .. } => {
            let mut all = Vec::new();
            (&*file).read_to_end(&mut all).unwrap();
            assert_eq!(all.len() as u64, *stored_bytes);
            all
        }
    };
    let identity = match file.body.encoding() {
        Encoding::Identity => stored,
        Encoding::Zstd => zstd::decode_all(&stored[..]).unwrap(),
    };
    assert_eq!(identity.len() as u64, file.size_bytes, "{}", file.path);
    assert_eq!(*blake3::hash(&identity).as_bytes(), file.hash, "{}", file.path);
    identity
}

/// All files of a bundle as path → bytes.
pub(crate) fn tree(bundle: &Bundle) -> BTreeMap<String, Vec<u8>> {
    bundle.files.iter().map(|file| (file.path.clone(), identity(file))).collect()
}

pub(crate) fn text_of(bundle: &Bundle, path: &str) -> String {
    let file = bundle.files.iter().find(|file| file.path == path).expect(path);
    String::from_utf8(identity(file)).unwrap()
}

pub(crate) fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    zip_of_bytes(&bytes)
}

pub(crate) fn zip_of_bytes(files: &[(&str, &[u8])]) -> Vec<u8> {
    let add = |archive: Archive, (path, bytes): &(&str, &[u8])| archive.item(Item::deflated(*path, bytes));
    files.iter().fold(Archive::default(), add).build().bytes
}
