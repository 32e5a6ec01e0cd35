//! Rows of `site_versions`: the immutable revisions of a site.

use crate::db::{DbError, Row, Stmt, Val};
use crate::store::Store;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteVersion {
    pub site_id: String,
    pub version: i64,
    pub bundle_id: String,
    pub title: String,
    pub byte_size: i64,
    pub file_count: i64,
    pub e2e: bool,
    pub restored_from: Option<i64>,
    pub created_at: i64,
}

fn row(row: &Row<'_>) -> Result<SiteVersion, DbError> {
    Ok(SiteVersion {
        site_id: row.text(0)?.to_owned(),
        version: row.int(1)?,
        bundle_id: row.text(2)?.to_owned(),
        title: row.text(3)?.to_owned(),
        byte_size: row.int(4)?,
        file_count: row.int(5)?,
        e2e: row.flag(6)?,
        restored_from: row.opt_int(7)?,
        created_at: row.int(8)?,
    })
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT site_id, version, bundle_id, title, byte_size, file_count, e2e, restored_from, created_at \
             FROM site_versions ",
            $tail
        )
    };
}

impl Store {
    pub async fn list_versions(&self, site_id: &str) -> Result<Vec<SiteVersion>, DbError> {
        self.db.list(select!("WHERE site_id = $1 ORDER BY version DESC"), vec![site_id.into()], row).await
    }

    pub async fn find_version(&self, site_id: &str, version: i64) -> Result<Option<SiteVersion>, DbError> {
        self.db
            .get(select!("WHERE site_id = $1 AND version = $2"), &[site_id.into(), version.into()], row)
            .await
    }
}

/// The account that owns the site is suspended.
pub const SUSPENDED: &str = "owner_suspended";

pub fn insert(version: &SiteVersion) -> Stmt {
    Stmt::new(
        "INSERT INTO site_versions (site_id, version, bundle_id, title, byte_size, file_count, e2e, restored_from, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args(version),
    )
}

/// The same for whoever publishes: not if the site's account was suspended since the request began, whose body may have
/// taken hours.
pub fn insert_active(version: &SiteVersion) -> Stmt {
    Stmt::new(
        "INSERT INTO site_versions (site_id, version, bundle_id, title, byte_size, file_count, e2e, restored_from, created_at) \
         SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), \
         CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS BIGINT) \
         WHERE NOT EXISTS (SELECT 1 FROM sites JOIN accounts ON accounts.id = sites.account_id \
         WHERE sites.id = $1 AND accounts.suspended_at IS NOT NULL)",
        args(version),
    )
    .one(SUSPENDED)
}

fn args(version: &SiteVersion) -> Vec<Val> {
    vec![
        version.site_id.as_str().into(),
        version.version.into(),
        version.bundle_id.as_str().into(),
        version.title.as_str().into(),
        version.byte_size.into(),
        version.file_count.into(),
        version.e2e.into(),
        version.restored_from.into(),
        version.created_at.into(),
    ]
}

/// Lets go of versions up to this one, and of the bundles they show; what nothing shows is for the sweep.
pub fn delete_up_to(site_id: &str, version: i64, now: i64) -> [Stmt; 2] {
    let release = "UPDATE bundles SET refs = refs - (SELECT COUNT(*) FROM site_versions \
         WHERE site_versions.site_id = $1 AND site_versions.version <= $2 AND site_versions.bundle_id = bundles.id), \
         touched_at = $3 \
         WHERE id IN (SELECT bundle_id FROM site_versions WHERE site_id = $1 AND version <= $2)";
    let delete = "DELETE FROM site_versions WHERE site_id = $1 AND version <= $2";
    [
        Stmt::new(release, vec![site_id.into(), version.into(), now.into()]),
        Stmt::new(delete, vec![site_id.into(), version.into()]),
    ]
}
