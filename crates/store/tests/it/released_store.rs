//! The populated stores of released schemas in `tests/released`, unpacked for one test. The server's tests use them too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// One of the stores. Its folder is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct ReleasedStore {
    pub(crate) schema: i64,
    /// The backup of the store, as `dropleaf backup` wrote it.
    pub(crate) backup: PathBuf,
    /// When the backup was taken.
    pub(crate) taken_at: i64,
    /// Rows per table.
    pub(crate) rows: BTreeMap<String, usize>,
    /// What the tests know about it: pages, keys and passwords; see `e2e/populate`.
    pub(crate) contents: Value,
    pub(crate) secret_key: String,
    _dir: TempDir,
}

/// Every store, the oldest schema first.
pub(crate) fn all() -> Vec<ReleasedStore> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/released");
    let mut stores: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| unpack(&entry.unwrap().path())).collect();
    stores.sort_by_key(|store| store.schema);
    assert!(!stores.is_empty());
    stores
}

fn unpack(folder: &Path) -> ReleasedStore {
    let dir = TempDir::new().unwrap();
    let backup = dir.path().join("backup");
    copy(&folder.join("blobs"), &backup.join("blobs"));
    fs::copy(folder.join("manifest.json"), backup.join("manifest.json")).unwrap();
    let packed = File::open(folder.join("dropleaf.db.gz")).unwrap();
    let mut database = File::create(backup.join("dropleaf.db")).unwrap();
    io::copy(&mut flate2::read::GzDecoder::new(packed), &mut database).unwrap();

    let manifest = json(&folder.join("manifest.json"));
    let rows = manifest["rows"].as_object().unwrap().iter();
    ReleasedStore {
        schema: manifest["schema"].as_i64().unwrap(),
        taken_at: manifest["taken_at"].as_i64().unwrap(),
        rows: rows
            .map(|(table, count)| (table.clone(), usize::try_from(count.as_u64().unwrap()).unwrap()))
            .collect(),
        contents: json(&folder.join("contents.json")),
        secret_key: fs::read_to_string(folder.join("test-only.secret.key")).unwrap().trim().to_owned(),
        backup,
        _dir: dir,
    }
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
