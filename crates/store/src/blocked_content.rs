//! SQL for `unwanted`: content that was taken down and must not be published again, and the marks that identify it. Processes
//! keep all of it in memory, so every change raises a generation number that is cheap to read.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;

/// The content of this page is already listed.
pub const ALREADY_BLOCKED: &str = "unwanted_known";
/// No content of this page is listed.
pub const NOT_BLOCKED: &str = "unwanted_unknown";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedContent {
    pub id: String,
    /// The taken-down page that the content comes from.
    pub site_id: String,
    pub reason: String,
    pub created_at: i64,
}

/// A mark that identifies content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A digest of the whole content, or of one page.
    Exact([u8; 32]),
    /// A similarity sketch of one page.
    Sketch(Vec<u8>),
}

/// A mark and the path of its page; `None` if it covers the whole content.
pub type PageMark = (Option<String>, Mark);

columns! { BlockedColumns, blocked_columns: id, site_id, reason, created_at }

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", blocked_columns!(), " FROM unwanted ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<BlockedContent, DbError> {
    const COLUMN: BlockedColumns = BlockedColumns::starting_at(0);
    Ok(BlockedContent {
        id: row.string(COLUMN.id)?,
        site_id: row.string(COLUMN.site_id)?,
        reason: row.string(COLUMN.reason)?,
        created_at: row.int(COLUMN.created_at)?,
    })
}

columns! { MarkColumns, mark_columns: unwanted_id, kind, mark }

fn mark(row: &Row<'_>) -> Result<(String, Mark), DbError> {
    const COLUMN: MarkColumns = MarkColumns::starting_at(0);
    let mark = match row.text(COLUMN.kind)? {
        "exact" => Mark::Exact(row.hash(COLUMN.mark)?),
        "sketch" => Mark::Sketch(row.opt_bytes(COLUMN.mark)?.unwrap_or_default().to_vec()),
        other => return Err(DbError::internal(format!("unknown mark kind {other}"))),
    };
    Ok((row.string(COLUMN.unwanted_id)?, mark))
}

