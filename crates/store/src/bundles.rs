//! Rows of `bundles` and `bundle_files`: immutable, shared by every version with the same content.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    pub path: String,
    pub mime: String,
    pub blob_hash: [u8; 32],
    pub size_bytes: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub hash: [u8; 32],
    pub kind: String,
    pub entry: String,
    pub files: Vec<BundleFile>,
}

fn file(row: &Row<'_>) -> Result<BundleFile, DbError> {
    Ok(BundleFile {
        path: row.text(0)?.to_owned(),
        mime: row.text(1)?.to_owned(),
        blob_hash: row.hash(2)?,
        size_bytes: row.int(3)?,
    })
}

impl Store {
    pub async fn find_bundle(&self, hash: &[u8; 32]) -> Result<Option<Bundle>, DbError> {
        let head = self
            .db
            .get("SELECT kind, entry FROM bundles WHERE hash = $1", &[(*hash).into()], |row| {
                Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
            })
            .await?;
        let Some((kind, entry)) = head else { return Ok(None) };
        let files = self
            .db
            .list(
                "SELECT path, mime, blob_hash, size_bytes FROM bundle_files WHERE bundle_hash = $1",
                vec![(*hash).into()],
                file,
            )
            .await?;
        Ok(Some(Bundle { hash: *hash, kind, entry, files }))
    }

    /// None when no page with a strict policy has used the bundle yet.
    pub async fn find_script_sources(&self, hash: &[u8; 32]) -> Result<Option<String>, DbError> {
        let sql = "SELECT script_sources FROM bundles WHERE hash = $1";
        let found =
            self.db.get(sql, &[(*hash).into()], |row| Ok(row.opt_text(0)?.map(str::to_owned))).await?;
        Ok(found.flatten())
    }
}

/// The statements that record a bundle whose bodies are recorded already. Meeting one that is there refreshes it.
pub fn insert(bundle: &Bundle, now: i64) -> Vec<Stmt> {
    let head = Stmt::new(
        "INSERT INTO bundles (hash, kind, entry, touched_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (hash) DO UPDATE SET touched_at = excluded.touched_at",
        vec![bundle.hash.into(), bundle.kind.as_str().into(), bundle.entry.as_str().into(), now.into()],
    );
    let files = bundle.files.iter().map(|file| {
        Stmt::new(
            "INSERT INTO bundle_files (bundle_hash, path, mime, blob_hash, size_bytes) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (bundle_hash, path) DO NOTHING",
            vec![
                bundle.hash.into(),
                file.path.as_str().into(),
                file.mime.as_str().into(),
                file.blob_hash.into(),
                file.size_bytes.into(),
            ],
        )
    });
    std::iter::once(head).chain(files).collect()
}

/// Records which inline scripts a strict policy allows. Equal content has equal scripts, so it is written as often as one likes.
pub fn set_script_sources(hash: &[u8; 32], sources: &str) -> Stmt {
    Stmt::new("UPDATE bundles SET script_sources = $1 WHERE hash = $2", vec![sources.into(), (*hash).into()])
}

/// Refreshes a bundle that a new version is about to point at; fails when the sweep was faster.
pub fn touch(hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new("UPDATE bundles SET touched_at = $1 WHERE hash = $2", vec![now.into(), (*hash).into()])
        .one(GONE)
}

pub const GONE: &str = "bundle_gone";
