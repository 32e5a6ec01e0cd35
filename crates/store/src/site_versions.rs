//! SQL for `site_versions`: the immutable revisions of a site.

use crate::db::{DbError, Row, Stmt, Val, columns};
use crate::store::Store;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};

columns! {
    VersionColumns, version_columns:
    site_id, version, bundle_id, title, byte_size, file_count, e2e, restored_from, created_at,
    maker_kind, maker_id, maker_name,
}

fn row(row: &Row<'_>) -> Result<SiteVersion, DbError> {
    const COLUMN: VersionColumns = VersionColumns::starting_at(0);
    Ok(SiteVersion {
        site_id: row.string(COLUMN.site_id)?,
        version: row.int(COLUMN.version)?,
        bundle_id: row.string(COLUMN.bundle_id)?,
        title: row.string(COLUMN.title)?,
        byte_size: row.int(COLUMN.byte_size)?,
        file_count: row.int(COLUMN.file_count)?,
        e2e: row.flag(COLUMN.e2e)?,
        restored_from: row.opt_int(COLUMN.restored_from)?,
        created_at: row.int(COLUMN.created_at)?,
        maker: maker(row)?,
    })
}

/// A kind that a newer version of this program wrote counts as unknown.
fn maker(row: &Row<'_>) -> Result<Option<VersionMaker>, DbError> {
    const COLUMN: VersionColumns = VersionColumns::starting_at(0);
    let kind = row.opt_string(COLUMN.maker_kind)?;
    let (id, name) = (row.opt_string(COLUMN.maker_id)?, row.opt_string(COLUMN.maker_name)?);
    Ok(kind.and_then(|kind| MakerKind::parse(&kind)).map(|kind| VersionMaker { kind, id, name }))
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", version_columns!(), " FROM site_versions ", $tail)
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

pub fn insert(version: &SiteVersion) -> Stmt {
    let maker = version.maker.as_ref();
    let args: Vec<Val> = vec![
        version.site_id.as_str().into(),
        version.version.into(),
        version.bundle_id.as_str().into(),
        version.title.as_str().into(),
        version.byte_size.into(),
        version.file_count.into(),
        version.e2e.into(),
        version.restored_from.into(),
        version.created_at.into(),
        maker.map(|maker| maker.kind.as_str()).into(),
        maker.and_then(|maker| maker.id.as_deref()).into(),
        maker.and_then(|maker| maker.name.as_deref()).into(),
    ];
    Stmt::new(
        "INSERT INTO site_versions (site_id, version, bundle_id, title, byte_size, file_count, e2e, restored_from, created_at, \
         maker_kind, maker_id, maker_name) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        args,
    )
}

/// Deletes versions up to this one and releases their bundles; the sweep deletes unreferenced ones.
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

/// `gone`: the versions of site `$1` up to `$2` that an operator does not need to review. While reports are open, this keeps
/// the `$3` versions that existed when the first one was made; for later reports it keeps the reported version, for the first
/// ten such versions and the newest. So reports cannot make a page keep an unlimited number of versions. `$4` is the time.
macro_rules! with_gone {
    ($then:literal) => {
        concat!(
            "WITH told AS (SELECT version FROM reports \
             WHERE site_id = $1 AND closed_at IS NULL AND version IS NOT NULL), \
             bound AS (SELECT COALESCE(MIN(version), 0) AS earliest, COALESCE(MAX(version), 0) AS newest FROM told), \
             gone AS (SELECT kept.version, kept.bundle_id FROM site_versions kept, bound \
             WHERE kept.site_id = $1 AND kept.version <= $2 \
             AND (kept.version <= bound.earliest - $3 OR kept.version > bound.earliest) AND kept.version <> bound.newest \
             AND kept.version NOT IN (SELECT early.version \
             FROM (SELECT version FROM told GROUP BY version ORDER BY version LIMIT 10) AS early)), \
             moment AS (SELECT CAST($4 AS BIGINT) AS at) ",
            $then
        )
    };
}

/// Deletes versions up to this one, of a site that keeps `kept` versions, except reported ones. The site's row must be
/// locked: otherwise a report in between would be seen by one of the statements and not by the other.
pub fn trim(site_id: &str, version: i64, kept: i64, now: i64) -> [Stmt; 2] {
    let release = with_gone!(
        "UPDATE bundles SET refs = refs - (SELECT COUNT(*) FROM gone WHERE gone.bundle_id = bundles.id), \
         touched_at = (SELECT at FROM moment) WHERE id IN (SELECT bundle_id FROM gone)"
    );
    let delete =
        with_gone!("DELETE FROM site_versions WHERE site_id = $1 AND version IN (SELECT version FROM gone)");
    let args = || -> Vec<Val> { vec![site_id.into(), version.into(), kept.into(), now.into()] };
    [Stmt::new(release, args()), Stmt::new(delete, args())]
}
