//! Stores bodies, addressed by the BLAKE3 hash of the bytes as uploaded: small ones in the database, large ones as objects in
//! a folder or an S3 bucket.
//!
//! A body is durable before the row that refers to it. Each upload gets its own object key, so a sweep can never remove an
//! object that a later upload of the same bytes has just written.

mod error;
mod location;
mod open;
mod orphans;
mod probe;
mod sweep;
mod upload;

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::db::{Db, DbError, Row, Stmt, Val, columns};

pub use error::BlobError;
pub use location::Credentials;
pub(crate) use location::open as open_object_store;
pub use open::{BlobStream, OpenBlob};
pub(crate) use open::{Check, matches};
pub use orphans::sweep_orphans;
pub use probe::ProbeSteps;
pub use sweep::{Collected, SweepLimits, collect_garbage, collect_rows, erase};
pub(crate) use upload::put;

/// Label of the guard that fails if a body was swept between `stage` and the batch.
pub const GONE: &str = "blob_gone";

/// How a body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Identity,
    Zstd,
}

impl Encoding {
    pub const fn as_str(self) -> &'static str {
        match self {
            Encoding::Identity => "identity",
            Encoding::Zstd => "zstd",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "identity" => Some(Encoding::Identity),
            "zstd" => Some(Encoding::Zstd),
            _ => None,
        }
    }
}

/// A body to store. `hash` and `size_bytes` describe the bytes as uploaded, `body` holds the stored form.
#[derive(Debug)]
pub struct NewBlob {
    pub hash: [u8; 32],
    pub encoding: Encoding,
    pub size_bytes: u64,
    pub body: NewBody,
}

#[derive(Debug)]
pub enum NewBody {
    Memory(Bytes),
    File { file: std::fs::File, stored_bytes: u64 },
}

impl NewBody {
    pub fn stored_bytes(&self) -> u64 {
        match self {
            NewBody::Memory(bytes) => bytes.len() as u64,
            NewBody::File { stored_bytes, .. } => *stored_bytes,
        }
    }
}

/// The storage for bodies. Clones share it.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
    inline_limit: u64,
}

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Omits the store itself: it holds the bucket's credentials.
        f.debug_struct("Blobs").field("inline_limit", &self.inline_limit).finish_non_exhaustive()
    }
}

const INSERT: &str = "INSERT INTO blobs (hash, encoding, size_bytes, stored_bytes, refs, touched_at, object_key, body) \
     VALUES ($1, $2, $3, $4, 1, $5, $6, $7) ON CONFLICT (hash) DO UPDATE SET refs = blobs.refs + 1";
const HOLD: &str = "UPDATE blobs SET refs = refs + 1 WHERE hash = $1";
/// Protects a body that is about to be referenced from the sweep.
const TOUCH: &str = "UPDATE blobs SET touched_at = CASE WHEN touched_at > $1 THEN touched_at ELSE $1 END \
     WHERE hash = $2";

impl Blobs {
    /// Whether a body of this size goes into the database, whatever its stored form is.
    pub const fn goes_inline(&self, size_bytes: u64) -> bool {
        size_bytes <= self.inline_limit
    }

    /// `file:PATH`, or `s3://bucket?endpoint=…&region=…&access_key_id=…&secret_access_key=…&allow_http=true`. Stored forms of at
    /// most `inline_limit` bytes go into the database.
    pub fn open(url: &str, inline_limit: usize) -> Result<Blobs, BlobError> {
        Self::open_with(url, inline_limit, None)
    }

    pub fn open_with(
        url: &str,
        inline_limit: usize,
        credentials: Option<&Credentials>,
    ) -> Result<Blobs, BlobError> {
        let (store, folder) = location::open(url, credentials)?;
        Ok(Blobs { store, folder, inline_limit: inline_limit as u64 })
    }

    /// Makes a body durable as far as possible outside a transaction, and returns the statement that adds a reference of one
    /// more bundle to it. `nonce` must be random and new for each call.
    pub async fn stage(&self, db: &Db, blob: NewBlob, nonce: &str, now: i64) -> Result<Stmt, BlobError> {
        let stored_bytes = blob.body.stored_bytes();
        let (body, object_key) = if stored_bytes <= self.inline_limit {
            (Val::Bytes(upload::into_memory(blob.body).await?), None)
        } else {
            let touched = db.exec(Stmt::new(TOUCH, vec![now.into(), blob.hash.into()])).await?;
            if touched.affected == 1 {
                return Ok(Stmt::new(HOLD, [blob.hash.into()]).one(GONE).alone());
            }
            let key = object_key(&blob.hash, nonce);
            upload::put(self.store.as_ref(), &key, blob.body).await?;
            (Val::Null, Some(key))
        };
        let args = vec![
            blob.hash.into(),
            blob.encoding.as_str().into(),
            blob.size_bytes.into(),
            stored_bytes.into(),
            now.into(),
            object_key.into(),
            body,
        ];
        Ok(Stmt::new(INSERT, args))
    }

    /// Deletes an object; a missing one is not an error.
    pub async fn delete(&self, object_key: &str) -> Result<(), BlobError> {
        match self.store.delete(&Path::from(object_key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn objects(&self) -> &dyn ObjectStore {
        self.store.as_ref()
    }
}

fn object_key(hash: &[u8; 32], nonce: &str) -> String {
    let hex = blake3::Hash::from_bytes(*hash).to_hex();
    format!("{}/{hex}.{nonce}", &hex[..2])
}

/// A row of `blobs`.
#[derive(Debug, Clone)]
struct BlobRow {
    encoding: Encoding,
    size_bytes: u64,
    stored_bytes: u64,
    location: StoredBody,
}

#[derive(Debug, Clone)]
enum StoredBody {
    Inline(Bytes),
    Object(String),
}

columns! { BlobColumns, blob_columns: encoding, size_bytes, stored_bytes, body, object_key }

impl Blobs {
    async fn find_row(db: &Db, hash: &[u8; 32]) -> Result<Option<BlobRow>, DbError> {
        const FIND: &str = concat!("SELECT ", blob_columns!(), " FROM blobs WHERE hash = $1");
        db.get(FIND, &[hash.into()], row).await
    }
}

fn row(row: &Row<'_>) -> Result<BlobRow, DbError> {
    const COLUMN: BlobColumns = BlobColumns::starting_at(0);
    let location = match (row.opt_bytes(COLUMN.body)?, row.opt_text(COLUMN.object_key)?) {
        (_, Some(key)) => StoredBody::Object(key.to_owned()),
        (Some(body), None) => StoredBody::Inline(Bytes::copy_from_slice(body)),
        (None, None) => return Err(DbError::internal("blobs row has neither a body nor an object key")),
    };
    Ok(BlobRow {
        encoding: Encoding::parse(row.text(COLUMN.encoding)?)
            .ok_or_else(|| DbError::internal("unknown encoding"))?,
        size_bytes: row.int(COLUMN.size_bytes)?.unsigned_abs(),
        stored_bytes: row.int(COLUMN.stored_bytes)?.unsigned_abs(),
        location,
    })
}