impl Store {
    /// The generation number, which rises with every change.
    pub async fn find_blocklist_generation(&self) -> Result<i64, DbError> {
        let sql = "SELECT value FROM generations WHERE name = $1";
        Ok(self.db.get(sql, &["unwanted".into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Every mark with the id of its entry, ordered by entry.
    pub async fn list_marks(&self) -> Result<Vec<(String, Mark)>, DbError> {
        let sql = concat!("SELECT ", mark_columns!(), " FROM unwanted_marks ORDER BY unwanted_id, position");
        self.db.list(sql, Vec::new(), mark).await
    }

    /// The newest entries.
    pub async fn list_blocked_content(&self, limit: i64) -> Result<Vec<BlockedContent>, DbError> {
        let sql = select!("WHERE forgotten_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $1");
        self.db.list(sql, vec![limit.into()], row).await
    }

    /// Finds an entry by the id of its taken-down page, or by its own.
    pub async fn find_blocked_content(&self, id: &str) -> Result<Option<BlockedContent>, DbError> {
        let sql = select!("WHERE (site_id = $1 OR id = $1) AND forgotten_at IS NULL");
        self.db.get(sql, &[id.into()], row).await
    }

    /// Whether the content of a page was listed, even if an operator removed it since.
    pub async fn was_blocked(&self, site_id: &str) -> Result<bool, DbError> {
        let sql = "SELECT 1 FROM unwanted WHERE site_id = $1";
        Ok(self.db.get(sql, &[site_id.into()], |_| Ok(())).await?.is_some())
    }

    /// The paths of all marked pages, each with the id of its entry.
    pub async fn list_marked_pages(&self) -> Result<Vec<(String, String)>, DbError> {
        let sql = "SELECT unwanted_id, path FROM unwanted_marks WHERE path IS NOT NULL \
                   GROUP BY unwanted_id, path ORDER BY unwanted_id, MIN(position)";
        self.db.list(sql, Vec::new(), pair).await
    }

    /// The same for one entry.
    pub async fn list_marked_pages_of(&self, id: &str) -> Result<Vec<String>, DbError> {
        let sql = "SELECT path FROM unwanted_marks WHERE unwanted_id = $1 AND path IS NOT NULL \
                   GROUP BY path ORDER BY MIN(position)";
        self.db.list(sql, vec![id.into()], |row| row.string(0)).await
    }

    /// The pages that an operator named in the takedown.
    pub async fn list_named_pages(&self, site_id: &str) -> Result<Vec<String>, DbError> {
        let sql = "SELECT path FROM unwanted_named WHERE site_id = $1 ORDER BY path";
        self.db.list(sql, vec![site_id.into()], |row| row.string(0)).await
    }

    /// Whether a body of this page is referenced by anything but its own versions.
    pub async fn shares_bodies(&self, site_id: &str) -> Result<bool, DbError> {
        let sql = "SELECT blobs.refs FROM (SELECT bundle_files.blob_hash AS hash, \
                   COUNT(DISTINCT bundle_files.bundle_id) AS own \
                   FROM site_versions JOIN bundle_files ON bundle_files.bundle_id = site_versions.bundle_id \
                   WHERE site_versions.site_id = $1 GROUP BY bundle_files.blob_hash) AS mine \
                   JOIN blobs ON blobs.hash = mine.hash WHERE blobs.refs > mine.own LIMIT 1";
        Ok(self.db.get(sql, &[site_id.into()], |row| row.int(0)).await?.is_some())
    }

    /// Bodies of this page that are also live under another account, and were there no later than here. Pages without an
    /// account do not count: an offender could use one to protect the content.
    pub async fn list_bodies_of_others(
        &self,
        site_id: &str,
        account_id: Option<&str>,
        now: i64,
    ) -> Result<Vec<[u8; 32]>, DbError> {
        // No index leads from bodies to bundles, so this checks first; almost always no one else has any of them.
        if !self.shares_bodies(site_id).await? {
            return Ok(Vec::new());
        }
        let sql = "SELECT mine.hash FROM (SELECT bundle_files.blob_hash AS hash, \
                   COUNT(DISTINCT bundle_files.bundle_id) AS own, MIN(site_versions.created_at) AS since \
                   FROM site_versions JOIN bundle_files ON bundle_files.bundle_id = site_versions.bundle_id \
                   WHERE site_versions.site_id = $1 GROUP BY bundle_files.blob_hash) AS mine \
                   JOIN blobs ON blobs.hash = mine.hash AND blobs.refs > mine.own \
                   JOIN bundle_files ON bundle_files.blob_hash = mine.hash \
                   JOIN sites ON sites.bundle_id = bundle_files.bundle_id \
                   JOIN site_versions ON site_versions.site_id = sites.id AND site_versions.bundle_id = sites.bundle_id \
                   JOIN accounts ON accounts.id = sites.account_id \
                   WHERE sites.id <> $1 AND accounts.id <> $2 AND accounts.suspended_at IS NULL \
                   AND sites.state = 'live' AND (sites.expires_at IS NULL OR sites.expires_at > $3) \
                   AND site_versions.created_at <= mine.since GROUP BY mine.hash";
        let args = vec![site_id.into(), account_id.unwrap_or_default().into(), now.into()];
        self.db.list(sql, args, |row| row.hash(0)).await
    }
}

fn pair(row: &Row<'_>) -> Result<(String, String), DbError> {
    Ok((row.string(0)?, row.string(1)?))
}

/// Stores a page that an operator names, until the content is listed.
pub fn insert_named_page(site_id: &str, path: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO unwanted_named (site_id, path) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        vec![site_id.into(), path.into()],
    )
}

/// Lists content by its marks, once for each taken-down page.
pub fn insert(content: &BlockedContent, marks: Vec<PageMark>) -> Vec<Stmt> {
    let head = Stmt::new(
        "INSERT INTO unwanted (id, site_id, reason, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (site_id) DO NOTHING",
        vec![
            content.id.as_str().into(),
            content.site_id.as_str().into(),
            content.reason.as_str().into(),
            content.created_at.into(),
        ],
    )
    .one(ALREADY_BLOCKED);
    let marks = marks.into_iter().zip(0_i64..).map(|((path, mark), position)| {
        let (kind, mark) = match mark {
            Mark::Exact(hash) => ("exact", hash.into()),
            Mark::Sketch(bytes) => ("sketch", bytes.into()),
        };
        Stmt::new(
            "INSERT INTO unwanted_marks (unwanted_id, position, kind, mark, path) VALUES ($1, $2, $3, $4, $5)",
            vec![content.id.as_str().into(), position.into(), kind.into(), mark, path.into()],
        )
    });
    let named = Stmt::new("DELETE FROM unwanted_named WHERE site_id = $1", [content.site_id.as_str().into()]);
    std::iter::once(head).chain(marks).chain([named, changed()]).collect()
}

/// Removes one page from an entry, and the marks of the whole content, which contains that page.
pub fn unblock_page(id: &str, path: &str) -> [Stmt; 3] {
    [
        Stmt::new(
            "UPDATE unwanted SET reason = reason WHERE id = $1 AND forgotten_at IS NULL \
             AND EXISTS (SELECT 1 FROM unwanted_marks WHERE unwanted_id = $1 AND path = $2)",
            [id.into(), path.into()],
        )
        .one(NOT_BLOCKED),
        Stmt::new(
            "DELETE FROM unwanted_marks WHERE unwanted_id = $1 AND (path = $2 OR path IS NULL)",
            [id.into(), path.into()],
        ),
        changed(),
    ]
}

/// Removes the marks of a page's content; the entry stays, so that the content is not listed again.
pub fn unblock(site_id: &str, now: i64) -> [Stmt; 3] {
    let marks =
        "DELETE FROM unwanted_marks WHERE unwanted_id IN (SELECT id FROM unwanted WHERE site_id = $1)";
    [
        Stmt::new(marks, [site_id.into()]),
        Stmt::new(
            "UPDATE unwanted SET forgotten_at = $1 WHERE site_id = $2 AND forgotten_at IS NULL",
            vec![now.into(), site_id.into()],
        )
        .one(NOT_BLOCKED),
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
