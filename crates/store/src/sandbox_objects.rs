//! SQL for `sandbox_objects`: the objects of the sandbox card processor, as JSON text with a version for optimistic locking.
//! Ids are hashed here, so that callers cannot store one in clear text.

use dropleaf_core::{hex, secret};

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;

/// Another process wrote the object first.
pub const CHANGED: &str = "sandbox_object_changed";
/// The most objects that are loaded together; no request to the processor needs more.
pub const MOST_KEYS: usize = 2;

/// What an object is found by. The id may be a secret.
#[derive(Clone, Copy)]
pub struct SandboxKey<'a> {
    pub kind: &'a str,
    pub id: &'a str,
}

/// An object that was found.
///
/// The JSON of a granted token holds the token. That reveals nothing of value: such a token charges a test card at this sandbox
/// and nowhere else, and any client may create one. Tokens that the sandbox did not create are never stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SandboxObject {
    /// Its position among the keys that were searched.
    pub key_index: usize,
    pub version: u64,
    pub json: String,
}

columns! { ObjectColumns, object_columns: kind, id, version, json }

/// Type, hashed id, version and JSON.
type StoredRow = (String, String, i64, String);

fn row(row: &Row<'_>) -> Result<StoredRow, DbError> {
    const COLUMN: ObjectColumns = ObjectColumns::starting_at(0);
    Ok((row.string(COLUMN.kind)?, row.string(COLUMN.id)?, row.int(COLUMN.version)?, row.string(COLUMN.json)?))
}

impl Store {
    /// The objects with these keys, as far as they exist; at most [`MOST_KEYS`]. One statement reads them all, so that they
    /// belong together: a payment is never newer than its checkout session.
    pub async fn find_sandbox_objects(&self, keys: &[SandboxKey<'_>]) -> Result<Vec<SandboxObject>, DbError> {
        let Some(first) = keys.first() else { return Ok(Vec::new()) };
        if keys.len() > MOST_KEYS {
            return Err(DbError::internal("too many sandbox objects were requested together"));
        }
        let second = keys.get(1).unwrap_or(first);
        let sql = concat!(
            "SELECT ",
            object_columns!(),
            " FROM sandbox_objects WHERE (kind = $1 AND id = $2) OR (kind = $3 AND id = $4)"
        );
        let args =
            vec![first.kind.into(), hashed(first.id).into(), second.kind.into(), hashed(second.id).into()];
        let found = self.db.list(sql, args, row).await?;
        let object = |(kind, id, version, json): StoredRow| {
            let is_it = |key: &SandboxKey<'_>| key.kind == kind && hashed(key.id) == id;
            let key_index = keys.iter().position(is_it)?;
            Some(SandboxObject { key_index, version: u64::try_from(version).ok()?, json })
        };
        Ok(found.into_iter().filter_map(object).collect())
    }
}

/// Writes a version of an object: the first on condition that there is none, any other on condition that it follows the stored
/// one. Otherwise the batch fails with [`CHANGED`].
pub fn write(key: SandboxKey<'_>, version: u64, json: &str, now: i64) -> Stmt {
    let id = hashed(key.id);
    if version <= 1 {
        return Stmt::new(
            "INSERT INTO sandbox_objects (kind, id, version, json, created_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (kind, id) DO NOTHING",
            vec![key.kind.into(), id.into(), version.into(), json.into(), now.into()],
        )
        .one(CHANGED);
    }
    Stmt::new(
        "UPDATE sandbox_objects SET version = $1, json = $2, created_at = $3 \
         WHERE kind = $4 AND id = $5 AND version = $6",
        vec![
            version.into(),
            json.into(),
            now.into(),
            key.kind.into(),
            id.into(),
            version.saturating_sub(1).into(),
        ],
    )
    .one(CHANGED)
}

/// Deletes objects that have not changed since this time, at most `most` of them, oldest first.
pub fn delete_old(before: i64, most: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM sandbox_objects WHERE (kind, id) IN \
         (SELECT kind, id FROM sandbox_objects WHERE created_at <= $1 ORDER BY created_at LIMIT $2)",
        vec![before.into(), most.into()],
    )
}

fn hashed(id: &str) -> String {
    hex::encode(&secret::hash(id))
}

/// Keeps tokens out of logs.
impl std::fmt::Debug for SandboxKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxKey").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Keeps tokens out of logs.
impl std::fmt::Debug for SandboxObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxObject")
            .field("key_index", &self.key_index)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
