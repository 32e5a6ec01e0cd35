//! SQL for `bundles` and `bundle_files`: immutable sets of files, each shown by one or more versions. `refs` counts the
//! references, so unused bundles are found without a full scan.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;

/// The bundle that a version was to show no longer exists.
pub const GONE: &str = "bundle_gone";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    pub path: String,
    pub mime: String,
    pub blob_hash: [u8; 32],
    pub size_bytes: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bundle {
    pub id: String,
    pub kind: String,
    pub entry: String,
    /// The name a single file was uploaded under.
    pub file_name: Option<String>,
    /// Files link to each other with paths that start with `/`.
    pub root_paths: bool,
    /// Scripts read the path in the address bar, so the page is shown at the root of its host.
    pub client_routes: bool,
    /// Unknown navigations are answered with `index.html`.
    pub spa: bool,
    /// The bundle has a page that embeds one of its files in a sandboxed frame.
    pub sandboxed_frames: bool,
    pub files: Vec<BundleFile>,
}

columns! { BundleColumns, bundle_columns: kind, entry, file_name, root_paths, client_routes, spa, sandboxed_frames }

/// Every column but the id; `files` stays empty.
fn head(row: &Row<'_>) -> Result<Bundle, DbError> {
    const COLUMN: BundleColumns = BundleColumns::starting_at(0);
    Ok(Bundle {
        kind: row.string(COLUMN.kind)?,
        entry: row.string(COLUMN.entry)?,
        file_name: row.opt_string(COLUMN.file_name)?,
        root_paths: row.flag(COLUMN.root_paths)?,
        client_routes: row.flag(COLUMN.client_routes)?,
        spa: row.flag(COLUMN.spa)?,
        sandboxed_frames: row.flag(COLUMN.sandboxed_frames)?,
        ..Bundle::default()
    })
}

columns! { FileColumns, file_columns: path, mime, blob_hash, size_bytes }

fn file(row: &Row<'_>) -> Result<BundleFile, DbError> {
    const COLUMN: FileColumns = FileColumns::starting_at(0);
    Ok(BundleFile {
        path: row.string(COLUMN.path)?,
        mime: row.string(COLUMN.mime)?,
        blob_hash: row.hash(COLUMN.blob_hash)?,
        size_bytes: row.int(COLUMN.size_bytes)?,
    })
}

impl Store {
    pub async fn find_bundle(&self, id: &str) -> Result<Option<Bundle>, DbError> {
        let head = self
            .db
            .get(concat!("SELECT ", bundle_columns!(), " FROM bundles WHERE id = $1"), &[id.into()], head)
            .await?;
        let Some(mut bundle) = head else { return Ok(None) };
        id.clone_into(&mut bundle.id);
        bundle.files = self
            .db
            .list(
                concat!("SELECT ", file_columns!(), " FROM bundle_files WHERE bundle_id = $1"),
                vec![id.into()],
                file,
            )
            .await?;
        Ok(Some(bundle))
    }

    /// Whether anything still references the bundle; unreferenced bundles are about to be erased.
    pub async fn is_bundle_referenced(&self, id: &str) -> Result<bool, DbError> {
        let sql = "SELECT refs FROM bundles WHERE id = $1";
        Ok(self.db.get(sql, &[id.into()], |row| row.int(0)).await?.is_some_and(|refs| refs > 0))
    }

    /// `None` until a page with a strict content security policy has used the bundle.
    pub async fn find_script_sources(&self, id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT script_sources FROM bundles WHERE id = $1";
        let found = self.db.get(sql, &[id.into()], |row| row.opt_string(0)).await?;
        Ok(found.flatten())
    }
}

/// Statements that insert a bundle with one reference. Its bodies must have been inserted before, each once.
pub fn insert(bundle: &Bundle, now: i64) -> Vec<Stmt> {
    let head = Stmt::new(
        "INSERT INTO bundles (id, kind, entry, file_name, root_paths, client_routes, spa, sandboxed_frames, refs, \
         touched_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9)",
        vec![
            bundle.id.as_str().into(),
            bundle.kind.as_str().into(),
            bundle.entry.as_str().into(),
            bundle.file_name.as_deref().into(),
            bundle.root_paths.into(),
            bundle.client_routes.into(),
            bundle.spa.into(),
            bundle.sandboxed_frames.into(),
            now.into(),
        ],
    );
    let files = bundle.files.iter().map(|file| {
        Stmt::new(
            "INSERT INTO bundle_files (bundle_id, path, mime, blob_hash, size_bytes) VALUES ($1, $2, $3, $4, $5)",
            vec![
                bundle.id.as_str().into(),
                file.path.as_str().into(),
                file.mime.as_str().into(),
                file.blob_hash.into(),
                file.size_bytes.into(),
            ],
        )
    });
    std::iter::once(head).chain(files).collect()
}

/// Records which inline scripts a strict content security policy allows.
pub fn set_script_sources(id: &str, sources: &str) -> Stmt {
    Stmt::new("UPDATE bundles SET script_sources = $1 WHERE id = $2", vec![sources.into(), id.into()])
}

/// Adds a reference; fails if there is none any more, because the bundle may be gone.
pub fn add_reference(id: &str) -> Stmt {
    Stmt::new("UPDATE bundles SET refs = refs + 1 WHERE id = $1 AND refs > 0", [id.into()]).one(GONE)
}

/// Removes a reference; if it was the last one, the sweep deletes the bundle.
pub fn release(id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE bundles SET refs = refs - 1, touched_at = $1 WHERE id = $2 AND refs > 0",
        vec![now.into(), id.into()],
    )
}
