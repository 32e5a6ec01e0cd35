//! Recounts the storage used by pages without an account: claimed pages, pages whose content is erased and deleted versions no
//! longer count.
//!
//! Publishing waits for the row of the overall total, so nothing is computed while it is locked. A publish adds the same bytes
//! to its page and to all totals in one transaction, so the difference between a total and its pages stays the same while
//! others publish. It is read first, and then added in a short batch. Batches of two nodes that recount at the same time are
//! told apart by a revision: a difference is added only if nobody has corrected anything since it was read.

use crate::anonymous_usage::VERSION_BYTES;
use crate::db::{DbError, Row, Stmt, Val};
use crate::store::Store;

/// Rows that are read, and at most corrected in one batch.
const PAGE: i64 = 200;
/// The revision that each correction advances.
const REVISION: &str = "anonymous_usage";
/// Another node has corrected something.
const RECOUNTED: &str = "anonymous_usage_recounted";

/// How far a recorded number is from the right one.
struct Difference {
    key: String,
    bytes: i64,
    /// Whether the page no longer counts, or the network may have no pages.
    is_ended: bool,
    /// The revision at the time.
    revision: i64,
}

impl Store {
    pub async fn recount_anonymous_usage(&self) -> Result<(), DbError> {
        match self.recount_all().await {
            Err(DbError::Guard(RECOUNTED)) => Ok(()),
            done => done,
        }
    }

    async fn recount_all(&self) -> Result<(), DbError> {
        self.correct_pages(SITES, vec![VERSION_BYTES.into()], correct_site).await?;
        self.correct_pages(NETWORKS, Vec::new(), correct_network).await?;
        let total = self.db.list(TOTAL, vec![REVISION.into()], difference).await?;
        self.correct(&total, |total| vec![add(total)]).await
    }

    /// Reads everything in pages and corrects what is wrong in each.
    async fn correct_pages(
        &self,
        sql: &'static str,
        first_args: Vec<Val>,
        with: fn(&Difference) -> Vec<Stmt>,
    ) -> Result<(), DbError> {
        let mut after = String::new();
        loop {
            let mut args = first_args.clone();
            args.extend([REVISION.into(), after.as_str().into(), PAGE.into()]);
            let page = self.db.list(sql, args, difference).await?;
            self.correct(&page, with).await?;
            match page.last() {
                Some(last) if i64::try_from(page.len()) == Ok(PAGE) => after.clone_from(&last.key),
                _ => return Ok(()),
            }
        }
    }

    async fn correct(&self, read: &[Difference], with: fn(&Difference) -> Vec<Stmt>) -> Result<(), DbError> {
        let wrong: Vec<&Difference> =
            read.iter().filter(|found| found.is_ended || found.bytes != 0).collect();
        let Some(first) = wrong.first() else { return Ok(()) };
        let mut stmts = vec![advance_from(first.revision), lock_total()];
        stmts.extend(wrong.into_iter().flat_map(with));
        self.db.batch(stmts).await.map(|_| ())
    }
}

const SITES: &str = "SELECT a.site_id, \
     CAST(COALESCE((SELECT SUM(v.byte_size + CAST($1 AS BIGINT)) FROM site_versions v WHERE v.site_id = a.site_id), 0) \
     AS BIGINT) - a.bytes, CAST(CASE WHEN s.id IS NULL THEN 1 ELSE 0 END AS BIGINT), \
     COALESCE((SELECT value FROM revisions WHERE name = $2), 0) \
     FROM anonymous_sites a LEFT JOIN sites s ON s.id = a.site_id AND s.account_id IS NULL AND s.purged_at IS NULL \
     WHERE a.site_id > $3 ORDER BY a.site_id LIMIT $4";

const NETWORKS: &str = "SELECT u.key, \
     CAST(COALESCE((SELECT SUM(a.bytes) FROM anonymous_sites a WHERE a.network = u.key OR a.wide = u.key), 0) AS BIGINT) \
     - u.bytes, CAST(CASE WHEN u.bytes = 0 THEN 1 ELSE 0 END AS BIGINT), \
     COALESCE((SELECT value FROM revisions WHERE name = $1), 0) \
     FROM anonymous_usage u WHERE u.key <> 'all' AND u.key > $2 ORDER BY u.key LIMIT $3";

const TOTAL: &str = "SELECT u.key, \
     CAST(COALESCE((SELECT SUM(a.bytes) FROM anonymous_sites a), 0) AS BIGINT) - u.bytes, CAST(0 AS BIGINT), \
     COALESCE((SELECT value FROM revisions WHERE name = $1), 0) FROM anonymous_usage u WHERE u.key = 'all'";

fn difference(row: &Row<'_>) -> Result<Difference, DbError> {
    Ok(Difference { key: row.string(0)?, bytes: row.int(1)?, is_ended: row.flag(2)?, revision: row.int(3)? })
}

fn advance_from(revision: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO revisions (name, value) VALUES ($1, CAST($2 AS BIGINT) + 1) \
         ON CONFLICT (name) DO UPDATE SET value = revisions.value + 1 WHERE revisions.value = CAST($2 AS BIGINT)",
        vec![REVISION.into(), revision.into()],
    )
    .one(RECOUNTED)
}

/// Publishing locks this row first, too, so that the two cannot deadlock.
fn lock_total() -> Stmt {
    Stmt::new("UPDATE anonymous_usage SET bytes = bytes WHERE key = 'all'", [])
}

fn correct_site(found: &Difference) -> Vec<Stmt> {
    let key = found.key.as_str();
    vec![if found.is_ended {
        Stmt::new(
            "DELETE FROM anonymous_sites WHERE site_id = $1 AND NOT EXISTS (SELECT 1 FROM sites s \
             WHERE s.id = anonymous_sites.site_id AND s.account_id IS NULL AND s.purged_at IS NULL)",
            [key.into()],
        )
    } else {
        Stmt::new(
            "UPDATE anonymous_sites SET bytes = bytes + CAST($1 AS BIGINT) WHERE site_id = $2",
            vec![found.bytes.into(), key.into()],
        )
    }]
}

fn correct_network(found: &Difference) -> Vec<Stmt> {
    let forget = "DELETE FROM anonymous_usage WHERE key = $1 AND bytes = 0";
    vec![add(found), Stmt::new(forget, [found.key.as_str().into()])]
}

fn add(found: &Difference) -> Stmt {
    Stmt::new(
        "UPDATE anonymous_usage SET bytes = bytes + CAST($1 AS BIGINT) WHERE key = $2",
        vec![found.bytes.into(), found.key.as_str().into()],
    )
}
