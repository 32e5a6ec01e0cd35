//! Rows of `unwanted`: content that was taken down and is not wanted again, and the marks it is recognised by. Processes
//! keep all of it in memory, so that every change raises a number that is quick to ask for.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;

/// The content of this page is noted already.
pub const KNOWN: &str = "unwanted_known";
/// Nothing of this page is noted.
pub const UNKNOWN: &str = "unwanted_unknown";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwanted {
    pub id: String,
    /// The page it was taken down with.
    pub site_id: String,
    pub reason: String,
    pub created_at: i64,
}

/// What content is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// A digest of all of it.
    Exact([u8; 32]),
    /// What one page of it is like.
    Sketch(Vec<u8>),
}

fn row(row: &Row<'_>) -> Result<Unwanted, DbError> {
    Ok(Unwanted {
        id: row.text(0)?.to_owned(),
        site_id: row.text(1)?.to_owned(),
        reason: row.text(2)?.to_owned(),
        created_at: row.int(3)?,
    })
}

fn mark(row: &Row<'_>) -> Result<(String, Mark), DbError> {
    let mark = match row.text(1)? {
        "exact" => Mark::Exact(row.hash(2)?),
        "sketch" => Mark::Sketch(row.opt_bytes(2)?.unwrap_or_default().to_vec()),
        other => return Err(DbError::internal(format!("nobody knows the mark {other}"))),
    };
    Ok((row.text(0)?.to_owned(), mark))
}

impl Store {
    /// Rises with every change.
    pub async fn find_unwanted_generation(&self) -> Result<i64, DbError> {
        let sql = "SELECT value FROM generations WHERE name = $1";
        Ok(self.db.get(sql, &["unwanted".into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Every mark with the id of what it belongs to, those of one thing together.
    pub async fn list_marks(&self) -> Result<Vec<(String, Mark)>, DbError> {
        let sql = "SELECT unwanted_id, kind, mark FROM unwanted_marks ORDER BY unwanted_id, position";
        self.db.list(sql, Vec::new(), mark).await
    }

    /// The newest.
    pub async fn list_unwanted(&self, limit: i64) -> Result<Vec<Unwanted>, DbError> {
        let sql =
            "SELECT id, site_id, reason, created_at FROM unwanted ORDER BY created_at DESC, id DESC LIMIT $1";
        self.db.list(sql, vec![limit.into()], row).await
    }

    pub async fn find_unwanted(&self, site_id: &str) -> Result<Option<Unwanted>, DbError> {
        let sql = "SELECT id, site_id, reason, created_at FROM unwanted WHERE site_id = $1";
        self.db.get(sql, &[site_id.into()], row).await
    }
}

/// Notes content by its marks, once for each page.
pub fn insert(unwanted: &Unwanted, marks: Vec<Mark>) -> Vec<Stmt> {
    let head = Stmt::new(
        "INSERT INTO unwanted (id, site_id, reason, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (site_id) DO NOTHING",
        vec![
            unwanted.id.as_str().into(),
            unwanted.site_id.as_str().into(),
            unwanted.reason.as_str().into(),
            unwanted.created_at.into(),
        ],
    )
    .one(KNOWN);
    let marks = marks.into_iter().zip(0_i64..).map(|(mark, position)| {
        let (kind, mark) = match mark {
            Mark::Exact(hash) => ("exact", hash.into()),
            Mark::Sketch(bytes) => ("sketch", bytes.into()),
        };
        Stmt::new(
            "INSERT INTO unwanted_marks (unwanted_id, position, kind, mark) VALUES ($1, $2, $3, $4)",
            vec![unwanted.id.as_str().into(), position.into(), kind.into(), mark],
        )
    });
    std::iter::once(head).chain(marks).chain([changed()]).collect()
}

/// Forgets what was noted of a page.
pub fn forget(site_id: &str) -> [Stmt; 3] {
    let marks =
        "DELETE FROM unwanted_marks WHERE unwanted_id IN (SELECT id FROM unwanted WHERE site_id = $1)";
    [
        Stmt::new(marks, [site_id.into()]),
        Stmt::new("DELETE FROM unwanted WHERE site_id = $1", [site_id.into()]).one(UNKNOWN),
        changed(),
    ]
}

fn changed() -> Stmt {
    Stmt::new(
        "INSERT INTO generations (name, value) VALUES ($1, 1) \
         ON CONFLICT (name) DO UPDATE SET value = generations.value + 1",
        ["unwanted".into()],
    )
}
